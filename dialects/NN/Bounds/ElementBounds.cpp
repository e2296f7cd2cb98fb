// Intersects and shifts the bounds of the elements of an integer tensor, and divides the
// elements into runs of equal bounds.

#include "dialects/NN/Bounds/ElementBounds.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace dpc::nn;

ElementBounds ElementBounds::ofElements(int64_t count) {
  ElementBounds result;
  result.kinds.assign(count, 0);
  return result;
}

uint32_t ElementBounds::kindOf(const IntegerBounds &bounds) {
  auto found = llvm::find(known, bounds);
  if (found != known.end())
    return found - known.begin();
  known.push_back(bounds);
  return known.size() - 1;
}

void ElementBounds::narrow(int64_t element, const IntegerBounds &bounds) {
  uint32_t &kind = kinds[element];
  if (known[kind] != bounds)
    kind = kindOf(known[kind].intersect(bounds));
}

ElementBounds ElementBounds::intersect(const ElementBounds &other) const {
  if (isUniform() && other.isUniform())
    return ElementBounds(known[0].intersect(other.known[0]));
  const size_t count = std::max(kinds.size(), other.kinds.size());
  ElementBounds result = ofElements(count);
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> pairs;
  for (size_t i = 0; i < count; ++i) {
    std::pair<uint32_t, uint32_t> pair(isUniform() ? 0 : kinds[i],
                                       other.isUniform() ? 0 : other.kinds[i]);
    auto [entry, isNew] = pairs.try_emplace(pair, 0);
    if (isNew)
      entry->second = result.kindOf(known[pair.first].intersect(other.known[pair.second]));
    result.kinds[i] = entry->second;
  }
  return result;
}

IntegerBounds ElementBounds::everywhere() const {
  if (isUniform())
    return known[0];
  std::vector<bool> used(known.size());
  for (uint32_t kind : kinds)
    used[kind] = true;
  IntegerBounds result;
  for (auto [bounds, isUsed] : llvm::zip_equal(known, used))
    if (isUsed)
      result = result.intersect(bounds);
  return result;
}

ElementBounds
ElementBounds::mapped(llvm::ArrayRef<int64_t> amounts,
                      llvm::function_ref<IntegerBounds(const IntegerBounds &, int64_t)> map) const {
  if (amounts.size() == 1) {
    ElementBounds result = *this;
    for (IntegerBounds &bounds : result.known)
      bounds = map(bounds, amounts[0]);
    return result;
  }
  ElementBounds result = ofElements(amounts.size());
  for (size_t i = 0; i < amounts.size(); ++i)
    result.kinds[i] = result.kindOf(map((*this)[i], amounts[i]));
  return result;
}

ElementBounds ElementBounds::before(llvm::ArrayRef<int64_t> amounts) const {
  return mapped(amounts,
                [](const IntegerBounds &bounds, int64_t amount) { return bounds.before(amount); });
}

ElementBounds ElementBounds::extendedBelow(llvm::ArrayRef<int64_t> amounts) const {
  return mapped(amounts, [](const IntegerBounds &bounds, int64_t amount) {
    IntegerBounds wide = bounds;
    wide.low = bounds.before(amount).low;
    return wide;
  });
}

ElementBounds ElementBounds::ignoring(int64_t value) const {
  ElementBounds result = *this;
  for (IntegerBounds &bounds : result.known)
    if (!bounds.allowsAll())
      bounds.ignored = value;
  return result;
}

llvm::SmallVector<BoundsRun> ElementBounds::runs(llvm::ArrayRef<int64_t> shape,
                                                 int64_t batch) const {
  if (isUniform())
    return known[0].allowsAll() ? llvm::SmallVector<BoundsRun>()
                                : llvm::SmallVector<BoundsRun>{{0, known[0]}};
  int64_t outer = 1, samples = 1, inner = 1;
  for (auto [d, extent] : llvm::enumerate(shape)) {
    int64_t &part = int64_t(d) == batch ? samples : int64_t(d) < batch ? outer : inner;
    part *= extent;
  }
  llvm::SmallVector<BoundsRun> result;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      IntegerBounds bounds;
      uint32_t last = ~0u; // most samples have the bounds of the previous sample
      for (int64_t s = 0; s < samples; ++s) {
        uint32_t kind = kinds[(o * samples + s) * inner + i];
        if (kind != last)
          bounds = bounds.intersect(known[kind]);
        last = kind;
      }
      if (result.empty() || result.back().bounds != bounds)
        result.push_back({0, bounds});
      ++result.back().count;
    }
  if (result.size() > 1)
    return result;
  return ElementBounds(result[0].bounds).runs(shape, batch);
}
