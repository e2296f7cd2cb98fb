#ifndef DPC_PASSES_REMAT_BACKWARDMOMENTS_H
#define DPC_PASSES_REMAT_BACKWARDMOMENTS_H

#include "dialects/Dist/IR/MeshShape.h"
#include "passes/Forward/EarlyOps.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <vector>

namespace dpc {

/// How gradients will be divided among ranks after the ranks have summed them.
struct GradientDivision {
  bool divides = false;
  /// The mesh axes over which gradients are divided, with their sizes. If there are none, each
  /// gradient is divided over the axes over which it is summed.
  dist::MeshShape axes;

  /// The number of ranks among which the result of `op` is divided. It can be more than 1 only if
  /// `op` is an all-reduce that sums over all of `axes`, and an update reads the sum.
  int64_t partsOf(mlir::Operation *op) const;
};

/// The moments of a backward pass: the positions of its ops in the order in which they will run.
/// The program lists updates, and sums over ranks, after the rest of the backward pass, but later
/// passes let each of them run as soon as its gradient exists. Moments therefore follow the order
/// of the program with one exception: an update, or an op for which runsAtOnce holds, comes
/// directly after its operands, or at the start if it computes single numbers that depend on no
/// gradient.
class BackwardMoments {
public:
  /// `backward` holds the ops of the backward pass in `block`, in program order.
  BackwardMoments(mlir::Block &block, std::vector<mlir::Operation *> backward);

  /// The ops of the backward pass, in program order.
  llvm::ArrayRef<mlir::Operation *> getOps() const { return backward; }
  bool contains(mlir::Operation *op) const { return momentOf.contains(op); }
  /// The moment at which `op` runs; `op` must be an op of the backward pass.
  int64_t of(mlir::Operation *op) const { return momentOf.lookup(op); }

  /// Returns the bytes that the backward pass itself keeps at each moment. Each result counts until
  /// its last reader has run. An update is taken to read all its operands when the last one of them
  /// exists. A gradient that a loop sums over microbatches is added to the sum at once; the memory
  /// of the sum counts outside of the loop. The new value of a state takes the memory of the old
  /// value. If a gradient will be divided among ranks, only one rank's part of it counts.
  std::vector<int64_t> countBytes(const GradientDivision &division) const;

private:
  int64_t lastUseOf(mlir::Value value) const;

  mlir::Block &block;
  std::vector<mlir::Operation *> backward;
  llvm::DenseMap<mlir::Operation *, int64_t> momentOf;
};

} // namespace dpc

#endif // DPC_PASSES_REMAT_BACKWARDMOMENTS_H
