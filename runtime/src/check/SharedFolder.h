#ifndef DPC_RUNTIME_SRC_CHECK_SHAREDFOLDER_H
#define DPC_RUNTIME_SRC_CHECK_SHAREDFOLDER_H

#include "dpc/status.h"
#include "runtime/src/base/Sha256.h"

#include <cstdint>
#include <string>

namespace dpc {

/// Finds out whether the ranks of several hosts see one folder under one path. Rank 0 puts a small
/// file with random contents into the folder, and the other ranks look for it. Leaves nothing
/// there.
class SharedFolder {
public:
  explicit SharedFolder(std::string path) : path(std::move(path)) {}
  /// Removes what prepare() has made.
  ~SharedFolder();
  SharedFolder(const SharedFolder &) = delete;
  SharedFolder &operator=(const SharedFolder &) = delete;

  /// Called on rank 0: makes the file, and also the folder if it does not exist.
  dpc_status_t prepare(Digest *outContents);
  /// Called on the other ranks: finds the file, and makes and removes another one. Waits a second
  /// for the file, because a network file system may show it late.
  dpc_status_t look(uint32_t rank, const Digest &contents) const;

private:
  std::string fileOf(const Digest &contents, const char *suffix) const;

  std::string path, file;
  bool hasMadeFolder = false;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CHECK_SHAREDFOLDER_H
