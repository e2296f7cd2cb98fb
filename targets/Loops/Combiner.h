#ifndef DPC_TARGETS_LOOPS_COMBINER_H
#define DPC_TARGETS_LOOPS_COMBINER_H

#include "dialects/NN/IR/NNDialect.h"
#include "dialects/NN/IR/SumTypes.h"
#include "targets/Loops/LoopEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace dpc::nn {

/// Combines elements of one type in a loop, for reductions and scatters.
class Combiner {
public:
  /// The combined value becomes an element of `resultType`, by default of
  /// `elementType`.
  Combiner(LoopEmitter &emitter, ReduceKind kind, mlir::Type elementType,
           mlir::Type resultType = {});

  /// The neutral value, in the accumulator's type.
  mlir::Value identity();
  /// `x` combined with `y`, in the accumulator's type. Floating-point sums and
  /// products may be reassociated, unless the emitter required ordered sums
  /// (LoopEmitter::orderedSums) when the combiner was made. The max and min of a
  /// NaN and any value are NaN; those of 0 and -0 are either of the two.
  mlir::Value combine(mlir::Value x, mlir::Value y);
  /// x + y * z, in the accumulator's type. An ordered sum rounds it once. Other
  /// sums round it once or twice, depending on the code around it.
  mlir::Value accumulateProduct(mlir::Value x, mlir::Value y, mlir::Value z);
  /// Accumulates over all multi-indices of `extents`, starting from the identity
  /// (LoopEmitter::reduce).
  mlir::Value reduce(
      llvm::ArrayRef<int64_t> extents,
      llvm::function_ref<LoopEmitter::Values(llvm::ArrayRef<LoopEmitter::Index>, mlir::ValueRange)>
          accumulate);
  /// Converts from the element type to the accumulator's, and from that to the
  /// result type.
  mlir::Value widen(mlir::Value element);
  mlir::Value narrow(mlir::Value sum);

private:
  LoopEmitter &e;
  ReduceKind kind;
  mlir::Type elementType, resultType, type;
  bool isFloat, isUnsigned, isOrdered;
  mlir::arith::FastMathFlags getSumFlags() const;
};

/// Compares elements of one type.
class Ordering {
public:
  Ordering(LoopEmitter &emitter, mlir::Type elementType);

  /// Ordered comparisons: false with a NaN.
  mlir::Value less(mlir::Value x, mlir::Value y);
  mlir::Value equal(mlir::Value x, mlir::Value y);
  mlir::Value either(mlir::Value a, mlir::Value b);
  mlir::Value all(mlir::Value a, mlir::Value b);
  /// `better`, except that the first NaN wins over every number: whether `now`
  /// replaces `old` as the largest or smallest element.
  mlir::Value unlessNan(mlir::Value better, mlir::Value old, mlir::Value now);
  /// Whether both are NaN.
  mlir::Value areNan(mlir::Value x, mlir::Value y);
  /// x < y, with NaN larger than every number.
  mlir::Value lessNanLast(mlir::Value x, mlir::Value y);

private:
  mlir::Value isNan(mlir::Value x);
  mlir::Value invert(mlir::Value condition);
  LoopEmitter &e;
  bool isFloat, isUnsigned;
};

} // namespace dpc::nn

#endif // DPC_TARGETS_LOOPS_COMBINER_H
