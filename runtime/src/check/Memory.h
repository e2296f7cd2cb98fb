#ifndef DPC_RUNTIME_SRC_CHECK_MEMORY_H
#define DPC_RUNTIME_SRC_CHECK_MEMORY_H

#include <cstdint>

namespace dpc {

/// Bytes of memory that processes of this host can still take: what the system has available, but
/// no more than the limit of this process's control groups (version 2). UINT64_MAX if the system
/// does not say.
uint64_t availableMemory();

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CHECK_MEMORY_H
