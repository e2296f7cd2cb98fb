// Keeps compiled objects in a folder of this user. The key of an object is a hash
// of everything that it depends on.

#include "targets/Objects/ObjectCache.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace dpc;

/// The first bytes of every entry. The key and the hash of the contents follow
/// them.
static constexpr StringLiteral kMagic = "dpc object 1\n";
static constexpr size_t kHashBytes = 64; // of a hash in hexadecimal digits

static std::string hashOf(ArrayRef<StringRef> parts) {
  BLAKE3 hasher;
  for (StringRef part : parts) {
    uint64_t size = part.size();
    hasher.update(ArrayRef<uint8_t>(reinterpret_cast<uint8_t *>(&size), 8));
    hasher.update(part);
  }
  return toHex(hasher.final(), /*LowerCase=*/true);
}

/// The build identifiers that linkers wrote into this program and into all
/// libraries that it has loaded.
static std::string buildIdentifiers() {
  std::string all;
  dl_iterate_phdr(
      [](dl_phdr_info *object, size_t, void *result) {
        auto &all = *static_cast<std::string *>(result);
        for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
          const ElfW(Phdr) &header = object->dlpi_phdr[i];
          if (header.p_type != PT_NOTE)
            continue;
          const char *at = reinterpret_cast<const char *>(object->dlpi_addr + header.p_vaddr);
          all.append(at, header.p_memsz);
        }
        return 0;
      },
      &all);
  return all;
}

std::string ObjectCache::keyOf(StringRef content) {
  static const std::string generator = hashOf({LLVM_VERSION_STRING, buildIdentifiers()});
  return hashOf({generator, content});
}

std::string ObjectCache::defaultFolder() {
  SmallString<128> path;
  std::optional<std::string> home = sys::Process::GetEnv("XDG_CACHE_HOME");
  if (home && sys::path::is_absolute(*home)) {
    path = *home;
  } else {
    home = sys::Process::GetEnv("HOME");
    if (!home || !sys::path::is_absolute(*home))
      return "";
    path = *home;
    sys::path::append(path, ".cache");
  }
  sys::path::append(path, "dpc", "kernels");
  return path.str().str();
}

static Error refuse(StringRef folder, const Twine &why) {
  return createStringError("kernels are not cached in " + folder + ": " + why);
}

Expected<ObjectCache> ObjectCache::open(StringRef folder, uint64_t maxBytes) {
  StringRef parent = sys::path::parent_path(folder);
  if (!parent.empty())
    if (std::error_code code = sys::fs::create_directories(parent))
      return refuse(folder, code.message());
  std::string path = folder.str();
  if (mkdir(path.c_str(), 0700) && errno != EEXIST)
    return refuse(folder, sys::StrError());
  struct stat status;
  if (lstat(path.c_str(), &status))
    return refuse(folder, sys::StrError());
  if (!S_ISDIR(status.st_mode))
    return refuse(folder, "it is no folder");
  if (status.st_uid != geteuid())
    return refuse(folder,
                  "it belongs to user " + Twine(status.st_uid) + ", not " + Twine(geteuid()));
  if (status.st_mode & 077)
    return refuse(folder, "others may use it (mode 0" + Twine(utostr(status.st_mode >> 6 & 7)) +
                              utostr(status.st_mode >> 3 & 7) + utostr(status.st_mode & 7) +
                              ", not 0700)");
  return ObjectCache(std::move(path), maxBytes);
}

/// llvm::pruneCache only removes files whose names begin with this prefix.
static constexpr StringLiteral kPrefix = "llvmcache-";

std::string ObjectCache::pathOf(StringRef key) const {
  SmallString<128> path(folder);
  sys::path::append(path, kPrefix + key);
  return path.str().str();
}

std::optional<std::string> ObjectCache::lookup(StringRef key) const {
  int file = ::open(pathOf(key).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0)
    return std::nullopt;
  auto close = make_scope_exit([&] { ::close(file); });
  struct stat status;
  if (fstat(file, &status) || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
      uint64_t(status.st_size) > maxBytes)
    return std::nullopt;
  std::string bytes(status.st_size, '\0');
  for (size_t done = 0; done < bytes.size();) {
    ssize_t count = read(file, &bytes[done], bytes.size() - done);
    if (count <= 0)
      return std::nullopt;
    done += count;
  }
  StringRef rest = bytes;
  if (!rest.consume_front(kMagic) || !rest.consume_front(key) || rest.size() < kHashBytes)
    return std::nullopt;
  StringRef checksum = rest.take_front(kHashBytes);
  rest = rest.drop_front(kHashBytes);
  if (hashOf({rest}) != checksum)
    return std::nullopt;
  // prune() removes the files with the oldest times of access first. Set the time
  // here, because on many file systems a read does not set it.
  futimens(file, nullptr);
  return rest.str();
}

void ObjectCache::store(StringRef key, StringRef object) const {
  SmallString<128> temporary;
  int file;
  if (sys::fs::createUniqueFile(pathOf(key) + ".%%%%%%%%", file, temporary, sys::fs::OF_None, 0600))
    return;
  raw_fd_ostream stream(file, /*shouldClose=*/true);
  stream << kMagic << key << hashOf({object}) << object;
  stream.close();
  bool written = !stream.has_error();
  stream.clear_error();
  if (!written || sys::fs::rename(temporary, pathOf(key)))
    sys::fs::remove(temporary);
}

void ObjectCache::prune() const {
  CachePruningPolicy policy;
  policy.Interval = std::chrono::seconds(0);
  policy.MaxSizeBytes = maxBytes;
  policy.MaxSizePercentageOfAvailableSpace = 10;
  pruneCache(folder, policy);
}
