#ifndef DPC_DIALECTS_NN_BOUNDS_ELEMENTBOUNDS_H
#define DPC_DIALECTS_NN_BOUNDS_ELEMENTBOUNDS_H

#include "dialects/NN/IR/HostFacts.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace dpc::nn {

/// The bounds of each element of an integer tensor. Elements are numbered in
/// row-major order. An object is *uniform* if all elements have the same bounds;
/// it then stores these bounds once.
class ElementBounds {
public:
  /// A uniform object: all elements have the bounds `all`.
  ElementBounds(const IntegerBounds &all = {}) : known{all} {}
  /// An object that is not uniform, for `count` elements. They have no bounds
  /// until `narrow` adds some.
  static ElementBounds ofElements(int64_t count);

  bool isUniform() const { return kinds.empty(); }
  bool allowsAll() const { return isUniform() && known[0].allowsAll(); }
  const IntegerBounds &operator[](int64_t element) const {
    return known[isUniform() ? 0 : kinds[element]];
  }

  /// Adds `bounds` to the bounds that element `element` must satisfy. The object
  /// must not be uniform.
  void narrow(int64_t element, const IntegerBounds &bounds);
  /// For each element, the intersection of its bounds in this object and in
  /// `other`.
  ElementBounds intersect(const ElementBounds &other) const;
  /// The intersection of the bounds of all elements.
  IntegerBounds everywhere() const;
  /// The bounds that x must satisfy if x + amount must satisfy these bounds.
  /// `amounts` has one number for all elements, or one per element.
  ElementBounds before(llvm::ArrayRef<int64_t> amounts) const;
  /// The bounds that x must satisfy if x must satisfy these bounds, or if x is
  /// negative and x + amount must satisfy them. For example, [0, 9] becomes [-10,
  /// 9] for an amount of 10.
  ElementBounds extendedBelow(llvm::ArrayRef<int64_t> amounts) const;
  /// The same bounds, but every element may also be `value`. Bounds have only
  /// one ignored value, so `value` replaces any other.
  ElementBounds ignoring(int64_t value) const;
  /// Divides the elements of one sample into runs of elements with equal bounds.
  /// The tensor has the shape `shape`, and its dimension `batch` counts samples
  /// (-1: none does). The bounds of an element are the intersection of its
  /// bounds in all samples. Empty if no element has bounds.
  llvm::SmallVector<BoundsRun> runs(llvm::ArrayRef<int64_t> shape, int64_t batch) const;

private:
  ElementBounds mapped(llvm::ArrayRef<int64_t> amounts,
                       llvm::function_ref<IntegerBounds(const IntegerBounds &, int64_t)> map) const;
  uint32_t kindOf(const IntegerBounds &bounds);

  /// The different bounds that elements have. There are few: about one per table
  /// that is indexed.
  std::vector<IntegerBounds> known;
  /// For each element, the index of its bounds in `known`. Empty if the object is
  /// uniform.
  std::vector<uint32_t> kinds;
};

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_BOUNDS_ELEMENTBOUNDS_H
