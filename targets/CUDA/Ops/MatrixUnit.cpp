// Emits the instructions mma and ldmatrix.

#include "targets/CUDA/Ops/MatrixUnit.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;

using Values = LoopEmitter::Values;

MatrixUnit::MatrixUnit(GridEmitter &emitter, TileUnit unit, Type factor)
    : e(emitter), unit(unit), registerType(emitter.builder.getI32Type()) {
  rows = 16;
  columns = 8;
  sums = 4;
  switch (unit) {
  case TileUnit::scalar:
    llvm_unreachable("scalar instructions multiply no matrices");
  case TileUnit::halves:
    depth = 16;
    intrinsic = factor.isBF16() ? "llvm.nvvm.mma.m16n8k16.row.col.bf16"
                                : "llvm.nvvm.mma.m16n8k16.row.col.f32.f32";
    if (!factor.isBF16())
      registerType = VectorType::get({2}, factor);
    return;
  case TileUnit::tf32:
  case TileUnit::tf32x3:
    depth = 8;
    intrinsic = "llvm.nvvm.mma.m16n8k8.row.col.tf32";
    return;
  case TileUnit::f64:
    rows = 8;
    depth = 4;
    sums = 2;
    intrinsic = "llvm.nvvm.mma.m8n8k4.row.col.f64";
    registerType = e.builder.getF64Type();
    return;
  }
}

// A rounding error of tf32 is exact in f32, and has 12 bits. The instruction drops the last one of
// them, which is the last bit of the number itself.
Values MatrixUnit::toFactors(ValueRange numbers) const {
  if (!isTf32(unit))
    return Values(numbers);
  Values factors, errors;
  for (Value number : numbers) {
    factors.push_back(roundToTf32(number));
    if (unit != TileUnit::tf32x3)
      continue;
    if (number.getType() != e.builder.getF32Type())
      number = e.make<LLVM::BitcastOp>(e.builder.getF32Type(), number);
    errors.push_back(e.make<arith::SubFOp>(number, factors.back()));
  }
  llvm::append_range(factors, errors);
  return factors;
}

// The product of the two errors is below the precision of f32. The instruction truncates each sum,
// so a long sum in it would be too small. Therefore it sums only a step, and a scalar instruction,
// which rounds to nearest, adds the step to the sum (Ootomo and Yokota, "Recovering single
// precision accuracy from tensor cores while surpassing the FP32 theoretical peak performance",
// IJHPCA 2022).
Values MatrixUnit::multiply(ValueRange left, ValueRange right, ValueRange before,
                            bool isShort) const {
  if (unit != TileUnit::tf32x3)
    return multiplyOnce(left, right, before);
  const size_t ofLeft = left.size() / 2, ofRight = right.size() / 2;
  ValueRange factorsA = left.take_front(ofLeft), errorsA = left.drop_front(ofLeft),
             factorsB = right.take_front(ofRight), errorsB = right.drop_front(ofRight);
  Values step(before);
  if (!isShort)
    step.assign(before.size(), e.constantLike(before[0].getType(), 0));
  step = multiplyOnce(errorsA, factorsB, step);
  step = multiplyOnce(factorsA, errorsB, step);
  step = multiplyOnce(factorsA, factorsB, step);
  if (isShort)
    return step;
  Values next;
  for (auto [sum, added] : llvm::zip_equal(before, step))
    next.push_back(e.make<arith::AddFOp>(sum, added));
  return next;
}

Values MatrixUnit::multiplyOnce(ValueRange left, ValueRange right, ValueRange before) const {
  SmallVector<Value> arguments;
  for (ValueRange registers : {left, right})
    for (Value factor : registers)
      arguments.push_back(factor.getType() == registerType
                              ? factor
                              : e.make<LLVM::BitcastOp>(registerType, factor));
  llvm::append_range(arguments, before);
  SmallVector<Type> sumTypes(before.size(), before[0].getType());
  auto type = LLVM::LLVMStructType::getLiteral(e.builder.getContext(), sumTypes);
  Value made = e.make<LLVM::CallIntrinsicOp>(type, e.builder.getStringAttr(intrinsic), arguments)
                   .getResult(0);
  Values next;
  for (int64_t i = 0; i < static_cast<int64_t>(before.size()); ++i)
    next.push_back(e.make<LLVM::ExtractValueOp>(made, i));
  return next;
}

Values MatrixUnit::loadMatrices(Value pointer, int64_t count, bool isTransposed) const {
  SmallVector<Type> words(static_cast<size_t>(count), e.builder.getI32Type());
  auto type = LLVM::LLVMStructType::getLiteral(e.builder.getContext(), words);
  Value loaded =
      e.make<NVVM::LdMatrixOp>(type, pointer, static_cast<uint32_t>(count),
                               isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row);
  Values registers;
  for (int64_t n = 0; n < count; ++n)
    registers.push_back(e.make<LLVM::ExtractValueOp>(loaded, n));
  return registers;
}

// If the assembler knew that a vector of f32 was loaded, it would round each number in its
// register, and then copy it to the registers of a fragment.
Values MatrixUnit::unpack(ValueRange pairs) const {
  const Type f32 = e.builder.getF32Type();
  auto both = LLVM::LLVMStructType::getLiteral(e.builder.getContext(), {f32, f32});
  Values numbers;
  for (Value pair : pairs) {
    Value unpacked =
        e.make<LLVM::InlineAsmOp>(both, ValueRange(pair), "mov.b64 {$0, $1}, $2;", "=f,=f,l",
                                  /*has_side_effects=*/false, /*is_align_stack=*/false,
                                  LLVM::AsmDialectAttr(), ArrayAttr())
            .getRes();
    for (int64_t n : {0, 1})
      numbers.push_back(e.make<LLVM::ExtractValueOp>(unpacked, n));
  }
  return numbers;
}

Value MatrixUnit::roundToTf32(Value number) const {
  const Type f32 = e.builder.getF32Type();
  if (number.getType() != f32)
    number = e.make<LLVM::BitcastOp>(f32, number);
  // Ties go to even. On older devices they go away from zero, and the assembler makes two
  // instructions of it.
  StringRef code = e.roundsToTf32 ? "cvt.rn.tf32.f32 $0, $1;" : "cvt.rna.tf32.f32 $0, $1;";
  // LLVM must not split factors ahead of a loop, which would take twice the registers of the
  // numbers.
  const bool staysInLoop = unit == TileUnit::tf32x3;
  Value rounded =
      e.make<LLVM::InlineAsmOp>(e.builder.getI32Type(), ValueRange(number), code, "=r,f",
                                /*has_side_effects=*/staysInLoop,
                                /*is_align_stack=*/false, LLVM::AsmDialectAttr(), ArrayAttr())
          .getRes();
  return e.make<LLVM::BitcastOp>(f32, rounded);
}

Value MatrixUnit::packHalves(GridEmitter &e, Type type, Value low, Value high) {
  auto name =
      e.builder.getStringAttr(type.isBF16() ? "llvm.nvvm.ff2bf16x2.rn" : "llvm.nvvm.ff2f16x2.rn");
  return e.make<LLVM::CallIntrinsicOp>(VectorType::get({2}, type), name, ValueRange{high, low})
      .getResult(0);
}

Values MatrixUnit::roundToHalves(GridEmitter &e, Type type, ValueRange numbers) {
  Values rounded;
  for (size_t n = 0; n < numbers.size(); n += 2)
    llvm::append_range(rounded, e.elementsOf(packHalves(e, type, numbers[n], numbers[n + 1])));
  return rounded;
}
