#include "runtime/src/comm/ReduceKernels.h"

#include <cstring>

namespace dpc {

namespace baseline {
ReduceFn select(uint32_t dtype, uint32_t reduction);
}
namespace avx2 {
ReduceFn select(uint32_t dtype, uint32_t reduction);
void streamCopy(void *dst, const void *src, size_t bytes);
} // namespace avx2
namespace avx512 {
ReduceFn select(uint32_t dtype, uint32_t reduction);
void streamCopy(void *dst, const void *src, size_t bytes);
} // namespace avx512

ReduceFn reduceKernel(uint32_t dtype, uint32_t reduction) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f"))
    return avx512::select(dtype, reduction);
  if (__builtin_cpu_supports("avx2"))
    return avx2::select(dtype, reduction);
#endif
  return baseline::select(dtype, reduction);
}

void copyBytes(void *dst, const void *src, size_t bytes) {
  constexpr size_t kStreamBytes = 8u << 20;
#ifdef __x86_64__
  if (bytes >= kStreamBytes && __builtin_cpu_supports("avx512f"))
    return avx512::streamCopy(dst, src, bytes);
  if (bytes >= kStreamBytes && __builtin_cpu_supports("avx2"))
    return avx2::streamCopy(dst, src, bytes);
#endif
  std::memcpy(dst, src, bytes);
}

} // namespace dpc
