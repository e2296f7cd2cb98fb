#ifndef DPC_TARGETS_OBJECTS_OBJECTCACHE_H
#define DPC_TARGETS_OBJECTS_OBJECTCACHE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace dpc {

/// A cache of the object files of kernels, in a folder that all compiles of a user
/// share.
///
/// A key is a hash of everything that an object depends on, so an entry never
/// becomes out of date. Programs run the code in the folder, so the folder must
/// belong to this user, and other users must not have access to it. Every entry has
/// its key and a checksum of its contents. An entry that is damaged, or that
/// another process is still writing, counts as absent. Failures of the cache never
/// make a compile fail.
class ObjectCache {
public:
  /// Opens `folder`, and creates it if it does not exist. Fails with a reason if this is
  /// not possible, if the folder belongs to another user, or if its mode lets other users
  /// access it. `prune` shrinks the folder to at most `maxBytes` bytes.
  static llvm::Expected<ObjectCache> open(llvm::StringRef folder, uint64_t maxBytes);
  /// The default folder of this user: $XDG_CACHE_HOME/dpc/kernels or
  /// $HOME/.cache/dpc/kernels. A variable without an absolute path counts as not set.
  /// Empty if neither variable is set.
  static std::string defaultFolder();

  /// The key of an object. `content` describes the code and the options from which
  /// the object is generated. The key also depends on the program and the libraries
  /// of this process, because they contain the code generator.
  static std::string keyOf(llvm::StringRef content);

  /// The object that is stored under `key`; null if there is none or if it is
  /// damaged.
  std::optional<std::string> lookup(llvm::StringRef key) const;
  /// Stores `object` under `key`, atomically: other processes see either the
  /// complete object or no object.
  void store(llvm::StringRef key, llvm::StringRef object) const;
  /// Removes entries that were not used for a week. Then removes the least recently used
  /// entries until the folder has at most `maxBytes` bytes, and at most a tenth of the
  /// disk space that is free or taken by the folder. Temporary files that interrupted
  /// processes left count as entries.
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
