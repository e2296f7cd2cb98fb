// Runs the threads of one block on one host thread: those that meet as fibers,
// which are left only where they wait for each other; others as plain calls.
#include "test/cuda_emulator/execution/Block.h"

#include "test/cuda_emulator/base/Options.h"
#include "test/cuda_emulator/driver/DeviceMemory.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <sys/mman.h>

using namespace dpc::emulator;

// Leaves one stack for another: keeps the registers that a call must keep.
extern "C" void emu_switch_stack(void **save, void *to);
asm(R"(
.text
.globl emu_switch_stack
.type emu_switch_stack, @function
emu_switch_stack:
  pushq %rbp; pushq %rbx; pushq %r12; pushq %r13; pushq %r14; pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15; popq %r14; popq %r13; popq %r12; popq %rbx; popq %rbp
  ret
.size emu_switch_stack, .-emu_switch_stack
)");

static constexpr size_t kPage = 4096, kSharedPages = (kSharedBytes + kPage - 1) / kPage * kPage;
// Not a power of two, so that the tops of stacks do not fall into the same sets of the cache.
static constexpr size_t kStackBytes = (64 << 10) + 576;

Block *&dpc::emulator::runningBlock() {
  static thread_local Block *block = nullptr;
  return block;
}

/// What `fail` says of the thread that runs.
static std::string describeThread() {
  const Block *block = runningBlock();
  if (!block)
    return "";
  const ThreadContext &thread = block->threads[block->current];
  char text[512];
  std::snprintf(text, sizeof text, " [kernel %s, block (%u,%u,%u), thread (%u,%u,%u)]",
                block->kernel->name.c_str(), thread.block[0], thread.block[1], thread.block[2],
                thread.thread[0], thread.thread[1], thread.thread[2]);
  return text;
}

static char *map(size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    fail("no memory for %zu bytes of stacks", bytes);
  return static_cast<char *>(memory);
}

Block::~Block() {
  if (stacks)
    munmap(stacks, stackCount * stackBytes);
  if (shared)
    munmap(shared, kSharedPages + kPage);
}

void Block::prepare(const Kernel &of, const char *with, const uint32_t grid[3],
                    const uint32_t size[3], uint32_t dynamicShared) {
  const uint32_t count = size[0] * size[1] * size[2];
  describeFailure = describeThread;
  kernel = &of;
  parameters = with;
  sharedBytes = of.staticShared + dynamicShared;
  if (!shared) { // with a page behind it that nobody may touch
    shared = map(kSharedPages + kPage);
    mprotect(shared + kSharedPages, kPage, PROT_NONE);
  }
  const bool counts = !Options::get().countFile.empty();
  if (of.meets || counts)
    makeStacks(count, kStackBytes + (of.localBytes + 63) / 64 * 64);
  if (Options::get().check)
    shadow.resize(kSharedBytes);
  fibers.assign(count, Fiber());
  threads.assign(count, ThreadContext());
  warps.clear();
  warps.resize((count + 31) / 32);
  for (uint32_t i = 0; i < count; ++i) {
    ThreadContext &thread = threads[i];
    const uint32_t position[3] = {i % size[0], i / size[0] % size[1], i / (size[0] * size[1])};
    for (int d = 0; d < 3; ++d) {
      thread.thread[d] = position[d];
      thread.threads[d] = size[d];
      thread.blocks[d] = grid[d];
    }
    thread.lane = i % 32;
    thread.warp = i / 32;
    thread.index = i;
    thread.dynamicShared = dynamicShared;
    thread.delta = DeviceMemory::get().delta();
    thread.shared = shared;
    thread.variables = of.variables.data();
    thread.owner = this;
    warps[i / 32].lanes |= 1u << (i % 32);
  }
  trace.reset();
  if (counts) {
    std::vector<uint32_t> lanes;
    for (const Warp &warp : warps)
      lanes.push_back(warp.lanes);
    trace = std::make_unique<AccessTrace>(of.instructions.size(), lanes);
  }
}

void Block::makeStacks(size_t count, size_t bytes) {
  if (stackCount >= count && stackBytes >= bytes)
    return;
  if (stacks)
    munmap(stacks, stackCount * stackBytes);
  stackCount = std::max(stackCount, count);
  stackBytes = std::max(stackBytes, bytes);
  stacks = map(stackCount * stackBytes);
}

void Block::open(Barrier &barrier) {
  if (trace && barrier.arrived == alive)
    trace->meetAll();
  barrier.arrived = 0;
  ++barrier.round;
  ++epoch;
}

void Block::waitFor(const uint32_t *word, uint32_t old, int line) {
  Fiber &fiber = fibers[current];
  const uint32_t me = current;
  fiber.word = word;
  fiber.old = old;
  fiber.line = line;
  while (*word == old)
    emu_switch_stack(&fibers[me].stack, home);
  fibers[me].word = nullptr;
}

namespace dpc::emulator {
/// Where a fiber starts.
void runFiber() {
  Block &block = *runningBlock();
  const uint32_t me = block.current;
  block.kernel->code(&block.threads[me], block.parameters);
  block.fibers[me].done = true;
  --block.alive;
  // Threads that have ended are no longer waited for.
  for (Barrier &barrier : block.barriers)
    if (barrier.arrived && barrier.arrived == block.alive)
      block.open(barrier);
  for (;;)
    emu_switch_stack(&block.fibers[me].stack, block.home);
}
} // namespace dpc::emulator

void Block::reportDeadlock() {
  std::string where;
  int shown = 0;
  for (size_t i = 0; i < fibers.size() && shown < 4; ++i)
    if (!fibers[i].done) {
      where +=
          " thread " + std::to_string(i) + " at PTX line " + std::to_string(fibers[i].line) + ";";
      ++shown;
    }
  fail("deadlock: %u of %zu threads wait for threads that never come:%s", alive, fibers.size(),
       where.c_str());
}

void Block::runFibers(std::mt19937 &random) {
  const auto count = static_cast<uint32_t>(fibers.size());
  for (uint32_t i = 0; i < count; ++i) {
    auto **top = reinterpret_cast<void **>(stacks + (i + 1) * stackBytes);
    *--top = nullptr;
    *--top = reinterpret_cast<void *>(runFiber);
    for (int saved = 0; saved < 6; ++saved)
      *--top = nullptr;
    fibers[i] = Fiber();
    fibers[i].stack = top;
  }
  alive = count;
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  if (Options::get().threadOrder == ThreadOrder::reverse)
    std::reverse(order.begin(), order.end());
  while (alive) {
    if (Options::get().threadOrder == ThreadOrder::random)
      std::shuffle(order.begin(), order.end(), random);
    bool progress = false;
    for (uint32_t at = 0; at < count; ++at) {
      Fiber &fiber = fibers[order[at]];
      if (at + 2 < count) // hides the cache misses of stacks to come
        for (int line = 0; line < 256; line += 64)
          __builtin_prefetch(static_cast<char *>(fibers[order[at + 2]].stack) + line);
      if (fiber.done || (fiber.word && *fiber.word == fiber.old))
        continue;
      current = order[at];
      progress = true;
      emu_switch_stack(&home, fiber.stack);
    }
    if (!progress && alive && !(trace && trace->release()))
      reportDeadlock();
  }
}

void Block::run(uint64_t index, const uint32_t grid[3], std::mt19937 &random) {
  runningBlock() = this;
  for (ThreadContext &thread : threads) {
    thread.block[0] = static_cast<uint32_t>(index % grid[0]);
    thread.block[1] = static_cast<uint32_t>(index / grid[0] % grid[1]);
    thread.block[2] = static_cast<uint32_t>(index / (uint64_t(grid[0]) * grid[1]));
    thread.copyGroup = 0;
  }
  std::memset(shared, 0xff, sharedBytes); // NaN in every float format
  firstEpoch = ++epoch;
  for (Warp &warp : warps)
    warp.epoch = 0;
  if (kernel->meets || trace) {
    runFibers(random);
  } else {
    const auto count = static_cast<uint32_t>(threads.size());
    const bool backwards = Options::get().threadOrder == ThreadOrder::reverse;
    for (uint32_t i = 0; i < count; ++i) {
      current = backwards ? count - 1 - i : i;
      kernel->code(&threads[current], parameters);
    }
  }
  for (ThreadContext &thread : threads)
    if (!thread.copies.empty()) {
      current = thread.index;
      fail("a thread ends with copies of cp.async that it never waited for");
    }
  if (trace) {
    trace->meetAll();
    ++trace->counts.blocks;
  }
  runningBlock() = nullptr;
}
