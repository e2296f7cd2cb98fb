// Remembers the costs of the reshards that have been planned.

#include "passes/Sharding/Reshards/ReshardPrices.h"

using namespace dpc;
using namespace dpc::dist;

static const Price kNothing;

const Price &ReshardPrices::getCost(const Layout &from, const Layout &to, int64_t bytes) {
  return from == to ? kNothing : getCost(layouts.getNumber(from), layouts.getNumber(to), bytes);
}

const Price &ReshardPrices::getCost(unsigned from, unsigned to, int64_t bytes) {
  if (from == to)
    return kNothing;
  auto [entry, isNew] = known.try_emplace({from, to, bytes});
  if (!isNew)
    return entry->second;
  int64_t elements = 1;
  for (int64_t extent : layouts[from].shape())
    elements *= extent;
  const int64_t elementBytes = std::max<int64_t>(1, bytes / std::max<int64_t>(1, elements));
  auto plan = planReshard({layouts[from], layouts[to], mesh, meshPrices, elementBytes});
  if (plan)
    return entry->second = {plan->seconds, plan->bytes};
  llvm::consumeError(plan.takeError());
  const double infinite = std::numeric_limits<double>::infinity();
  return entry->second = {infinite, infinite};
}
