#ifndef DPC_RUNTIME_SRC_CHECKPOINT_STEPFOLDER_H
#define DPC_RUNTIME_SRC_CHECKPOINT_STEPFOLDER_H

#include "dpc/status.h"
#include "runtime/src/base/Fd.h"
#include "runtime/src/data/ArrayFile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dpc {

constexpr const char *kStateFile = "state.safetensors";
constexpr const char *kManifest = "manifest.json";

/// What manifest.json says of the state file beside it.
struct Manifest {
  uint64_t step = 0, seed = 0, bytes = 0;
  uint32_t crc = 0;
  std::string run; ///< of the run that wrote it; empty: it does not say
};

/// "step-12"
std::string stepFolderName(uint64_t step);

/// One checkpoint on the disk, reached without following a link below the
/// checkpoints' directory.
class StepFolder {
public:
  /// DPC_IO or, for a link or a file, DPC_INVALID; both name the path.
  dpc_status_t open(const std::string &directory, const std::string &name);
  /// DPC_INVALID for what is none, of another version or not of the step that
  /// the folder is named for.
  dpc_status_t readManifest(Manifest *out) const;
  /// Maps the state file, without a look at its contents.
  dpc_status_t mapState(Mapping *out) const;
  /// Whether all files in it are those of a checkpoint, or of its making.
  bool holdsOnlyOwnFiles() const;
  /// Removes these, then the folder itself if nothing else is in it.
  void removeOwnFiles();
  int get() const { return folder.get(); }
  std::string pathOf(const char *file) const { return path + "/" + file; }

private:
  std::string path, name;
  Fd folder, parent;
};

/// Length and checksum of the state file against its manifest.
dpc_status_t checkContents(const Mapping &state, const Manifest &manifest, const std::string &path);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CHECKPOINT_STEPFOLDER_H
