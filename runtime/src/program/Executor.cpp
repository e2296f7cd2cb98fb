// Interprets the action table of an entry: uploads controls and inputs, iterates
// loops, passes each action to the queue, and records its time in the trace. Records
// communication in the flight recorder.

#include "runtime/src/program/Executor.h"

#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Groups.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/program/TableWalk.h"
#include "runtime/src/recorder/Recorder.h"

namespace dpc {

Executor::Executor(const dpc_program_t &program, uint32_t rank, Queue &queue, InputLoader &loader,
                   const Controls &controls, Trace &trace)
    : program(program), rank(rank), queue(queue), loader(loader), given(controls), trace(trace),
      groupIndex(indexInGroups(program, rank)), events(program.ranks[rank].event_count),
      staging(program.input_count) {}

dpc_status_t Executor::explain(dpc_status_t status, const dpc_action_t &action) const {
  if (action.location == DPC_NONE)
    return status;
  const dpc_location_t &location = program.locations[action.location];
  return fail(status, "%s (at %s)", dpc_last_error(), location.node);
}

dpc_status_t Executor::uploadInputs() {
  const bool isInPlace = prefetcher && prefetcher->slotCount() > 1;
  for (uint32_t i = 0; i < program.input_count; ++i) {
    const dpc_input_t &input = program.inputs[i];
    const dpc_placement_t &placement = input.placements[rank];
    if (placement.run_count == 0)
      continue;
    const uint64_t bytes = placement.elements * dpc_dtype_size(input.dtype);
    if (!prefetcher)
      staging[i].resize(bytes);
    for (uint64_t m = 0; m < input.micro_count; ++m) {
      const char *values = staging[i].data();
      if (prefetcher)
        values = prefetcher->values(i, m);
      else if (dpc_status_t status = loader.load(i, m, staging[i].data()))
        return status;
      const DeviceAddress to = {placement.space, placement.offset + m * input.micro_stride};
      if (dpc_status_t status =
              isInPlace ? queue.uploadInPlace(to, values, bytes) : queue.upload(to, values, bytes))
        return status;
    }
  }
  if (prefetcher && !isInPlace)
    prefetcher->begin();
  return DPC_OK;
}

/// Lets a prefetcher with several slots read the next batch, when the device has read the batch
/// that was in the slot. The device has the work of this run meanwhile.
dpc_status_t Executor::readAhead(uint64_t run) {
  readers.resize(prefetcher->slotCount());
  readers[prefetcher->slot()] = run + 1;
  if (const uint64_t reader = readers[prefetcher->nextSlot()])
    if (dpc_status_t status = queue.awaitUploads(reader - 1))
      return status;
  prefetcher->begin();
  return DPC_OK;
}

dpc_status_t Executor::compute(const dpc_action_t &action) {
  const dpc_status_t status = queue.compute(action.function, micro, action.args);
  return status ? failWithin(status, "%s in step %llu", program.functions[action.function].name,
                             static_cast<unsigned long long>(controls.step) + 1)
                : DPC_OK;
}

dpc_status_t Executor::start(const dpc_action_t &action, uint64_t index) {
  const DeviceAddress in = addressOf(action.in, action.group);
  if (gradients && entry == DPC_ENTRY_STEP)
    if (dpc_status_t status = gradients->look(action, in))
      return status;
  const dpc_comm_op_t op = operationOf(action);
  Event &event = events[action.event];
  event = {&action, trace.enabled() ? monotonicNs() : 0, micro, 0};
  if (recorder)
    event.number = recorder->schedule(op, static_cast<uint32_t>(index), micro);
  const dpc_status_t status =
      queue.start(op, in, addressOf(action.out, action.group), action.event);
  if (recorder && status == DPC_OK)
    recorder->start(event.number);
  return status;
}

dpc_status_t Executor::wait(const dpc_action_t &action) {
  const int64_t begin = trace.enabled() ? monotonicNs() : 0;
  if (recorder)
    recorder->await(events[action.event].number);
  if (dpc_status_t status = queue.wait(action.event))
    return status;
  // On a CUDA device, the host has not waited for the data. It does so in `finish`.
  if (recorder && !runsOnCuda(program))
    recorder->finish(events[action.event].number);
  if (trace.enabled()) {
    const Event &started = events[action.event];
    const int64_t end = monotonicNs();
    trace.add({started.start, controls.step, started.startNs, end, end - begin, started.micro});
  }
  return DPC_OK;
}

dpc_status_t Executor::perform(const dpc_action_t &action, uint64_t index) {
  if (action.kind == DPC_ACTION_START)
    return start(action, index);
  if (action.kind == DPC_ACTION_WAIT)
    return wait(action);
  const int64_t begin = trace.enabled() ? monotonicNs() : 0;
  const dpc_status_t status = action.kind == DPC_ACTION_COMPUTE
                                  ? compute(action)
                                  : queue.zero(addressOf(action.out, action.group),
                                               action.count * dpc_dtype_size(action.dtype));
  if (trace.enabled())
    trace.add({&action, controls.step, begin, monotonicNs(), 0, micro});
  return status;
}

dpc_status_t Executor::runActions(const dpc_actions_t &table) {
  return walkTable(table, [&](uint64_t index, uint32_t number) {
    const dpc_action_t &action = table.actions[index];
    micro = number;
    const dpc_status_t performed = perform(action, index);
    return performed ? explain(performed, action) : DPC_OK;
  });
}

/// Records the communication of an entry that the queue repeats by itself.
void Executor::recordRepeated(const dpc_actions_t &table) {
  walkTable(table, [&](uint64_t index, uint32_t number) {
    const dpc_action_t &action = table.actions[index];
    if (action.kind == DPC_ACTION_START)
      recorder->start(
          recorder->schedule(operationOf(action), static_cast<uint32_t>(index), number));
    return DPC_OK;
  });
}

dpc_status_t Executor::submit(uint32_t number, const Controls &own,
                              const std::vector<Fetch> &fetches, Run *out) {
  entry = number;
  controls = own;
  if (gradients)
    gradients->begin();
  if (dpc_status_t status = uploadControls(program, rank, controls, queue))
    return status;
  if (dpc_status_t status = uploadInputs())
    return status;
  bool isDone = false;
  if (recorder)
    recorder->enter(entry, controls.step);
  out->entry = entry;
  out->controls = controls;
  out->firstRecord = recorder ? recorder->next() : 0;
  if (dpc_status_t status = queue.begin(entry, &isDone))
    return status;
  const dpc_actions_t &table = program.ranks[rank].entries[entry];
  if (isDone && recorder)
    recordRepeated(table);
  if (!isDone)
    if (dpc_status_t status = runActions(table))
      return status;
  out->endRecord = recorder ? recorder->next() : 0;
  if (dpc_status_t status = queue.submit(fetches, &out->number))
    return status;
  return prefetcher && prefetcher->slotCount() > 1 ? readAhead(out->number) : dpc_status_t(DPC_OK);
}

dpc_status_t Executor::complete(const Run &run) {
  if (dpc_status_t status = queue.await(run.number))
    return status;
  if (recorder && runsOnCuda(program))
    recorder->finishFrom(run.firstRecord, run.endRecord);
  return DPC_OK;
}

dpc_status_t Executor::run(uint32_t number) {
  Run own;
  if (dpc_status_t status = submit(number, given, {}, &own))
    return status;
  return complete(own);
}

} // namespace dpc
