#ifndef DPC_DIALECTS_NN_IR_CONVOLUTION_H
#define DPC_DIALECTS_NN_IR_CONVOLUTION_H

#include "dialects/NN/IR/NNDialect.h"
#include "dialects/NN/IR/Window.h"

namespace dpc::nn {

/// The three tensors of a convolution y = conv(x, w) and its geometry.
struct Convolution {
  mlir::RankedTensorType x, w, y;
  Window window;
  int64_t groups;

  /// The shape of y that follows from x, w and the geometry. If these violate a
  /// constraint of nn.conv, fails with an error message that begins with the text
  /// of `emitError()`.
  mlir::FailureOr<llvm::SmallVector<int64_t>>
  inferOutput(llvm::function_ref<mlir::InFlightDiagnostic()> emitError) const;

  /// The number of multiplications and additions of the convolution. Its two
  /// gradients have the same number. Operations on padding count too.
  int64_t getFlops() const;
};

} // namespace dpc::nn

#define GET_OP_CLASSES
#include "dialects/NN/IR/Convolution.h.inc"

#endif // DPC_DIALECTS_NN_IR_CONVOLUTION_H
