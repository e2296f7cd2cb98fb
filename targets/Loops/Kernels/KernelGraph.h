#ifndef DPC_TARGETS_LOOPS_KERNELS_KERNELGRAPH_H
#define DPC_TARGETS_LOOPS_KERNELS_KERNELGRAPH_H

#include "dialects/NN/IR/Program.h"

#include "llvm/ADT/SetVector.h"

#include <memory>

namespace dpc {

class Target;

/// The ops of one kernel, prepared for code generation. Building the graph
/// decomposes composites, merges equal ops, and erases dead ops. It also decides
/// for each value whether it is materialized in memory or inlined into its readers.
class KernelGraph {
public:
  /// Builds the graph of an `nn.kernel` or `nn.update`. The region of an update is
  /// written for single elements; the graph applies it to complete tensors. Fails
  /// with an error on any other op, and on an op in the region for which `target`
  /// has no form. If `recompute` is not set, every value whose elements are read more
  /// than once is materialized, unless it is a constant or its op only moves elements.
  static mlir::FailureOr<std::unique_ptr<KernelGraph>> build(mlir::Operation *op,
                                                             const Target &target, bool recompute);

  mlir::Block &getBlock() const { return *block; }
  mlir::OperandRange getYielded() const { return getBlock().getTerminator()->getOperands(); }
  bool isMaterialised(mlir::Value value) const { return materialised.contains(value); }
  /// Whether only one place in the code computes each element of `value`. Only then
  /// may a sum add its terms in any order. All places that compute a sum must
  /// compute the same bits, because readers may compare values. For example, the
  /// gradient of a maximum searches for operands that equal the maximum.
  bool isComputedOnce(mlir::Value value) const;
  /// The ops that compute neighbours in the same loops and branches if `op` is computed for
  /// neighbours (ElementOpInterface::joinsNeighbours): `op`, or ops whose inlined results formulas
  /// need for it.
  llvm::SetVector<mlir::Operation *> getNeighboursRules(mlir::Operation *op) const;
  /// The ops with materialized results, in an order in which they can run.
  llvm::ArrayRef<mlir::Operation *> getRoots() const { return roots; }
  /// The values in memory that the computation of `root` reads, directly or through
  /// inlined ops.
  llvm::SetVector<mlir::Value> getReads(mlir::Operation *root) const;

  /// The number of kernels that the kernel joins (nn::getJoined), and the one of these that a root
  /// belongs to. Loops compute roots of one part. No part reads a result of another.
  size_t getPartCount() const { return partCount; }
  size_t getPart(mlir::Operation *root) const { return parts.lookup(root); }

  /// Whether a fill rule computes the results of `op`, and whether it computes them
  /// in tiles.
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
  void setParts(llvm::ArrayRef<int64_t> joined);

  const Target &target;
  mlir::Region region;
  mlir::Block *block = nullptr;
  llvm::DenseSet<mlir::Value> materialised;
  llvm::SmallVector<mlir::Operation *> roots;
  size_t partCount = 1;
  llvm::DenseMap<mlir::Operation *, size_t> parts;
};

/// Whether the element with the row-major number i of the result of `op` depends
/// only on the elements with the number i of its operands.
bool keepsNumbers(mlir::Operation *op);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_KERNELGRAPH_H
