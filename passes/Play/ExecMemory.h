// The values in the memory of a rank while a step is played.

#ifndef DPC_PASSES_PLAY_EXECMEMORY_H
#define DPC_PASSES_PLAY_EXECMEMORY_H

#include "passes/Play/ExecPlay.h"

namespace dpc {

/// The purpose of a buffer. Buffers of the first four live as long as the program.
enum class MemoryUse { parameters, optimizer, constants, data, gradients, gathered, activations };
constexpr size_t kMemoryUses = size_t(MemoryUse::activations) + 1;
constexpr size_t kLastingUses = size_t(MemoryUse::data) + 1;
/// The name of `use` in reports, e.g. "optimizer state".
llvm::StringRef nameOf(MemoryUse use);

/// A buffer of the memory plan.
struct PlannedBuffer {
  /// Of the state that it holds, or of the ONNX node that first writes it; empty if there is none.
  std::string name;
  std::string type; ///< e.g. "f32[8, 16]"
  MemoryUse use = MemoryUse::activations;
  /// Its bytes, and those before it in its address space.
  int64_t bytes = 0, offset = 0;
};

/// A time, in seconds of the play, in which a buffer holds a value: from the begin of the kernel or
/// collective that writes it to the end of its last use.
struct BufferLife {
  size_t buffer;
  double begin, end;
};

/// The memory of a rank.
struct RankMemory {
  std::vector<PlannedBuffer> buffers;
  /// Of temporaries, in the order of their begins. Other buffers live as long as the program.
  std::vector<BufferLife> lives;
  /// The bytes of the memory plan, with its gaps.
  int64_t plannedBytes = 0;
};

/// Returns what the memory of `rank` holds while it runs entry `entry` of `program`, the module of
/// its stage at level `exec`. The time of a function is divided among its kernels by their times.
RankMemory memoryOf(mlir::ModuleOp program, llvm::StringRef entry, const ExecPlay &play,
                    const PlayedRank &rank);

} // namespace dpc

#endif // DPC_PASSES_PLAY_EXECMEMORY_H
