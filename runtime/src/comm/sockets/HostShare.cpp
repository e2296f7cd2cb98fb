// Joins the operations between ranks of one host to those of the mesh: each wait advances both.
#include "runtime/src/comm/sockets/HostShare.h"

namespace dpc::sockets {

dpc_status_t HostShare::open(const dpc_comm_options_t &options, Lobby &lobby, const Hosts &hosts) {
  return segment.open(options, lobby, hosts);
}

void HostShare::attach(const dpc_comm_options_t &options, const std::vector<Group> &groups,
                       Mesh &given) {
  mesh = &given;
  local::Peers &peers = *this;
  engine.emplace(options, groups, segment, peers);
}

dpc_status_t HostShare::start(const dpc_comm_op_t &op, dpc_request_t *outRequest) {
  if (dpc_status_t status = engine->start(op, outRequest))
    return status;
  *outRequest |= kHere;
  return DPC_OK;
}

dpc_status_t HostShare::progress() {
  bool advanced = false;
  return engine->progress(&advanced);
}

dpc_status_t HostShare::progressUntil(dpc_request_t meshRequest) {
  auto isReady = [&] { return mesh->isComplete(meshRequest); };
  while (!engine->isIdle()) {
    bool advanced = false;
    if (dpc_status_t status = engine->progress(&advanced))
      return status;
    if (hasFailed())
      return check();
    if (isReady())
      return DPC_OK;
    if (!advanced)
      engine->sleep(0, isReady);
  }
  return DPC_OK;
}

uint64_t HostShare::lend(const char *from, uint64_t bytes) const {
  return segment.offsetOf(from, bytes);
}

const char *HostShare::borrow(uint64_t place, uint64_t bytes) const {
  return segment.isData(place, bytes) ? segment.at(place) : nullptr;
}

void HostShare::failed() {
  hasEnded.store(true, std::memory_order_release);
  changed();
}

} // namespace dpc::sockets
