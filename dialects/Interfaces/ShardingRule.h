#ifndef DPC_DIALECTS_INTERFACES_SHARDINGRULE_H
#define DPC_DIALECTS_INTERFACES_SHARDINGRULE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <string>

namespace mlir {
class Operation;
} // namespace mlir

namespace dpc {

/// The kind of a loop says whether a mesh axis may cut (shard) the loop, and which
/// results this gives.
enum class LoopKind {
  /// The loop runs along a dimension of a result. If an axis cuts the loop, it cuts
  /// the result.
  parallel,
  /// The loop runs along no dimension of a result. If an axis cuts the loop, each
  /// device computes a partial result, and this reduction combines them.
  sum,
  max,
  min,
  /// No axis may cut the loop: every device runs all of it. Examples are the loops
  /// of a sort or a scan, and the loop over a row of a softmax that is kept as one
  /// op.
  whole,
};

/// The loops of an op. Each dimension of each operand and result is a sum of
/// segments, which a concatenation joins. Each segment is a product of loops, major
/// to minor, which a reshape joins. Loops have numbers that are local to the op.
/// Dimensions with the same loop number are iterated together. For example, a
/// product of matrices has the operands {i, k} and {k, j} and the result {i, j}.
struct ShardingRule {
  using DimLoops = llvm::SmallVector<llvm::SmallVector<unsigned, 2>, 1>;
  using ValueLoops = llvm::SmallVector<DimLoops, 4>;

  struct Loop {
    int64_t size;
    LoopKind kind;
  };

  llvm::SmallVector<Loop> loops;
  llvm::SmallVector<ValueLoops, 3> operands;
  llvm::SmallVector<ValueLoops, 2> results;

  /// Sets of operands in which the op is additive. If all operands of one set are
  /// partial sums and all other operands are not, then every result is a partial
  /// sum. A contraction has {{0}, {1}}, and an addition has {{0, 1}}.
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>> additiveSets;
  /// Whether the op commutes with max and min in operand 0: op(max(a, b)) =
  /// max(op(a), op(b)). This holds for monotone elementwise ops, reshapes and
  /// transposes.
  bool monotone = false;

  /// Adds a loop and returns its number.
  unsigned addLoop(int64_t size, LoopKind kind = LoopKind::parallel) {
    loops.push_back({size, kind});
    return loops.size() - 1;
  }
  /// A dimension that consists of one loop.
  static DimLoops dim(unsigned loop) { return {{loop}}; }
};

/// The rule of elementwise ops. They have one parallel loop per dimension, which
/// runs along this dimension of all operands and results. Operands of rank 0, such
/// as the scalars of an nn.update, are in no loop.
ShardingRule elementwiseShardingRule(mlir::Operation *op);

/// Whether all operands and results of `op` are tensors of floats.
bool hasOnlyFloats(mlir::Operation *op);

/// The additive sets of a linear op with one operand: {{0}} if `hasOnlyFloats(op)`,
/// otherwise none. With integers the op is not linear, because division rounds and
/// conversion wraps around.
llvm::SmallVector<llvm::SmallVector<unsigned, 2>> additiveIfFloats(mlir::Operation *op);

} // namespace dpc

#endif // DPC_DIALECTS_INTERFACES_SHARDINGRULE_H
