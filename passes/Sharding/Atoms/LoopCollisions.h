#ifndef DPC_PASSES_SHARDING_ATOMS_LOOPCOLLISIONS_H
#define DPC_PASSES_SHARDING_ATOMS_LOOPCOLLISIONS_H

#include "dialects/Interfaces/ShardingRule.h"

#include "llvm/ADT/BitVector.h"

#include <vector>

namespace dpc {

/// The pairs of an op's loops that may not both be sharded over one axis.
///
/// Two loops collide if a value has them in different dimensions, or as factors of one segment.
/// They also collide if no value has both: a device would run only the diagonal of the two loops.
/// Loops in different segments of one dimension, such as the parts of a concatenation, do not
/// collide.
class LoopCollisions {
public:
  /// For each value, takes time proportional to the square of the number of loops
  /// that the value has.
  explicit LoopCollisions(const ShardingRule &rule);

  bool collide(unsigned a, unsigned b) const { return colliding[a].test(b); }
  /// Whether `loop` collides with any loop of `others`, which has a bit per loop.
  bool collideAny(unsigned loop, const llvm::BitVector &others) const {
    return colliding[loop].anyCommon(others);
  }

private:
  std::vector<llvm::BitVector> colliding; // by loop
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_ATOMS_LOOPCOLLISIONS_H
