// Finds the pairs of an op's loops that may not be sharded over one axis.

#include "passes/Sharding/Atoms/LoopCollisions.h"

#include "llvm/ADT/MapVector.h"

using namespace dpc;

namespace {
struct Place {
  unsigned dim, segment;
};
} // namespace

LoopCollisions::LoopCollisions(const ShardingRule &rule) {
  const unsigned count = rule.loops.size();
  std::vector<llvm::BitVector> together(count, llvm::BitVector(count));
  colliding = together;
  auto add = [&](const ShardingRule::ValueLoops &value) {
    llvm::MapVector<unsigned, Place> places;
    for (unsigned d = 0; d < value.size(); ++d)
      for (unsigned s = 0; s < value[d].size(); ++s)
        for (unsigned loop : value[d][s])
          places[loop] = {d, s};
    for (const auto &[a, placeOfA] : places)
      for (const auto &[b, placeOfB] : places) {
        together[a].set(b);
        if (placeOfA.dim != placeOfB.dim || placeOfA.segment == placeOfB.segment)
          colliding[a].set(b);
      }
  };
  for (const ShardingRule::ValueLoops &value : rule.operands)
    add(value);
  for (const ShardingRule::ValueLoops &value : rule.results)
    add(value);
  for (unsigned loop = 0; loop < count; ++loop)
    colliding[loop] |= together[loop].flip();
}
