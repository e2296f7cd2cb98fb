#ifndef DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINTSAVER_H
#define DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINTSAVER_H

#include "runtime/src/checkpoint/PieceWriter.h"
#include "runtime/src/pieces/StepFolder.h"

#include <string>
#include <vector>

namespace dpc {

/// Writes a checkpoint, the folder directory/step-<N>. The folder has one file for each
/// rank that writes pieces, and manifest.json, which says which file has each element
/// of the state. The folder is created under another name, flushed to the disk, read
/// back and then renamed, so that a checkpoint exists completely or not at all.
/// Afterwards, old checkpoints are removed: of the undamaged checkpoints of this run,
/// only the three newest are kept. Of the folders that other runs wrote, only
/// unfinished checkpoints whose writers have died are removed.
class CheckpointSaver {
public:
  explicit CheckpointSaver(dpc_session &session) : session(session) {}
  /// Removes a checkpoint that is not finished.
  ~CheckpointSaver();
  /// Collective. Copies the current state and returns. A thread on each rank writes the
  /// copy. If an earlier checkpoint is not finished, finishes it first.
  dpc_status_t begin(const std::string &directory);
  /// Collective, called after an entry. Finishes the current checkpoint if all
  /// ranks have written their files.
  dpc_status_t poll() { return session.writingAgreed ? dpc_status_t(DPC_OK) : finish(); }
  /// Collective. Waits for the files of all ranks, and renames the folder to
  /// its final name. Does nothing if no checkpoint is being written.
  dpc_status_t finish();

private:
  /// Size and checksum of the file that a rank has written. Each rank sends them to
  /// rank 0.
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
  std::string directory, name; ///< parent and name of the folder that is being written; empty
                               ///< if no folder is being written
  uint64_t step = 0;
  StepFolder folder; ///< rank 0: the folder, which is open and locked
  PieceWriter writer;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CHECKPOINT_CHECKPOINTSAVER_H
