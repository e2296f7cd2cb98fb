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

/// "step-12"
std::string stepFolderName(uint64_t step);

/// Calls `see(name, number)` for the entries of a directory that are `prefix`
/// and a number as std::to_string writes it.
void forEachNumbered(const std::string &directory, const std::string &prefix,
                     const std::function<void(const char *, uint64_t)> &see);

/// Steps of the folders in a directory that are named as checkpoints are,
/// newest first. A missing directory has none.
std::vector<uint64_t> listCheckpoints(const std::string &directory);

/// DPC_INVALID for a directory that is a checkpoint itself, whose parent is meant.
dpc_status_t checkHoldsCheckpoints(const std::string &directory);

/// One checkpoint on the disk, reached without following a link below the
/// checkpoints' directory.
class StepFolder {
public:
  /// DPC_IO or, for a link or a file, DPC_INVALID; both name the path.
  dpc_status_t open(const std::string &directory, const std::string &name);
  /// DPC_INVALID for what is none, of another version, or beside a file of
  /// pieces that it does not list.
  dpc_status_t readManifest(Manifest *out) const;
  /// DPC_INVALID unless the manifest is of the step that the folder is named
  /// for.
  dpc_status_t checkStep(const Manifest &manifest) const;
  /// Maps a file of the manifest, of the length that it says, without a look at
  /// its contents.
  dpc_status_t mapFile(const ManifestFile &file, Mapping *out) const;
  /// Compares a file's contents with its checksum.
  dpc_status_t checkFile(const ManifestFile &file) const;
  /// Whether all files in it are those of a checkpoint, or of its making.
  bool holdsOnlyOwnFiles() const;
  /// Removes these, then the folder itself if nothing else is in it.
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
