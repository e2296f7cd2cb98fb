#ifndef DPC_RUNTIME_SRC_SESSION_CHECKPOINTRUN_H
#define DPC_RUNTIME_SRC_SESSION_CHECKPOINTRUN_H

#include <cstdint>
#include <set>
#include <string>
#include <tuple>

namespace dpc {

/// The facts about a training run that its checkpoints record. A resumed run takes its
/// id from the checkpoint, because it continues the same run. But a run that resumes
/// from another folder (--resume=DIR) is a new run with a new id.
struct CheckpointRun {
  static constexpr const char *kShuffled = "shuffled", *kAsStored = "as stored";

  /// Identifies a version of a file: its device, inode and size in bytes, and the
  /// time of its latest change in seconds and nanoseconds.
  using FileState = std::tuple<uint64_t, uint64_t, int64_t, int64_t, int64_t>;

  std::string id; ///< empty: the run has neither written nor resumed a checkpoint
  /// Order of the run's samples (kShuffled or kAsStored); null: a program that
  /// embeds the model chooses the order.
  const char *order = nullptr;
  /// Whether the run only reads the checkpoint and makes no step. Then the checkpoint
  /// may have another seed, batch and order of samples than this run.
  bool isOnlyRead = false;
  /// Last step that the user planned when the resumed checkpoint was written.
  /// Only known if the learning rates depend on this step; 0: not known.
  uint64_t scheduleTotal = 0;
  /// The versions of checkpoint files whose checksum was correct. The checksum of such
  /// a file is computed again only if the file has changed.
  std::set<FileState> sound;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_CHECKPOINTRUN_H
