#ifndef DPC_TARGETS_CPU_OPS_PATCHPRODUCT_H
#define DPC_TARGETS_CPU_OPS_PATCHPRODUCT_H

#include "targets/CPU/Vectors/VectorCode.h"

namespace dpc::nn {

/// How a grid of patches lies over one spatial dimension of an image. Point g
/// meets tap t over image element first + g * step + t * tapStep (padding where
/// that is outside), and kernel element kernelFirst + t * kernelStep. Its
/// result is element resultFirst + g * resultStep.
struct PatchDimension {
  int64_t points, step = 1;
  int64_t taps, first, tapStep;
  int64_t kernelFirst = 0, kernelStep = 1;
  int64_t resultFirst = 0, resultStep = 1;
};
using PatchGrid = llvm::SmallVector<PatchDimension>;

/// Whether no patch of the grid meets a kernel element.
bool isEmpty(const PatchGrid &grid);

/// Elements of padding before an image of these extents that the grids reach,
/// and its extents with padding on both sides.
llvm::SmallVector<int64_t> paddingOf(llvm::ArrayRef<int64_t> extents,
                                     llvm::ArrayRef<PatchGrid> grids,
                                     llvm::SmallVector<int64_t> &padded);

/// The image patches are read from: in place, or as a copy of some samples with
/// a zero border, so that no patch needs a test. Copies have the type that is
/// computed with.
class PatchSource {
public:
  using Index = LoopEmitter::Index;

  /// `tensor` is batch, channels, spatial; patches take `channels` channels of
  /// one group from `samples` samples at a time.
  PatchSource(VectorCode &code, mlir::Value tensor, int64_t channels, int64_t samples,
              llvm::ArrayRef<PatchGrid> grids);

  /// Makes samples [first, first + samples) of `group` ready.
  void prepare(Index first, int64_t samples, Index group);
  mlir::Value getAddress() const { return address; }

  int64_t samplePitch, channelPitch;  // elements
  llvm::SmallVector<int64_t> pitches; // of the spatial dimensions
  llvm::SmallVector<int64_t> padLow;

private:
  VectorCode &code;
  mlir::Value tensor, address, buffer, copy;
  int64_t channels;
};

/// The product that a convolution is: rows are patches, columns output
/// channels, depth is input channels times taps. Several grids, each with taps
/// of its own, are the phases of a transposed convolution with a stride.
struct ConvolutionProduct {
  mlir::Value source;                  // batch, channels, spatial
  int64_t groups, inputs, outputs;     // channels of a group
  llvm::ArrayRef<int64_t> kernelShape; // spatial
  llvm::ArrayRef<int64_t> resultShape; // spatial
  llvm::ArrayRef<PatchGrid> grids;
  mlir::Value result; // address
  mlir::Type resultType;

  int64_t getSamples() const;
  /// The type in which it is summed.
  mlir::Type getSumType() const;
  /// Whether some elements of the result are zero, for want of a tap.
  bool hasEmptyGrid() const { return llvm::any_of(grids, isEmpty); }
  /// `body` for the other grids.
  void forEachGrid(llvm::function_ref<void(const PatchGrid &)> body) const;
};

/// Patches are read where they lie ("implicit GEMM"), kernels are packed with
/// output channels in the lanes, and the result is transposed from a block of
/// channel rows that stays in cache.
struct PatchProduct : ConvolutionProduct {
  using Index = LoopEmitter::Index;

  /// Writes the kernels of `columns` output channels from `first` on as
  /// [inputs][taps][width], zero in lanes past `columns`.
  llvm::function_ref<void(VectorCode &code, Index group, Index first, int64_t columns,
                          int64_t width, mlir::Value to)>
      packKernel;

  void emit(VectorEmitter &emitter) const;
};

/// The gradient of a convolution's kernels.
struct ConvolutionGradient {
  mlir::Value source;                  // batch, channels, spatial
  int64_t groups, inputs, outputs;     // channels of a group
  llvm::ArrayRef<int64_t> kernelShape; // spatial
  PatchGrid grid;
  mlir::Value result; // address
  mlir::Type resultType;

  mlir::Type getSumType() const;
};

/// As a product: rows are input channels and taps, columns output channels,
/// depth is patches.
struct PatchGradient : ConvolutionGradient {
  mlir::Value grad; // y's gradient

  void emit(VectorEmitter &emitter) const;
};

} // namespace dpc::nn

#endif // DPC_TARGETS_CPU_OPS_PATCHPRODUCT_H
