#ifndef DPC_DIALECTS_NN_RANGES_RANGES_H
#define DPC_DIALECTS_NN_RANGES_RANGES_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace dpc {

/// Attaches mlir::InferIntRangeInterface to nn ops. Their models compute the ranges
/// of the integers in the results from the ranges of the operands. One range covers
/// all elements of a tensor.
void registerRangeModels(mlir::DialectRegistry &registry);

/// Whether integers of `type` are compared as unsigned integers. This includes
/// booleans.
bool isOrderedUnsigned(mlir::Type type);
/// The range that contains all integers of the element type of `value`.
mlir::ConstantIntRanges anyInteger(mlir::Value value);

/// Computes the ranges of integer values from the ops that compute these values. A
/// function argument may be any integer. The object caches ranges by value, so no
/// value may be erased while the object lives.
class IntegerRanges {
public:
  /// The range of the elements of `value`. For floats, a range of width 0.
  mlir::ConstantIntRanges get(mlir::Value value);
  /// Whether low <= x <= high is known for every element x of `value`.
  bool isWithin(mlir::Value value, int64_t low, int64_t high);
  /// True if all elements of the boolean tensor `value` are known to be true, false
  /// if all are known to be false, otherwise null.
  std::optional<bool> getTruth(mlir::Value value);

private:
  mlir::ConstantIntRanges compute(mlir::Value value);

  llvm::DenseMap<mlir::Value, mlir::IntegerValueRange> known;
};

} // namespace dpc

#endif // DPC_DIALECTS_NN_RANGES_RANGES_H
