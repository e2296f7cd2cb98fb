#ifndef DPC_TARGETS_LOOPS_COMBINER_H
#define DPC_TARGETS_LOOPS_COMBINER_H

#include "dialects/NN/IR/NNDialect.h"
#include "dialects/NN/IR/SumTypes.h"
#include "targets/Loops/LoopEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace dpc {

/// Combines elements of one type by addition, multiplication, maximum or minimum,
/// for reductions and scatters. The accumulator may have a wider type than the
/// elements.
class Combiner {
public:
  /// `narrow` converts the combined value to `resultType`, or to `elementType` if
  /// `resultType` is null.
  Combiner(LoopEmitter &emitter, nn::ReduceKind kind, mlir::Type elementType,
           mlir::Type resultType = {});

  /// The neutral element, in the type of the accumulator.
  mlir::Value identity();
  /// Combines `x` and `y`, which have the type of the accumulator. LLVM may
  /// reassociate sums and products of floats, unless LoopEmitter::orderedSums was
  /// set when the combiner was created. The maximum and the minimum of a NaN and
  /// any value are NaN. The maximum and the minimum of 0 and -0 may be either of
  /// them.
  mlir::Value combine(mlir::Value x, mlir::Value y);
  /// x + y * z, in the type of the accumulator. If sums are ordered, a float result
  /// is rounded once. If not, LLVM decides by the surrounding code whether the result
  /// is rounded once or twice.
  mlir::Value accumulateProduct(mlir::Value x, mlir::Value y, mlir::Value z);
  /// Accumulates over all multi-indices of `extents`, starting with the neutral
  /// element (LoopEmitter::reduce).
  mlir::Value reduce(
      llvm::ArrayRef<int64_t> extents,
      llvm::function_ref<LoopEmitter::Values(llvm::ArrayRef<LoopEmitter::Index>, mlir::ValueRange)>
          accumulate);
  /// As above, for `count` accumulators in the same loops.
  LoopEmitter::Values reduce(
      llvm::ArrayRef<int64_t> extents, size_t count,
      llvm::function_ref<LoopEmitter::Values(llvm::ArrayRef<LoopEmitter::Index>, mlir::ValueRange)>
          accumulate);
  /// `widen` converts an element to the type of the accumulator. `narrow`
  /// converts the accumulator to the result type.
  mlir::Value widen(mlir::Value element);
  mlir::Value narrow(mlir::Value sum);

private:
  LoopEmitter &e;
  nn::ReduceKind kind;
  mlir::Type elementType, resultType, type;
  bool isFloat, isUnsigned, isOrdered;
  mlir::arith::FastMathFlags getSumFlags() const;
};

/// Compares elements of one type. The functions return values of type i1.
class Ordering {
public:
  Ordering(LoopEmitter &emitter, mlir::Type elementType);

  /// Ordered comparisons, which are false if an operand is NaN.
  mlir::Value less(mlir::Value x, mlir::Value y);
  mlir::Value equal(mlir::Value x, mlir::Value y);
  mlir::Value either(mlir::Value a, mlir::Value b);
  mlir::Value all(mlir::Value a, mlir::Value b);
  /// Whether `now` replaces `old` as the largest or smallest element. `better`
  /// says whether the number `now` is better. A NaN is better than every number,
  /// and the first NaN stays.
  mlir::Value unlessNan(mlir::Value better, mlir::Value old, mlir::Value now);
  /// Whether both are NaN.
  mlir::Value areNan(mlir::Value x, mlir::Value y);
  /// Whether x < y, where NaN counts as larger than every number.
  mlir::Value lessNanLast(mlir::Value x, mlir::Value y);

private:
  mlir::Value isNan(mlir::Value x);
  mlir::Value invert(mlir::Value condition);
  LoopEmitter &e;
  bool isFloat, isUnsigned;
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_COMBINER_H
