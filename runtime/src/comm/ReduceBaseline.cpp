// The reduction kernels of ReduceKernels.inc, compiled for the baseline set.
#include "dpc/types.h"
#include "runtime/src/comm/ReduceKernels.h"

namespace dpc {
namespace baseline {
static inline void streamBlock(void *dst, const void *src, size_t bytes) {
  __builtin_memcpy(dst, src, bytes);
}
static inline void streamFence() {}
} // namespace baseline
} // namespace dpc

#define DPC_ISA_NAMESPACE baseline
#include "runtime/src/comm/ReduceKernels.inc"
