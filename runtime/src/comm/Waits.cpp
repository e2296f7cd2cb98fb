#include "runtime/src/comm/Waits.h"

#include "runtime/src/comm/Operation.h"

#include <cstdio>

namespace dpc {

Wait findLastWait(const Wait &first, uint32_t worldSize,
                  const std::function<uint32_t(uint32_t)> &waitOf) {
  Wait last = first;
  // A path that visits more ranks than there are is a cycle.
  for (uint32_t visited = 0; visited < worldSize; ++visited) {
    const uint32_t next = waitOf(last.late);
    if (next == DPC_NONE)
      return last;
    last = {last.late, next};
  }
  return first;
}

std::string silence(double timeoutSeconds) {
  char text[64];
  std::snprintf(text, sizeof text, "has not answered for %.0f s", timeoutSeconds);
  return text;
}

std::string waitText(const Wait &wait, const std::string &what, const dpc_comm_op_t *op) {
  return "rank " + std::to_string(wait.late) + " " + what + ", and rank " +
         std::to_string(wait.rank) + " waits for it" +
         (op ? " in " + operationText(op->op, op->buffer_id) : "");
}

} // namespace dpc
