#ifndef DPC_TEST_CUDA_EMULATOR_EXECUTION_MATRIX_H
#define DPC_TEST_CUDA_EMULATOR_EXECUTION_MATRIX_H

#include <cstdint>

namespace dpc::emulator {

/// Most 32-bit words of a fragment that one lane gives to an operation.
inline constexpr unsigned kFragmentWords = 16;

/// The matrix products that are known: m16n8k16 of f16 or bf16, m16n8k8 of tf32,
/// m8n8k4 of f64, each row by column.
enum class MatrixKind : uint32_t { f16, bf16, tf32, f64 };
enum class ShuffleMode : uint32_t { up, down, butterfly, index };
enum class VoteKind : uint32_t { any, all, uniform, ballot, add, min, max, bitAnd, bitOr, bitXor };

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_EXECUTION_MATRIX_H
