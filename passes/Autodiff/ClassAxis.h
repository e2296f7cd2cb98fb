#ifndef DPC_PASSES_AUTODIFF_CLASSAXIS_H
#define DPC_PASSES_AUTODIFF_CLASSAXIS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <optional>

namespace dpc {

/// The axis of the logits along which a cross-entropy has its classes.
struct ClassAxis {
  int64_t axis;
  /// The shape of the labels, which is the shape of the logits without `axis`.
  llvm::SmallVector<int64_t> labels;

  /// Chooses the axis from the shape of the logits and, if known, the shape of the labels. If
  /// `axis` is given, that axis is chosen; a negative `axis` counts from the end. If `axis` is not
  /// given, an axis fits if the shape of the logits without this axis is the shape of the labels.
  /// If `labels` is not given either, the labels are assumed to have the shape of the logits
  /// without the usual class axis: the second axis for logits of rank 4 or more (as in PyTorch),
  /// the last axis for other logits. The first axis counts samples, so only `axis` can choose it.
  ///
  /// Fails with one line for the user if no axis fits, and if `axis` is not given and two axes fit.
  /// For logits [N, C, T] with as many classes as time steps, a wrong choice would train a wrong
  /// model, and no check of data could find that.
  static llvm::Expected<ClassAxis> choose(llvm::ArrayRef<int64_t> logits,
                                          std::optional<llvm::ArrayRef<int64_t>> labels,
                                          std::optional<int64_t> axis);
};

} // namespace dpc

#endif // DPC_PASSES_AUTODIFF_CLASSAXIS_H
