// Maps weights that are stored in files beside the model, after checks of path,
// offset and length.

#include "frontends/onnx/Model/ExternalData.h"

#include "frontends/onnx/Model/Failure.h"

#include "OnnxSchema.pb.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA1.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

using llvm::StringRef;

namespace dpc::onnx {
namespace {

/// Closes a descriptor when it goes out of scope.
struct Descriptor {
  explicit Descriptor(int fd) : fd(fd) {}
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  int fd;
};

/// The reason why `location` may not be opened; nullptr if it may.
const char *badLocation(StringRef location) {
  if (location.empty())
    return "is empty";
  if (location.contains('\\'))
    return "has a backslash";
  if (location.contains('\0'))
    return "holds a NUL";
  if (location.starts_with("/"))
    return "is an absolute path";
  if (location.size() >= 2 && llvm::isAlpha(location[0]) && location[1] == ':')
    return "has a drive letter";
  llvm::SmallVector<StringRef> components;
  location.split(components, '/');
  for (StringRef component : components) {
    if (component == "..")
      return "leaves the model's folder ('..')";
    if (component.empty())
      return "has an empty component";
  }
  return nullptr;
}

/// Opens `location` below `folder` without following a symbolic link; -1 and
/// errno on failure.
int openBeneath(int folder, StringRef location) {
  constexpr int flags =
      O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY; // O_NONBLOCK: a FIFO must not block us
  open_how how = {};
  how.flags = flags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  std::string path = location.str();
  int fd = static_cast<int>(::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how));
  if (fd >= 0 || (errno != ENOSYS && errno != EPERM && errno != EINVAL))
    return fd;
  // Without openat2 (old kernels, some sandboxes): open one component at a time.
  llvm::SmallVector<StringRef> components;
  location.split(components, '/');
  int current = ::dup(folder);
  for (auto [index, component] : llvm::enumerate(components)) {
    if (current < 0)
      return -1;
    bool last = index + 1 == components.size();
    int next =
        ::openat(current, component.str().c_str(), flags | O_NOFOLLOW | (last ? 0 : O_DIRECTORY));
    int error = errno;
    ::close(current);
    errno = error;
    current = next;
  }
  return current;
}

/// A decimal byte count of external_data.
llvm::Error parseCount(StringRef key, StringRef text, StringRef what, uint64_t &value) {
  if (text.empty() || !llvm::all_of(text, llvm::isDigit) || text.getAsInteger(10, value) ||
      value > INT64_MAX)
    return fail(llvm::formatv("{0}: external data {1} '{2}' is not a byte count", what, key, text));
  return llvm::Error::success();
}

} // namespace

llvm::Expected<std::shared_ptr<const MappedFile>> MappedFile::map(int descriptor, StringRef what) {
  struct stat status;
  if (::fstat(descriptor, &status) != 0)
    return fail(llvm::formatv("{0}: {1}", what, std::strerror(errno)));
  if (!S_ISREG(status.st_mode))
    return fail(llvm::formatv("{0}: not a regular file", what));
  size_t size = status.st_size;
  if (size == 0)
    return std::shared_ptr<const MappedFile>(new MappedFile("", 0));
  void *data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (data == MAP_FAILED)
    return fail(llvm::formatv("{0}: cannot be mapped: {1}", what, std::strerror(errno)));
  return std::shared_ptr<const MappedFile>(new MappedFile(static_cast<const char *>(data), size));
}

llvm::Expected<std::shared_ptr<const MappedFile>> MappedFile::open(StringRef path) {
  Descriptor file(::open(path.str().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.fd < 0)
    return fail(llvm::formatv("{0}: {1}", path, std::strerror(errno)));
  return map(file.fd, path);
}

llvm::Expected<std::shared_ptr<const MappedFile>> MappedFile::zeros(size_t size, StringRef what) {
  if (size == 0)
    return std::shared_ptr<const MappedFile>(new MappedFile("", 0));
  void *data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED)
    return fail(llvm::formatv("{0}: {1} bytes: {2}", what, size, std::strerror(errno)));
  return std::shared_ptr<const MappedFile>(new MappedFile(static_cast<const char *>(data), size));
}

MappedFile::~MappedFile() {
  if (size)
    ::munmap(const_cast<char *>(data), size);
}

llvm::Expected<std::shared_ptr<const MappedFile>> ExternalFiles::openFile(StringRef location,
                                                                          StringRef what) {
  auto known = opened.find(location.str());
  if (known != opened.end())
    return known->second;
  if (const char *why = badLocation(location))
    return fail(llvm::formatv("{0}: external data location '{1}' {2}", what, location, why));
  Descriptor base(::open(folder.empty() ? "." : folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (base.fd < 0)
    return fail(llvm::formatv("{0}: the model's folder '{1}' cannot be opened: {2}", what, folder,
                              std::strerror(errno)));
  Descriptor file(openBeneath(base.fd, location));
  if (file.fd < 0 && errno == ENOENT && allowsMissing)
    return nullptr;
  if (file.fd < 0) {
    if (errno == ELOOP || errno == ENOTDIR)
      return fail(llvm::formatv("{0}: external data location '{1}' goes "
                                "through a symbolic link or a file",
                                what, location));
    return fail(
        llvm::formatv("{0}: external data file '{1}': {2}", what, location, std::strerror(errno)));
  }
  struct stat status;
  struct statfs system;
  if (::fstat(file.fd, &status) != 0 || ::fstatfs(file.fd, &system) != 0)
    return fail(
        llvm::formatv("{0}: external data file '{1}': {2}", what, location, std::strerror(errno)));
  constexpr uint32_t kProcMagic = 0x9fa0, kSysMagic = 0x62656572;
  if (!S_ISREG(status.st_mode) || uint32_t(system.f_type) == kProcMagic ||
      uint32_t(system.f_type) == kSysMagic)
    return fail(
        llvm::formatv("{0}: external data location '{1}' is not a regular file", what, location));
  if (status.st_nlink > 1)
    return fail(llvm::formatv("{0}: external data file '{1}' has {2} hard links but may have 1",
                              what, location, uint64_t(status.st_nlink)));
  auto mapped = MappedFile::map(file.fd, location);
  if (!mapped)
    return mapped.takeError();
  opened[location.str()] = *mapped;
  return *mapped;
}

llvm::Expected<ExternalFiles::Range> ExternalFiles::read(const onnxpb::TensorProto &proto,
                                                         uint64_t expectedBytes, StringRef what) {
  StringRef location, checksum;
  uint64_t offset = 0, length = expectedBytes;
  bool haveLocation = false, haveLength = false;
  std::map<StringRef, StringRef> seen;
  for (const auto &entry : proto.external_data()) {
    StringRef key = entry.key(), value = entry.value();
    if (!seen.insert({key, value}).second)
      return fail(llvm::formatv("{0}: external data key '{1}' is given twice", what, key));
    if (key == "location") {
      location = value;
      haveLocation = true;
    } else if (key == "offset") {
      if (llvm::Error e = parseCount(key, value, what, offset))
        return e;
    } else if (key == "length") {
      if (llvm::Error e = parseCount(key, value, what, length))
        return e;
      haveLength = true;
    } else if (key == "checksum") {
      checksum = value;
    } else {
      return fail(llvm::formatv("{0}: external data has an unknown key '{1}'", what, key));
    }
  }
  if (!haveLocation)
    return fail(llvm::formatv("{0}: external data has no location", what));
  auto file = openFile(location, what);
  if (!file)
    return file.takeError();
  if (haveLength && !*file && length != expectedBytes)
    return fail(llvm::formatv("{0}: external data has {1} bytes but its shape and type need {2}",
                              what, length, expectedBytes));
  if (!*file) {
    auto zeros = MappedFile::zeros(expectedBytes, what);
    if (!zeros)
      return zeros.takeError();
    return Range{*zeros, (*zeros)->bytes(), /*isMissing=*/true};
  }
  llvm::ArrayRef<char> all = (*file)->bytes();
  if (offset > all.size() || length > all.size() - offset)
    return fail(llvm::formatv("{0}: external data [{1}, +{2}) ends past the {3} bytes of '{4}'",
                              what, offset, length, all.size(), location));
  if (haveLength && length != expectedBytes)
    return fail(llvm::formatv("{0}: external data has {1} bytes but its shape and type need {2}",
                              what, length, expectedBytes));
  if (!checksum.empty()) {
    std::string &digest = digests[location.str()];
    if (digest.empty()) {
      auto hash = llvm::SHA1::hash({reinterpret_cast<const uint8_t *>(all.data()), all.size()});
      digest = llvm::toHex(hash, /*LowerCase=*/true);
    }
    if (!checksum.equals_insensitive(digest))
      return fail(llvm::formatv("{0}: external data file '{1}' has SHA1 {2} but the model says {3}",
                                what, location, digest, checksum));
  }
  return Range{*file, all.slice(offset, length), /*isMissing=*/false};
}

} // namespace dpc::onnx
