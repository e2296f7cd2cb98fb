#ifndef DPC_TARGETS_LOOPS_KERNELS_KERNELGRAPH_H
#define DPC_TARGETS_LOOPS_KERNELS_KERNELGRAPH_H

#include "dialects/NN/IR/Program.h"

#include "llvm/ADT/SetVector.h"

#include <memory>

namespace dpc {

class Target;

/// The ops of one kernel, prepared for code generation: composites are decomposed,
/// equal ops merged, dead ops erased. For each value the graph decides whether it
/// is materialized in memory or inlined into its readers.
class KernelGraph {
public:
  /// The graph of an `nn.kernel`, or of an `nn.update`, whose elementwise region is
  /// applied to complete tensors. Fails with an error on any other op, and on an
  /// inner op for which `target` has no form. Without `recompute` every value with
  /// more than one reader is materialized.
  static mlir::FailureOr<std::unique_ptr<KernelGraph>> build(mlir::Operation *op,
                                                             const Target &target, bool recompute);

  mlir::Block &getBlock() const { return *block; }
  mlir::OperandRange getYielded() const { return getBlock().getTerminator()->getOperands(); }
  bool isMaterialised(mlir::Value value) const { return materialised.contains(value); }
  /// Whether each element of `value` is computed once, at one place in the code, so
  /// that a sum may add its terms in any order. A sum that is computed at several
  /// places must have the same bits at each of them, because readers may compare
  /// them: the gradient of a maximum looks for the operands that equal it.
  bool isComputedOnce(mlir::Value value) const;
  /// Ops with materialized results, in an order in which they can run.
  llvm::ArrayRef<mlir::Operation *> getRoots() const { return roots; }
  /// The values in memory that the computation of `root` reads.
  llvm::SetVector<mlir::Value> getReads(mlir::Operation *root) const;

  /// Whether a fill rule makes the results of `op` all at once, and whether in
  /// tiles.
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

/// Whether element i of `op`'s result depends only on elements i of its operands.
bool keepsNumbers(mlir::Operation *op);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_KERNELGRAPH_H
