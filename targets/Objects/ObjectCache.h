#ifndef DPC_TARGETS_OBJECTS_OBJECTCACHE_H
#define DPC_TARGETS_OBJECTS_OBJECTCACHE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace dpc {

/// Object files of kernels, kept in a folder from one compile to the next.
///
/// A key is a hash of everything an object depends on, so an entry is never out
/// of date. Code from the folder is run later: the folder must belong to this
/// user and be closed to all others. Every entry carries its key and a checksum
/// of its contents; one that is damaged, or that another process is writing, is
/// a miss. Nothing here fails a compile.
class ObjectCache {
public:
  /// Opens `folder`, which is made if it is not there. Fails, and says why, if
  /// it is no folder of this user's alone. At most `maxBytes` stay in it.
  static llvm::Expected<ObjectCache> open(llvm::StringRef folder, uint64_t maxBytes);
  /// The folder of this user: $XDG_CACHE_HOME/dpc/kernels or
  /// ~/.cache/dpc/kernels; "" if there is neither.
  static std::string defaultFolder();

  /// A key for `content`, which holds all that decides the object but the code
  /// generator itself: the programs and libraries in this process count too.
  static std::string keyOf(llvm::StringRef content);

  /// The object stored under `key`, if it is there and sound.
  std::optional<std::string> lookup(llvm::StringRef key) const;
  /// Stores `object`, whole or not at all.
  void store(llvm::StringRef key, llvm::StringRef object) const;
  /// Removes what was not used for the longest time until the rest fits, and
  /// what interrupted writers left.
  void prune() const;

private:
  ObjectCache(std::string folder, uint64_t maxBytes)
      : folder(std::move(folder)), maxBytes(maxBytes) {}
  std::string pathOf(llvm::StringRef key) const;

  std::string folder;
  uint64_t maxBytes;
};

} // namespace dpc

#endif // DPC_TARGETS_OBJECTS_OBJECTCACHE_H
