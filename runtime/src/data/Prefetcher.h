#ifndef DPC_RUNTIME_SRC_DATA_PREFETCHER_H
#define DPC_RUNTIME_SRC_DATA_PREFETCHER_H

#include "runtime/src/data/InputLoader.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace dpc {

/// A thread that reads, checks and converts the next batch while the present
/// one is computed: page faults, disks and conversions then cost the step only
/// a copy. It serves the inputs of one rank, one batch ahead; after
/// construction nothing is allocated unless a batch is bad.
class Prefetcher {
public:
  Prefetcher(const dpc_program_t &program, uint32_t rank);
  ~Prefetcher();
  Prefetcher(const Prefetcher &) = delete;

  /// What is read next: its bindings and rows may be changed between finish()
  /// and begin().
  InputLoader &next() { return loader; }

  /// Begins to read the batch of next(), unless there is none.
  void begin();
  /// Whether begin() has something to read.
  bool hasNext = true;
  /// Waits until that batch is there; its failure, if it has one.
  dpc_status_t finish();

  /// The values of a microbatch of an input, after finish(); null for an input
  /// of which this rank holds nothing.
  const char *values(uint32_t input, uint64_t micro) const;
  /// Bytes of a microbatch.
  uint64_t bytes(uint32_t input) const { return stages[input].bytes; }

private:
  struct Stage {
    std::vector<char> memory;
    uint64_t bytes = 0; ///< of one microbatch
  };

  void run();
  dpc_status_t load();

  const dpc_program_t &program;
  InputLoader loader;
  std::vector<Stage> stages; ///< by input
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
