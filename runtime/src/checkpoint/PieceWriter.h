#ifndef DPC_RUNTIME_SRC_CHECKPOINT_PIECEWRITER_H
#define DPC_RUNTIME_SRC_CHECKPOINT_PIECEWRITER_H

#include "runtime/src/data/ArrayFile.h"
#include "runtime/src/pieces/WritePlan.h"
#include "runtime/src/session/Session.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace dpc {

/// Writes the pieces of the state that one rank must write. begin() copies them, and a
/// separate thread writes the copy to a file and reads the file back.
class PieceWriter {
public:
  ~PieceWriter();
  /// Copies the pieces that the plan gives to this rank, and starts the thread that
  /// writes the copy to the file `path`. A rank without pieces writes no file.
  dpc_status_t begin(dpc_session &session, const std::vector<PlannedPiece> &plan,
                     const std::string &path);
  /// Waits until the thread has ended, frees the copy, and returns DPC_OK if copying
  /// and writing succeeded.
  dpc_status_t finish();
  /// True while the thread is running.
  const std::atomic<bool> &isBusy() const { return busy; }
  uint64_t bytes() const { return writtenBytes; }
  uint32_t checksum() const { return crc; }

private:
  dpc_status_t copy(dpc_session &session, const std::vector<PlannedPiece> &plan);
  dpc_status_t write(const std::string &path);
  dpc_status_t readBack(const std::string &path) const;

  std::thread thread;
  std::atomic<bool> busy{false};
  Mapping memory;
  std::vector<dpc_array_t> arrays; ///< the pieces; their data is in `memory`
  std::string step, program, cause;
  dpc_status_t status = DPC_OK;
  uint64_t writtenBytes = 0;
  uint32_t crc = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CHECKPOINT_PIECEWRITER_H
