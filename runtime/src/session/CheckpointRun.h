#ifndef DPC_RUNTIME_SRC_SESSION_CHECKPOINTRUN_H
#define DPC_RUNTIME_SRC_SESSION_CHECKPOINTRUN_H

#include <cstdint>
#include <set>
#include <string>
#include <tuple>

namespace dpc {

/// A training run, including its interruptions: a resumed run has the id of the
/// checkpoint from which it continues.
struct CheckpointRun {
  static constexpr const char *kShuffled = "shuffled", *kAsStored = "as stored";

  /// Identifies a version of a file: device, inode, bytes, and the latest
  /// change in seconds and nanoseconds.
  using FileState = std::tuple<uint64_t, uint64_t, int64_t, int64_t, int64_t>;

  std::string id; ///< empty: the run has neither written nor resumed a checkpoint
  /// Order of the run's samples; null: an embedding program decides on it.
  const char *order = nullptr;
  /// The checkpoint is only read, and no step follows. Then its values are used
  /// whatever the seed, batch and order of samples with which it was written.
  bool isOnlyRead = false;
  /// Last step that was planned for the run when the resumed checkpoint was
  /// written, if its learning rates depend on that; 0: not known.
  uint64_t scheduleTotal = 0;
  /// State files whose checksum was correct. They are not read again unless
  /// they change.
  std::set<FileState> sound;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_CHECKPOINTRUN_H
