#ifndef DPC_TEST_CUDA_EMULATOR_EXECUTION_WARPOPERATIONS_H
#define DPC_TEST_CUDA_EMULATOR_EXECUTION_WARPOPERATIONS_H

#include "test/cuda_emulator/execution/Context.h"

namespace dpc::emulator {

// Compiled code calls these; `line` is that of the PTX. See PTX ISA for what
// each does. A thread that meets others is left until they are here.

/// bar.sync: `count` 0 is all threads of the block that have not ended.
void barrier(ThreadContext *thread, uint32_t id, uint32_t count, int line);
/// bar.warp.sync.
void warpBarrier(ThreadContext *thread, uint32_t mask, int line);
/// shfl.sync: the value in the low word, whether the lane was in range above it.
uint64_t shuffle(ThreadContext *thread, uint32_t value, uint32_t by, uint32_t clamp, uint32_t mask,
                 uint32_t mode, int line);
/// vote.sync and redux.sync: `kind` is a VoteKind.
uint32_t vote(ThreadContext *thread, uint32_t value, uint32_t mask, uint32_t kind,
              uint32_t isSigned, int line);
/// ldmatrix: lane i gives the address of row i of the tiles.
void loadMatrix(ThreadContext *thread, char *row, uint32_t *out, uint32_t tiles,
                uint32_t transposed, int line);
/// mma.sync: d = a b + c of fragments; `kind` is a MatrixKind. Sums are exact up
/// to one rounding, where a device rounds more often.
void matrixProduct(ThreadContext *thread, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                   uint32_t *d, uint32_t kind, int line);

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_EXECUTION_WARPOPERATIONS_H
