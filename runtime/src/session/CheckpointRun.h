#ifndef DPC_RUNTIME_SRC_SESSION_CHECKPOINTRUN_H
#define DPC_RUNTIME_SRC_SESSION_CHECKPOINTRUN_H

#include <cstdint>
#include <set>
#include <string>
#include <tuple>

namespace dpc {

/// A run of training, across interruptions: a resumed one has the identity of
/// the checkpoint that it goes on from.
struct CheckpointRun {
  static constexpr const char *kShuffled = "shuffled", *kAsStored = "as stored";

  /// Device, inode, bytes, and the latest change in seconds and nanoseconds.
  using FileState = std::tuple<uint64_t, uint64_t, int64_t, int64_t, int64_t>;

  std::string id; ///< empty: nothing written or resumed yet
  /// How the run orders samples; null: whoever embeds the program decides.
  const char *order = nullptr;
  /// No step follows: the values are wanted, whatever the seed, batch and order of
  /// samples were.
  bool isOnlyRead = false;
  /// The last step that the run was to have when the checkpoint was written from which
  /// it goes on, where its learning rates depend on that; 0: nothing is known.
  uint64_t scheduleTotal = 0;
  /// State files whose checksum was right: a file that is unchanged since is
  /// not read again.
  std::set<FileState> sound;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_CHECKPOINTRUN_H
