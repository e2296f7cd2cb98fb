#ifndef DPC_TARGETS_CPU_OPS_PATCHPRODUCT_H
#define DPC_TARGETS_CPU_OPS_PATCHPRODUCT_H

#include "targets/CPU/Vectors/VectorCode.h"

namespace dpc::nn {

/// One spatial dimension of a grid of patches over an image. Point g multiplies
/// image element first + g * step + t * tapStep (padding if outside) with kernel
/// element kernelFirst + t * kernelStep, for each tap t. Its result is element
/// resultFirst + g * resultStep.
struct PatchDimension {
  int64_t points, step = 1;
  int64_t taps, first, tapStep;
  int64_t kernelFirst = 0, kernelStep = 1;
  int64_t resultFirst = 0, resultStep = 1;
};
using PatchGrid = llvm::SmallVector<PatchDimension>;

/// Whether the grid has no point or its points no tap.
bool isEmpty(const PatchGrid &grid);

/// The padding that the grids read before an image of these extents. `padded` gets
/// the extents with the padding on both sides.
llvm::SmallVector<int64_t> paddingOf(llvm::ArrayRef<int64_t> extents,
                                     llvm::ArrayRef<PatchGrid> grids,
                                     llvm::SmallVector<int64_t> &padded);

/// The memory of the image from which patches are read: in place, or a copy of some
/// samples with a border of zeros, so that no patch needs a bounds check. Copies have the
/// type of the sums.
struct PatchLayout {
  /// The parameters are those of PatchSource. `format` is that of the sums.
  PatchLayout(const VectorFormat &format, mlir::Value tensor, int64_t channels,
              llvm::ArrayRef<PatchGrid> grids, llvm::function_ref<bool(mlir::Value)> isInMemory);

  /// Number of elements of the copy; kNone if patches are read in place.
  int64_t countOfCopy(int64_t samples) const {
    return isCopied ? samples * samplePitch : VectorFormat::kNone;
  }

  bool isCopied, hasBorder;
  int64_t samplePitch, channelPitch;  // elements
  llvm::SmallVector<int64_t> pitches; // of the spatial dimensions
  llvm::SmallVector<int64_t> padLow;
};

/// The image from which patches are read.
class PatchSource : public PatchLayout {
public:
  using Index = LoopEmitter::Index;

  /// `tensor` has dimensions batch, channels, spatial. Patches read `channels`
  /// channels of one group from `samples` samples at a time.
  PatchSource(VectorCode &code, mlir::Value tensor, int64_t channels, int64_t samples,
              llvm::ArrayRef<PatchGrid> grids);

  /// Copies samples [first, first + samples) of `group`, unless they are read in
  /// place.
  void prepare(Index first, int64_t samples, Index group);
  mlir::Value getAddress() const { return address; }

private:
  VectorCode &code;
  mlir::Value tensor, address, buffer, copy;
  int64_t channels;
};

/// A convolution as a matrix product: rows are patches, columns output channels,
/// and the depth is input channels times taps. A transposed convolution with a
/// stride has several grids, one per phase, each with its own taps.
struct ConvolutionProduct {
  mlir::Value source;                  // batch, channels, spatial
  int64_t groups, inputs, outputs;     // channels of a group
  llvm::ArrayRef<int64_t> kernelShape; // spatial
  llvm::ArrayRef<int64_t> resultShape; // spatial
  llvm::ArrayRef<PatchGrid> grids;
  mlir::Value result; // address
  mlir::Type resultType;

  int64_t getSamples() const;
  /// The type of the sums.
  mlir::Type getSumType() const;
  /// Whether some elements of the result are zero because their grid has no taps.
  bool hasEmptyGrid() const { return llvm::any_of(grids, isEmpty); }
  /// Calls `body` for the grids that are not empty.
  void forEachGrid(llvm::function_ref<void(const PatchGrid &)> body) const;
};

/// Patches are read in place ("implicit GEMM"). Kernels are packed with output
/// channels as lanes. The result is transposed from a block of channel rows that
/// stays in cache.
struct PatchProduct : ConvolutionProduct {
  using Index = LoopEmitter::Index;

  /// Writes the kernels of `columns` output channels from `first` on as
  /// [inputs][taps][width], with zeros in lanes past `columns`.
  llvm::function_ref<void(VectorCode &code, Index group, Index first, int64_t columns,
                          int64_t width, mlir::Value to)>
      packKernel;

  ScratchSizes getScratch(const VectorSite &site) const;
  void emit(VectorEmitter &emitter) const;
};

/// The gradient of a convolution with respect to its kernels.
struct ConvolutionGradient {
  mlir::Value source;                  // batch, channels, spatial
  int64_t groups, inputs, outputs;     // channels of a group
  llvm::ArrayRef<int64_t> kernelShape; // spatial
  PatchGrid grid;
  mlir::Value result; // address
  mlir::Type resultType;

  mlir::Type getSumType() const;
};

/// The gradient as a matrix product: rows are input channels and taps, columns are
/// output channels, and the depth is patches.
struct PatchGradient : ConvolutionGradient {
  mlir::Value grad; // y's gradient

  ScratchSizes getScratch(const VectorSite &site) const;
  void emit(VectorEmitter &emitter) const;
};

} // namespace dpc::nn

#endif // DPC_TARGETS_CPU_OPS_PATCHPRODUCT_H
