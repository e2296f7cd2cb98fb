#ifndef DPC_PASSES_SHARDEDUPDATES_GRADIENTNORMS_H
#define DPC_PASSES_SHARDEDUPDATES_GRADIENTNORMS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace dpc {

/// A term of a gradient norm: the sum of the squares of one tensor. The sum has one use, and is
/// only added to other terms until it is part of `total`.
struct SquareSum {
  /// The product of the tensor with itself, and the sum of that product. Both are null if this
  /// object holds no term.
  mlir::Operation *square = nullptr, *sum = nullptr;
  /// The op that reads the tensor: the product, or a conversion of the tensor whose result the
  /// product reads.
  mlir::Operation *reader = nullptr;
  /// The value into which the term is added, through additions and sums over ranks only.
  mlir::Value total;
  /// The axes of the sums over ranks between the term and `total`, in order.
  llvm::SmallVector<mlir::Attribute> axes;

  explicit operator bool() const { return sum; }
  mlir::OpOperand &getUse() const { return *sum->getResult(0).use_begin(); }
  /// Whether the two terms are interchangeable: both are added into one total, through sums over
  /// the same ranks. A value then changes the total equally if it is added to either term.
  bool isLike(const SquareSum &other) const { return total == other.total && axes == other.axes; }
  void erase() const;
};

/// Matches the term whose SquareSum::reader is `user`, an op that reads `tensor`. Finds no term if
/// another op reads the conversion, the product or the sum.
SquareSum matchSquareSum(mlir::Operation *user, mlir::Value tensor);

/// Builds the sum of the squares of `tensor`, computed in the float type `element`.
mlir::Value buildSquareSum(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor,
                           mlir::Type element);

} // namespace dpc

#endif // DPC_PASSES_SHARDEDUPDATES_GRADIENTNORMS_H
