// Computes the floating-point operations and the bytes of ops and collectives, for the formulas
// of planning/Prices.

#include "passes/Prices/OpPrices.h"

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

OpPrice dpc::priceAccumulation(Value value) {
  const double elements = cast<RankedTensorType>(value.getType()).getNumElements();
  // The sum is read and written, and the value is read.
  return {elements, 3. * double(tensorBytes(value.getType()))};
}

OpPrice dpc::priceKernel(Operation *kernel) {
  OpPrice price;
  kernel->walk([&](CostOpInterface cost) { price.flops += cost.getFlops(); });
  price.bytes = operandAndResultBytes(kernel);
  return price;
}

CollectiveKind dpc::priceKindOf(dist::Collective collective) {
  switch (collective) {
  case dist::Collective::all_reduce:
    return CollectiveKind::allReduce;
  case dist::Collective::reduce_scatter:
    return CollectiveKind::reduceScatter;
  case dist::Collective::all_gather:
  case dist::Collective::broadcast: // a member sends as many bytes as in an all-gather
    return CollectiveKind::allGather;
  case dist::Collective::all_to_all:
    return CollectiveKind::allToAll;
  }
  llvm_unreachable("unknown collective");
}

Price dpc::priceCollective(dist::CollectiveOpInterface collective, const Machine &machine) {
  const double bytes = std::max(tensorBytes(collective->getOperand(0).getType()),
                                tensorBytes(collective->getResult(0).getType()));
  return priceCollective(priceKindOf(collective.getCollective()), bytes,
                         dist::membersOf(collective), machine.linkOver(dist::axesOf(collective)));
}
