#ifndef DPC_PASSES_NORMALIZE_POSITIONS_H
#define DPC_PASSES_NORMALIZE_POSITIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace dpc {

/// The origins of the values of a function, by which passes decide which floats may be rounded.
/// Positions must not be rounded. With the 8 significant bits of bf16, for example, a phase of
/// 4,007 radians would become 4,000, which is wrong by more than a full turn.
class Positions {
public:
  /// The origins are ordered. A value that is computed from values of several origins usually gets
  /// the one of them that comes last in this list.
  enum class Origin {
    /// Only constants.
    constants,
    /// Truth values as 0 and 1, which ops may have moved. They are exact in every type.
    flags,
    /// Integers of more than 8 bits (indices, times, iotas), possibly together with constants.
    integers,
    /// Data, weights and random numbers. Also integers of 8 bits, such as the pixels of an image.
    others,
  };

  /// Analyses the ops that `function` has at this time. Later changes of the function have no
  /// effect.
  explicit Positions(mlir::func::FuncOp function);

  Origin getOrigin(mlir::Value value) const { return origins.lookup(value); }
  /// Whether `factors` are the factors of a product of positions: one of them is computed only from
  /// integers and constants, or all of them are constants.
  bool areAmong(mlir::ValueRange factors) const;

private:
  Origin find(mlir::Operation *op) const;

  /// Looked up by key only, so that the order of the map has no effect.
  llvm::DenseMap<mlir::Value, Origin> origins;
};

} // namespace dpc

#endif // DPC_PASSES_NORMALIZE_POSITIONS_H
