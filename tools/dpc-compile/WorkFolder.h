// Where a compile keeps what it makes on the way, so that none of it stays:
// neither after an error, nor after an interrupt, nor, once another compile has
// run, after a kill.
#ifndef DPC_TOOLS_DPC_COMPILE_WORKFOLDER_H
#define DPC_TOOLS_DPC_COMPILE_WORKFOLDER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <system_error>
#include <utility>

namespace dpc {

/// From here on SIGINT, SIGTERM and SIGHUP end the process only after what it
/// runs has been killed and its work folders have been removed. Called before
/// the first other thread is made.
void cleanUpOnInterrupt();

/// A folder that is removed with what is in it when the object goes out of
/// scope.
class WorkFolder {
public:
  WorkFolder() = default;
  WorkFolder(const WorkFolder &) = delete;
  WorkFolder &operator=(const WorkFolder &) = delete;
  ~WorkFolder();

  /// Makes `parent`/`prefix`XXXXXX, and removes its like at this place whose
  /// makers are dead: each holds a lock on its folder as long as it lives.
  std::error_code create(llvm::StringRef parent, llvm::StringRef prefix);
  /// Path of a file in it.
  std::string file(llvm::StringRef name) const;
  llvm::StringRef getPath() const { return path; }

private:
  std::string path;
  int lock = -1;
};

/// Removes the folders of this process, which ends: it has no memory left.
void removeWorkFolders();

/// Renames finished files, (from, to) each, to their places: an interrupt comes
/// before all or after all. Stops at the first that fails, which is `failed`.
std::error_code moveIntoPlace(llvm::ArrayRef<std::pair<std::string, std::string>> files,
                              std::string &failed);

/// Runs a program to its end, with both outputs in the file `log` and its own
/// temporary files in `folder`. Its exit code; -1 if it could not run or was
/// killed.
int runInFolder(llvm::ArrayRef<std::string> command, const WorkFolder &folder, llvm::StringRef log);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_WORKFOLDER_H
