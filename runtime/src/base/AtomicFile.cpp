// Writes a file under a temporary name, syncs it and renames it. Also removes
// temporary files of writers that were killed.

#include "runtime/src/base/AtomicFile.h"

#include "runtime/src/base/Process.h"
#include "runtime/src/base/Status.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>
#include <zlib.h>

namespace dpc {

namespace {

std::string directoryOf(const std::string &path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// Path of the temporary file with which the process `pid` writes `target`.
std::string temporaryName(const std::string &target, pid_t pid) {
  return target + ".tmp" + std::to_string(pid);
}

/// Removes temporary files of `target` whose writers were killed.
void removeLeftOvers(const std::string &target) {
  const std::string prefix = target.substr(target.rfind('/') + 1) + ".tmp"; // npos + 1 is 0
  DIR *listing = ::opendir(directoryOf(target).c_str());
  std::vector<std::string> left;
  while (const dirent *entry = listing ? ::readdir(listing) : nullptr) {
    if (std::strncmp(entry->d_name, prefix.c_str(), prefix.size()) != 0)
      continue;
    struct stat info;
    const pid_t pid = static_cast<pid_t>(std::atol(entry->d_name + prefix.size()));
    const std::string path = temporaryName(target, pid);
    if (pid > 0 && prefix + std::to_string(pid) == entry->d_name &&
        ::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
        hasEndedSince(pid, info.st_mtim))
      left.push_back(path);
  }
  if (listing)
    ::closedir(listing);
  for (const std::string &path : left) {
    // If the writer runs on another host or in another container, its process
    // number means nothing here. But a running writer holds a lock on its file.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
      continue;
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
      ::unlink(path.c_str());
    ::close(fd);
  }
}

} // namespace

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
  // A device or a pipe is written in place, because a rename would replace it
  // by a regular file.
  const bool inPlace = ::stat(target.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  temporary = inPlace ? "" : temporaryName(target, ::getpid());
  if (inPlace) {
    fd = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    removeLeftOvers(target);
    ::unlink(temporary.c_str()); // an earlier process with the same number may have left it
    fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  if (fd < 0)
    return fail(DPC_IO, "%s: cannot be written: %s", path.c_str(), std::strerror(errno));
  if (!inPlace) // without support for locks, only the process number protects the file
    ::flock(fd, LOCK_EX | LOCK_NB);
  return DPC_OK;
}

dpc_status_t AtomicFile::write(const void *data, size_t bytes) {
  const char *p = static_cast<const char *>(data);
  while (bytes) {
    const size_t piece = std::min<size_t>(bytes, 1u << 26); // the CRC then reads cached memory
    ssize_t n = ::write(fd, p, piece);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return fail(DPC_IO, "%s: cannot be written: %s", path.c_str(),
                  std::strerror(n < 0 ? errno : ENOSPC));
    crc = static_cast<uint32_t>(
        ::crc32_z(crc, reinterpret_cast<const unsigned char *>(p), static_cast<size_t>(n)));
    p += n, bytes -= static_cast<size_t>(n), written += static_cast<uint64_t>(n);
  }
  return DPC_OK;
}

dpc_status_t AtomicFile::commit() {
  bool ok = ::fsync(fd) == 0 || errno == EINVAL ||
            errno == EROFS; // pipes and devices have nothing to sync
  int error = errno;
  if (::close(fd) != 0 && ok) {
    error = errno;
    ok = false;
  }
  fd = -1;
  if (ok && temporary.empty())
    return DPC_OK;
  if (ok && ::rename(temporary.c_str(), path.c_str()) != 0) {
    error = errno;
    ok = false;
  }
  if (!ok) {
    ::unlink(temporary.c_str());
    return fail(DPC_IO, "%s: cannot be written: %s", path.c_str(), std::strerror(error));
  }
  return syncDirectoryOf(path);
}

dpc_status_t syncDirectoryOf(const std::string &path) {
  const std::string directory = directoryOf(path);
  int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return fail(DPC_IO, "%s: %s", directory.c_str(), std::strerror(errno));
  // Some file systems cannot fsync a directory; they say so with EINVAL.
  bool ok = ::fsync(fd) == 0 || errno == EINVAL;
  int error = errno;
  ::close(fd);
  return ok ? DPC_OK : fail(DPC_IO, "%s: %s", directory.c_str(), std::strerror(error));
}

} // namespace dpc
