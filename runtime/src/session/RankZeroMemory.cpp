// Gives all ranks the data that rank 0 produces. The lowest rank of each host has a copy, which
// the other ranks of the host map.

#include "runtime/src/session/RankZeroMemory.h"

#include "runtime/src/base/Fd.h"
#include "runtime/src/base/Process.h"
#include "runtime/src/base/Status.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace dpc {

namespace {

/// Where the other ranks of a host find its memory: /proc/<pid>/fd/<fd>.
struct Place {
  uint64_t pid;
  uint64_t fd;
};

/// The lowest rank of each host makes memory. Rank 0 fills it, and sends it to the others.
dpc_status_t makeShared(dpc_session &session, size_t bytes, const MemoryMaker::Fill &fill,
                        Fd *memory, Mapping *out) {
  *memory = Fd(::memfd_create("dpc-data", MFD_CLOEXEC));
  if (!memory->valid() || ::ftruncate(memory->get(), static_cast<off_t>(bytes)) != 0)
    return fail(DPC_IO, "cannot make %zu bytes of shared memory: %s", bytes, std::strerror(errno));
  if (dpc_status_t status = out->openShared(memory->get(), bytes, true))
    return status;
  if (session.options.rank == 0)
    if (dpc_status_t status = fill(out->data()))
      return status;
  return session.deliverToHosts(out->data(), bytes);
}

} // namespace

dpc_status_t RankZeroMemory::make(size_t bytes, const Fill &fill, Mapping *out) {
  if (session.program.world_size == 1)
    return MemoryMaker::make(bytes, fill, out);
  const uint32_t rank = session.options.rank, lowest = session.comm->hosts[rank];
  Place place = {};
  std::vector<char> places;
  Fd memory;
  if (rank == lowest) {
    if (dpc_status_t status = makeShared(session, bytes, fill, &memory, out))
      return status;
    place = {static_cast<uint64_t>(::getpid()), static_cast<uint64_t>(memory.get())};
  }
  if (dpc_status_t status = session.collect(&place, sizeof place, &places))
    return status;
  places.resize(session.program.world_size * sizeof place);
  if (dpc_status_t status = session.broadcast(places.data(), places.size()))
    return status;
  std::memcpy(&place, places.data() + lowest * sizeof place, sizeof place);
  if (rank != lowest) {
    const std::string path = descriptorPath(place.pid, place.fd);
    memory = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!memory.valid())
      return fail(DPC_IO, "cannot open rank %u's data: %s", lowest, std::strerror(errno));
    if (dpc_status_t status = out->openShared(memory.get(), bytes, false))
      return status;
  }
  return dpc_comm_barrier(session.comm); // until all ranks have opened the files
}

bool RankZeroMemory::checks() const {
  return session.comm->hosts[session.options.rank] == session.options.rank;
}

} // namespace dpc
