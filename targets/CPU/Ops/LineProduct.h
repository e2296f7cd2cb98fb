#ifndef DPC_TARGETS_CPU_OPS_LINEPRODUCT_H
#define DPC_TARGETS_CPU_OPS_LINEPRODUCT_H

#include "targets/CPU/Ops/PatchProduct.h"

namespace dpc {

/// How a copy of the channels of one group of one sample lies in scratch memory.
/// The copy has a border of zeros. A line is the elements along the last
/// dimension. The copy makes elements of a line neighbours if their distance is
/// `step`, the stride of the convolution. Then one vector load reads the elements
/// of neighbouring patches.
struct SplitLayout {
  /// Needs: all `grids` have the same step in the last dimension. The first elements of
  /// the grids may differ.
  SplitLayout(const VectorFormat &format, mlir::Value tensor, int64_t channels,
              llvm::ArrayRef<PatchGrid> grids);

  int64_t step, phasePitch, channelPitch;
  llvm::SmallVector<int64_t> pitches, padLow; // `pitches`: of all spatial dimensions but the last
  int64_t count;                              // number of elements of the copy
};

/// The copy itself: its memory, and the code that fills it.
class SplitPlanes : public SplitLayout {
public:
  using Index = LoopEmitter::Index;

  SplitPlanes(VectorCode &code, mlir::Value tensor, int64_t channels,
              llvm::ArrayRef<PatchGrid> grids);
  void load(Index sample, Index group);

  /// The offset of an element from the start of its line in the copy. `position` is 0 for
  /// the first element after the border, and negative in the border before it.
  int64_t offsetOf(int64_t position) const;

  mlir::Value address;

private:
  VectorCode &code;
  mlir::Value tensor;
  int64_t channels;
};

/// A convolution with few output channels per group, e.g. a depthwise convolution.
/// Neighbouring patches of a line are the lanes of vectors, and kernel elements
/// are scalars, which are read in place. They have the type of the sums.
/// PatchProduct is faster if a group has enough output channels to fill vectors.
struct LineProduct : ConvolutionProduct {
  ScratchSizes getScratch(const VectorSite &site) const;
  void emit(VectorEmitter &emitter) const;
};

/// The gradient of the kernel of a convolution with few output channels per group.
struct LineGradient : ConvolutionGradient {
  mlir::Value grad; // the address of the gradient of the result
  mlir::Type gradType;

  ScratchSizes getScratch(const VectorSite &site) const;
  void emit(VectorEmitter &emitter) const;
};

/// Vectors for lines of `points` points: the narrowest vectors that hold a line, but
/// vectors of at least 16 bytes, and at most those of the target.
VectorFormat formatForLines(unsigned vectorBytes, mlir::Type elementType, int64_t points);

} // namespace dpc

#endif // DPC_TARGETS_CPU_OPS_LINEPRODUCT_H
