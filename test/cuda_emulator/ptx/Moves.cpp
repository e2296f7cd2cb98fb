// What moves and converts values: mov, cvt, cvta, selp, setp.
#include "test/cuda_emulator/ptx/Translator.h"

using namespace dpc::emulator;
using llvm::CmpInst;
using llvm::Value;

static CmpInst::Predicate floatPredicate(const std::string &name) {
  static const std::map<std::string, CmpInst::Predicate> predicates = {
      {"eq", CmpInst::FCMP_OEQ},  {"ne", CmpInst::FCMP_ONE},  {"lt", CmpInst::FCMP_OLT},
      {"le", CmpInst::FCMP_OLE},  {"gt", CmpInst::FCMP_OGT},  {"ge", CmpInst::FCMP_OGE},
      {"equ", CmpInst::FCMP_UEQ}, {"neu", CmpInst::FCMP_UNE}, {"ltu", CmpInst::FCMP_ULT},
      {"leu", CmpInst::FCMP_ULE}, {"gtu", CmpInst::FCMP_UGT}, {"geu", CmpInst::FCMP_UGE},
      {"num", CmpInst::FCMP_ORD}, {"nan", CmpInst::FCMP_UNO}};
  auto found = predicates.find(name);
  return found == predicates.end() ? CmpInst::BAD_FCMP_PREDICATE : found->second;
}

static CmpInst::Predicate integerPredicate(const std::string &name, bool isSigned) {
  static const std::map<std::string, CmpInst::Predicate> predicates = {
      {"eq", CmpInst::ICMP_EQ},  {"ne", CmpInst::ICMP_NE},  {"lt", CmpInst::ICMP_ULT},
      {"le", CmpInst::ICMP_ULE}, {"gt", CmpInst::ICMP_UGT}, {"ge", CmpInst::ICMP_UGE},
      {"lo", CmpInst::ICMP_ULT}, {"ls", CmpInst::ICMP_ULE}, {"hi", CmpInst::ICMP_UGT},
      {"hs", CmpInst::ICMP_UGE}};
  auto found = predicates.find(name);
  if (found == predicates.end())
    return CmpInst::BAD_ICMP_PREDICATE;
  return isSigned && !CmpInst::isEquality(found->second)
             ? llvm::ICmpInst::getSignedPredicate(found->second)
             : found->second;
}

/// A float or an integer becomes a float.
void Translator::translateConversionToFloat(const Instruction &op, PtxType from, PtxType to) {
  Value *value = read(op, 1, from);
  if (!from.isFloat()) {
    value = from.isSigned() ? builder.CreateSIToFP(value, typeOf(to))
                            : builder.CreateUIToFP(value, typeOf(to));
  } else {
    const std::pair<const char *, llvm::Intrinsic::ID> roundings[] = {
        {"rni", llvm::Intrinsic::roundeven},
        {"rmi", llvm::Intrinsic::floor},
        {"rpi", llvm::Intrinsic::ceil},
        {"rzi", llvm::Intrinsic::trunc}};
    for (auto [name, id] : roundings)
      if (op.has(name))
        value = intrinsic(id, {value});
    if (op.has("tf32")) // rounded to nearest, in the place of an f32; .rna: ties away from zero
      value = call(op.has("rna") ? "emu_tf32" : "emu_tf32_even", builder.getFloatTy(), {value});
    else if (from.width < to.width)
      value = builder.CreateFPExt(value, typeOf(to));
    else if (from.width > to.width)
      value = builder.CreateFPTrunc(value, typeOf(to));
    else if (from.kind != to.kind) // f16 and bf16
      value = builder.CreateFPTrunc(builder.CreateFPExt(value, builder.getFloatTy()), typeOf(to));
  }
  write(op, to, value);
}

void Translator::translateConversion(const Instruction &op) {
  if (op.types.size() < 2)
    error("cvt names one type");
  const PtxType to = op.types[0], from = op.types.back();
  if (to.isPair()) { // cvt.rn.bf16x2.f32 d, high, low
    const PtxType half = {to.kind == PtxType::realPair ? PtxType::real : PtxType::bfloat, 16};
    Value *pair = llvm::PoisonValue::get(typeOf(to));
    for (unsigned i : {0u, 1u})
      pair = builder.CreateInsertElement(
          pair, builder.CreateFPTrunc(read(op, 2 - i, from), typeOf(half)), uint64_t(i));
    write(op, to, pair);
  } else if (to.isFloat()) {
    if (op.has("sat") || op.has("rm") || op.has("rp") ||
        (op.has("rz") && !(from.isFloat() && from.width < to.width)))
      error("this rounding of cvt is not known");
    translateConversionToFloat(op, from, to);
  } else if (from.isFloat()) {
    const llvm::Intrinsic::ID rounding = op.has("rni")   ? llvm::Intrinsic::roundeven
                                         : op.has("rmi") ? llvm::Intrinsic::floor
                                         : op.has("rpi") ? llvm::Intrinsic::ceil
                                                         : llvm::Intrinsic::trunc;
    Value *rounded = intrinsic(rounding, {read(op, 1, from)});
    const llvm::Intrinsic::ID id =
        to.isSigned() ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    write(op, to, builder.CreateIntrinsic(id, {typeOf(to), rounded->getType()}, {rounded}));
  } else {
    Value *value = cast(read(op, 1, from), from, to, from.isSigned());
    write(operandOf(op, 0), to, value, to.isSigned());
  }
}

bool Translator::translateMove(const Instruction &op) {
  const PtxType type = op.type(), flag = {PtxType::predicate, 1};
  if (op.opcode == "setp" || op.opcode == "set") {
    if (op.opcode == "set" || op.modifiers.empty())
      error("set is not known");
    const std::string &name = op.modifiers[0];
    const CmpInst::Predicate predicate =
        type.isFloat() ? floatPredicate(name) : integerPredicate(name, type.isSigned());
    if (predicate == CmpInst::BAD_FCMP_PREDICATE || predicate == CmpInst::BAD_ICMP_PREDICATE)
      error("the comparison " + name + " is not known");
    Value *holds = builder.CreateCmp(predicate, read(op, 1, type), read(op, 2, type));
    if (op.has("and"))
      holds = builder.CreateAnd(holds, read(op, 3, flag));
    else if (op.has("or"))
      holds = builder.CreateOr(holds, read(op, 3, flag));
    else if (op.has("xor"))
      holds = builder.CreateXor(holds, read(op, 3, flag));
    const std::vector<Operand> results = partsOf(operandOf(op, 0));
    write(results[0], flag, holds);
    if (results.size() > 1)
      write(results[1], flag, builder.CreateNot(holds));
  } else if (op.opcode == "selp") {
    write(op, type, builder.CreateSelect(read(op, 3, flag), read(op, 1, type), read(op, 2, type)));
  } else if (op.opcode == "cvta") {
    const PtxType pointer = {PtxType::unsignedInteger, 64};
    const uint64_t window = op.has("shared") ? kSharedWindow : op.has("local") ? kLocalWindow : 0;
    Value *from = read(op, 1, pointer), *start = builder.getInt64(window);
    write(op, pointer,
          op.has("to") ? builder.CreateSub(from, start) : builder.CreateAdd(from, start));
  } else if (op.opcode == "cvt") {
    translateConversion(op);
  } else if (op.opcode == "mov") {
    const std::vector<Operand> to = partsOf(operandOf(op, 0)), from = partsOf(operandOf(op, 1));
    const PtxType bits = type.asBits();
    if (to.size() == 1 && from.size() == 1) {
      write(op, type, read(op, 1, type));
      return true;
    }
    // A register as its parts, or parts as one register; the first part is lowest.
    const PtxType part = {PtxType::bits,
                          static_cast<uint8_t>(type.width / std::max(to.size(), from.size()))};
    Value *all = llvm::ConstantInt::get(typeOf(bits), 0);
    for (size_t i = 0; from.size() > 1 && i < from.size(); ++i)
      all = builder.CreateOr(
          all, builder.CreateShl(cast(read(from[i], part), part, bits, false), i * part.width));
    if (from.size() == 1)
      all = read(op, 1, bits);
    if (to.size() == 1)
      write(op, bits, all);
    for (size_t i = 0; to.size() > 1 && i < to.size(); ++i)
      write(to[i], part, cast(builder.CreateLShr(all, i * part.width), bits, part, false));
  } else {
    return false;
  }
  return true;
}
