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

/// How one loop of an op may be cut over devices.
enum class LoopKind {
  /// Appears in a result: cutting it cuts the result.
  parallel,
  /// Appears in no result; cutting it leaves partial results to be combined
  /// with the rule's reduction.
  sum,
  max,
  min,
  /// May not be cut: every device runs all of it (a sort, a scan, a softmax row
  /// kept as one op).
  whole,
};

/// What an op iterates over. Each dimension of each operand and result is a
/// sum (segments) of products (loops, major to minor): a reshape multiplies
/// loops, a concatenation adds segments. Loops are numbered per op; the same
/// number in two dimensions says that they run together.
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

  /// Operand sets in which the op is additive: a partial sum in all operands
  /// of a set (the others reduced) gives a partial sum in every result.
  /// {{0},{1}} for a contraction, {{0,1}} for an addition.
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>> additiveSets;
  /// True when the op commutes with max and min in operand 0 (monotone
  /// elementwise ops, reshapes, transposes).
  bool monotone = false;

  /// Adds a loop and returns its number.
  unsigned addLoop(int64_t size, LoopKind kind = LoopKind::parallel) {
    loops.push_back({size, kind});
    return loops.size() - 1;
  }
  /// A dimension that is exactly one loop.
  static DimLoops dim(unsigned loop) { return {{loop}}; }
};

/// One parallel loop a dimension, the same for all operands and results, which
/// all have one shape (rank-0 operands take part in no loop). For elementwise
/// ops.
ShardingRule elementwiseShardingRule(mlir::Operation *op);

/// True when every operand and result of `op` is a tensor of floats.
bool hasOnlyFloats(mlir::Operation *op);

/// Additive in operand 0 for floats; not for integers, where division and
/// conversion round or wrap.
llvm::SmallVector<llvm::SmallVector<unsigned, 2>> additiveIfFloats(mlir::Operation *op);

} // namespace dpc

#endif // DPC_DIALECTS_INTERFACES_SHARDINGRULE_H
