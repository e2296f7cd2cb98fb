// Logic, shifts, and operations on the bits of a word.
#include "test/cuda_emulator/ptx/Translator.h"

using namespace dpc::emulator;
using llvm::Value;

bool Translator::translateBits(const Instruction &op) {
  const PtxType type = op.type(), word = {PtxType::unsignedInteger, 32};
  if (type.isFloat())
    return false;
  auto operand = [&](unsigned index) { return read(op, index, type); };
  Value *result = nullptr;
  if (op.opcode == "and") {
    result = builder.CreateAnd(operand(1), operand(2));
  } else if (op.opcode == "or") {
    result = builder.CreateOr(operand(1), operand(2));
  } else if (op.opcode == "xor") {
    result = builder.CreateXor(operand(1), operand(2));
  } else if (op.opcode == "not") {
    result = builder.CreateNot(operand(1));
  } else if (op.opcode == "shl" || op.opcode == "shr") {
    // PTX: a shift by the width or more leaves nothing, or the sign.
    Value *amount = read(op, 2, word);
    Value *isLong = builder.CreateICmpUGE(amount, number(type.width));
    Value *most = builder.CreateSelect(isLong, number(type.width - 1u), amount);
    most = cast(most, word, type.asBits(), false);
    const bool keepsSign = op.opcode == "shr" && type.isSigned();
    result = op.opcode == "shl" ? builder.CreateShl(operand(1), most)
             : keepsSign        ? builder.CreateAShr(operand(1), most)
                                : builder.CreateLShr(operand(1), most);
    if (!keepsSign)
      result = builder.CreateSelect(isLong, llvm::Constant::getNullValue(typeOf(type)), result);
  } else if (op.opcode == "popc" || op.opcode == "clz") {
    Value *value = operand(1);
    value = op.opcode == "popc" ? builder.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, value)
                                : builder.CreateIntrinsic(value->getType(), llvm::Intrinsic::ctlz,
                                                          {value, builder.getFalse()});
    write(operandOf(op, 0), word, cast(value, type.asBits(), word, false));
    return true;
  } else if (op.opcode == "brev") {
    result = builder.CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, operand(1));
  } else if (op.opcode == "bfe") {
    const bool isWide = type.width == 64;
    std::string name = type.isSigned() ? "emu_bfe_s" : "emu_bfe_u";
    result = call(name + (isWide ? "64" : "32"), typeOf(type),
                  {operand(1), read(op, 2, word), read(op, 3, word)});
  } else if (op.opcode == "bfi") {
    result = call(type.width == 64 ? "emu_bfi64" : "emu_bfi32", typeOf(type),
                  {operand(1), operand(2), read(op, 3, word), read(op, 4, word)});
  } else if (op.opcode == "prmt") {
    if (!op.modifiers.empty() && op.modifiers[0] != "b32")
      error("only prmt.b32 is known");
    result = call("emu_prmt", typeOf(type), {operand(1), operand(2), operand(3)});
  } else if (op.opcode == "shf") {
    // The funnel shift of LLVM takes the amount modulo 32, as .wrap says.
    if (!op.has("wrap"))
      error("only shf.wrap is known");
    result = builder.CreateIntrinsic(typeOf(type),
                                     op.has("l") ? llvm::Intrinsic::fshl : llvm::Intrinsic::fshr,
                                     {operand(2), operand(1), operand(3)});
  } else {
    return false;
  }
  write(op, type, result);
  return true;
}
