#ifndef DPC_PASSES_BUCKETING_GRADIENTNORMS_H
#define DPC_PASSES_BUCKETING_GRADIENTNORMS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace dpc {

/// A term of a gradient norm: the sum of the squares of a tensor. The sum has one use. From there
/// on it is only added to other terms.
struct SquareSum {
  /// The product of the tensor with itself, and the sum of that product; null if there is no such
  /// term.
  mlir::Operation *square = nullptr, *sum = nullptr;
  /// The op that reads the tensor: the product, or a conversion of the tensor in front of the
  /// product.
  mlir::Operation *reader = nullptr;
  /// The value into which the term is added, by additions and sums over ranks alone.
  mlir::Value total;
  /// The axes of these sums over ranks, in order.
  llvm::SmallVector<mlir::Attribute> axes;

  explicit operator bool() const { return sum; }
  mlir::OpOperand &getUse() const { return *sum->getResult(0).use_begin(); }
  /// Whether a value added to either of the two terms has the same effect: both go into one total,
  /// by sums over the same ranks.
  bool isLike(const SquareSum &other) const { return total == other.total && axes == other.axes; }
  void erase() const;
};

/// The sum of the squares of `tensor` that `user` begins, as its `reader`. There is none if another
/// op reads the conversion, the product or the sum.
SquareSum matchSquareSum(mlir::Operation *user, mlir::Value tensor);

/// Builds the sum of the squares of `tensor` in `element`, a float type.
mlir::Value buildSquareSum(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor,
                           mlir::Type element);

} // namespace dpc

#endif // DPC_PASSES_BUCKETING_GRADIENTNORMS_H
