#ifndef DPC_DIALECTS_NN_IR_CONVOLUTION_H
#define DPC_DIALECTS_NN_IR_CONVOLUTION_H

#include "dialects/NN/IR/NNDialect.h"
#include "dialects/NN/IR/Window.h"

#include <algorithm>

namespace dpc::nn {

/// `values`, one per dimension [batch, channels, spatial..], in the order [batch, spatial..,
/// channels].
template <typename T> llvm::SmallVector<T> withChannelsLast(llvm::ArrayRef<T> values) {
  llvm::SmallVector<T> moved(values);
  std::rotate(moved.begin() + 1, moved.begin() + 2, moved.end());
  return moved;
}

/// `values`, one per dimension [batch, spatial.., channels], in the order [batch, channels,
/// spatial..].
template <typename T> llvm::SmallVector<T> withChannelsSecond(llvm::ArrayRef<T> values) {
  llvm::SmallVector<T> moved(values);
  std::rotate(moved.begin() + 1, moved.end() - 1, moved.end());
  return moved;
}

/// The three tensors of a convolution y = conv(x, w) and its geometry. The types have the
/// dimensions [batch (of w: output channels), channels, spatial..], whatever the order of the
/// tensors is.
struct Convolution {
  mlir::RankedTensorType x, w, y;
  Window window;
  int64_t groups;
  /// Whether the tensors have the order [batch, spatial.., channels].
  bool channelsLast;

  /// `values`, one per dimension of x, w or y, in the order of the tensor.
  template <typename T> llvm::SmallVector<T> inOrder(llvm::ArrayRef<T> values) const {
    return channelsLast ? withChannelsLast(values) : llvm::SmallVector<T>(values);
  }

  /// The shape of y, [batch, channels, spatial..], that follows from x, w and the geometry. If
  /// these violate a constraint of nn.conv, fails with an error message that begins with the text
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
