// Integer arithmetic: sums, products, carries, quotients, minima.
#include "test/cuda_emulator/ptx/Translator.h"

using namespace dpc::emulator;
using llvm::Value;

static PtxType twice(PtxType type) { return {type.kind, static_cast<uint8_t>(type.width * 2)}; }

/// add.cc, addc, subc, mad.cc, ..: carries between words, kept in a slot.
bool Translator::translateCarry(const Instruction &op) {
  const bool takes = op.opcode == "addc" || op.opcode == "subc" || op.opcode == "madc";
  const bool gives = op.has("cc");
  if (!takes && !gives)
    return false;
  PtxType word = op.type();
  word.kind = PtxType::unsignedInteger;
  const PtxType wide = twice(word);
  auto widened = [&](unsigned index) { return cast(read(op, index, word), word, wide, false); };
  Value *sum = widened(1), *second = widened(2);
  if (op.opcode[0] == 'm') {
    Value *product = builder.CreateMul(sum, second);
    sum = op.has("hi") ? builder.CreateLShr(product, word.width)
                       : cast(cast(product, wide, word, false), word, wide, false);
    second = widened(3);
  }
  // A difference is a sum with the complement, whose carry is the opposite of a
  // borrow: it is kept as a borrow.
  const bool subtracts = op.opcode[0] == 's';
  sum = subtracts ? builder.CreateSub(sum, second) : builder.CreateAdd(sum, second);
  if (takes) {
    Value *before =
        builder.CreateZExtOrTrunc(builder.CreateLoad(builder.getInt64Ty(), carry), typeOf(wide));
    sum = subtracts ? builder.CreateSub(sum, before) : builder.CreateAdd(sum, before);
  }
  if (gives) {
    Value *over = builder.CreateAnd(builder.CreateLShr(sum, word.width), 1);
    builder.CreateStore(builder.CreateZExtOrTrunc(over, builder.getInt64Ty()), carry);
  }
  write(op, word, cast(sum, wide, word, false));
  return true;
}

/// mul and mad: .lo, .hi, .wide.
bool Translator::translateMultiply(const Instruction &op) {
  if (op.opcode != "mul" && op.opcode != "mad")
    return false;
  const PtxType type = op.type();
  const PtxType wide = twice(type), result = op.has("wide") ? wide : type;
  Value *product = nullptr;
  if (op.has("lo")) {
    product = builder.CreateMul(read(op, 1, type), read(op, 2, type));
  } else {
    product = builder.CreateMul(cast(read(op, 1, type), type, wide, type.isSigned()),
                                cast(read(op, 2, type), type, wide, type.isSigned()));
    if (op.has("hi"))
      product = cast(builder.CreateLShr(product, type.width), wide, type, false);
    else if (!op.has("wide"))
      error(op.opcode + " says neither .lo nor .hi nor .wide");
  }
  if (op.opcode == "mad")
    product = builder.CreateAdd(product, read(op, 3, result));
  write(op, result, product);
  return true;
}

bool Translator::translateArithmetic(const Instruction &op) {
  const PtxType type = op.type();
  if (type.isFloat())
    return false;
  if (translateCarry(op) || translateMultiply(op))
    return true;
  auto operand = [&](unsigned index) { return read(op, index, type); };
  const bool isSigned = type.isSigned();
  Value *result = nullptr;
  if (op.opcode == "add") {
    result = builder.CreateAdd(operand(1), operand(2));
  } else if (op.opcode == "sub") {
    result = builder.CreateSub(operand(1), operand(2));
  } else if (op.opcode == "div") {
    result = isSigned ? builder.CreateSDiv(operand(1), operand(2))
                      : builder.CreateUDiv(operand(1), operand(2));
  } else if (op.opcode == "rem") {
    result = isSigned ? builder.CreateSRem(operand(1), operand(2))
                      : builder.CreateURem(operand(1), operand(2));
  } else if (op.opcode == "neg") {
    result = builder.CreateNeg(operand(1));
  } else if (op.opcode == "abs") {
    result = builder.CreateIntrinsic(typeOf(type), llvm::Intrinsic::abs,
                                     {operand(1), builder.getFalse()});
  } else if (op.opcode == "min") {
    result = builder.CreateBinaryIntrinsic(isSigned ? llvm::Intrinsic::smin : llvm::Intrinsic::umin,
                                           operand(1), operand(2));
  } else if (op.opcode == "max") {
    result = builder.CreateBinaryIntrinsic(isSigned ? llvm::Intrinsic::smax : llvm::Intrinsic::umax,
                                           operand(1), operand(2));
  } else {
    return false;
  }
  write(op, type, result);
  return true;
}
