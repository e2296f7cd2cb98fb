#ifndef DPC_TARGETS_CUDA_OPS_SLICEELEMENTS_H
#define DPC_TARGETS_CUDA_OPS_SLICEELEMENTS_H

#include "mlir/IR/Value.h"

namespace dpc {

/// In which form slices in shared memory hold the elements of factors.
class SliceElements {
public:
  virtual ~SliceElements() = default;

  /// The type of the elements of slices.
  virtual mlir::Type getSliceType() const = 0;
  /// Converts an element of a factor to the form that slices hold.
  virtual mlir::Value prepare(mlir::Value factor) const = 0;
  /// Whether slices hold elements with the same bits as in memory, before SliceFill::round.
  virtual bool holdsFactors() const = 0;
  /// Whether copies must be rounded to have the form that slices hold. `round` rounds one element.
  virtual bool roundsCopies() const { return false; }
  virtual mlir::Value round(mlir::Value element) const { return element; }
};

} // namespace dpc

#endif // DPC_TARGETS_CUDA_OPS_SLICEELEMENTS_H
