// Numbers layouts and cuts, and keeps how ops are placed by these numbers.

#include "passes/Sharding/PlacementCache.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

unsigned LayoutTable::getNumber(const Layout &layout) {
  auto [entry, isNew] = numbers.try_emplace(layout, static_cast<unsigned>(layouts.size()));
  if (isNew) {
    layouts.push_back(layout);
    partialSums.push_back(llvm::any_of(layout.partial, [&](const Partial &partial) {
      std::optional<unsigned> axis = mesh.axisIndex(partial.axis);
      return partial.reduction == Reduction::Sum && axis && !mesh.axes[*axis].sequential;
    }));
  }
  return entry->second;
}

bool LayoutTable::isSame(unsigned a, unsigned b) {
  if (a == b)
    return true;
  auto [entry, isNew] = same.try_emplace({std::min(a, b), std::max(a, b)});
  if (isNew)
    entry->second = sameLayout(layouts[a], layouts[b], mesh);
  return entry->second;
}

unsigned PlacementCache::getPlacement(const Key &key, llvm::function_ref<OpSituation()> situate) {
  auto [entry, isNew] = known.try_emplace(key, static_cast<unsigned>(answers.size()));
  if (isNew) {
    Answer answer;
    const OpSituation situation = situate();
    answer.placement = placeOp(situation, mesh, machine, prices);
    answer.dividedSeconds = answer.placement.seconds;
    for (const std::string &axis : divided)
      if (isIdle(situation.op, answer.placement, axis))
        answer.dividedSeconds /= static_cast<double>(mesh.axisSize(axis));
    for (const auto *list : {&answer.placement.operands, &answer.placement.results})
      for (const Layout &layout : *list)
        answer.layouts.push_back(layouts.getNumber(layout));
    answers.push_back(std::move(answer));
  }
  return entry->second;
}

unsigned PlacementCache::insert(unsigned set, unsigned layout) {
  auto [entry, isNew] = inserted.try_emplace({set, layout}, static_cast<unsigned>(sets.size()));
  if (isNew) {
    SmallVector<unsigned, 2> members = sets[set];
    members.push_back(layout);
    sets.push_back(std::move(members));
  }
  return entry->second;
}

unsigned PlacementCache::getCuts(const AxisNames &axes) {
  if (axes.empty())
    return 0;
  auto known = llvm::find(axisNames, axes);
  if (known == axisNames.end()) {
    axisNames.push_back(axes);
    return axisNames.size();
  }
  return known - axisNames.begin() + 1;
}

const ReshardCost &PlacementCache::getCost(unsigned from, unsigned to, int64_t bytes) {
  auto [entry, isNew] = costs.try_emplace({{from, to}, bytes});
  if (isNew)
    entry->second = prices.getCost(layouts[from], layouts[to], bytes);
  return entry->second;
}
