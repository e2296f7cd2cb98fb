// Gives all ranks the data that rank 0 produces. If ranks can open each other's
// files, they map rank 0's memory. Otherwise rank 0 broadcasts the data, and each
// rank keeps a private copy.

#include "runtime/src/session/RankZeroMemory.h"

#include "runtime/src/base/Fd.h"
#include "runtime/src/base/Status.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace dpc {

namespace {

/// Where the other ranks find rank 0's memory: /proc/<pid>/fd/<fd>.
struct Place {
  int64_t pid;
  int64_t fd;
};

bool areOnOneHost(const dpc_session &session) { return dpc_comm_host_count(session.comm) == 1; }

/// Rank 0 creates and fills the memory; the other ranks map it.
dpc_status_t shareMemory(dpc_session &session, size_t bytes, const MemoryMaker::Fill &fill,
                         Mapping *out) {
  Place place = {};
  Fd memory;
  if (session.options.rank == 0) {
    memory = Fd(::memfd_create("dpc-data", MFD_CLOEXEC));
    if (!memory.valid() || ::ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0)
      return fail(DPC_IO, "cannot make %zu bytes of shared memory: %s", bytes,
                  std::strerror(errno));
    if (dpc_status_t status = out->openShared(memory.get(), bytes, true))
      return status;
    if (dpc_status_t status = fill(out->data()))
      return status;
    place = {::getpid(), memory.get()};
  }
  if (dpc_status_t status = session.broadcast(&place, sizeof place))
    return status;
  if (session.options.rank != 0) {
    const std::string path =
        "/proc/" + std::to_string(place.pid) + "/fd/" + std::to_string(place.fd);
    memory = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!memory.valid())
      return fail(DPC_IO, "cannot open rank 0's data: %s", std::strerror(errno));
    if (dpc_status_t status = out->openShared(memory.get(), bytes, false))
      return status;
  }
  return dpc_comm_barrier(session.comm); // rank 0 closes the file after all ranks opened it
}

/// Rank 0 fills private memory; the other ranks receive copies.
dpc_status_t sendMemory(dpc_session &session, size_t bytes, const MemoryMaker::Fill &fill,
                        Mapping *out) {
  if (dpc_status_t status = out->allocate(bytes))
    return status;
  if (session.options.rank == 0)
    if (dpc_status_t status = fill(out->data()))
      return status;
  return session.broadcast(out->data(), bytes);
}

} // namespace

dpc_status_t RankZeroMemory::make(size_t bytes, const Fill &fill, Mapping *out) {
  if (session.program.world_size == 1)
    return MemoryMaker::make(bytes, fill, out);
  return areOnOneHost(session) ? shareMemory(session, bytes, fill, out)
                               : sendMemory(session, bytes, fill, out);
}

bool RankZeroMemory::checks() const { return session.options.rank == 0 || !areOnOneHost(session); }

} // namespace dpc
