#ifndef DPC_DIALECTS_NN_IR_EXPRESSIONS_H
#define DPC_DIALECTS_NN_IR_EXPRESSIONS_H

#include "dialects/NN/IR/Contraction.h"
#include "dialects/NN/IR/Elementwise.h"
#include "dialects/NN/IR/Program.h"
#include "dialects/NN/IR/Reduction.h"
#include "dialects/NN/IR/Shape.h"

namespace dpc::nn {

/// Builds nn ops as short expressions, e.g. `e.mul(e.exp(x), 0.5)`, for VJPs,
/// decompositions of composites and frontends. All ops get the same location.
struct Expressions {
  mlir::OpBuilder &builder;
  mlir::Location loc;

  template <typename Op, typename... Args> Op make(Args &&...args) {
    return builder.create<Op>(loc, std::forward<Args>(args)...);
  }

  /// A constant of type `type` whose elements are all `value`.
  mlir::Value splat(mlir::Type type, double value) { return make<ConstantOp>(type, value); }
  mlir::Value splatLike(mlir::Value like, double value) { return splat(like.getType(), value); }
  mlir::Value neg(mlir::Value x) { return make<NegOp>(x); }
  mlir::Value exp(mlir::Value x) { return make<ExpOp>(x); }
  mlir::Value log(mlir::Value x) { return make<LogOp>(x); }
  mlir::Value sqrt(mlir::Value x) { return make<SqrtOp>(x); }
  mlir::Value rsqrt(mlir::Value x) { return make<RsqrtOp>(x); }
  mlir::Value add(mlir::Value x, mlir::Value y) { return make<AddOp>(x, y); }
  mlir::Value sub(mlir::Value x, mlir::Value y) { return make<SubOp>(x, y); }
  mlir::Value mul(mlir::Value x, mlir::Value y) { return make<MulOp>(x, y); }
  mlir::Value div(mlir::Value x, mlir::Value y) { return make<DivOp>(x, y); }
  mlir::Value max(mlir::Value x, mlir::Value y) { return make<MaxOp>(x, y); }
  mlir::Value add(mlir::Value x, double y) { return add(x, splatLike(x, y)); }
  mlir::Value mul(mlir::Value x, double y) { return mul(x, splatLike(x, y)); }
  mlir::Value compare(Comparison comparison, mlir::Value x, mlir::Value y) {
    return make<CompareOp>(comparison, x, y);
  }
  mlir::Value compare(Comparison comparison, mlir::Value x, double y) {
    return compare(comparison, x, splatLike(x, y));
  }
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return make<SelectOp>(condition, x, y);
  }
  mlir::Value convert(mlir::Value x, mlir::Type elementType);

  /// `x` reshaped to `shape`, or `x` itself if it has this shape.
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  /// `x` with permuted dimensions. Builds a reshape if only dimensions of extent 1
  /// move, and no op if the permutation is the identity.
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> permutation);
  /// `x` broadcast to `shape`. Dimension i of `x` becomes dimension `dimensions[i]`
  /// of the result.
  mlir::Value broadcast(mlir::Value x, llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int64_t> dimensions);
  /// The tensor `x` of rank 0, broadcast to `shape`.
  mlir::Value broadcastScalar(mlir::Value x, llvm::ArrayRef<int64_t> shape) {
    return broadcast(x, shape, {});
  }
  /// `x` broadcast to `shape`, along the dimensions `missing`. The shape of `x` is
  /// `shape` without these dimensions.
  mlir::Value broadcastAlong(mlir::Value x, llvm::ArrayRef<int64_t> shape,
                             llvm::ArrayRef<int64_t> missing);
  /// The reduction `kind` of `x` over `dimensions`. The result does not have these
  /// dimensions. `x` itself if `dimensions` is empty. nn.reduce describes `first`.
  mlir::Value reduce(ReduceKind kind, mlir::Value x, llvm::ArrayRef<int64_t> dimensions,
                     bool first = false);
  mlir::Value sum(mlir::Value x, llvm::ArrayRef<int64_t> dimensions) {
    return reduce(ReduceKind::sum, x, dimensions);
  }
  /// A product (nn.dot) whose elements have the type `elementType`, or the type of
  /// the factors if it is null.
  mlir::Value dot(mlir::Value lhs, mlir::Value rhs, llvm::ArrayRef<int64_t> lhsBatch,
                  llvm::ArrayRef<int64_t> rhsBatch, llvm::ArrayRef<int64_t> lhsContract,
                  llvm::ArrayRef<int64_t> rhsContract, mlir::Type elementType = {});
};

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_EXPRESSIONS_H
