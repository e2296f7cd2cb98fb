#ifndef DPC_RUNTIME_SRC_PIECES_STEPFOLDER_H
#define DPC_RUNTIME_SRC_PIECES_STEPFOLDER_H

#include "dpc/status.h"
#include "runtime/src/base/Fd.h"
#include "runtime/src/data/ArrayFile.h"
#include "runtime/src/pieces/Manifest.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace dpc {

constexpr const char *kManifest = "manifest.json";

/// Name of the folder of a checkpoint, e.g. "step-12".
std::string stepFolderName(uint64_t step);

/// Calls see(name, number) for each entry of a directory whose name is `prefix`
/// followed by a number. Ignores numbers with leading zeros or signs.
void forEachNumbered(const std::string &directory, const std::string &prefix,
                     const std::function<void(const char *, uint64_t)> &see);

/// The steps of all checkpoints in a directory, newest first. Only the names of the
/// folders count. Empty if the directory does not exist.
std::vector<uint64_t> listCheckpoints(const std::string &directory);

/// The files of the checkpoint in the folder `path`, sorted by name. They need not fit together.
/// The manifest is always one of them, even if the folder lacks it.
std::vector<std::string> filesOfCheckpoint(const std::string &path);

/// Returns DPC_INVALID if the directory is itself a checkpoint. The user should then
/// name its parent directory.
dpc_status_t checkHoldsCheckpoints(const std::string &directory);

/// One checkpoint on the disk. Symbolic links inside the directory of checkpoints are
/// not followed.
class StepFolder {
public:
  /// Opens the folder. Returns DPC_INVALID if it is a link or a file, and DPC_IO if
  /// it cannot be opened. The message names the path.
  dpc_status_t open(const std::string &directory, const std::string &name);
  /// Reads manifest.json. Returns DPC_INVALID if it is malformed or has an unknown
  /// version, or if the folder has a file of pieces that the manifest does not list.
  dpc_status_t readManifest(Manifest *out) const;
  /// Returns DPC_INVALID if the step in the manifest differs from the step in the
  /// folder's name.
  dpc_status_t checkStep(const Manifest &manifest) const;
  /// Maps a file that the manifest lists. Checks its length, but not its contents.
  dpc_status_t mapFile(const ManifestFile &file, Mapping *out) const;
  /// Checks that the contents of a file have the checksum in the manifest.
  dpc_status_t checkFile(const ManifestFile &file) const;
  /// Whether the folder contains only its own files: files of a checkpoint, and
  /// temporary files that a killed writer of a checkpoint left.
  bool holdsOnlyOwnFiles() const;
  /// Removes the folder's own files. Then removes the folder itself if it is empty.
  void removeOwnFiles();
  int get() const { return folder.get(); }
  const std::string &getPath() const { return path; }
  std::string pathOf(const std::string &file) const { return path + "/" + file; }

private:
  std::string path, name;
  Fd folder, parent;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PIECES_STEPFOLDER_H
