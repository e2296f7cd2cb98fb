#ifndef DPC_RUNTIME_SRC_COMM_WAITS_H
#define DPC_RUNTIME_SRC_COMM_WAITS_H

#include "dpc/comm.h"

#include <functional>
#include <string>

namespace dpc {

/// A rank that waits, and the rank that it waits for.
struct Wait {
  uint32_t rank;
  uint32_t late;
};

/// Follows waits from `first` to the rank that keeps all others waiting, and returns the last
/// wait. `waitOf(r)` is the rank that rank r waits for, or DPC_NONE if r does not wait. Returns
/// `first` if the ranks wait for each other in a cycle.
Wait findLastWait(const Wait &first, uint32_t worldSize,
                  const std::function<uint32_t(uint32_t)> &waitOf);

/// Describes a rank for which another rank has waited until the timeout, for waitText: "has not
/// answered for 3 s".
std::string silence(double timeoutSeconds);

/// Describes a wait in messages: "rank 3 has left the run, and rank 2 waits for it in recv of
/// buffer 11". `what` says what the late rank has done. Without `op`, the message names no
/// operation.
std::string waitText(const Wait &wait, const std::string &what, const dpc_comm_op_t *op);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_WAITS_H
