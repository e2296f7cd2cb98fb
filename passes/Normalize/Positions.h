#ifndef DPC_PASSES_NORMALIZE_POSITIONS_H
#define DPC_PASSES_NORMALIZE_POSITIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace dpc {

/// What the floats of a function are made of, as far as that says which may be rounded.
/// Positions may not: a phase of 4,006 radians in 8 bits is off by turns.
class Positions {
public:
  /// Ordered: what is computed of several is the last of them.
  enum class Origin {
    /// Constants, and nothing else.
    constants,
    /// Truth values as 0 and 1, moved: no type rounds them.
    flags,
    /// Integers of more than 8 bits (indices, times, numberings), and perhaps constants.
    integers,
    /// Data, weights, random numbers; integers of 8 bits, such as samples of an image.
    others,
  };

  /// Looks at the ops of `function` as they are now.
  explicit Positions(mlir::func::FuncOp function);

  Origin getOrigin(mlir::Value value) const { return origins.lookup(value); }
  /// Whether one of `factors` is made of integers alone, or all are of constants.
  bool areAmong(mlir::ValueRange factors) const;

private:
  Origin find(mlir::Operation *op) const;

  /// Looked up by key only.
  llvm::DenseMap<mlir::Value, Origin> origins;
};

} // namespace dpc

#endif // DPC_PASSES_NORMALIZE_POSITIONS_H
