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

  /// The shape of y for x, w and the geometry. If they break a constraint of
  /// nn.conv, reports an error that `emitError` begins.
  mlir::FailureOr<llvm::SmallVector<int64_t>>
  inferOutput(llvm::function_ref<mlir::InFlightDiagnostic()> emitError) const;

  /// The multiplications and additions of each of the three ops, including those on
  /// padding.
  int64_t getFlops() const;
};

} // namespace dpc::nn

#define GET_OP_CLASSES
#include "dialects/NN/IR/Convolution.h.inc"

#endif // DPC_DIALECTS_NN_IR_CONVOLUTION_H
