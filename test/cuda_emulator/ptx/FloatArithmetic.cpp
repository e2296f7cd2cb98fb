// Arithmetic of floats. `.rn` is IEEE on the device and here; `.approx` differs
// by some units in the last place and is computed exactly here.
#include "test/cuda_emulator/ptx/Translator.h"

using namespace dpc::emulator;
using llvm::Value;

bool Translator::translateFloat(const Instruction &op) {
  const PtxType type = op.type();
  if (!type.isFloat())
    return false;
  if (op.has("ftz") && op.opcode != "ex2")
    error(".ftz is known of ex2 alone: elsewhere subnormal numbers are kept");
  auto operand = [&](unsigned index) { return read(op, index, type); };
  const bool isDirected = op.has("rm") || op.has("rp") || op.has("rz");
  Value *result = nullptr;
  if (isDirected) {
    if (type.width != 32 ||
        (op.opcode != "add" && op.opcode != "sub" && op.opcode != "mul" && op.opcode != "fma"))
      error("this rounding of " + op.opcode + " is not known");
    Value *a = operand(1), *b = operand(2), *c = llvm::ConstantFP::get(typeOf(type), -0.0);
    if (op.opcode == "fma") {
      c = operand(3);
    } else if (op.opcode != "mul") {
      c = op.opcode == "sub" ? builder.CreateFNeg(b) : b;
      b = llvm::ConstantFP::get(typeOf(type), 1.0);
    }
    const uint32_t direction = op.has("rm") ? ~0u : op.has("rp") ? 1u : 0u;
    result = call("emu_fma_directed", typeOf(type), {a, b, c, number(direction)});
  } else if (op.opcode == "add") {
    result = builder.CreateFAdd(operand(1), operand(2));
  } else if (op.opcode == "sub") {
    result = builder.CreateFSub(operand(1), operand(2));
  } else if (op.opcode == "mul") {
    result = builder.CreateFMul(operand(1), operand(2));
  } else if (op.opcode == "div") {
    result = builder.CreateFDiv(operand(1), operand(2));
  } else if (op.opcode == "fma" || op.opcode == "mad") {
    result = intrinsic(llvm::Intrinsic::fma, {operand(1), operand(2), operand(3)});
  } else if (op.opcode == "neg") {
    result = builder.CreateFNeg(operand(1));
  } else if (op.opcode == "abs") {
    result = intrinsic(llvm::Intrinsic::fabs, {operand(1)});
  } else if (op.opcode == "min" || op.opcode == "max") {
    // +0 is above -0. With .NaN a result is NaN when an operand is, else the other operand.
    Value *a = operand(1), *b = operand(2);
    result =
        intrinsic(op.opcode == "min" ? llvm::Intrinsic::minimum : llvm::Intrinsic::maximum, {a, b});
    if (!op.has("NaN")) {
      result = builder.CreateSelect(builder.CreateFCmpUNO(b, b), a, result);
      result = builder.CreateSelect(builder.CreateFCmpUNO(a, a), b, result);
    }
  } else if (op.opcode == "copysign") {
    result = intrinsic(llvm::Intrinsic::copysign, {operand(2), operand(1)});
  } else if (op.opcode == "rcp") {
    result = builder.CreateFDiv(llvm::ConstantFP::get(typeOf(type), 1.0), operand(1));
  } else if (op.opcode == "sqrt") {
    result = intrinsic(llvm::Intrinsic::sqrt, {operand(1)});
  } else if (op.opcode == "rsqrt" || op.opcode == "ex2" || op.opcode == "lg2" ||
             op.opcode == "sin" || op.opcode == "cos" || op.opcode == "tanh") {
    if (type.width != 32)
      error(op.opcode + " is known of f32 alone");
    result = call("emu_" + op.opcode, typeOf(type), {operand(1)});
    if (op.has("ftz")) { // an operand that is subnormal gives 1, as 0 does
      Value *zero = llvm::ConstantFP::get(typeOf(type), 0.0),
            *least = llvm::ConstantFP::get(typeOf(type), 0x1p-126);
      result = builder.CreateSelect(builder.CreateFCmpOLT(result, least), zero, result);
    }
  } else {
    return false;
  }
  if (op.has("sat")) // to [0, 1], NaN to 0
    result = intrinsic(
        llvm::Intrinsic::minnum,
        {intrinsic(llvm::Intrinsic::maxnum, {result, llvm::ConstantFP::get(typeOf(type), 0.0)}),
         llvm::ConstantFP::get(typeOf(type), 1.0)});
  write(op, type, result);
  return true;
}
