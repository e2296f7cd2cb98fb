// Folders for the temporary files of a compile. They are removed after an error
// and after an interrupt. If the compiler is killed, the next compile removes
// them.
#ifndef DPC_TOOLS_DPC_COMPILE_WORKFOLDER_H
#define DPC_TOOLS_DPC_COMPILE_WORKFOLDER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <system_error>
#include <utility>

namespace dpc {

/// From this call on, SIGINT, SIGTERM and SIGHUP first kill the program that the process runs and
/// remove the work folders; then they end the process. Signals that the process ignores stay
/// ignored. Must be called before the process starts another thread.
void cleanUpOnInterrupt();

/// A temporary folder. The destructor removes the folder with all files in
/// it.
class WorkFolder {
public:
  WorkFolder() = default;
  WorkFolder(const WorkFolder &) = delete;
  WorkFolder &operator=(const WorkFolder &) = delete;
  ~WorkFolder();

  /// Makes the folder `parent`/`prefix`XXXXXX. First removes other folders of
  /// this pattern whose processes have ended. A process holds a lock on its
  /// folder as long as it lives, so a folder without a lock has no process.
  std::error_code create(llvm::StringRef parent, llvm::StringRef prefix);
  /// The path of the file `name` in this folder.
  std::string file(llvm::StringRef name) const;
  llvm::StringRef getPath() const { return path; }

private:
  std::string path;
  int lock = -1;
};

/// Removes all work folders of this process. Allocates no memory, because a
/// process without memory calls it before it ends.
void removeWorkFolders();

/// Renames finished files, given as pairs (from, to), to their final paths. An
/// interrupt takes effect before the first or after the last rename. Stops at
/// the first file that cannot be renamed, and sets `failed` to its final path.
std::error_code moveIntoPlace(llvm::ArrayRef<std::pair<std::string, std::string>> files,
                              std::string &failed);

/// Runs a program to its end. Its standard output and standard error go to the
/// file `log`, and its temporary files to `folder` (TMPDIR). Returns its exit
/// code; -1 if it could not be started or a signal killed it.
int runInFolder(llvm::ArrayRef<std::string> command, const WorkFolder &folder, llvm::StringRef log);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_WORKFOLDER_H
