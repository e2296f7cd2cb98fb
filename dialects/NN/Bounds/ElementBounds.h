#ifndef DPC_DIALECTS_NN_BOUNDS_ELEMENTBOUNDS_H
#define DPC_DIALECTS_NN_BOUNDS_ELEMENTBOUNDS_H

#include "dialects/NN/IR/HostFacts.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace dpc::nn {

/// The bounds of each element of an integer tensor. Elements are numbered
/// row-major. If all elements have the same bounds, the object stores these once
/// (it is uniform).
class ElementBounds {
public:
  /// All elements have the bounds `all`.
  ElementBounds(const IntegerBounds &all = {}) : known{all} {}
  /// `count` elements without bounds, which `narrow` can then add.
  static ElementBounds ofElements(int64_t count);

  bool isUniform() const { return kinds.empty(); }
  bool allowsAll() const { return isUniform() && known[0].allowsAll(); }
  const IntegerBounds &operator[](int64_t element) const {
    return known[isUniform() ? 0 : kinds[element]];
  }

  /// Also requires `bounds` of element `element`. Not for uniform objects.
  void narrow(int64_t element, const IntegerBounds &bounds);
  /// The intersection of both, element by element.
  ElementBounds intersect(const ElementBounds &other) const;
  /// The intersection of the bounds of all elements.
  IntegerBounds everywhere() const;
  /// The bounds of x that follow if x + amount has these bounds; `amounts` has one
  /// number for all elements, or one per element.
  ElementBounds before(llvm::ArrayRef<int64_t> amounts) const;
  /// The bounds of x that follow if x, or x + amount for a negative x, has these
  /// bounds.
  ElementBounds extendedBelow(llvm::ArrayRef<int64_t> amounts) const;
  /// The same bounds with `value` as the ignored value of every element.
  ElementBounds ignoring(int64_t value) const;
  /// The bounds as runs of equal bounds, for a tensor of `shape` whose dimension
  /// `batch` (-1: none) counts samples. The runs are those of one sample, with the
  /// bounds that hold for all samples. Empty if no element has bounds.
  llvm::SmallVector<BoundsRun> runs(llvm::ArrayRef<int64_t> shape, int64_t batch) const;

private:
  ElementBounds mapped(llvm::ArrayRef<int64_t> amounts,
                       llvm::function_ref<IntegerBounds(const IntegerBounds &, int64_t)> map) const;
  uint32_t kindOf(const IntegerBounds &bounds);

  /// The distinct bounds. They are few: about one per indexed table.
  std::vector<IntegerBounds> known;
  /// For each element an index into `known`; empty if the object is uniform.
  std::vector<uint32_t> kinds;
};

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_BOUNDS_ELEMENTBOUNDS_H
