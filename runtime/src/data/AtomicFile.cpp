#include "runtime/src/data/AtomicFile.h"

#include "runtime/src/core/Status.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

namespace dpc {

AtomicFile::~AtomicFile() {
  if (fd < 0)
    return;
  ::close(fd);
  if (!temporary.empty())
    ::unlink(temporary.c_str());
}

dpc_status_t AtomicFile::create(const std::string &target) {
  path = target;
  struct stat info;
  // A device or a pipe is written in place: a rename would put a file where it
  // was.
  const bool inPlace =
      ::stat(target.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  temporary = inPlace ? "" : target + ".tmp" + std::to_string(::getpid());
  fd = inPlace ? ::open(target.c_str(), O_WRONLY | O_CLOEXEC)
               : ::open(temporary.c_str(),
                        O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                        0666);
  if (fd < 0)
    return fail(DPC_IO, "%s: cannot be written: %s", path.c_str(),
                std::strerror(errno));
  return DPC_OK;
}

dpc_status_t AtomicFile::write(const void *data, size_t bytes) {
  const char *p = static_cast<const char *>(data);
  while (bytes) {
    const size_t piece =
        std::min<size_t>(bytes, 1u << 26); // CRC of what is still in the cache
    ssize_t n = ::write(fd, p, piece);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return fail(DPC_IO, "%s: cannot be written: %s", path.c_str(),
                  std::strerror(n < 0 ? errno : ENOSPC));
    crc = static_cast<uint32_t>(
        ::crc32_z(crc, reinterpret_cast<const unsigned char *>(p),
                  static_cast<size_t>(n)));
    p += n, bytes -= static_cast<size_t>(n),
        written += static_cast<uint64_t>(n);
  }
  return DPC_OK;
}

dpc_status_t AtomicFile::commit() {
  bool ok = ::fsync(fd) == 0 || errno == EINVAL ||
            errno == EROFS; // pipes and devices have nothing to sync
  int error = errno;
  ok = ::close(fd) == 0 && ok;
  fd = -1;
  if (ok && temporary.empty())
    return DPC_OK;
  if (ok && ::rename(temporary.c_str(), path.c_str()) != 0) {
    error = errno;
    ok = false;
  }
  if (!ok) {
    ::unlink(temporary.c_str());
    return fail(DPC_IO, "%s: cannot be written: %s", path.c_str(),
                std::strerror(error));
  }
  return syncDirectoryOf(path);
}

dpc_status_t syncDirectoryOf(const std::string &path) {
  size_t slash = path.rfind('/');
  std::string directory = slash == std::string::npos ? "."
                          : slash == 0               ? "/"
                                                     : path.substr(0, slash);
  int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return fail(DPC_IO, "%s: %s", directory.c_str(), std::strerror(errno));
  // Some file systems cannot fsync a directory; they say so with EINVAL.
  bool ok = ::fsync(fd) == 0 || errno == EINVAL;
  int error = errno;
  ::close(fd);
  return ok ? DPC_OK
            : fail(DPC_IO, "%s: %s", directory.c_str(), std::strerror(error));
}

} // namespace dpc
