// Checks that the ranks of all hosts write into one folder: rank 0 makes a file there, for which
// the other hosts look.

#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Fd.h"
#include "runtime/src/base/Hex.h"
#include "runtime/src/base/Process.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/session/HostPhrase.h"
#include "runtime/src/session/SharedFiles.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dpc {

namespace {

/// A host may see a new file late, because file systems of the network keep listings in memory.
constexpr double kSeenSeconds = 3;
constexpr useconds_t kRetryMicroseconds = 50000;

/// The file by which hosts recognize a folder, as rank 0 tells the other ranks. Its contents are
/// random, and its name has them, so that no other file is taken for it.
struct Probe {
  uint8_t contents[16];
  uint32_t isAbove; ///< the file is in the folder above, because the folder does not exist
  uint32_t error;   ///< errno, if rank 0 cannot make the file
  char host[65];    ///< the name of rank 0's host
};

/// The folder above `path`.
std::string above(const std::string &path) {
  const size_t end = path.find_last_not_of('/');
  const size_t slash = end == std::string::npos ? end : path.rfind('/', end);
  return slash == std::string::npos ? (end == std::string::npos ? "/" : ".")
                                    : path.substr(0, slash + 1);
}

std::string placeOf(const Probe &probe, const std::string &folder) {
  return probe.isAbove ? above(folder) : folder;
}

std::string pathOf(const Probe &probe, const std::string &folder) {
  return placeOf(probe, folder) + "/.dpc-shared-" + toHex(probe.contents, sizeof probe.contents);
}

/// Removes rank 0's file at its end.
class ProbeFile {
public:
  ~ProbeFile() {
    if (!path.empty())
      ::unlink(path.c_str());
  }
  /// Makes the file. Returns errno, or 0.
  int create(const std::string &name, const Probe &probe) {
    const Fd file(::open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666));
    if (!file.valid())
      return errno;
    path = name;
    errno = 0;
    // A full disk may report itself only when the contents reach it.
    return ::write(file.get(), probe.contents, sizeof probe.contents) !=
                       ssize_t(sizeof probe.contents) ||
                   ::fsync(file.get()) != 0
               ? (errno ? errno : ENOSPC)
               : 0;
  }

private:
  std::string path;
};

Probe makeProbe(const std::string &folder, ProbeFile *out) {
  Probe probe = {};
  struct stat info;
  std::snprintf(probe.host, sizeof probe.host, "%s", hostName().c_str());
  probe.isAbove = ::stat(folder.c_str(), &info) != 0;
  if (::getrandom(probe.contents, sizeof probe.contents, 0) != ssize_t(sizeof probe.contents))
    probe.error = uint32_t(errno);
  else
    probe.error = uint32_t(out->create(pathOf(probe, folder), probe));
  return probe;
}

bool sees(const Probe &probe, const std::string &folder) {
  uint8_t found[sizeof probe.contents] = {};
  const Fd file(::open(pathOf(probe, folder).c_str(), O_RDONLY | O_CLOEXEC));
  return file.valid() && ::pread(file.get(), found, sizeof found, 0) == ssize_t(sizeof found) &&
         std::memcmp(found, probe.contents, sizeof found) == 0;
}

/// Whether this host sees the file, now or soon.
bool seesInTime(const Probe &probe, const std::string &folder) {
  const double deadline = monotonicSeconds() + kSeenSeconds;
  while (!sees(probe, folder)) {
    if (monotonicSeconds() > deadline)
      return false;
    ::usleep(kRetryMicroseconds);
  }
  return true;
}

/// Whether this host can write into the folder. Nothing is known of the rights in a folder that
/// does not exist, but a file system that this host may only read shows in the folder above.
int writeError(const Probe &probe, const std::string &folder) {
  if (::access(placeOf(probe, folder).c_str(), W_OK | X_OK) == 0)
    return 0;
  return probe.isAbove && errno != EROFS ? 0 : errno;
}

} // namespace

dpc_status_t checkSharedFolder(dpc_session &session, const std::string &option,
                               const std::string &folder) {
  const dpc_comm_t &comm = *session.comm;
  if (dpc_comm_host_count(&comm) == 1)
    return DPC_OK;
  ProbeFile file;
  Probe probe = {};
  if (comm.rank == 0) {
    probe = makeProbe(folder, &file);
    if (probe.error)
      return session.failed(fail(DPC_IO, "%s: %s: %s cannot write: %s", option.c_str(),
                                 folder.c_str(), hostPhrase(comm, 0, probe.host).c_str(),
                                 std::strerror(int(probe.error))));
  }
  if (dpc_status_t status = session.broadcast(&probe, sizeof probe))
    return status;
  dpc_status_t status = DPC_OK;
  if (comm.rank != 0 && comm.hosts[comm.rank] == comm.rank) {
    const std::string here = hostPhrase(comm, comm.rank, hostName()),
                      there = hostPhrase(comm, 0, probe.host);
    if (!seesInTime(probe, folder))
      status = fail(DPC_IO,
                    "%s: %s: %s does not see what %s writes there: the hosts need a folder that "
                    "they share",
                    option.c_str(), folder.c_str(), here.c_str(), there.c_str());
    else if (const int error = writeError(probe, folder))
      status = fail(DPC_IO, "%s: %s: %s cannot write: %s", option.c_str(), folder.c_str(),
                    here.c_str(), std::strerror(error));
  }
  return session.agree(status); // the file stays until all hosts have looked for it
}

} // namespace dpc
