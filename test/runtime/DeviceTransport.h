// Communication between devices as a transport, for the tests that all transports
// pass: each rank has an emulated device.
#ifndef DPC_TEST_RUNTIME_DEVICETRANSPORT_H
#define DPC_TEST_RUNTIME_DEVICETRANSPORT_H

#include "dpc/comm.h"

#include <string>

namespace dpc::test {

/// "nccl"; "nccl-known", whose ranks have announced their operations before, so
/// that only the device and the hosts' watch are left; or "staged". An operation's
/// buffers are copied to the device when it starts, and back when it is waited
/// for.
dpc_status_t createDeviceTransport(const std::string &name, const dpc_comm_options_t &options,
                                   dpc_comm_t **outComm);

/// Whether createDeviceTransport created `comm`.
bool isDeviceTransport(const dpc_comm_t *comm);

} // namespace dpc::test

#endif // DPC_TEST_RUNTIME_DEVICETRANSPORT_H
