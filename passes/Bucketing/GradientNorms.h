#ifndef DPC_PASSES_BUCKETING_GRADIENTNORMS_H
#define DPC_PASSES_BUCKETING_GRADIENTNORMS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace dpc {

/// The sum of the squares of a tensor, which has one use, and then is only
/// added to others: a term of a gradient norm.
struct SquareSum {
  /// The product of the tensor with itself, and its sum; null if there is none.
  mlir::Operation *square = nullptr, *sum = nullptr;
  /// What reads the tensor: the product, or what first converts it to another type.
  mlir::Operation *reader = nullptr;
  /// What the term is added into, by additions and sums over ranks alone.
  mlir::Value total;
  /// The axes of those sums over ranks, in order.
  llvm::SmallVector<mlir::Attribute> axes;

  explicit operator bool() const { return sum; }
  mlir::OpOperand &getUse() const { return *sum->getResult(0).use_begin(); }
  /// Whether it makes no difference to which of the two something is added.
  bool isLike(const SquareSum &other) const { return total == other.total && axes == other.axes; }
  void erase() const;
};

/// The sum of squares of `tensor` that `user` is the reader of, if nothing else reads
/// what it makes.
SquareSum matchSquareSum(mlir::Operation *user, mlir::Value tensor);

/// Builds the sum of the squares of `tensor` in `element`, a float type.
mlir::Value buildSquareSum(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor,
                           mlir::Type element);

} // namespace dpc

#endif // DPC_PASSES_BUCKETING_GRADIENTNORMS_H
