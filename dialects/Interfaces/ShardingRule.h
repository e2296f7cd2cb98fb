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

/// The kind of a loop, which tells how it may be cut over devices.
enum class LoopKind {
  /// The loop is a dimension of a result: cutting it cuts the result.
  parallel,
  /// The loop is in no result. Cutting it leaves partial results, which are
  /// combined by this reduction.
  sum,
  max,
  min,
  /// The loop must not be cut: every device runs all of it (a sort, a scan, a
  /// softmax row that stays one op).
  whole,
};

/// The loops of an op. Each dimension of each operand and result is a sum
/// (segments) of products (loops, major to minor): a reshape multiplies loops, a
/// concatenation adds segments. Loops are numbered per op. Dimensions with the same
/// loop number are iterated together.
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

  /// Sets of operands in which the op is additive: if all operands of a set are
  /// partial sums and the others are reduced, every result is a partial sum.
  /// {{0},{1}} for a contraction, {{0,1}} for an addition.
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>> additiveSets;
  /// Whether the op commutes with max and min in operand 0, as monotone elementwise
  /// ops, reshapes and transposes do.
  bool monotone = false;

  /// Adds a loop and returns its number.
  unsigned addLoop(int64_t size, LoopKind kind = LoopKind::parallel) {
    loops.push_back({size, kind});
    return loops.size() - 1;
  }
  /// A dimension that consists of one loop.
  static DimLoops dim(unsigned loop) { return {{loop}}; }
};

/// The rule of elementwise ops: one parallel loop per dimension, the same for all
/// operands and results, which all have one shape. Rank-0 operands are in no loop.
ShardingRule elementwiseShardingRule(mlir::Operation *op);

/// True when every operand and result of `op` is a tensor of floats.
bool hasOnlyFloats(mlir::Operation *op);

/// Additive in operand 0 for floats. Not for integers, for which division and
/// conversion round or wrap.
llvm::SmallVector<llvm::SmallVector<unsigned, 2>> additiveIfFloats(mlir::Operation *op);

} // namespace dpc

#endif // DPC_DIALECTS_INTERFACES_SHARDINGRULE_H
