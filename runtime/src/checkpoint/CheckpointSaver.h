#ifndef DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINTSAVER_H
#define DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINTSAVER_H

#include "runtime/src/checkpoint/PieceWriter.h"
#include "runtime/src/pieces/StepFolder.h"

#include <string>
#include <vector>

namespace dpc {

/// Writes directory/step-<N>. The folder has a file of pieces per rank, and
/// manifest.json, which says which file has each element of the state. The
/// folder is made under another name, flushed, read back and then renamed, so
/// that a checkpoint exists completely or not at all. The three newest
/// undamaged checkpoints of this run are kept, and everything that this run did
/// not write.
class CheckpointSaver {
public:
  explicit CheckpointSaver(dpc_session &session) : session(session) {}
  /// Abandons a checkpoint that is not finished.
  ~CheckpointSaver();
  /// Collective. Copies the current state and returns; a thread per rank writes
  /// the copy. A previous checkpoint is finished first.
  dpc_status_t begin(const std::string &directory);
  /// Collective, called after an entry. Finishes the current checkpoint if all
  /// ranks have written their files.
  dpc_status_t poll() { return session.writingAgreed ? dpc_status_t(DPC_OK) : finish(); }
  /// Collective. Waits for the files of all ranks, and renames the folder to
  /// its final name. Does nothing if no checkpoint is being written.
  dpc_status_t finish();

private:
  /// Size and checksum of its file, which each rank sends to rank 0.
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
  std::string directory, name; ///< of the folder being written; empty if there is none
  uint64_t step = 0;
  StepFolder folder; ///< rank 0: the folder, open and locked
  PieceWriter writer;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINTSAVER_H
