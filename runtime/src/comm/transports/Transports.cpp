// The table of transports. To add a transport, add a line to kTransports.
#include "runtime/src/base/Status.h"
#include "runtime/src/comm/local/LocalComm.h"
#include "runtime/src/comm/sockets/SocketsComm.h"

#include <cstring>
#include <string>

namespace {

/// The first entry is the default transport.
constexpr dpc_transport_t kTransports[] = {
    {"local", "[,bandwidth=1GB/s][,latency=20us]", "shared memory, or a slower link emulated",
     dpc::createLocalComm},
    {"sockets", "", "messages over TCP: no memory is shared", dpc::createSocketsComm},
};

} // namespace

extern "C" const dpc_transport_t *dpc_transport_at(uint32_t index) {
  return index < std::size(kTransports) ? &kTransports[index] : nullptr;
}

extern "C" const dpc_transport_t *dpc_transport_find(const char *name) {
  std::string names;
  for (const dpc_transport_t &transport : kTransports) {
    if (!name || std::strcmp(transport.name, name) == 0)
      return &transport;
    names += (names.empty() ? "" : ", ") + std::string(transport.name);
  }
  dpc::fail(DPC_USAGE, "unknown transport \"%s\" (available: %s)", name, names.c_str());
  return nullptr;
}

extern "C" dpc_status_t dpc_comm_create(const char *name, const dpc_comm_options_t *options,
                                        dpc_comm_t **outComm) {
  *outComm = nullptr;
  const dpc_transport_t *transport = dpc_transport_find(name);
  return transport ? transport->create(options, outComm) : dpc_status_t(DPC_USAGE);
}
