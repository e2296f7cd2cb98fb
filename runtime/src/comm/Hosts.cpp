// Finds out which ranks can open each other's memory.

#include "runtime/src/comm/Hosts.h"

#include "runtime/src/base/Process.h"
#include "runtime/src/base/Status.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <numeric>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace dpc {

namespace {

constexpr char kName[] = "dpc-host";

/// Where the others find a rank's file, and the random contents of the file. On another
/// host, a process with this number may have another file with this number.
struct Probe {
  uint64_t pid;
  uint64_t fd;
  Digest contents;
};

/// Whether this rank can read the file of `probe`.
bool canOpen(const Probe &probe) {
  const std::string path = descriptorPath(probe.pid, probe.fd);
  // Only a file with this name is opened, because to open another process's device or pipe
  // could have an effect.
  char target[64] = {};
  if (::readlink(path.c_str(), target, sizeof target - 1) <= 0 ||
      !std::strstr(target, (std::string("memfd:") + kName).c_str()))
    return false;
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  Digest found = {};
  return file.valid() &&
         ::pread(file.get(), found.data(), found.size(), 0) == ssize_t(found.size()) &&
         found == probe.contents;
}

} // namespace

dpc_status_t findHosts(Lobby &lobby, Hosts *out) {
  Probe own = {};
  std::vector<Probe> probes;
  if (dpc_status_t status = randomDigest(&own.contents))
    return status;
  const Fd file(::memfd_create(kName, MFD_CLOEXEC));
  if (!file.valid() || ::pwrite(file.get(), own.contents.data(), own.contents.size(), 0) !=
                           ssize_t(own.contents.size()))
    return fail(DPC_IO, "cannot make a file in memory: %s", std::strerror(errno));
  own.pid = static_cast<uint64_t>(::getpid());
  own.fd = static_cast<uint64_t>(file.get());
  if (dpc_status_t status = lobby.exchange(own, &probes))
    return status;
  uint32_t lowest = 0;
  while (lowest != lobby.rank() && !canOpen(probes[lowest]))
    ++lowest;
  // This exchange also keeps the file open until all ranks have tried to open it.
  if (dpc_status_t status = lobby.exchange(lowest, out))
    return status;
  for (uint32_t r = 0; r < out->size(); ++r)
    if ((*out)[r] > r)
      return fail(DPC_PEER, "rank %u has sent what is no part of the run", r);
  return DPC_OK;
}

Hosts separateHosts(uint32_t worldSize) {
  Hosts hosts(worldSize);
  std::iota(hosts.begin(), hosts.end(), 0);
  return hosts;
}

} // namespace dpc
