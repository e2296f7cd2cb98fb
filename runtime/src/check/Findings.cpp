// Looks at this rank and its host: files, memory, the device, and the library that moves data.

#include "runtime/src/check/Findings.h"

#include "runtime/src/base/Fd.h"
#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Process.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/base/Version.h"
#include "runtime/src/check/Memory.h"
#include "runtime/src/comm/mpi/Library.h"
#include "runtime/src/cuda/Libraries.h"
#include "runtime/src/device/CudaDevice.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dpc {

namespace {

/// Checks that a file is there and can be read.
dpc_status_t checkFile(const CheckRequest::File &file) {
  const Fd opened(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char byte = 0;
  struct stat info = {};
  if (opened.valid() && ::fstat(opened.get(), &info) == 0 && S_ISDIR(info.st_mode))
    return DPC_OK; // a folder of shards, whose files are checked on their own
  if (!opened.valid() || ::read(opened.get(), &byte, 1) < 0)
    return fail(DPC_IO, "%s: %s: %s", file.option.c_str(), file.path.c_str(), std::strerror(errno));
  return DPC_OK;
}

dpc_status_t findEngine(const dpc_session &session, Findings *out) {
  if (session.transport == "mpi") {
    mpi::Library library;
    if (dpc_status_t status = mpi::openLibrary(&library))
      return status;
    copyText(out->engine, library.version());
  } else if (runsOnCuda(session.program) && !session.isStaged() && session.options.world_size > 1) {
    cuda::Nccl nccl;
    int version = 0;
    if (dpc_status_t status = cuda::openNccl(nccl))
      return status;
    nccl.ncclGetVersion(&version);
    std::snprintf(out->engine, sizeof out->engine, "NCCL %d.%d.%d", version / 10000,
                  version / 100 % 100, version % 100);
  }
  return DPC_OK;
}

/// Finds the device and the memory that this rank would use.
dpc_status_t findMemory(const dpc_session &session, const uint32_t *hosts, Findings *out) {
  const dpc_rank_t &rank = session.program.ranks[session.options.rank];
  if (!runsOnCuda(session.program)) {
    out->needed = rank.arena_bytes + RankMemory::sharedBytes(session.program, session.options.rank,
                                                             /*isStaged=*/false);
    out->available = availableMemory();
    return DPC_OK;
  }
  CudaDevice device;
  cuda::Uuid id;
  std::string name;
  out->needed = rank.arena_bytes + rank.shared_bytes;
  if (dpc_status_t status =
          device.open(rankOnHost(session.options.rank, session.options.world_size, hosts)))
    return status;
  if (dpc_status_t status = device.readId(&id))
    return status;
  if (dpc_status_t status = device.readName(&name))
    return status;
  copyText(out->device, name);
  std::memcpy(out->deviceId, &id, sizeof out->deviceId);
  return device.readMemory(&out->available, &out->forLibraries);
}

dpc_status_t fill(const dpc_session &session, const CheckRequest &request, const uint32_t *hosts,
                  Findings *out) {
  if (dpc_status_t status = session.checkRequest())
    return status;
  if (dpc_status_t status = findEngine(session, out))
    return status;
  if (dpc_status_t status = findMemory(session, hosts, out))
    return status;
  for (const CheckRequest::File &file : request.reads) {
    if (dpc_status_t status = checkFile(file))
      return status;
    ++out->files;
  }
  return request.status ? fail(request.status, "%s", request.text.c_str()) : DPC_OK;
}

} // namespace

Arrival ownArrival() {
  Arrival out = {};
  out.isHere = 1;
  copyText(out.host, hostName());
  copyText(out.runtime, runtimeVersion());
  return out;
}

Findings findOut(const dpc_session &session, const CheckRequest &request, const uint32_t *hosts) {
  Findings out = {};
  copyText(out.comm, session.transport.empty() ? dpc_session::kAuto : session.transport);
  std::memcpy(out.plan.data(), session.program.plan_hash, out.plan.size());
  out.status = fill(session, request, hosts, &out);
  if (out.status)
    copyText(out.text, dpc_last_error());
  return out;
}

} // namespace dpc
