#ifndef DPC_DIALECTS_NN_IR_WINDOW_H
#define DPC_DIALECTS_NN_IR_WINDOW_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace dpc::nn {

/// A window that slides over the spatial dimensions of a tensor, for convolution
/// and pooling. Each list has one entry per spatial dimension, in elements. For
/// output o, kernel element k is combined with input element o * stride + k *
/// dilation - padLow, which may be padding.
struct Window {
  llvm::ArrayRef<int64_t> kernel, strides, padLow, padHigh, dilations;

  /// The extents of the output for an input of extents `input`. Each is floor((in +
  /// padLow + padHigh - (k - 1) dilation - 1) / stride) + 1. Fails if a list does
  /// not have one entry per extent of `input`, if an entry is out of range, e.g. a
  /// stride of 0, or if the window is larger than the padded input. The error
  /// message begins with the text of `emitError()`.
  mlir::FailureOr<llvm::SmallVector<int64_t>>
  getOutput(llvm::ArrayRef<int64_t> input,
            llvm::function_ref<mlir::InFlightDiagnostic()> emitError) const;

  /// The number of elements of the kernel: the product of its extents.
  int64_t getTaps() const;

  /// A run of outputs that are consecutive along the last dimension. For i in [0,
  /// length), output `output + i` combines kernel element `tap` with input element
  /// `input + i * strides.back()`, which is no padding. `tap`, `input` and `output`
  /// are row-major indices of elements.
  struct Run {
    int64_t tap, input, output, length;
  };

  /// All combinations of a kernel element, an input element that is no padding, and
  /// an output, as runs. Each combination occurs once. Kernel elements are in
  /// row-major order. getOutput must have succeeded.
  std::vector<Run> getRuns(llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> output) const;
};

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_WINDOW_H
