#ifndef DPC_TEST_CUDA_EMULATOR_BASE_OPTIONS_H
#define DPC_TEST_CUDA_EMULATOR_BASE_OPTIONS_H

#include <cstdint>
#include <string>

namespace dpc::emulator {

/// The order in which threads of a block, and blocks of a grid, run.
enum class ThreadOrder { forward, reverse, random };
/// When queued work runs: at once in threads of its own; at the call; as late as
/// anything waits for it, the oldest or the newest stream first.
enum class StreamOrder { async, eager, lazy, lazyNewest };

/// What the emulated device is and how it runs, from the environment: every
/// variable is `DPC_EMU_` and the name in the comment. A value that is not
/// understood ends the process.
struct Options {
  bool check;               // CHECK=1: look at each access
  ThreadOrder threadOrder;  // ORDER=forward|reverse|random
  unsigned seed;            // SEED: of the random order
  StreamOrder streamOrder;  // STREAM=async|eager|lazy|lazy-newest
  unsigned jitterMicros;    // JITTER_US: most that an operation of `async` is delayed; by so much
                            // lazy streams begin late when the host waits for them
  unsigned kernelMicros;    // KERNEL_US: a kernel sleeps so long and computes nothing
  unsigned graceMillis;     // GRACE_MS: lazy streams go on when the host is silent so long
  unsigned devices;         // DEVICES
  unsigned multiprocessors; // MULTIPROCESSORS of each
  unsigned capability;      // SM: 80 or 90
  unsigned memoryMegabytes; // MEMORY_MB of each device
  unsigned threads;         // THREADS: host threads that run blocks
  unsigned blocks;          // BLOCKS=N: run at most N blocks per launch, and compute no results
  unsigned ncclSeconds;     // NCCL_TIMEOUT_S: how long a collective waits for a peer
  int ncclFailRank;         // NCCL_FAIL=RANK:N: transfer N (from 1) of that rank fails
  uint64_t ncclFailAt;
  bool ncclKnown;        // NCCL_KNOWN=1: operations that are captured must be of a kind, and with a
                         // peer, that the communicator has run before
  unsigned droppedEvent; // DROP_EVENT=N: the process waits for no record of its event N (from 1)
  int kernelFailDevice;  // KERNEL_FAIL=DEVICE:N: its kernel N (from 1) reads what is not there
  uint64_t kernelFailAt;
  int slowAlgorithm;       // LT_SLOW=N: products by cuBLASLt's algorithm N (from 0) take longer
  int slowSetting;         // DNN_SLOW=N: convolutions by cuDNN's setting N (from 0) take longer
  std::string cacheFolder; // CACHE: compiled kernels; "" keeps none
  std::string countFile;   // COUNT: where calls and accesses are counted; "" counts nothing
  std::string dumpFile;    // DUMP: where the code of the last kernel is written

  /// Read once a process.
  static const Options &get();
  /// Whether only some blocks of each launch run (BLOCKS). The values in device memory then mean
  /// nothing, so the emulated libraries compute nothing.
  bool runsSomeBlocks() const { return blocks != 0; }
};

/// Ends the process with status 97 and one line: this is no error that a program
/// could go on after. `describeFailure`, if set, adds which thread of which
/// kernel runs.
[[noreturn]] void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

extern std::string (*describeFailure)();

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_BASE_OPTIONS_H
