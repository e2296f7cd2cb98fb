#ifndef DPC_TARGETS_CPU_OPS_PATCHPRODUCT_H
#define DPC_TARGETS_CPU_OPS_PATCHPRODUCT_H

#include "targets/CPU/Vectors/VectorCode.h"

namespace dpc {

/// One spatial dimension of a grid of patches over an image. A patch is the part of the
/// image that the kernel multiplies at one position. Along this dimension, patch (point)
/// number g multiplies image elements by kernel elements, one pair for each tap t: image
/// element first + g * step + t * tapStep, and kernel element
/// kernelFirst + t * kernelStep. Image elements outside of the image are padding. The
/// result of the patch is element resultFirst + g * resultStep.
struct PatchDimension {
  int64_t points, step = 1;
  int64_t taps, first, tapStep;
  int64_t kernelFirst = 0, kernelStep = 1;
  int64_t resultFirst = 0, resultStep = 1;
};
using PatchGrid = llvm::SmallVector<PatchDimension>;

/// Whether the grid has no points, or its points have no taps.
bool isEmpty(const PatchGrid &grid);

/// The padding that patches of the grids read before an image of extents `extents`. Sets
/// `padded` to the extents with the padding on both sides.
llvm::SmallVector<int64_t> paddingOf(llvm::ArrayRef<int64_t> extents,
                                     llvm::ArrayRef<PatchGrid> grids,
                                     llvm::SmallVector<int64_t> &padded);

/// Which two elements of an image of bf16 are a pair for VectorCode::multiplyAddPairs: those of
/// the channels 2 i and 2 i + 1, or those of the samples 2 i and 2 i + 1. If the number of
/// channels or samples is odd, the last element has a zero as its partner.
enum class PatchPairs { none, ofChannels, ofSamples };

/// How the image from which patches are read lies in memory. It is read in place, or some
/// samples are copied with a border of zeros, so that reads need no checks of bounds.
/// Copies have the type of the sums, or pairs of bf16, which are as large. In a copy of pairs,
/// two samples or two channels count as one.
struct PatchLayout {
  /// `format` describes the vectors of the sums. The other parameters have the same meaning as
  /// in PatchSource.
  PatchLayout(const VectorFormat &format, mlir::Value tensor, int64_t channels, PatchPairs pairs,
              llvm::ArrayRef<PatchGrid> grids, llvm::function_ref<bool(mlir::Value)> isInMemory);

  /// The number of elements of the copy of `samples` samples, or pairs of samples. kNone if
  /// patches are read in place.
  int64_t countOfCopy(int64_t samples) const {
    return isCopied ? samples * samplePitch : VectorFormat::kNone;
  }

  PatchPairs pairs;
  bool isCopied, hasBorder;
  int64_t samplePitch, channelPitch;  // distances in elements
  llvm::SmallVector<int64_t> pitches; // distances along the spatial dimensions
  llvm::SmallVector<int64_t> padLow;
};

/// The image from which patches are read: its memory, and the code that copies it.
class PatchSource : public PatchLayout {
public:
  using Index = LoopEmitter::Index;

  /// `tensor` has the dimensions [batch, channels, spatial..]. One copy has the `channels`
  /// channels of one group, of `samples` samples, or pairs of samples.
  PatchSource(VectorCode &code, mlir::Value tensor, int64_t channels, PatchPairs pairs,
              int64_t samples, llvm::ArrayRef<PatchGrid> grids);

  /// Copies samples, or pairs of samples, [first, first + samples) of the group `group`,
  /// unless the image is read in place. `isHalf` says that these are pairs without second
  /// samples.
  void prepare(Index first, int64_t samples, Index group, bool isHalf = false);
  mlir::Value getAddress() const { return address; }

private:
  /// A part of a copy: `samples` samples from `sample` on, `channels` channels from `channel`
  /// on. `hasPartners` says that its elements are pairs with two elements.
  struct Part {
    Index sample;
    int64_t samples, channel, channels;
    bool hasPartners;
  };
  void copyPart(const Part &part, Index group);

  VectorCode &code;
  mlir::Value tensor, address, buffer, copy;
  int64_t channels;
};

/// A convolution as a matrix product. Rows are patches, columns are output channels, and
/// the depth consists of the input channels and taps. A transposed convolution with
/// stride s has s grids along each dimension, one per phase: grid p computes the elements
/// p, p + s, p + 2 s, .. of the result, with its own taps.
struct ConvolutionProduct {
  /// Where the elements of the kernel are. Those of one output and input channel are contiguous.
  struct Kernel {
    /// The distances in elements to the next group, output channel and input channel.
    int64_t groupPitch, outputPitch, inputPitch;
    mlir::Value address = {}; // null while scratch memory is planned
  };

  mlir::Value source;                  // [batch, channels, spatial..]
  int64_t groups, inputs, outputs;     // numbers of channels of a group
  llvm::ArrayRef<int64_t> kernelShape; // spatial extents
  llvm::ArrayRef<int64_t> resultShape; // spatial extents
  llvm::ArrayRef<PatchGrid> grids;
  Kernel kernel;
  mlir::Type resultType;
  mlir::Value result = {}; // the address of the result

  int64_t getSamples() const;
  /// The type of the sums.
  mlir::Type getSumType() const;
  /// Whether a grid is empty. The elements of the result that belong to a grid without
  /// taps are zero.
  bool hasEmptyGrid() const { return llvm::any_of(grids, isEmpty); }
  /// Calls `body` for the grids that are not empty.
  void forEachGrid(llvm::function_ref<void(const PatchGrid &)> body) const;
};

/// A convolution with output channels as lanes. Patches are read from the image without
/// unfolding it ("implicit GEMM"). Kernels are packed with output channels as lanes.
/// Results have channels as lanes too; a block of them stays in cache and is then
/// transposed to the planes of the result. If the processor multiplies bf16, a point of the
/// depth has two input channels.
struct PatchProduct : ConvolutionProduct {
  /// The type of the elements of the kernel at kernel.address: that of the sums, or bf16.
  mlir::Type getKernelType(const VectorUnit &unit) const;
  PatchPairs getPairs(const VectorUnit &unit) const;
  ScratchSizes getScratch(const VectorSite &site) const;
  void emit(VectorEmitter &emitter) const;
};

/// The gradient of the kernel of a convolution.
struct ConvolutionGradient {
  mlir::Value source;                  // [batch, channels, spatial..]
  int64_t groups, inputs, outputs;     // numbers of channels of a group
  llvm::ArrayRef<int64_t> kernelShape; // spatial extents
  PatchGrid grid;
  mlir::Value result; // the address of the result
  mlir::Type resultType;

  mlir::Type getSumType() const;
};

/// The gradient of the kernel as a matrix product. Rows are pairs of an input channel and
/// a tap, columns are output channels, and the depth consists of patches. If the processor
/// multiplies bf16, a point of the depth has the patches of two samples.
struct PatchGradient : ConvolutionGradient {
  mlir::Value grad; // the gradient of the convolution's result

  PatchPairs getPairs(const VectorUnit &unit) const;
  ScratchSizes getScratch(const VectorSite &site) const;
  void emit(VectorEmitter &emitter) const;
};

} // namespace dpc

#endif // DPC_TARGETS_CPU_OPS_PATCHPRODUCT_H
