#ifndef DPC_RUNTIME_SRC_COMM_SOCKETS_HOSTSHARE_H
#define DPC_RUNTIME_SRC_COMM_SOCKETS_HOSTSHARE_H

#include "runtime/src/comm/local/Engine.h"
#include "runtime/src/comm/sockets/Mesh.h"
#include "runtime/src/comm/sockets/MeshHost.h"

#include <atomic>
#include <optional>

namespace dpc::sockets {

/// One host of a run that has several: the memory of its ranks, and the operations between
/// them, which run as in the transport `local`. The mesh carries failures and heartbeats.
class HostShare : public MeshHost, private local::Peers {
public:
  /// Every rank of the run must call it, before any rank opens its mesh.
  dpc_status_t open(const dpc_comm_options_t &options, Lobby &lobby, const Hosts &hosts);
  /// Must be called before the first operation.
  void attach(const dpc_comm_options_t &options, const std::vector<Group> &groups, Mesh &mesh);

  Region &memory() { return segment.memory; }
  bool runs(const dpc_comm_op_t &op) const { return engine->runs(op); }
  dpc_status_t start(const dpc_comm_op_t &op, dpc_request_t *outRequest);
  /// Whether `request` is one of start(), and not one of the mesh.
  static bool owns(dpc_request_t request) { return request & kHere; }
  dpc_status_t wait(dpc_request_t request) { return engine->wait(request & ~kHere); }
  /// Advances the operations between ranks of this host until an operation of the mesh is
  /// complete, or until all operations between ranks of this host are. A peer may need this
  /// rank's share of such an operation before it starts the one of the mesh.
  dpc_status_t progressUntil(dpc_request_t meshRequest);
  dpc_status_t progress();

  bool shares(uint32_t rank) const override { return segment.holds(rank); }
  uint64_t lend(const char *from, uint64_t bytes) const override;
  const char *borrow(uint64_t place, uint64_t bytes) const override;
  void changed() override { segment.ring(segment.rank); }
  void failed() override;

private:
  static constexpr dpc_request_t kHere = 1ull << 63;

  bool hasFailed() const override { return hasEnded.load(std::memory_order_acquire); }
  dpc_status_t check() override { return mesh->check(); }
  dpc_status_t stop(uint32_t guilty, const std::string &text) override {
    return mesh->stop(guilty, text);
  }
  void tellWait(uint32_t late) override { mesh->tellWait(late); }
  uint32_t waitOf(uint32_t rank) override { return mesh->waitOf(rank); }
  bool hasLeft(uint32_t rank) override { return mesh->hasLeft(rank); }

  local::Segment segment;
  std::optional<local::Engine> engine;
  Mesh *mesh = nullptr;
  std::atomic<bool> hasEnded{false};
};

} // namespace dpc::sockets

#endif // DPC_RUNTIME_SRC_COMM_SOCKETS_HOSTSHARE_H
