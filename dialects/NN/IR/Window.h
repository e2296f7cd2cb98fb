#ifndef DPC_DIALECTS_NN_IR_WINDOW_H
#define DPC_DIALECTS_NN_IR_WINDOW_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace dpc::nn {

/// A window that slides over the spatial dimensions of a tensor, for convolution
/// and pooling. The lists have one entry per spatial dimension, in elements. Kernel
/// element k of output o is over input element o * stride + k * dilation - padLow,
/// which may be padding.
struct Window {
  llvm::ArrayRef<int64_t> kernel, strides, padLow, padHigh, dilations;

  /// The extents of the output, floor((in + padLow + padHigh - (k - 1) dilation -
  /// 1) / stride) + 1, for an input of extents `input`. Fails with an error that
  /// `emitError` begins if the lists do not fit `input` or a window does not fit
  /// the padded extent.
  mlir::FailureOr<llvm::SmallVector<int64_t>>
  getOutput(llvm::ArrayRef<int64_t> input,
            llvm::function_ref<mlir::InFlightDiagnostic()> emitError) const;

  /// Number of elements of the kernel.
  int64_t getTaps() const;

  /// Consecutive outputs along the last dimension that combine one kernel element
  /// with elements that are not padding: output `output + i` combines `tap` with
  /// input `input + i * strides.back()`, for i in [0, length). Offsets are
  /// row-major.
  struct Run {
    int64_t tap, input, output, length;
  };

  /// Every combination (kernel element, input, output), once each, with kernel
  /// elements in row-major order. The window must fit (getOutput).
  std::vector<Run> getRuns(llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> output) const;
};

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_WINDOW_H
