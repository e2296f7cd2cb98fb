#ifndef DPC_TARGETS_LOOPS_COMBINER_H
#define DPC_TARGETS_LOOPS_COMBINER_H

#include "dialects/NN/IR/NNDialect.h"
#include "dialects/NN/IR/SumTypes.h"
#include "targets/Loops/LoopEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace dpc::nn {

/// Combines elements of one type in a loop: how reductions and scatters do it.
class Combiner {
public:
  /// What is combined becomes an element of `resultType`, by default of
  /// `elementType`.
  Combiner(LoopEmitter &emitter, ReduceKind kind, mlir::Type elementType,
           mlir::Type resultType = {});

  /// The value that changes nothing, of the accumulator's type.
  mlir::Value identity();
  /// `x` combined with `y`, of the accumulator's type. Floating-point sums and
  /// products may be reassociated, unless the emitter was told to keep their
  /// order (LoopEmitter::orderedSums) when the combiner was made; max and min
  /// give NaN if either is, and either zero of 0 and -0.
  mlir::Value combine(mlir::Value x, mlir::Value y);
  /// x + y * z, of the accumulator's type. In an ordered sum it is rounded
  /// once; else once or twice, as the code around it has it.
  mlir::Value accumulateProduct(mlir::Value x, mlir::Value y, mlir::Value z);
  /// What `accumulate` makes of the identity and every multi-index of
  /// `extents` (LoopEmitter::reduce).
  mlir::Value reduce(
      llvm::ArrayRef<int64_t> extents,
      llvm::function_ref<LoopEmitter::Values(llvm::ArrayRef<LoopEmitter::Index>, mlir::ValueRange)>
          accumulate);
  /// From an element's to the accumulator's type, and from it to the result's.
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
  /// `better`, but the first NaN wins over every number: what `now` being
  /// better than `old` means for a largest or smallest element.
  mlir::Value unlessNan(mlir::Value better, mlir::Value old, mlir::Value now);
  /// Whether both are NaN.
  mlir::Value areNan(mlir::Value x, mlir::Value y);
  /// x < y where NaN is larger than every number.
  mlir::Value lessNanLast(mlir::Value x, mlir::Value y);

private:
  mlir::Value isNan(mlir::Value x);
  mlir::Value invert(mlir::Value condition);
  LoopEmitter &e;
  bool isFloat, isUnsigned;
};

} // namespace dpc::nn

#endif // DPC_TARGETS_LOOPS_COMBINER_H
