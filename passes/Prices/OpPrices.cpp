// Computes the floating-point operations and the bytes of ops and collectives, for the formulas
// of planning/Prices.

#include "passes/Prices/OpPrices.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/NN/IR/Fusion.h"

#include <algorithm>

using namespace mlir;
using namespace dpc;

OpPrice dpc::priceBeforeFusion(Operation *op) {
  auto cost = dyn_cast<CostOpInterface>(op);
  if (!cost)
    return {};
  return {static_cast<double>(cost.getFlops()),
          std::min(static_cast<double>(cost.getBytes()), getFusedBytes(op))};
}

OpPrice dpc::priceKernel(Operation *kernel) {
  OpPrice price;
  kernel->walk([&](CostOpInterface cost) { price.flops += cost.getFlops(); });
  price.bytes = operandAndResultBytes(kernel);
  return price;
}

static CollectiveKind kindOf(Operation *collective) {
  if (isa<dist::AllReduceOp>(collective))
    return CollectiveKind::allReduce;
  if (isa<dist::AllGatherOp>(collective))
    return CollectiveKind::allGather;
  if (isa<dist::AllToAllOp>(collective))
    return CollectiveKind::allToAll;
  return CollectiveKind::reduceScatter;
}

Price dpc::priceCollective(Operation *collective, const Machine &machine) {
  const double bytes = std::max(tensorBytes(collective->getOperand(0).getType()),
                                tensorBytes(collective->getResult(0).getType()));
  return priceCollective(kindOf(collective), bytes, dist::membersOf(collective),
                         machine.linkOver(dist::axesOf(collective)));
}
