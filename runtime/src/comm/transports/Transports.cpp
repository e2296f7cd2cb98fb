// The table of transports. To add a transport, add a function that meets the other ranks
// and creates it, and a line to kTransports.
#include "runtime/src/base/Status.h"
#include "runtime/src/comm/gloo/GlooWire.h"
#include "runtime/src/comm/local/LocalComm.h"
#include "runtime/src/comm/mpi/MeetingPlace.h"
#include "runtime/src/comm/mpi/MpiWire.h"
#include "runtime/src/comm/sockets/SocketsComm.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

namespace dpc {

namespace {

bool emulatesLink(const dpc_comm_options_t &options) {
  return options.bandwidth > 0 || options.latency > 0;
}

dpc_status_t refuseLink(const char *name) {
  return fail(DPC_USAGE,
              "the %s transport emulates no link: bandwidth and latency are settings of the local "
              "one",
              name);
}

dpc_status_t meetAndShareMemory(const dpc_comm_options_t *options, dpc_comm_t **outComm) {
  Lobby lobby;
  if (dpc_status_t status = lobby.open(*options, "local"))
    return status;
  return createLocalComm(*options, lobby, outComm);
}

dpc_status_t meetAndSendMessages(const dpc_comm_options_t *options, dpc_comm_t **outComm) {
  if (emulatesLink(*options))
    return refuseLink("sockets");
  Lobby lobby;
  if (dpc_status_t status = lobby.open(*options, "sockets"))
    return status;
  return createSocketsComm(*options, lobby, separateHosts(options->world_size), nullptr, outComm);
}

/// Messages move through MPI, and the ranks watch each other over sockets.
dpc_status_t meetUnderMpi(const dpc_comm_options_t *options, dpc_comm_t **outComm) {
  if (emulatesLink(*options))
    return refuseLink("mpi");
  dpc_comm_options_t meet = *options;
  mpi::MeetingPlace place;
  Lobby lobby;
  auto wire = std::make_unique<mpi::MpiWire>();
  dpc_status_t found = wire->open(options->rank, options->world_size);
  if (found == DPC_OK)
    found = mpi::findMeetingPlace(*wire, &meet, &place);
  if (found != DPC_OK) {
    const std::string reason = dpc_last_error();
    if (!wire->close(false))
      (void)wire.release(); // a call of MPI does not end
    return fail(found, "%s", reason.c_str());
  }
  if (dpc_status_t status = lobby.open(meet, "mpi"))
    return status;
  return createSocketsComm(*options, lobby, separateHosts(options->world_size), std::move(wire),
                           outComm);
}

/// Messages move through Gloo, and the ranks watch each other over sockets.
dpc_status_t meetForGloo(const dpc_comm_options_t *options, dpc_comm_t **outComm) {
  if (emulatesLink(*options))
    return refuseLink("gloo");
  Lobby lobby;
  auto wire = std::make_unique<gloo::GlooWire>();
  if (dpc_status_t status = wire->open(*options)) // first, because this rank may lack Gloo
    return status;
  if (dpc_status_t status = lobby.open(*options, "gloo"))
    return status;
  return createSocketsComm(*options, lobby, separateHosts(options->world_size), std::move(wire),
                           outComm);
}

/// Chooses `local` if all ranks can open the memory of rank 0. Otherwise chooses `sockets`, and the
/// ranks of one host still share memory.
dpc_status_t meetAndChoose(const dpc_comm_options_t *options, dpc_comm_t **outComm) {
  if (emulatesLink(*options))
    return meetAndShareMemory(options, outComm);
  Lobby lobby;
  Hosts hosts;
  if (dpc_status_t status = lobby.open(*options, "auto"))
    return status;
  if (dpc_status_t status = findHosts(lobby, &hosts))
    return status;
  return std::all_of(hosts.begin(), hosts.end(), [](uint32_t lowest) { return lowest == 0; })
             ? createLocalComm(*options, lobby, outComm)
             : createSocketsComm(*options, lobby, std::move(hosts), nullptr, outComm);
}

/// The first entry is the default.
constexpr dpc_transport_t kTransports[] = {
    {"auto", "", "local if the ranks share memory, else sockets", meetAndChoose},
    {"local", "[,bandwidth=1GB/s][,latency=20us]", "shared memory, or a slower link emulated",
     meetAndShareMemory},
    {"sockets", "", "messages over TCP: no memory is shared", meetAndSendMessages},
    {"mpi", "", "messages through MPI, for ranks that mpirun starts", meetUnderMpi},
    {"gloo", "", "messages through Gloo, if libdpc_gloo.so is there", meetForGloo},
};

} // namespace

} // namespace dpc

using dpc::kTransports;

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
