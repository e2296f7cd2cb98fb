#ifndef DPC_TEST_CUDA_EMULATOR_EXECUTION_BLOCK_H
#define DPC_TEST_CUDA_EMULATOR_EXECUTION_BLOCK_H

#include "test/cuda_emulator/execution/AccessTrace.h"
#include "test/cuda_emulator/execution/Context.h"
#include "test/cuda_emulator/execution/Matrix.h"

#include <memory>
#include <random>
#include <vector>

namespace dpc::emulator {

/// A device thread that can be left in the middle: a stack of its own.
struct Fiber {
  void *stack = nullptr;          // where it goes on
  const uint32_t *word = nullptr; // it waits while this word is `old`
  uint32_t old = 0;
  int line = 0; // of the PTX, where it waits
  bool done = false;
};

/// Where lanes of a warp meet that name the same mask. Values lie twice, so that
/// a fast lane's next value does not overwrite what a slow one still reads.
struct Meeting {
  uint32_t mask = 0, arrived = 0, round = 0;
  int line = 0;
  uint32_t values[2][32];
  uint32_t fragments[2][32][kFragmentWords];
};

struct Warp {
  std::vector<std::unique_ptr<Meeting>> meetings;
  uint32_t lanes = 0; // mask of those that exist
  uint32_t epoch = 0; // barriers of the warp so far
};

struct Barrier {
  uint32_t arrived = 0, round = 0;
  int line = 0;
};

/// Who touched a byte of shared memory last, and between which barriers.
struct ByteShadow {
  uint32_t writeEpoch, readEpoch, writeWarpEpoch, readWarpEpoch;
  uint16_t writer, reader;
  bool manyReaders; // of several warps
};

/// One block of a grid while it runs.
struct Block {
  const Kernel *kernel = nullptr;
  const char *parameters = nullptr;
  std::vector<ThreadContext> threads;
  std::vector<Fiber> fibers;
  std::vector<Warp> warps;
  std::vector<ByteShadow> shadow;     // empty unless accesses are checked
  std::unique_ptr<AccessTrace> trace; // null unless accesses are counted
  Barrier barriers[16];
  char *stacks = nullptr;
  size_t stackCount = 0, stackBytes = 0; // of stacks; of each
  char *shared = nullptr;
  uint32_t sharedBytes = 0;
  void *home = nullptr;               // where the host thread goes on
  uint32_t current = 0;               // the thread that runs
  uint32_t alive = 0;                 // threads that have not ended
  uint32_t epoch = 1, firstEpoch = 1; // barriers so far; the first of this block

  Block() = default;
  Block(const Block &) = delete;
  ~Block();
  /// Makes room for a kernel's threads.
  void prepare(const Kernel &kernel, const char *parameters, const uint32_t grid[3],
               const uint32_t size[3], uint32_t dynamicShared);
  /// Runs every thread as the block with this index.
  void run(uint64_t index, const uint32_t grid[3], std::mt19937 &random);
  /// All threads that a barrier waits for have reached it.
  void open(Barrier &barrier);
  /// Leaves the running thread until *word is no longer `old`.
  void waitFor(const uint32_t *word, uint32_t old, int line);

private:
  friend void runFiber();
  void runFibers(std::mt19937 &random);
  void makeStacks(size_t count, size_t bytes);
  [[noreturn]] void reportDeadlock();
};

/// The block that this host thread runs, if it does.
Block *&runningBlock();

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_EXECUTION_BLOCK_H
