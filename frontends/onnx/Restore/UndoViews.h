// What a tensor was before the views that a module takes of it.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_UNDOVIEWS_H
#define DPC_FRONTENDS_ONNX_RESTORE_UNDOVIEWS_H

#include "frontends/onnx/Restore/Derivation.h"

#include <vector>

namespace dpc::onnx {

/// What a file does not tell of a tensor that the export took views of. Each
/// says more is open than the one before it.
enum class Doubt {
  None,
  /// In which shape the module has the elements, which are in its order.
  Shape,
  /// In which order the module has the elements.
  Order,
  /// The file has only some of the elements.
  Part
};

/// What a call does with the elements of its operand.
enum class ViewKind {
  /// No view, or nothing that is known.
  None,
  /// Nothing that the result's shape shows: contiguous.
  Keep,
  /// Exchanges the dimensions of a matrix: t.
  Swap,
  /// Exchanges two dimensions: transpose.
  Exchange,
  /// Puts dimensions in another order: permute.
  Permute,
  /// Adds a dimension of extent 1.
  Unsqueeze,
  /// Gives another shape: view, squeeze.
  Reshape,
  /// Takes a part of one dimension: slice, chunk.
  Slice,
  /// Takes one element of a dimension, which disappears.
  Select
};

/// "permute_3": ViewKind::Permute.
ViewKind viewKindOf(llvm::StringRef fxName);

/// A call that views something, as its name tells it.
struct View {
  ViewKind kind;
  /// 3 of "permute_3": calls of one kind came in this order.
  int number;
};
View asView(llvm::StringRef fxName);

struct Undone {
  Derived derived;
  Doubt doubt;
};

/// `value` was made of a parameter by `views`. The last of them stand in
/// `lastOnes`, from the last one backwards; the order of `others`, which came
/// before them, is not known. Names of calls say what was done and not with
/// which dimensions: everything that they may have been is undone, and where
/// this does not give one tensor, the likeliest comes with what is in doubt.
/// `isKernel`: a convolution takes the value.
Undone undoViews(const Tensor &value, llvm::ArrayRef<View> lastOnes, llvm::ArrayRef<View> others,
                 bool isKernel = false);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_UNDOVIEWS_H
