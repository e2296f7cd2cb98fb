// The transports of this runtime as parameters of tests: what holds for one
// holds for all.
#ifndef DPC_TEST_RUNTIME_EVERYTRANSPORT_H
#define DPC_TEST_RUNTIME_EVERYTRANSPORT_H

#include "runtime/src/comm/sockets/SocketsComm.h"
#include "test/runtime/DeviceTransport.h"
#include "test/runtime/MpiRanks.h"

#include <gtest/gtest.h>

namespace dpc::test {

/// Names libdpc_gloo.so, which does not lie beside tests, to this process. Returns false if the
/// library was not built.
inline bool provideGloo() {
#ifdef GLOO_LIBRARY
  ::setenv("DPC_GLOO_LIBRARY", GLOO_LIBRARY, 1);
  return true;
#else
  return false;
#endif
}

/// The names of the transports between hosts for ranks that a test forks. The first one of the
/// list, `auto`, chooses among the others, and `mpi` needs ranks that mpirun starts.
inline std::vector<std::string> transportNames() {
  std::vector<std::string> names;
  for (uint32_t i = 1; const dpc_transport_t *transport = dpc_transport_at(i); ++i) {
    const std::string name = transport->name;
    if (name != "mpi" && (name != "gloo" || provideGloo()))
      names.push_back(name);
  }
  return names;
}

/// These, sockets between hosts that have two ranks each, the ways of communication between
/// devices, and MPI under each mpirun of this machine.
inline std::vector<std::string> allTransportNames() {
  std::vector<std::string> names = transportNames();
  names.insert(names.end(), {"hosts", "nccl", "staged"});
  for (const Mpirun &mpirun : kMpiruns)
    if (findMpirun(mpirun.name))
      names.push_back(mpirun.name);
  return names;
}

/// Sockets between ranks that act as if only ranks 0 and 1, 2 and 3, .. shared memory.
inline dpc_status_t createCommOfHosts(const dpc_comm_options_t &options, dpc_comm_t **outComm) {
  Lobby lobby;
  Hosts hosts;
  for (uint32_t rank = 0; rank < options.world_size; ++rank)
    hosts.push_back(rank / 2 * 2);
  if (dpc_status_t status = lobby.open(options, "hosts"))
    return status;
  return createSocketsComm(options, lobby, std::move(hosts), nullptr, outComm);
}

/// The communicator of any of them.
inline dpc_status_t createComm(const std::string &name, const dpc_comm_options_t &options,
                               dpc_comm_t **outComm) {
  for (const std::string &host : transportNames())
    if (name == host)
      return dpc_comm_create(name.c_str(), &options, outComm);
  if (name == "hosts")
    return createCommOfHosts(options, outComm);
  if (const Mpirun *mpirun = findMpirun(name)) {
    if (mpirun->library)
      ::setenv("DPC_MPI_LIBRARY", mpirun->library, 1);
    return dpc_comm_create("mpi", &options, outComm);
  }
  return createDeviceTransport(name, options, outComm);
}

/// Memory of the communicator, as floats, doubles or bytes. A rank that gets
/// none ends with the reason on its standard error.
template <typename T> T *allocate(dpc_comm_t *comm, uint64_t bytes) {
  void *memory = nullptr;
  if (comm->vtable->allocate(comm, bytes, &memory)) {
    std::fprintf(stderr, "rank %u: %s\n", comm->rank, dpc_last_error());
    _exit(8);
  }
  return static_cast<T *>(memory);
}

} // namespace dpc::test

#endif // DPC_TEST_RUNTIME_EVERYTRANSPORT_H
