// Loads the next batch into host memory in a separate thread, while the rank
// computes the step of the current batch.

#include "runtime/src/data/Prefetcher.h"

#include "runtime/src/base/Status.h"
#include "runtime/src/base/Threads.h"

namespace dpc {

Prefetcher::Prefetcher(const dpc_program_t &program, uint32_t rank)
    : program(program), loader(program, rank), stages(program.input_count) {
  for (uint32_t i = 0; i < program.input_count; ++i) {
    const dpc_input_t &input = program.inputs[i];
    const dpc_placement_t &placement = input.placements[rank];
    if (placement.run_count == 0)
      continue;
    stages[i].bytes = placement.elements * dpc_dtype_size(input.dtype);
    stages[i].own.resize(stages[i].bytes * input.micro_count);
    stages[i].memory = {stages[i].own.data()};
  }
  thread = withoutSignals([this] { return std::thread([this] { run(); }); });
}

Prefetcher::~Prefetcher() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    ends = true;
  }
  changed.notify_all();
  thread.join();
}

dpc_status_t Prefetcher::useSlots(uint32_t count, const Allocate &allocate) {
  slots = count;
  for (uint32_t i = 0; i < program.input_count; ++i) {
    if (stages[i].memory.empty())
      continue;
    stages[i].memory.resize(count);
    for (char *&memory : stages[i].memory)
      if (dpc_status_t failed = allocate(stages[i].bytes * program.inputs[i].micro_count, &memory))
        return failed;
    stages[i].own = {};
  }
  return DPC_OK;
}

void Prefetcher::begin() {
  if (!hasNext)
    return;
  filled = nextSlot();
  {
    std::lock_guard<std::mutex> lock(mutex);
    state = State::reading;
  }
  changed.notify_all();
}

dpc_status_t Prefetcher::finish() {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [this] { return state != State::reading; });
  state = State::idle;
  current = filled;
  return status ? fail(status, "%s", error.c_str()) : DPC_OK;
}

const char *Prefetcher::values(uint32_t input, uint64_t micro) const {
  const Stage &stage = stages[input];
  return stage.memory.empty() ? nullptr : stage.memory[current] + micro * stage.bytes;
}

dpc_status_t Prefetcher::load() {
  for (uint32_t i = 0; i < program.input_count; ++i)
    for (uint64_t m = 0; !stages[i].memory.empty() && m < program.inputs[i].micro_count; ++m)
      if (dpc_status_t failed = loader.load(i, m, stages[i].memory[filled] + m * stages[i].bytes))
        return failed;
  return DPC_OK;
}

void Prefetcher::run() {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    changed.wait(lock, [this] { return ends || state == State::reading; });
    if (ends)
      return;
    lock.unlock();
    const dpc_status_t loaded = load();
    lock.lock();
    status = loaded;
    if (loaded)
      error = dpc_last_error();
    state = State::done;
    changed.notify_all();
  }
}

} // namespace dpc
