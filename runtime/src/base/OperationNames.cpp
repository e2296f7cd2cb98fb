#include "runtime/src/base/OperationNames.h"

#include "dpc/action.h"

namespace dpc {

const char *opName(uint32_t op) {
  static const char *const names[DPC_OP_COUNT] = {
      "nothing", "all-reduce", "reduce-scatter", "all-gather", "broadcast", "reduce",
      "gather",  "scatter",    "all-to-all",     "barrier",    "send",      "recv"};
  return names[op < DPC_OP_COUNT ? op : 0];
}

} // namespace dpc
