#ifndef DPC_RUNTIME_SRC_DATA_PREFETCHER_H
#define DPC_RUNTIME_SRC_DATA_PREFETCHER_H

#include "runtime/src/data/InputLoader.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace dpc {

/// A thread that reads, checks and converts the next batch during the
/// computation of the current one. So a step pays only for a copy, and not for
/// page faults, disks and conversions. It serves the inputs of one rank, one
/// batch ahead. After construction it allocates nothing unless a batch is bad.
class Prefetcher {
public:
  Prefetcher(const dpc_program_t &program, uint32_t rank);
  ~Prefetcher();
  Prefetcher(const Prefetcher &) = delete;

  /// The loader of the next batch. Its bindings and rows may be changed between
  /// finish() and begin().
  InputLoader &next() { return loader; }

  /// Starts reading the batch of next(), if there is one.
  void begin();
  /// Whether there is a batch for begin() to read.
  bool hasNext = true;
  /// Waits until the batch has been read, and returns its status.
  dpc_status_t finish();

  /// The values of one microbatch of an input, valid after finish(); null if
  /// this rank holds nothing of the input.
  const char *values(uint32_t input, uint64_t micro) const;
  /// Size of one microbatch of an input.
  uint64_t bytes(uint32_t input) const { return stages[input].bytes; }

private:
  struct Stage {
    std::vector<char> memory;
    uint64_t bytes = 0; ///< size of one microbatch
  };

  void run();
  dpc_status_t load();

  const dpc_program_t &program;
  InputLoader loader;
  std::vector<Stage> stages; ///< indexed by input
  enum class State { idle, reading, done } state = State::idle;
  bool ends = false;
  dpc_status_t status = DPC_OK;
  std::string error;
  std::mutex mutex;
  std::condition_variable changed;
  std::thread thread;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DATA_PREFETCHER_H
