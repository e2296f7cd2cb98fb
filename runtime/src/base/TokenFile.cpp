// Reads the secret of a run.

#include "runtime/src/base/TokenFile.h"

#include "runtime/src/base/Status.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dpc {

dpc_status_t readTokenFrom(int fd, const char *name, std::string *out) {
  char text[65] = {};
  const ssize_t n = ::pread(fd, text, 64, 0);
  ::close(fd);
  if (n != 64)
    return fail(DPC_INVALID, "%s does not hold 64 hex digits", name);
  *out = text;
  return DPC_OK;
}

dpc_status_t readTokenFile(const std::string &path, std::string *out) {
  struct stat info;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0 || ::fstat(file, &info) != 0) {
    const int error = errno;
    if (file >= 0)
      ::close(file);
    return fail(DPC_IO, "%s: %s", path.c_str(), std::strerror(error));
  }
  if (info.st_uid != ::geteuid() || (info.st_mode & 077)) {
    ::close(file);
    return fail(DPC_INVALID, "%s: a token file must be this user's with mode 0600", path.c_str());
  }
  return readTokenFrom(file, path.c_str(), out);
}

} // namespace dpc
