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

/// Name of a checkpoint's folder: "step-12".
std::string stepFolderName(uint64_t step);

/// Calls `see(name, number)` for each entry of a directory whose name is
/// `prefix` followed by a number, in the form of std::to_string.
void forEachNumbered(const std::string &directory, const std::string &prefix,
                     const std::function<void(const char *, uint64_t)> &see);

/// Steps of the folders in a directory that have names of checkpoints, newest
/// first. A missing directory has none.
std::vector<uint64_t> listCheckpoints(const std::string &directory);

/// DPC_INVALID if the directory is itself a checkpoint; the user should then
/// give its parent.
dpc_status_t checkHoldsCheckpoints(const std::string &directory);

/// One checkpoint on the disk. No symbolic links below the checkpoints'
/// directory are followed.
class StepFolder {
public:
  /// DPC_IO, or DPC_INVALID for a link or a file; the message names the path.
  dpc_status_t open(const std::string &directory, const std::string &name);
  /// Reads manifest.json. DPC_INVALID if it is malformed or of another version,
  /// or if the folder has a file of pieces that it does not list.
  dpc_status_t readManifest(Manifest *out) const;
  /// DPC_INVALID unless the manifest has the step of the folder's name.
  dpc_status_t checkStep(const Manifest &manifest) const;
  /// Maps a file that the manifest lists and checks its length, but not its
  /// contents.
  dpc_status_t mapFile(const ManifestFile &file, Mapping *out) const;
  /// Compares the contents of a file with its checksum.
  dpc_status_t checkFile(const ManifestFile &file) const;
  /// Whether the folder contains only files of a checkpoint and temporary files
  /// of writing one.
  bool holdsOnlyOwnFiles() const;
  /// Removes those files, then the folder itself if it is empty.
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
