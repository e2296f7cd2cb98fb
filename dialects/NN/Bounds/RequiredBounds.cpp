// Finds the bounds that the ops of a block require of integers. Visits the last op first.

#include "dialects/NN/Bounds/Bounds.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

llvm::DenseMap<Value, ElementBounds> nn::findRequiredBounds(Block &block) {
  llvm::DenseMap<Value, ElementBounds> bounds;
  auto need = [&](Value value, const ElementBounds &asked) {
    if (asked.allowsAll())
      return;
    auto [entry, isNew] = bounds.try_emplace(value, asked);
    if (!isNew)
      entry->second = entry->second.intersect(asked);
  };
  // Visit users before their operands, so that all requirements on the results of an op are known
  // when the op is visited.
  for (Operation &op : llvm::reverse(block)) {
    auto model = dyn_cast<BoundsOpInterface>(op);
    if (!model)
      continue;
    SmallVector<ElementBounds> results;
    for (Value result : op.getResults())
      results.push_back(bounds.lookup(result));
    model.requireBounds(results, need);
  }
  return bounds;
}
