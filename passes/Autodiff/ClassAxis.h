#ifndef DPC_PASSES_AUTODIFF_CLASSAXIS_H
#define DPC_PASSES_AUTODIFF_CLASSAXIS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <optional>

namespace dpc {

/// Along which axis of the logits a cross-entropy has its classes.
struct ClassAxis {
  int64_t axis;
  /// The logits' shape without it.
  llvm::SmallVector<int64_t> labels;

  /// Decides by what is known. `axis` counts from the end where it is negative,
  /// and decides alone. Else the axis is the one whose removal leaves `labels`,
  /// and labels that are not known are those of the usual axis: the second for
  /// logits of rank 4 and more (as PyTorch has it), the last for others. The
  /// first axis counts samples: it has classes only where `axis` says so.
  ///
  /// Fails with one line for the user where nothing fits, and where two axes
  /// fit and `axis` does not choose between them: logits [N, C, T] with as many
  /// classes as steps would else train the wrong ones, which no data can show.
  static llvm::Expected<ClassAxis> choose(llvm::ArrayRef<int64_t> logits,
                                          std::optional<llvm::ArrayRef<int64_t>> labels,
                                          std::optional<int64_t> axis);
};

} // namespace dpc

#endif // DPC_PASSES_AUTODIFF_CLASSAXIS_H
