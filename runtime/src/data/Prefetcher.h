#ifndef DPC_RUNTIME_SRC_DATA_PREFETCHER_H
#define DPC_RUNTIME_SRC_DATA_PREFETCHER_H

#include "runtime/src/data/InputLoader.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace dpc {

/// A thread that reads, checks and converts the next batch of one rank while the rank
/// computes with the current batch. So a step needs only the time of a copy for its
/// inputs, unless reading a batch takes longer than computing with one. After
/// construction, the thread allocates no memory, except for the message about an
/// invalid batch.
///
/// The memory for batches has one slot or several, which are filled in turn. With one slot, the
/// caller must have copied a batch before begin(). With several, the caller may read a batch until
/// the begin() that fills its slot again.
class Prefetcher {
public:
  /// Allocates memory for the thread.
  using Allocate = std::function<dpc_status_t(uint64_t bytes, char **out)>;

  Prefetcher(const dpc_program_t &program, uint32_t rank);
  ~Prefetcher();
  Prefetcher(const Prefetcher &) = delete;

  /// Reads batches into `count` slots of memory from `allocate`, instead of one slot of its own.
  /// May be called before the first begin().
  dpc_status_t useSlots(uint32_t count, const Allocate &allocate);
  uint32_t slotCount() const { return slots; }
  /// The slot of the batch that values() reads.
  uint32_t slot() const { return current; }
  /// The slot that the next begin() fills.
  uint32_t nextSlot() const { return (current + 1) % slots; }

  /// The loader of the next batch. The caller may change its bindings and rows
  /// between finish() and begin().
  InputLoader &next() { return loader; }

  /// Starts reading the next batch. Does nothing if `hasNext` is false.
  void begin();
  /// Whether the data has a next batch. The caller sets it.
  bool hasNext = true;
  /// Waits until the batch has been read, and returns its status.
  dpc_status_t finish();

  /// The values of one microbatch of an input, valid after finish(). Null if this
  /// rank holds no elements of the input.
  const char *values(uint32_t input, uint64_t micro) const;
  /// Size of one microbatch of an input.
  uint64_t bytes(uint32_t input) const { return stages[input].bytes; }

private:
  struct Stage {
    std::vector<char> own;
    std::vector<char *> memory; ///< by slot; empty if this rank holds no elements of the input
    uint64_t bytes = 0;         ///< size of one microbatch
  };

  void run();
  dpc_status_t load();

  const dpc_program_t &program;
  InputLoader loader;
  std::vector<Stage> stages; ///< indexed by input
  uint32_t slots = 1, current = 0, filled = 0;
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
