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

  /// Chooses the axis from the shape of the logits and, if known, the shape of the labels. A given
  /// `axis` decides alone; if it is negative, it counts from the end. Otherwise the axis is the one
  /// without which the logits have the shape `labels`. If `labels` is not known, it is the shape
  /// without the usual axis, which is the second axis for logits of rank 4 or more (as in PyTorch)
  /// and the last axis for others. The first axis counts samples, so it is only chosen by `axis`.
  ///
  /// Fails with one line for the user if no axis fits, and if two axes fit and `axis` does not
  /// choose between them. For logits [N, C, T] with as many classes as time steps, a wrong choice
  /// would train a wrong model, and no check of data could find that.
  static llvm::Expected<ClassAxis> choose(llvm::ArrayRef<int64_t> logits,
                                          std::optional<llvm::ArrayRef<int64_t>> labels,
                                          std::optional<int64_t> axis);
};

} // namespace dpc

#endif // DPC_PASSES_AUTODIFF_CLASSAXIS_H
