// The reduction kernels of ReduceKernels.inc, compiled for AVX2.
#include "dpc/types.h"
#include "runtime/src/comm/ReduceKernels.h"

#include <immintrin.h>

namespace dpc {
namespace avx2 {

// Copies with non-temporal stores, which bypass the caches and need aligned
// vectors. The bytes before the first and after the last full aligned vector are
// copied with ordinary stores.
static inline void streamBlock(void *dst, const void *src, size_t bytes) {
  char *out = static_cast<char *>(dst);
  const char *in = static_cast<const char *>(src);
  size_t head = (-reinterpret_cast<uintptr_t>(out)) & 31;
  if (head > bytes)
    head = bytes;
  __builtin_memcpy(out, in, head);
  size_t i = head;
  for (; i + 32 <= bytes; i += 32)
    _mm256_stream_si256(reinterpret_cast<__m256i *>(out + i),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i *>(in + i)));
  __builtin_memcpy(out + i, in + i, bytes - i);
}
static inline void streamFence() { _mm_sfence(); }

} // namespace avx2
} // namespace dpc

#define DPC_ISA_NAMESPACE avx2
#include "runtime/src/comm/ReduceKernels.inc"
