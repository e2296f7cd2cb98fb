#ifndef DPC_TARGETS_CPU_OPS_LINEPRODUCT_H
#define DPC_TARGETS_CPU_OPS_LINEPRODUCT_H

#include "targets/CPU/Ops/PatchProduct.h"

namespace dpc::nn {

/// The memory of the channels of one group of one sample, copied with a border
/// of zeros. Elements at distance `step` along the last dimension become
/// neighbours, so that one vector load reads neighbouring patches.
struct SplitLayout {
  /// All `grids` have the same step and the same first element in the last
  /// dimension.
  SplitLayout(const VectorFormat &format, mlir::Value tensor, int64_t channels,
              llvm::ArrayRef<PatchGrid> grids);

  int64_t step, phasePitch, channelPitch;
  llvm::SmallVector<int64_t> pitches, padLow; // pitches: all but the last
  int64_t count;                              // elements of the copy
};

/// The channels in this memory.
class SplitPlanes : public SplitLayout {
public:
  using Index = LoopEmitter::Index;

  SplitPlanes(VectorCode &code, mlir::Value tensor, int64_t channels,
              llvm::ArrayRef<PatchGrid> grids);
  void load(Index sample, Index group);

  /// Offset of the element that point 0 of a line reads for `position` in the last
  /// dimension, relative to the first element inside the border.
  int64_t offsetOf(int64_t position) const;

  mlir::Value address;

private:
  VectorCode &code;
  mlir::Value tensor;
  int64_t channels;
};

/// A convolution with few output channels per group, such as a depthwise one.
/// Patches of a line are lanes, and kernels are read in place as scalars. The
/// interface is that of PatchProduct, which is faster if output channels fill
/// vectors.
struct LineProduct : ConvolutionProduct {
  mlir::Value kernel; // address of the kernel, in the type of the sums
  /// Distance in elements to the next group, output channel and input channel of
  /// the kernel.
  int64_t groupPitch, outputPitch, inputPitch;

  ScratchSizes getScratch(const VectorSite &site) const;
  void emit(VectorEmitter &emitter) const;
};

/// The kernel gradients of such a convolution.
struct LineGradient : ConvolutionGradient {
  mlir::Value grad; // address of y's gradient
  mlir::Type gradType;

  ScratchSizes getScratch(const VectorSite &site) const;
  void emit(VectorEmitter &emitter) const;
};

/// Vectors for lines of `points`: the narrowest ones that hold a line, or the
/// target's width.
VectorFormat formatForLines(unsigned vectorBytes, mlir::Type elementType, int64_t points);

} // namespace dpc::nn

#endif // DPC_TARGETS_CPU_OPS_LINEPRODUCT_H
