#ifndef DPC_TARGETS_OBJECTS_OBJECTCACHE_H
#define DPC_TARGETS_OBJECTS_OBJECTCACHE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace dpc {

/// Object files of kernels, kept in a folder between compiles.
///
/// A key is a hash of everything that an object depends on, so no entry is ever out
/// of date. The program later runs code from the folder, so the folder must belong
/// to this user and be closed to all others. Every entry carries its key and a
/// checksum of its contents. An entry that is damaged, or that another process is
/// writing, is a miss. No failure of the cache fails a compile.
class ObjectCache {
public:
  /// Opens `folder`, and creates it if it does not exist. Fails with a reason if it
  /// is not a folder that only this user can access. `maxBytes` is the size to
  /// which `prune` shrinks it.
  static llvm::Expected<ObjectCache> open(llvm::StringRef folder, uint64_t maxBytes);
  /// The folder of this user: $XDG_CACHE_HOME/dpc/kernels or ~/.cache/dpc/kernels;
  /// "" if neither variable is set.
  static std::string defaultFolder();

  /// A key for `content`, which describes everything that decides the object,
  /// except for the code generator. The key also covers the program and libraries
  /// of this process.
  static std::string keyOf(llvm::StringRef content);

  /// The object stored under `key`, if it exists and is undamaged.
  std::optional<std::string> lookup(llvm::StringRef key) const;
  /// Stores `object` atomically: another process sees all of it or none of it.
  void store(llvm::StringRef key, llvm::StringRef object) const;
  /// Removes the least recently used entries until the others fit, and temporary
  /// files that interrupted writers left.
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
