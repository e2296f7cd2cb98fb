// Numbers layouts, and remembers which of them are the same on every device.

#include "passes/Sharding/Reshards/LayoutTable.h"

#include "llvm/ADT/STLExtras.h"

using namespace dpc;
using namespace dpc::dist;

bool dpc::sameLayout(const Layout &a, const Layout &b, const MeshShape &mesh) {
  Layout left = normalize(a), right = normalize(b);
  return left.partial == right.partial &&
         (left.dims == right.dims || sameIndices(left, right, mesh));
}

unsigned LayoutTable::getNumber(const Layout &layout) {
  const size_t hash = hash_value(layout);
  auto [begin, end] = numbers.equal_range(hash);
  for (auto entry = begin; entry != end; ++entry)
    if (layouts[entry->second] == layout)
      return entry->second;
  const unsigned number = layouts.size();
  numbers.insert({hash, number});
  layouts.push_back(layout);
  partialSums.push_back(llvm::any_of(layout.partial, [&](const Partial &partial) {
    std::optional<unsigned> axis = mesh.axisIndex(partial.axis);
    return partial.reduction == Reduction::sum && axis && !mesh.axes[*axis].sequential;
  }));
  return number;
}

bool LayoutTable::isSame(unsigned a, unsigned b) {
  if (a == b)
    return true;
  auto [entry, isNew] = same.try_emplace({std::min(a, b), std::max(a, b)});
  if (isNew)
    entry->second = sameLayout(layouts[a], layouts[b], mesh);
  return entry->second;
}
