// Emits the instructions mma and ldmatrix.

#include "targets/CUDA/Ops/MatrixUnit.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;

using Values = LoopEmitter::Values;

MatrixUnit::MatrixUnit(GridEmitter &emitter, TileUnit unit, Type factor)
    : e(emitter), registerType(emitter.builder.getI32Type()) {
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

Values MatrixUnit::multiply(ValueRange left, ValueRange right, ValueRange before) const {
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

Value MatrixUnit::roundToTf32(Value number) const {
  const Type f32 = e.builder.getF32Type();
  if (number.getType() != f32)
    number = e.make<LLVM::BitcastOp>(f32, number);
  const Type word = e.builder.getI32Type();
  Value rounded;
  if (e.roundsToTf32)
    // Ties go to even. LLVM has no intrinsic for it.
    rounded = e.make<LLVM::InlineAsmOp>(word, ValueRange(number), "cvt.rn.tf32.f32 $0, $1;", "=r,f",
                                        /*has_side_effects=*/false, /*is_align_stack=*/false,
                                        LLVM::AsmDialectAttr(), ArrayAttr())
                  .getRes();
  else
    // Ties go away from zero. The assembler makes two instructions of it.
    rounded = e.make<LLVM::CallIntrinsicOp>(word, e.builder.getStringAttr("llvm.nvvm.f2tf32.rna"),
                                            ValueRange(number))
                  .getResult(0);
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
  for (size_t n = 0; n < numbers.size(); n += 2) {
    Value pair = packHalves(e, type, numbers[n], numbers[n + 1]);
    for (int64_t i : {0, 1})
      rounded.push_back(e.make<LLVM::ExtractElementOp>(pair, e.materialize(e.constant(i))));
  }
  return rounded;
}
