#ifndef DPC_PASSES_REMAT_BACKWARDMOMENTS_H
#define DPC_PASSES_REMAT_BACKWARDMOMENTS_H

#include "dialects/Dist/IR/MeshShape.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <vector>

namespace dpc {

/// Whether the results of `op` take no memory of their own: views, and what kernels compute
/// where they read it, such as constants. It is made again wherever it is read.
bool isFree(mlir::Operation *op);

/// Whether a tensor is more than a number.
bool hasRank(mlir::Type type);

/// Whether `op`, of the backward pass, can run as soon as what it reads is there, wherever it
/// stands: it moves data, or computes element by element, of the backward pass alone
/// (`isBackward`). What reads a value of the forward pass runs where it stands: if that value
/// is computed again, it is not there earlier.
bool runsAtOnce(mlir::Operation *op, llvm::function_ref<bool(mlir::Operation *)> isBackward);

/// How gradients will be divided among ranks, once they are summed.
struct GradientDivision {
  bool divides = false;
  /// Over these axes and their sizes; if there are none, over those that each is summed over.
  dist::MeshShape axes;

  /// Among how many ranks what `op` sums is divided: an all-reduce that an update reads.
  int64_t partsOf(mlir::Operation *op) const;
};

/// When the ops of a backward pass run, and what they keep. The program lists sums over ranks
/// and updates behind all of it; in the end each runs as soon as its gradient is there. So
/// moments count in the order of the program, but updates and what runs at once come right
/// behind what they read.
class BackwardMoments {
public:
  /// `backward`: ops of `block`, in their order.
  BackwardMoments(mlir::Block &block, std::vector<mlir::Operation *> backward);

  /// In the order of the program.
  llvm::ArrayRef<mlir::Operation *> getOps() const { return backward; }
  bool contains(mlir::Operation *op) const { return momentOf.contains(op); }
  /// Of an op of the backward pass.
  int64_t of(mlir::Operation *op) const { return momentOf.lookup(op); }

  /// What the backward pass itself keeps at each moment: results until their last reader. An
  /// update reads when the last of its operands is there; what a loop sums over microbatches
  /// is added to the sum at once, which takes its memory outside; state takes that of the
  /// state before. Of gradients that will be divided a rank keeps its part.
  std::vector<int64_t> countBytes(const GradientDivision &division) const;

private:
  int64_t lastUseOf(mlir::Value value) const;

  mlir::Block &block;
  std::vector<mlir::Operation *> backward;
  llvm::DenseMap<mlir::Operation *, int64_t> momentOf;
};

} // namespace dpc

#endif // DPC_PASSES_REMAT_BACKWARDMOMENTS_H
