#ifndef DPC_DIALECTS_NN_RANGES_RANGES_H
#define DPC_DIALECTS_NN_RANGES_RANGES_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace dpc {

/// Attaches mlir::InferIntRangeInterface to nn ops: the range of the integers in
/// their results, given the ranges of their operands. One range covers all elements
/// of a tensor.
void registerRangeModels(mlir::DialectRegistry &registry);

/// Whether integers of `type` are ordered as unsigned, as booleans are.
bool isOrderedUnsigned(mlir::Type type);
/// The range of all integers of `value`'s element type.
mlir::ConstantIntRanges anyInteger(mlir::Value value);

/// The ranges of the integer values of a program, derived from the ops that compute
/// them. The range of a function argument is unrestricted. Ranges are cached by
/// value, so no value may be erased while the object lives.
class IntegerRanges {
public:
  /// The range of the elements of `value`; of width 0 for floats.
  mlir::ConstantIntRanges get(mlir::Value value);
  /// Whether low <= x <= high is known for every element x of `value`.
  bool isWithin(mlir::Value value, int64_t low, int64_t high);
  /// The truth of all elements of the boolean tensor `value`, if it is known and
  /// equal.
  std::optional<bool> getTruth(mlir::Value value);

private:
  mlir::ConstantIntRanges compute(mlir::Value value);

  llvm::DenseMap<mlir::Value, mlir::IntegerValueRange> known;
};

} // namespace dpc

#endif // DPC_DIALECTS_NN_RANGES_RANGES_H
