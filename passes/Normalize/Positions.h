#ifndef DPC_PASSES_NORMALIZE_POSITIONS_H
#define DPC_PASSES_NORMALIZE_POSITIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace dpc {

/// The origins of the floats of a function, from which passes decide which floats may be rounded.
/// Positions may not be rounded: with the 8 bits of bf16, a phase of 4,006 radians is wrong by more
/// than a full turn.
class Positions {
public:
  /// The origins are ordered: a value that is computed from several origins mostly has the last of
  /// them.
  enum class Origin {
    /// Only constants.
    constants,
    /// Truth values as 0 and 1, possibly moved. They are exact in every type.
    flags,
    /// Integers of more than 8 bits (indices, times, iotas), possibly together with constants.
    integers,
    /// Data, weights, random numbers; integers of 8 bits, such as samples of an image.
    others,
  };

  /// Analyses the ops that `function` has now. Later changes are not seen.
  explicit Positions(mlir::func::FuncOp function);

  Origin getOrigin(mlir::Value value) const { return origins.lookup(value); }
  /// Whether one of `factors` is computed only from integers and constants, or all are constants.
  bool areAmong(mlir::ValueRange factors) const;

private:
  Origin find(mlir::Operation *op) const;

  /// Looked up by key only.
  llvm::DenseMap<mlir::Value, Origin> origins;
};

} // namespace dpc

#endif // DPC_PASSES_NORMALIZE_POSITIONS_H
