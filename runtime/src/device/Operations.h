#ifndef DPC_RUNTIME_SRC_DEVICE_OPERATIONS_H
#define DPC_RUNTIME_SRC_DEVICE_OPERATIONS_H

#include "dpc/action.h"
#include "runtime/src/device/Queue.h"

#include <vector>

namespace dpc {

/// The communication of an action of kind START, without the addresses of its buffers.
dpc_comm_op_t operationOf(const dpc_action_t &action);

/// The place of a buffer of an action whose group is of `family` (DPC_NONE: no group). `groupIndex`
/// has, for each group family, the rank's index in its group.
DeviceAddress placeOf(const dpc_buffer_t &buffer, uint32_t family,
                      const std::vector<uint32_t> &groupIndex);

/// A communication of a program, and the places of its buffers.
struct PlacedOperation {
  dpc_comm_op_t op;
  DeviceAddress in, out;
};

/// The operations after which a communicator has all connections that the program of this rank
/// uses: in each family of groups, the smallest and the largest operation of each kind, and the
/// smallest and the largest message to and from each peer. Gathers and scatters of each root count
/// as kinds of their own, because messages may make them.
///
/// Every rank may run its operations one after another, in this order: all ranks have the same
/// order of the operations that they share, so none waits for another in a cycle.
std::vector<PlacedOperation> findFirstOperations(const dpc_program_t &program, uint32_t rank);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_OPERATIONS_H
