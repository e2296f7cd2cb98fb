#ifndef DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINTSAVER_H
#define DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINTSAVER_H

#include "runtime/src/checkpoint/PieceWriter.h"
#include "runtime/src/pieces/StepFolder.h"

#include <string>
#include <vector>

namespace dpc {

/// Writes directory/step-<N>: a file of each rank's pieces, and manifest.json,
/// which says where each element of the state lies. They are made under another
/// name, flushed, read back, then renamed, so that a checkpoint is there
/// completely or not at all. The three newest sound ones of this run stay, and everything that it
/// did not write.
class CheckpointSaver {
public:
  explicit CheckpointSaver(dpc_session &session) : session(session) {}
  /// Gives up on a checkpoint that is under way.
  ~CheckpointSaver();
  /// Collective. Copies the state of now and returns; threads write it. The
  /// checkpoint before is finished first.
  dpc_status_t begin(const std::string &directory);
  /// Collective, after an entry. Finishes the checkpoint under way if all ranks
  /// have written their files.
  dpc_status_t poll() { return session.writingAgreed ? dpc_status_t(DPC_OK) : finish(); }
  /// Collective. Waits for all ranks' files, and gives the checkpoint its name.
  /// Nothing if none is under way.
  dpc_status_t finish();

private:
  /// What a rank tells of its file.
  struct Written {
    uint64_t bytes;
    uint64_t crc;
  };

  dpc_status_t openFolder(const std::string &directory);
  dpc_status_t place(const std::vector<char> &written);
  dpc_status_t writeManifest(const Manifest &manifest) const;
  dpc_status_t readBack() const;
  void rememberSound(const Manifest &manifest) const;
  std::string path() const { return directory + "/" + name; }
  bool first() const { return session.options.rank == 0; }

  dpc_session &session;
  std::vector<PlannedPiece> plan;
  std::string directory, name; ///< of the folder under way; empty: none is
  uint64_t step = 0;
  StepFolder folder; ///< rank 0: holds a lock on it
  PieceWriter writer;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINTSAVER_H
