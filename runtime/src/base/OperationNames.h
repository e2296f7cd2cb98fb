#ifndef DPC_RUNTIME_SRC_BASE_OPERATIONNAMES_H
#define DPC_RUNTIME_SRC_BASE_OPERATIONNAMES_H

#include <cstdint>

namespace dpc {

/// The name of DPC_OP_* for messages and traces, e.g. "all-reduce" for
/// DPC_OP_ALL_REDUCE.
const char *opName(uint32_t op);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_OPERATIONNAMES_H
