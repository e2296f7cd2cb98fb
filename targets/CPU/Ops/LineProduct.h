#ifndef DPC_TARGETS_CPU_OPS_LINEPRODUCT_H
#define DPC_TARGETS_CPU_OPS_LINEPRODUCT_H

#include "targets/CPU/Ops/PatchProduct.h"

namespace dpc::nn {

/// The channels of one group of one sample, in scratch memory with a border of
/// zeros. Elements that are `step` apart along the last dimension lie side by
/// side, so that neighbouring patches load a vector.
class SplitPlanes {
public:
  using Index = LoopEmitter::Index;

  /// `grids` have one step and one first element in the last dimension.
  SplitPlanes(VectorCode &code, mlir::Value tensor, int64_t channels,
              llvm::ArrayRef<PatchGrid> grids);
  void load(Index sample, Index group);

  /// Offset of what point 0 of a line meets at `position` of the last
  /// dimension, counted from the first element inside.
  int64_t offsetOf(int64_t position) const;

  mlir::Value address;
  int64_t step, channelPitch;
  llvm::SmallVector<int64_t> pitches, padLow; // pitches: all but the last

private:
  VectorCode &code;
  mlir::Value tensor;
  int64_t channels, phasePitch;
};

/// A convolution with few output channels a group, such as a depthwise one:
/// patches of a line in the lanes, kernels read as scalars where they lie. As
/// PatchProduct, which is faster where output channels fill vectors.
struct LineProduct : ConvolutionProduct {
  mlir::Value kernel; // address, of the type that is computed with
  /// Elements of the kernel to the next group, output and input channel.
  int64_t groupPitch, outputPitch, inputPitch;

  void emit(VectorEmitter &emitter) const;
};

/// Kernel gradients of such a convolution.
struct LineGradient : ConvolutionGradient {
  mlir::Value grad; // address of y's gradient
  mlir::Type gradType;

  void emit(VectorEmitter &emitter) const;
};

/// Vectors for lines of `points`: the narrowest that hold one, or the target's.
VectorCode codeForLines(VectorEmitter &emitter, mlir::Type elementType, int64_t points);

} // namespace dpc::nn

#endif // DPC_TARGETS_CPU_OPS_LINEPRODUCT_H
