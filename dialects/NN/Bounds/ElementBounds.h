#ifndef DPC_DIALECTS_NN_BOUNDS_ELEMENTBOUNDS_H
#define DPC_DIALECTS_NN_BOUNDS_ELEMENTBOUNDS_H

#include "dialects/NN/IR/HostFacts.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace dpc::nn {

/// Which integers each element of a tensor may be. Elements are numbered
/// row-major; a tensor of which all elements may be the same holds that once.
class ElementBounds {
public:
  /// All elements may be what `all` allows.
  ElementBounds(const IntegerBounds &all = {}) : known{all} {}
  /// `count` elements that may be anything, to be narrowed.
  static ElementBounds ofElements(int64_t count);

  bool isUniform() const { return kinds.empty(); }
  bool allowsAll() const { return isUniform() && known[0].allowsAll(); }
  const IntegerBounds &operator[](int64_t element) const {
    return known[isUniform() ? 0 : kinds[element]];
  }

  /// Element `element` must also lie in `bounds`. Not for uniform ones.
  void narrow(int64_t element, const IntegerBounds &bounds);
  /// What both allow, element by element.
  ElementBounds intersect(const ElementBounds &other) const;
  /// What is allowed at every element.
  IntegerBounds everywhere() const;
  /// The bounds of x at each element where x + amount has these; `amounts` has
  /// one number, or one an element.
  ElementBounds before(llvm::ArrayRef<int64_t> amounts) const;
  /// The bounds of x where x, or x + amount of a negative x, has these.
  ElementBounds extendedBelow(llvm::ArrayRef<int64_t> amounts) const;
  /// With `value` allowed at every element, in place of what was ignored.
  ElementBounds ignoring(int64_t value) const;
  /// As runs of equal bounds, where the tensor has `shape` and its dimension
  /// `batch` (-1: none) counts samples: of one sample, what all samples allow.
  /// Empty where anything goes.
  llvm::SmallVector<BoundsRun> runs(llvm::ArrayRef<int64_t> shape, int64_t batch) const;

private:
  ElementBounds mapped(llvm::ArrayRef<int64_t> amounts,
                       llvm::function_ref<IntegerBounds(const IntegerBounds &, int64_t)> map) const;
  uint32_t kindOf(const IntegerBounds &bounds);

  /// Bounds that occur. Few: one a table that is indexed.
  std::vector<IntegerBounds> known;
  /// For each element an index into `known`; empty where there is but one.
  std::vector<uint32_t> kinds;
};

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_BOUNDS_ELEMENTBOUNDS_H
