// The reduction kernels of ReduceKernels.inc, compiled for AVX-512.
#include "dpc/types.h"
#include "runtime/src/comm/ReduceKernels.h"

#include <immintrin.h>

namespace dpc {
namespace avx512 {

// Copies with non-temporal stores, which bypass the caches and need aligned
// vectors. The bytes before the first and after the last full aligned vector are
// copied with ordinary stores.
static inline void streamBlock(void *dst, const void *src, size_t bytes) {
  char *out = static_cast<char *>(dst);
  const char *in = static_cast<const char *>(src);
  size_t head = (-reinterpret_cast<uintptr_t>(out)) & 63;
  if (head > bytes)
    head = bytes;
  __builtin_memcpy(out, in, head);
  size_t i = head;
  for (; i + 64 <= bytes; i += 64)
    _mm512_stream_si512(reinterpret_cast<__m512i *>(out + i),
                        _mm512_loadu_si512(reinterpret_cast<const __m512i *>(in + i)));
  __builtin_memcpy(out + i, in + i, bytes - i);
}
static inline void streamFence() { _mm_sfence(); }

} // namespace avx512
} // namespace dpc

#define DPC_ISA_NAMESPACE avx512
#include "runtime/src/comm/ReduceKernels.inc"
