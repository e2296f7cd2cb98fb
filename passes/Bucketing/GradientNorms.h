#ifndef DPC_PASSES_BUCKETING_GRADIENTNORMS_H
#define DPC_PASSES_BUCKETING_GRADIENTNORMS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace dpc {

/// The squares of a tensor, summed by a kernel of their own that has one use,
/// and then only added to others: a term of a gradient norm.
struct SquareSum {
  /// Null if there is none.
  mlir::Operation *kernel = nullptr;
  /// What the term is added into, by additions and sums over ranks alone.
  mlir::Value total;
  /// The axes of those sums over ranks, in order.
  llvm::SmallVector<mlir::Attribute> axes;

  explicit operator bool() const { return kernel; }
  mlir::OpOperand &getUse() const { return *kernel->getResult(0).use_begin(); }
  /// Whether it makes no difference to which of the two something is added.
  bool isLike(const SquareSum &other) const {
    return total == other.total && axes == other.axes;
  }
};

/// The sum of squares that `user` makes of `tensor`, if it makes nothing else.
SquareSum matchSquareSum(mlir::Operation *user, mlir::Value tensor);

/// A kernel that sums the squares of `tensor`.
mlir::Value buildSquareSum(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value tensor);
/// A kernel that adds rank-0 tensors; the only one itself.
mlir::Value buildScalarSum(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::ValueRange terms);
/// A kernel that makes a rank-0 zero of `type`.
mlir::Value buildZero(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Type type);

} // namespace dpc

#endif // DPC_PASSES_BUCKETING_GRADIENTNORMS_H
