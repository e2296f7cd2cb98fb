#ifndef DPC_DIALECTS_NN_RANGES_RANGES_H
#define DPC_DIALECTS_NN_RANGES_RANGES_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace dpc {

/// Attaches mlir::InferIntRangeInterface to nn ops: which integers the elements
/// of their results can be, given those of their operands. A range is about all
/// elements of a tensor.
void registerRangeModels(mlir::DialectRegistry &registry);

/// Whether integers of `type` are ordered as unsigned: so are booleans.
bool isOrderedUnsigned(mlir::Type type);
/// All integers of the type of `value`'s elements.
mlir::ConstantIntRanges anyInteger(mlir::Value value);

/// Which integers the values of a program can be, by the ops that make them.
/// Function arguments can be anything. Values are remembered: none may be
/// erased in the lifetime of this.
class IntegerRanges {
public:
  /// The range of the elements of `value`; of width 0 for floats.
  mlir::ConstantIntRanges get(mlir::Value value);
  /// Whether low <= x <= high is known of every element x of `value`.
  bool isWithin(mlir::Value value, int64_t low, int64_t high);
  /// What all elements of the boolean tensor `value` are, if that is known.
  std::optional<bool> getTruth(mlir::Value value);

private:
  mlir::ConstantIntRanges compute(mlir::Value value);

  llvm::DenseMap<mlir::Value, mlir::IntegerValueRange> known;
};

} // namespace dpc

#endif // DPC_DIALECTS_NN_RANGES_RANGES_H
