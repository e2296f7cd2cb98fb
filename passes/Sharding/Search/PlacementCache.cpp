// Numbers placements, sets of layouts and cuts, so that placements can be
// looked up by numbers.

#include "passes/Sharding/Search/PlacementCache.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

unsigned PlacementCache::getPlacement(const Key &key, llvm::function_ref<OpSituation()> situate) {
  auto [entry, isNew] = known.try_emplace(key, static_cast<unsigned>(answers.size()));
  if (isNew) {
    Answer answer;
    const OpSituation situation = situate();
    const OpPlacement placement = placeOp(situation, mesh, meshPrices, prices);
    const AxisNames cutAxes = findCutAxes(placement);
    answer.seconds = answer.dividedSeconds = placement.seconds;
    answer.cutAxes = getCuts(cutAxes);
    for (const std::string &axis : divided)
      if (isIdle(situation.op, cutAxes, axis))
        answer.dividedSeconds /= static_cast<double>(mesh.axisSize(axis));
    for (const auto *list : {&placement.operands, &placement.results})
      for (const Layout &layout : *list)
        answer.layouts.push_back(layouts.getNumber(layout));
    answers.push_back(std::move(answer));
  }
  return entry->second;
}

unsigned PlacementCache::getArgument(const Key &key, llvm::function_ref<Layout()> layOut) {
  auto [entry, isNew] = arguments.try_emplace(key);
  if (isNew)
    entry->second = layouts.getNumber(layOut());
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
