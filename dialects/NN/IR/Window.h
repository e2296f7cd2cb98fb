#ifndef DPC_DIALECTS_NN_IR_WINDOW_H
#define DPC_DIALECTS_NN_IR_WINDOW_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace dpc::nn {

/// A window that slides over the spatial dimensions of a tensor: what
/// convolution and pooling share. One entry a spatial dimension, in elements.
/// Kernel element k of output o lies over input element
/// o * stride + k * dilation - padLow, which may be padding.
struct Window {
  llvm::ArrayRef<int64_t> kernel, strides, padLow, padHigh, dilations;

  /// Output extents floor((in + padLow + padHigh - (k - 1) dilation - 1) /
  /// stride) + 1 over an input of extents `input`. Fails, with an error that
  /// `emitError` begins, when the lists do not fit `input` or a window does not
  /// fit the padded extent.
  mlir::FailureOr<llvm::SmallVector<int64_t>>
  getOutput(llvm::ArrayRef<int64_t> input,
            llvm::function_ref<mlir::InFlightDiagnostic()> emitError) const;

  /// Elements of the kernel.
  int64_t getTaps() const;

  /// Consecutive outputs along the last dimension that meet one kernel element
  /// over elements that are not padding: output `output + i` meets `tap` over
  /// `input + i * strides.back()`, for i in [0, length). Row-major offsets.
  struct Run {
    int64_t tap, input, output, length;
  };

  /// Every (kernel element, input, output) that meet, once each, kernel
  /// elements in row-major order. The window must fit (getOutput).
  std::vector<Run> getRuns(llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> output) const;
};

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_WINDOW_H
