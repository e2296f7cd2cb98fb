#ifndef DPC_RUNTIME_SRC_COMM_REDUCEKERNELS_H
#define DPC_RUNTIME_SRC_COMM_REDUCEKERNELS_H

#include <cstddef>
#include <cstdint>

namespace dpc {

/// Computes outs[q][i] = ins[0][i] op ins[1][i] op ... for lo <= i < hi and every
/// q. The inputs are combined in this order, so that the bits of a result do not
/// depend on how a caller slices the buffer. An output may equal an input. If
/// `stream` is true, stores bypass the caches (on machines with AVX2); this helps
/// if the buffers are larger than the caches.
using ReduceFn = void (*)(const void *const *ins, uint32_t inCount, void *const *outs,
                          uint32_t outCount, size_t lo, size_t hi, bool stream);

/// The kernel for this machine's instruction set; null if (dtype, reduction) is
/// not supported. Supported types are f64, f32, f16, bf16, i64 and i32. Elements
/// of 16-bit types are combined as f32, and the result is rounded once.
ReduceFn reduceKernel(uint32_t dtype, uint32_t reduction);

/// Copies non-overlapping memory. Copies of 8 MiB and more bypass the caches (on
/// machines with AVX2).
void copyBytes(void *dst, const void *src, size_t bytes);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_REDUCEKERNELS_H
