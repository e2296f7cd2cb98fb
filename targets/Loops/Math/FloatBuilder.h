#ifndef DPC_TARGETS_LOOPS_MATH_FLOATBUILDER_H
#define DPC_TARGETS_LOOPS_MATH_FLOATBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace dpc {

/// Emits floating-point arithmetic without branches, on scalars or on vectors.
struct FloatBuilder {
  using Predicate = mlir::arith::CmpFPredicate;
  using Value = mlir::Value;

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type type; // a float type, or a vector type of floats; all values have its shape

  template <typename Op, typename... Args> Value make(Args &&...args) {
    return b.create<Op>(loc, std::forward<Args>(args)...);
  }
  /// The type `element`, or a vector type of `element` if `type` is a vector
  /// type.
  mlir::Type like(mlir::Type element) {
    auto vector = mlir::dyn_cast<mlir::VectorType>(type);
    return vector ? vector.clone(element) : element;
  }
  Value constant(mlir::TypedAttr value) {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(like(value.getType())))
      value = mlir::DenseElementsAttr::get(vector, mlir::Attribute(value));
    return make<mlir::arith::ConstantOp>(value);
  }
  Value d(double value) { return constant(b.getF64FloatAttr(value)); }
  Value i64(int64_t value) { return constant(b.getI64IntegerAttr(value)); }

  Value add(Value x, Value y) { return make<mlir::arith::AddFOp>(x, y); }
  Value sub(Value x, Value y) { return make<mlir::arith::SubFOp>(x, y); }
  Value mul(Value x, Value y) { return make<mlir::arith::MulFOp>(x, y); }
  Value div(Value x, Value y) { return make<mlir::arith::DivFOp>(x, y); }
  Value neg(Value x) { return make<mlir::arith::NegFOp>(x); }
  Value fma(Value x, Value y, Value z) { return make<mlir::LLVM::FMAOp>(x, y, z); }
  Value abs(Value x) { return make<mlir::LLVM::FAbsOp>(x); }
  Value sqrt(Value x) { return make<mlir::LLVM::SqrtOp>(x); }
  Value withSignOf(Value magnitude, Value x) { return make<mlir::LLVM::CopySignOp>(magnitude, x); }

  Value is(Predicate predicate, Value x, Value y) {
    return make<mlir::arith::CmpFOp>(predicate, x, y);
  }
  Value select(Value c, Value x, Value y) { return make<mlir::arith::SelectOp>(c, x, y); }
  Value both(Value x, Value y) { return make<mlir::arith::AndIOp>(x, y); }
  Value negated(Value condition) {
    return make<mlir::arith::XOrIOp>(condition, constant(b.getIntegerAttr(b.getI1Type(), 1)));
  }

  /// `bits64` returns the bits of an f64 as an i64, and `fromBits64` returns the
  /// f64 with these bits.
  Value bits64(Value x) { return make<mlir::arith::BitcastOp>(like(b.getI64Type()), x); }
  Value fromBits64(Value x) { return make<mlir::arith::BitcastOp>(like(b.getF64Type()), x); }
  /// Whether at least one bit of `mask` is set in `integer`.
  Value has(Value integer, int64_t mask) {
    return make<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::ne,
                                     make<mlir::arith::AndIOp>(integer, i64(mask)), i64(0));
  }
  /// A polynomial in f64. `coefficients` begins with the coefficient of the
  /// highest power.
  Value polynomial64(Value x, llvm::ArrayRef<double> coefficients) {
    Value sum;
    for (double coefficient : coefficients)
      sum = sum ? fma(sum, x, d(coefficient)) : d(coefficient);
    return sum;
  }
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_MATH_FLOATBUILDER_H
