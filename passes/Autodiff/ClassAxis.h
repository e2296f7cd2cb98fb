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
  /// The shape of the labels: the shape of the logits without dimension `axis`.
  llvm::SmallVector<int64_t> labels;

  /// Chooses the axis of the classes:
  /// - If `axis` is given, it is the class axis. A negative `axis` counts from the end.
  /// - Otherwise, if `labels` is given, the class axis is the one that fits: an axis fits if the
  ///   logits without this axis have the shape of the labels. For logits [8, 10] and labels [8],
  ///   axis 1 fits.
  /// - If neither is given, the shape of the labels is assumed to be that of the logits without the
  ///   usual class axis: axis 1 for logits of rank 4 or more (as in PyTorch), and the last axis for
  ///   other logits. With these labels, the class axis is the axis that fits, as above. The usual
  ///   axis always fits; it is an error if another one fits too.
  ///
  /// The first axis is usually the batch dimension, so it is the class axis only if `axis` says so.
  ///
  /// Fails with an error message of one line if `axis` is out of range or does not fit `labels`,
  /// if no axis fits, or if two axes fit and `axis` is not given. For example, two axes of logits
  /// [N, C, T] fit if C equals T. A guess could then be wrong: a wrong model would be trained, and
  /// no check of the data could find the mistake.
  static llvm::Expected<ClassAxis> choose(llvm::ArrayRef<int64_t> logits,
                                          std::optional<llvm::ArrayRef<int64_t>> labels,
                                          std::optional<int64_t> axis);
};

} // namespace dpc

#endif // DPC_PASSES_AUTODIFF_CLASSAXIS_H
