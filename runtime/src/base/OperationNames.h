#ifndef DPC_RUNTIME_SRC_BASE_OPERATIONNAMES_H
#define DPC_RUNTIME_SRC_BASE_OPERATIONNAMES_H

#include <cstdint>

namespace dpc {

/// "all-reduce" of DPC_OP_ALL_REDUCE, and so on, for messages and traces.
const char *opName(uint32_t op);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_OPERATIONNAMES_H
