// The transport `sockets`, with a connection between every two ranks. A new
// transport without shared memory can follow its example.
#include "runtime/src/comm/sockets/SocketsComm.h"

#include "runtime/src/base/Clock.h"
#include "runtime/src/base/OperationNames.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/comm/Connections.h"
#include "runtime/src/comm/sockets/HostShare.h"
#include "runtime/src/comm/sockets/Mesh.h"

#include <memory>
#include <new>
#include <sys/mman.h>

namespace dpc::sockets {

namespace {

struct SocketsComm {
  ~SocketsComm() {
    mesh.reset(); // first, because its thread uses `share` and the memory
    if (memory)
      ::munmap(memory, memoryBytes);
  }
  dpc_comm_t interface{};
  dpc_comm_vtable_t table{};
  Hosts hosts;
  void *memory = nullptr;
  uint64_t memoryBytes = 0;
  Region ownRegion;
  std::vector<Group> groups;
  std::unique_ptr<HostShare> share; ///< null: this rank shares no memory
  std::unique_ptr<Mesh> mesh;

  Region &region() { return share ? share->memory() : ownRegion; }
};

SocketsComm &self(dpc_comm_t *comm) { return *reinterpret_cast<SocketsComm *>(comm); }

dpc_status_t socketsAllocate(dpc_comm_t *comm, uint64_t bytes, void **outMemory) {
  return self(comm).region().allocate(bytes, outMemory);
}

dpc_status_t socketsStart(dpc_comm_t *base, const dpc_comm_op_t *op, dpc_request_t *outRequest) {
  SocketsComm &comm = self(base);
  if (dpc_status_t status = checkOperation(*op, comm.groups, comm.region()))
    return status;
  try {
    const bool isHere = comm.share && comm.share->runs(*op);
    if (dpc_status_t status =
            isHere ? comm.share->start(*op, outRequest) : comm.mesh->start(*op, outRequest))
      return status;
  } catch (const std::bad_alloc &) {
    return fail(DPC_IO, "out of memory for %s of %llu x %s", opName(op->op),
                static_cast<unsigned long long>(op->count), dpc_dtype_name(op->dtype));
  }
  base->stats.operations += 1;
  base->stats.bytes += op->count * dpc_dtype_size(op->dtype);
  return DPC_OK;
}

dpc_status_t socketsWait(dpc_comm_t *base, dpc_request_t request) {
  SocketsComm &comm = self(base);
  const double begin = monotonicSeconds();
  const bool isHere = comm.share && HostShare::owns(request);
  dpc_status_t status = DPC_OK;
  if (comm.share && !isHere)
    status = comm.share->progressUntil(request);
  if (status == DPC_OK)
    status = isHere ? comm.share->wait(request) : comm.mesh->wait(request);
  base->stats.exposed_ns += static_cast<uint64_t>((monotonicSeconds() - begin) * 1e9);
  return status;
}

dpc_status_t socketsCheck(dpc_comm_t *base) {
  SocketsComm &comm = self(base);
  if (comm.share)
    if (dpc_status_t status = comm.share->progress())
      return status;
  return comm.mesh->check();
}

uint32_t socketsAbort(dpc_comm_t *base, const char *reason) {
  return self(base).mesh->abort(reason);
}

uint32_t socketsToldElsewhere(dpc_comm_t *base) { return self(base).mesh->isToldElsewhere(); }

dpc_status_t socketsRelease(dpc_comm_t *base) {
  const dpc_status_t status = self(base).mesh->leave();
  delete &self(base);
  return status;
}

/// Whether some ranks of the run share memory.
bool anyShares(const Hosts &hosts) {
  for (uint32_t r = 0; r < hosts.size(); ++r)
    if (hosts[r] != r)
      return true;
  return false;
}

/// Reserves the memory for collectives. It is memory of the host if ranks of the run share any.
dpc_status_t reserveMemory(SocketsComm &comm, const dpc_comm_options_t &options, Lobby &lobby) {
  if (anyShares(comm.hosts)) {
    comm.share = std::make_unique<HostShare>();
    return comm.share->open(options, lobby, comm.hosts);
  }
  const uint64_t bytes = options.memory_bytes ? options.memory_bytes[options.rank] : 0;
  if (bytes == 0)
    return DPC_OK;
  void *mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return fail(DPC_IO, "out of memory: %llu bytes for communication",
                static_cast<unsigned long long>(bytes));
  comm.memory = mapped;
  comm.memoryBytes = bytes;
  ::madvise(mapped, bytes, MADV_HUGEPAGE);
  comm.ownRegion = Region(static_cast<char *>(mapped), bytes);
  return DPC_OK;
}

constexpr dpc_comm_vtable_t kSocketsTable = {sizeof(dpc_comm_vtable_t),
                                             "sockets",
                                             socketsAllocate,
                                             socketsStart,
                                             socketsWait,
                                             socketsCheck,
                                             socketsAbort,
                                             socketsToldElsewhere,
                                             socketsRelease};

} // namespace

} // namespace dpc::sockets

using namespace dpc::sockets;

dpc_status_t dpc::createSocketsComm(const dpc_comm_options_t &options, Lobby &lobby, Hosts hosts,
                                    std::unique_ptr<wires::Wire> wire, dpc_comm_t **outComm) {
  constexpr uint32_t kMostRanks = 256; // each rank has an open socket to every other
  *outComm = nullptr;
  auto comm = std::make_unique<SocketsComm>();
  if (dpc_status_t status =
          findGroups(options, wire ? wire->name() : "sockets", kMostRanks, &comm->groups))
    return status;
  comm->hosts = std::move(hosts);
  if (dpc_status_t status = reserveMemory(*comm, options, lobby))
    return status;
  std::vector<Fd> sockets;
  if (dpc_status_t status = connectRanks(lobby, &sockets))
    return status;
  if (wire && options.world_size > 1)
    if (dpc_status_t status = wire->meet(sockets))
      return status;
  comm->table = kSocketsTable;
  if (wire)
    comm->table.name = wire->name();
  comm->interface.vtable = &comm->table;
  comm->interface.rank = options.rank;
  comm->interface.world_size = options.world_size;
  comm->interface.hosts = comm->hosts.data();
  comm->mesh = std::make_unique<Mesh>(options, comm->groups, std::move(sockets), std::move(wire),
                                      comm->share.get());
  if (comm->share)
    comm->share->attach(options, comm->groups, *comm->mesh);
  *outComm = &comm.release()->interface;
  return DPC_OK;
}
