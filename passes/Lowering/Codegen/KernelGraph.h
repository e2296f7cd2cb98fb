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
  static mlir::FailureOr<std::unique_ptr<KernelGraph>>
  build(nn::KernelOp kernel);
  /// An update as a kernel: its elementwise region on whole tensors.
  static mlir::FailureOr<std::unique_ptr<KernelGraph>>
  build(nn::UpdateOp update);

  mlir::Block &getBlock() const { return *block; }
  mlir::OperandRange getYielded() const {
    return getBlock().getTerminator()->getOperands();
  }
  bool isMaterialised(mlir::Value value) const {
    return materialised.contains(value);
  }
  /// Ops whose results are kept in memory, in an order in which they can run.
  llvm::ArrayRef<mlir::Operation *> getRoots() const { return roots; }
  /// Values in memory that computing `root` reads.
  llvm::SetVector<mlir::Value> getReads(mlir::Operation *root) const;

private:
  mlir::LogicalResult prepare();
  void decompose();
  void mergeEqual();
  mlir::LogicalResult check();
  void place();
  void placeOnce();

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
