#include "runtime/src/session/HostSharedMemory.h"

#include "runtime/src/base/Sockets.h"
#include "runtime/src/base/Status.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace dpc {

namespace {
/// Where the others find rank 0's memory; passed through the common scratch.
struct Place {
  int64_t pid;
  int64_t fd;
};
} // namespace

dpc_status_t HostSharedMemory::make(size_t bytes, const Fill &fill,
                                    Mapping *out) {
  if (session.program.world_size == 1)
    return MemoryMaker::make(bytes, fill, out);
  auto *place = reinterpret_cast<Place *>(session.memory.scratch());
  Fd memory;
  if (session.options.rank == 0) {
    memory = Fd(::memfd_create("dpc-data", MFD_CLOEXEC));
    if (!memory.valid() ||
        ::ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0)
      return fail(DPC_IO, "cannot make %zu bytes of shared memory: %s", bytes,
                  std::strerror(errno));
    if (dpc_status_t status = out->openShared(memory.get(), bytes, true))
      return status;
    if (dpc_status_t status = fill(out->data()))
      return status;
    *place = {::getpid(), memory.get()};
  }
  if (dpc_status_t status = dpc_comm_barrier(session.comm))
    return status;
  if (session.options.rank != 0) {
    const std::string path = "/proc/" + std::to_string(place->pid) + "/fd/" +
                             std::to_string(place->fd);
    memory = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!memory.valid())
      return fail(DPC_IO, "cannot open rank 0's data: %s",
                  std::strerror(errno));
    if (dpc_status_t status = out->openShared(memory.get(), bytes, false))
      return status;
  }
  return dpc_comm_barrier(session.comm);
}

} // namespace dpc
