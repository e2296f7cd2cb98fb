#ifndef DPC_PASSES_SHARDING_RESHARDS_LAYOUTTABLE_H
#define DPC_PASSES_SHARDING_RESHARDS_LAYOUTTABLE_H

#include "dialects/Dist/IR/Layout.h"

#include "llvm/ADT/DenseMap.h"

#include <deque>
#include <unordered_map>
#include <vector>

namespace dpc {

/// Whether every device holds the same elements under both layouts, and both have the same partial
/// axes.
bool sameLayout(const dist::Layout &a, const dist::Layout &b, const dist::MeshShape &mesh);

/// Numbers layouts. Equal layouts have one number.
class LayoutTable {
public:
  /// `mesh` must outlive the table.
  explicit LayoutTable(const dist::MeshShape &mesh) : mesh(mesh) {}

  unsigned getNumber(const dist::Layout &layout);
  const dist::Layout &operator[](unsigned number) const { return layouts[number]; }
  size_t size() const { return layouts.size(); }
  /// Whether devices hold the same elements under both layouts (`sameLayout`).
  bool isSame(unsigned a, unsigned b);
  /// Whether the layout is a partial sum over an axis of devices. Sequential axes do not count.
  bool isPartialSum(unsigned number) const { return partialSums[number]; }

private:
  const dist::MeshShape &mesh;
  std::deque<dist::Layout> layouts;
  std::vector<bool> partialSums;
  // These maps are looked up by key only, so their order cannot affect the program. `numbers` is
  // by hash.
  std::unordered_multimap<size_t, unsigned> numbers;
  llvm::DenseMap<std::pair<unsigned, unsigned>, bool> same;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_RESHARDS_LAYOUTTABLE_H
