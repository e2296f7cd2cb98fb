#ifndef DPC_TARGETS_LOOPS_KERNELS_KERNELGRAPH_H
#define DPC_TARGETS_LOOPS_KERNELS_KERNELGRAPH_H

#include "dialects/NN/IR/Program.h"

#include "llvm/ADT/SetVector.h"

#include <memory>

namespace dpc {

class Target;

/// The ops of one kernel made ready for code: composites decomposed, equal ops
/// merged, dead ones gone; and for each value, whether it is kept in memory or
/// computed where it is read.
class KernelGraph {
public:
  /// The graph of an `nn.kernel`, or of an `nn.update`: its elementwise region
  /// on whole tensors. Fails with an error on any other op, and on one inside
  /// that `target` has no form for. Without `recompute` every value that is
  /// read more than once is kept.
  static mlir::FailureOr<std::unique_ptr<KernelGraph>> build(mlir::Operation *op,
                                                             const Target &target, bool recompute);

  mlir::Block &getBlock() const { return *block; }
  mlir::OperandRange getYielded() const { return getBlock().getTerminator()->getOperands(); }
  bool isMaterialised(mlir::Value value) const { return materialised.contains(value); }
  /// Whether each element of `value` is computed at one place in the code,
  /// once: a sum may then add its terms in any order. Another sum must have the
  /// same bits wherever it is computed, as those who read it may compare them:
  /// the gradient of a maximum looks for the operands that are equal to it.
  bool isComputedOnce(mlir::Value value) const;
  /// Ops whose results are kept in memory, in an order in which they can run.
  llvm::ArrayRef<mlir::Operation *> getRoots() const { return roots; }
  /// Values in memory that computing `root` reads.
  llvm::SetVector<mlir::Value> getReads(mlir::Operation *root) const;

  /// Whether the results of `op` are made all at once, and whether in tiles.
  bool isFilled(mlir::Operation *op) const;
  bool makesTiles(mlir::Operation *op) const;

private:
  explicit KernelGraph(const Target &target) : target(target) {}
  void take(nn::KernelOp kernel);
  void take(nn::UpdateOp update);
  void decompose();
  void mergeEqual();
  mlir::LogicalResult check();
  void place(bool recompute);
  void placeOnce(bool recompute);

  const Target &target;
  mlir::Region region;
  mlir::Block *block = nullptr;
  llvm::DenseSet<mlir::Value> materialised;
  llvm::SmallVector<mlir::Operation *> roots;
};

/// Whether element i of `op`'s result is made of elements i alone.
bool keepsNumbers(mlir::Operation *op);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_KERNELGRAPH_H
