// The `local` transport: ranks are processes of one host, and collectives run
// in place on memory that all ranks map.
#include "runtime/src/comm/local/LocalComm.h"

#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/comm/Hosts.h"
#include "runtime/src/comm/Timeouts.h"
#include "runtime/src/comm/local/Engine.h"
#include "runtime/src/comm/local/Watchdog.h"

#include <cstdio>
#include <memory>
#include <new>
#include <optional>

namespace dpc::local {

namespace {

/// All ranks of the run share memory.
class SharedPeers : public Peers {
public:
  SharedPeers(Segment &segment) : segment(segment) {}
  void watch(double frozenSeconds) { watchdog.emplace(segment, frozenSeconds); }
  void endWatch() { watchdog.reset(); }

  bool hasFailed() const override {
    return segment.control().failure.state.load(std::memory_order_acquire) == 2;
  }
  dpc_status_t check() override { return segment.checkFailure(); }
  dpc_status_t stop(uint32_t guilty, const std::string &text) override {
    segment.publishFailure(guilty, text.c_str());
    return segment.checkFailure();
  }
  void tellWait(uint32_t late) override {
    segment.page(segment.rank).waitsFor.store(late, std::memory_order_relaxed);
  }
  uint32_t waitOf(uint32_t rank) override {
    const bool isStill = rank != segment.rank && watchdog->isStill(rank);
    return isStill ? DPC_NONE : segment.page(rank).waitsFor.load(std::memory_order_relaxed);
  }
  bool hasLeft(uint32_t rank) override {
    return segment.page(rank).left.load(std::memory_order_acquire);
  }

private:
  Segment &segment;
  std::optional<Watchdog> watchdog;
};

struct LocalComm {
  dpc_comm_t interface{};
  Hosts hosts;
  Segment segment;
  SharedPeers peers{segment};
  std::vector<Group> groups;
  std::optional<Engine> engine;
};

LocalComm &self(dpc_comm_t *comm) { return *reinterpret_cast<LocalComm *>(comm); }

dpc_status_t localAllocate(dpc_comm_t *base, uint64_t bytes, void **outMemory) {
  return self(base).segment.memory.allocate(bytes, outMemory);
}

dpc_status_t localStart(dpc_comm_t *base, const dpc_comm_op_t *op, dpc_request_t *outRequest) {
  LocalComm &comm = self(base);
  if (dpc_status_t status = checkOperation(*op, comm.groups, comm.segment.memory))
    return status;
  if (dpc_status_t status = comm.engine->start(*op, outRequest))
    return status;
  base->stats.operations += 1;
  base->stats.bytes += op->count * dpc_dtype_size(op->dtype);
  return DPC_OK;
}

dpc_status_t localWait(dpc_comm_t *base, dpc_request_t request) {
  const double begin = monotonicSeconds();
  const dpc_status_t status = self(base).engine->wait(request);
  base->stats.exposed_ns += static_cast<uint64_t>((monotonicSeconds() - begin) * 1e9);
  return status;
}

dpc_status_t localCheck(dpc_comm_t *base) {
  LocalComm &comm = self(base);
  bool advanced = false;
  if (dpc_status_t status = comm.engine->progress(&advanced))
    return status;
  return comm.segment.checkFailure();
}

uint32_t localAbort(dpc_comm_t *base, const char *reason) {
  char text[240];
  std::snprintf(text, sizeof text, "rank %u failed: %s", base->rank, reason);
  return self(base).segment.publishFailure(base->rank, text, true);
}

uint32_t localToldElsewhere(dpc_comm_t *base) {
  FailureRecord &failure = self(base).segment.control().failure;
  return failure.state.load(std::memory_order_acquire) == 2 &&
         (failure.selfReported || failure.told.exchange(1) != 0);
}

dpc_status_t localRelease(dpc_comm_t *base) {
  LocalComm *comm = &self(base);
  comm->peers.endWatch();
  comm->segment.page(base->rank).left.store(1, std::memory_order_seq_cst);
  for (uint32_t r = 0; r < base->world_size; ++r)
    comm->segment.ring(r);
  delete comm;
  return DPC_OK;
}

constexpr dpc_comm_vtable_t kLocalTable = {sizeof(dpc_comm_vtable_t),
                                           "local",
                                           localAllocate,
                                           localStart,
                                           localWait,
                                           localCheck,
                                           localAbort,
                                           localToldElsewhere,
                                           localRelease};

} // namespace

} // namespace dpc::local

using namespace dpc::local;

dpc_status_t dpc::createLocalComm(const dpc_comm_options_t &options, Lobby &lobby,
                                  dpc_comm_t **outComm) {
  constexpr uint32_t kMostRanks = 1024;
  *outComm = nullptr;
  std::unique_ptr<LocalComm> comm(new (std::nothrow) LocalComm);
  if (!comm)
    return fail(DPC_IO, "out of memory");
  if (dpc_status_t status = findGroups(options, "local", kMostRanks, &comm->groups))
    return status;
  comm->hosts.assign(options.world_size, 0);
  if (dpc_status_t status = comm->segment.open(options, lobby, comm->hosts))
    return status;
  comm->engine.emplace(options, comm->groups, comm->segment, comm->peers);
  comm->interface.vtable = &kLocalTable;
  comm->interface.rank = options.rank;
  comm->interface.world_size = options.world_size;
  comm->interface.hosts = comm->hosts.data();
  if (options.world_size > 1)
    comm->peers.watch(frozenAfter(options));
  *outComm = &comm.release()->interface;
  return DPC_OK;
}
