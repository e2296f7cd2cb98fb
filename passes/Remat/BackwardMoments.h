#ifndef DPC_PASSES_REMAT_BACKWARDMOMENTS_H
#define DPC_PASSES_REMAT_BACKWARDMOMENTS_H

#include "dialects/Dist/IR/MeshShape.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <vector>

namespace dpc {

/// Whether the results of `op` take no memory of their own: views, and what kernels compute
/// where they read it, such as constants. It is made again wherever it is read.
bool isFree(mlir::Operation *op);

/// When the ops of a backward pass run, and what they keep. The program lists sums over ranks
/// and updates behind all of it; in the end each runs as soon as its gradient is there. So
/// moments count in the order of the program, but what moves data or computes element by
/// element, of the backward pass alone, comes right behind what it reads.
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
  /// is added to the sum at once, which takes its memory outside. What an all-reduce over all
  /// of `division`, axes and their sizes, sums is divided over these afterwards: a rank keeps
  /// its part.
  std::vector<int64_t> countBytes(const dist::MeshShape &division) const;

private:
  int64_t lastUseOf(mlir::Value value) const;

  mlir::Block &block;
  std::vector<mlir::Operation *> backward;
  llvm::DenseMap<mlir::Operation *, int64_t> momentOf;
};

} // namespace dpc

#endif // DPC_PASSES_REMAT_BACKWARDMOMENTS_H
