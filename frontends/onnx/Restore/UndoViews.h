// Reconstructs tensors of the PyTorch module from views of these tensors.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_UNDOVIEWS_H
#define DPC_FRONTENDS_ONNX_RESTORE_UNDOVIEWS_H

#include "frontends/onnx/Restore/Derivation.h"

#include <vector>

namespace dpc::onnx {

/// The properties of a viewed tensor that the file does not determine. A later value of
/// this enum means that more is unknown.
enum class Doubt {
  None,
  /// The shape is unknown; the elements are in the module's order.
  Shape,
  /// The order of the elements is unknown.
  Order,
  /// The file has only some of the elements.
  Part
};

/// The effect of a call on the elements of its operand.
enum class ViewKind {
  /// No view, or an unknown call.
  None,
  /// Keeps order and shape: contiguous.
  Keep,
  /// Exchanges the dimensions of a matrix: t.
  Swap,
  /// Exchanges two dimensions: transpose.
  Exchange,
  /// Puts dimensions in another order: permute.
  Permute,
  /// Adds a dimension of extent 1.
  Unsqueeze,
  /// Changes the shape: view, squeeze.
  Reshape,
  /// Takes a part of one dimension: slice, chunk.
  Slice,
  /// Takes one element of a dimension, which disappears.
  Select
};

/// "permute_3": ViewKind::Permute.
ViewKind viewKindOf(llvm::StringRef fxName);

/// A call that makes a view, as its name tells.
struct View {
  ViewKind kind;
  /// 3 of "permute_3": the ordinal among calls of this kind.
  int number;
};
View asView(llvm::StringRef fxName);

struct Undone {
  Derived derived;
  Doubt doubt;
};

/// Reconstructs the parameter from which views made `value`. `lastOnes` has the last
/// views, starting with the very last; the views in `others` came before these, in unknown
/// order. The name of a call (`permute_3`) tells the operation but not the dimensions, so
/// the function undoes the views for every possible choice of dimensions. If the choices give
/// different tensors, the result is the likeliest tensor, with a doubt. `isKernel` says
/// that `value` is the kernel of a convolution.
Undone undoViews(const Tensor &value, llvm::ArrayRef<View> lastOnes, llvm::ArrayRef<View> others,
                 bool isKernel = false);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_UNDOVIEWS_H
