#ifndef DPC_PASSES_LOWERING_CODEGEN_KERNELGRAPH_H
#define DPC_PASSES_LOWERING_CODEGEN_KERNELGRAPH_H

#include "dialects/NN/IR/Program.h"

#include "llvm/ADT/SetVector.h"

#include <memory>

namespace dpc {

/// The ops of one kernel made ready for code: composites decomposed, equal ops
/// merged, dead ones gone; and for each value, whether it is kept in memory or
/// computed where it is read.
class KernelGraph {
public:
  /// Fails with an error on an op that is neither elementwise nor has loops.
  /// Without `recompute` every value that is read more than once is kept.
  static mlir::FailureOr<std::unique_ptr<KernelGraph>>
  build(nn::KernelOp kernel, bool recompute = true);
  /// An update as a kernel: its elementwise region on whole tensors.
  static mlir::FailureOr<std::unique_ptr<KernelGraph>>
  build(nn::UpdateOp update, bool recompute = true);

  mlir::Block &getBlock() const { return *block; }
  mlir::OperandRange getYielded() const {
    return getBlock().getTerminator()->getOperands();
  }
  bool isMaterialised(mlir::Value value) const {
    return materialised.contains(value);
  }
  /// Whether each element of `value` is computed at one place in the code,
  /// once: a sum may then add its terms in any order. Another sum must have the
  /// same bits wherever it is computed, as those who read it may compare them:
  /// the gradient of a maximum looks for the operands that are equal to it.
  bool isComputedOnce(mlir::Value value) const;
  /// Ops whose results are kept in memory, in an order in which they can run.
  llvm::ArrayRef<mlir::Operation *> getRoots() const { return roots; }
  /// Values in memory that computing `root` reads.
  llvm::SetVector<mlir::Value> getReads(mlir::Operation *root) const;

private:
  mlir::LogicalResult prepare(bool recompute);
  void decompose();
  void mergeEqual();
  mlir::LogicalResult check();
  void place(bool recompute);
  void placeOnce(bool recompute);

  mlir::Region region;
  mlir::Block *block = nullptr;
  llvm::DenseSet<mlir::Value> materialised;
  llvm::SmallVector<mlir::Operation *> roots;
};

/// Whether `op` is made all at once by `emitLoops`.
bool isPushed(mlir::Operation *op);

/// Whether element i of `op`'s result is made of elements i alone.
bool keepsNumbers(mlir::Operation *op);

} // namespace dpc

#endif // DPC_PASSES_LOWERING_CODEGEN_KERNELGRAPH_H
