// What all families of PTX instructions are translated with: registers,
// operands, addresses, branches.
#include "test/cuda_emulator/ptx/Translator.h"

#include <algorithm>
#include <cstddef>
#include <set>

using namespace dpc::emulator;

KernelPlaces dpc::emulator::placeVariables(const ModuleText &module, const KernelText &kernel) {
  KernelPlaces result;
  uint64_t global = 0, shared = 0, local = 0;
  auto place = [&](const Variable &variable) {
    uint64_t &top = variable.space == Variable::local ? local : shared;
    if (variable.space == Variable::global) {
      result.places[variable.name] = {variable.space, global++};
      return;
    }
    if (variable.space == Variable::dynamicShared) {
      result.places[variable.name] = {variable.space, 0}; // behind all others, see below
      return;
    }
    const uint64_t alignment = variable.alignment;
    top = (top + alignment - 1) / alignment * alignment;
    if (variable.space == Variable::shared && alignment < 16 && top % (2 * alignment) == 0)
      top += alignment;
    result.places[variable.name] = {variable.space, top};
    top += variable.bytes;
  };
  for (const Variable &variable : module.variables)
    place(variable);
  for (const Variable &variable : kernel.variables)
    place(variable);
  result.staticShared = static_cast<uint32_t>((shared + 15) / 16 * 16);
  result.localBytes = static_cast<uint32_t>(local);
  for (auto &entry : result.places)
    if (entry.second.space == Variable::dynamicShared)
      entry.second.offset = result.staticShared;
  return result;
}

/// Opcodes with which a thread waits for others.
static const std::set<std::string> kMeeting = {"bar",   "barrier", "shfl",    "vote",
                                               "redux", "mma",     "ldmatrix"};

bool dpc::emulator::threadsMeet(const KernelText &kernel) {
  return std::any_of(kernel.instructions.begin(), kernel.instructions.end(),
                     [](const Instruction &op) { return kMeeting.count(op.opcode) != 0; });
}

Translator::Translator(llvm::Module &module, const KernelText &kernel, const KernelPlaces &places,
                       bool check, bool count)
    : module(module), context(module.getContext()), builder(context), kernel(kernel),
      places(places), check(check), counts(count), line(kernel.line) {}

void Translator::run(llvm::StringRef name) {
  llvm::Type *pointer = builder.getPtrTy();
  auto *type = llvm::FunctionType::get(builder.getVoidTy(), {pointer, pointer}, false);
  function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  thread = function->getArg(0);
  parameters = function->getArg(1);
  entry = newBlock();
  builder.SetInsertPoint(entry);
  delta = contextField(offsetof(ThreadContext, delta), builder.getInt64Ty());
  shared = contextField(offsetof(ThreadContext, shared), pointer);
  local = builder.CreateAlloca(
      llvm::ArrayType::get(builder.getInt8Ty(), std::max(places.localBytes, 1u)));
  llvm::cast<llvm::AllocaInst>(local)->setAlignment(llvm::Align(16));
  carry = builder.CreateAlloca(builder.getInt64Ty());
  for (const Register &reg : kernel.registers)
    registers[reg.name] = {reg.type, builder.CreateAlloca(typeOf(reg.type))};
  llvm::BasicBlock *start = newBlock();
  builder.CreateBr(start);
  builder.SetInsertPoint(start);
  for (const Instruction &op : kernel.instructions) {
    line = op.line;
    instruction = static_cast<uint32_t>(&op - kernel.instructions.data());
    translateInstruction(op);
  }
  if (!builder.GetInsertBlock()->getTerminator())
    builder.CreateRetVoid();
  // Every label that is jumped to must have been met.
  for (auto &[label, block] : labels)
    if (block->empty() && !block->getTerminator())
      error("the label " + label + " of " + kernel.name + " is not there");
}

void Translator::translateInstruction(const Instruction &op) {
  if (op.opcode == ":") {
    llvm::BasicBlock *block = blockOf(op.operands[0].text);
    if (!builder.GetInsertBlock()->getTerminator())
      builder.CreateBr(block);
    builder.SetInsertPoint(block);
    return;
  }
  // What follows a jump without a label is never run.
  if (builder.GetInsertBlock()->getTerminator())
    builder.SetInsertPoint(newBlock());
  llvm::BasicBlock *behind = nullptr;
  if (!op.guard.empty()) {
    Operand guard;
    guard.text = op.guard;
    guard.negated = op.guardNegated;
    llvm::BasicBlock *guarded = newBlock();
    behind = newBlock();
    builder.CreateCondBr(read(guard, {PtxType::predicate, 1}), guarded, behind);
    builder.SetInsertPoint(guarded);
  }
  if (!translateControl(op) && !translateMove(op) && !translateMemory(op) && !translateWarp(op) &&
      !translateBits(op) && !translateFloat(op) && !translateArithmetic(op)) {
    std::string name = op.opcode;
    for (const std::string &modifier : op.modifiers)
      name += "." + modifier;
    error("the instruction " + name + " is not known");
  }
  if (behind) {
    if (!builder.GetInsertBlock()->getTerminator())
      builder.CreateBr(behind);
    builder.SetInsertPoint(behind);
  }
}

bool Translator::translateControl(const Instruction &op) {
  if (op.opcode == "bra")
    builder.CreateBr(blockOf(operandOf(op, 0).text));
  else if (op.opcode == "ret" || op.opcode == "exit")
    builder.CreateRetVoid();
  else if (op.opcode == "trap")
    call("emu_trap", builder.getVoidTy(), {thread, lineValue()});
  else if (op.opcode == "membar" || op.opcode == "fence")
    builder.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
  else
    return false;
  return true;
}

llvm::Type *Translator::typeOf(PtxType type) {
  switch (type.kind) {
  case PtxType::real:
    return type.width == 16   ? builder.getHalfTy()
           : type.width == 32 ? builder.getFloatTy()
                              : builder.getDoubleTy();
  case PtxType::bfloat:
    return builder.getBFloatTy();
  case PtxType::realPair:
    return llvm::FixedVectorType::get(builder.getHalfTy(), 2);
  case PtxType::bfloatPair:
    return llvm::FixedVectorType::get(builder.getBFloatTy(), 2);
  default:
    return integer(type.width);
  }
}

llvm::BasicBlock *Translator::blockOf(const std::string &label) {
  llvm::BasicBlock *&block = labels[label];
  if (!block)
    block = newBlock();
  return block;
}

const Operand &Translator::operandOf(const Instruction &op, unsigned index) const {
  if (index >= op.operands.size())
    error(op.opcode + " has " + std::to_string(op.operands.size()) + " operands");
  return op.operands[index];
}

llvm::Value *Translator::cast(llvm::Value *value, PtxType from, PtxType to, bool isSigned) {
  if (typeOf(from) == typeOf(to))
    return value;
  if (from.width == to.width)
    return builder.CreateBitCast(value, typeOf(to));
  if (from.isFloat())
    value = builder.CreateBitCast(value, integer(from.width));
  value = isSigned ? builder.CreateSExtOrTrunc(value, integer(to.width))
                   : builder.CreateZExtOrTrunc(value, integer(to.width));
  return to.isFloat() ? builder.CreateBitCast(value, typeOf(to)) : value;
}

llvm::Value *Translator::contextField(unsigned offset, llvm::Type *type) {
  llvm::Value *field = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), thread, offset);
  llvm::LoadInst *load = builder.CreateLoad(type, field);
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context, {}));
  return load;
}

llvm::Value *Translator::readSpecial(const std::string &name, PtxType type) {
  static const std::map<std::string, size_t> vectors = {
      {"%tid", offsetof(ThreadContext, thread)},
      {"%ntid", offsetof(ThreadContext, threads)},
      {"%ctaid", offsetof(ThreadContext, block)},
      {"%nctaid", offsetof(ThreadContext, blocks)}};
  static const std::map<std::string, size_t> scalars = {
      {"%laneid", offsetof(ThreadContext, lane)},
      {"%warpid", offsetof(ThreadContext, warp)},
      {"%dynamic_smem_size", offsetof(ThreadContext, dynamicShared)}};
  size_t offset = 0;
  if (auto scalar = scalars.find(name); scalar != scalars.end())
    offset = scalar->second;
  else if (auto vector = vectors.find(name.substr(0, name.find('.')));
           vector != vectors.end() && name.back() >= 'x' && name.back() <= 'z')
    offset = vector->second + 4 * static_cast<size_t>(name.back() - 'x');
  else
    error("the register " + name + " is not known");
  llvm::Value *value = contextField(static_cast<unsigned>(offset), builder.getInt32Ty());
  return cast(value, {PtxType::unsignedInteger, 32}, type, false);
}

llvm::Value *Translator::read(const Instruction &op, unsigned index, PtxType type) {
  return read(operandOf(op, index), type);
}

llvm::Value *Translator::read(const Operand &operand, PtxType type) {
  if (operand.kind == Operand::literal) {
    llvm::Value *bits =
        llvm::ConstantInt::get(context, llvm::APInt(64, operand.value).zextOrTrunc(type.width));
    return type.isFloat() ? builder.CreateBitCast(bits, typeOf(type)) : bits;
  }
  if (operand.kind != Operand::name)
    error("a register or a number is expected");
  llvm::Value *value = nullptr;
  if (auto reg = registers.find(operand.text); reg != registers.end()) {
    value = builder.CreateLoad(typeOf(reg->second.first), reg->second.second);
    value = cast(value, reg->second.first, type, type.isSigned());
  } else if (operand.text[0] == '%') {
    value = readSpecial(operand.text, type);
  } else if (auto place = places.places.find(operand.text); place != places.places.end()) {
    value = builder.getInt64(place->second.offset);
    if (place->second.space == Variable::global) {
      llvm::Value *table = contextField(offsetof(ThreadContext, variables), builder.getPtrTy());
      value = builder.CreateLoad(
          builder.getInt64Ty(),
          builder.CreateConstInBoundsGEP1_64(builder.getInt64Ty(), table, place->second.offset));
    }
    value = cast(value, {PtxType::bits, 64}, type, false);
  } else {
    error("the operand " + operand.text + " is not known");
  }
  return operand.negated ? builder.CreateNot(value) : value;
}

void Translator::write(const Operand &operand, PtxType type, llvm::Value *value, bool isSigned) {
  if (operand.text == "_")
    return;
  auto reg = registers.find(operand.text);
  if (operand.kind != Operand::name || reg == registers.end())
    error("'" + operand.text + "' is no register");
  builder.CreateStore(cast(value, type, reg->second.first, isSigned), reg->second.second);
}

llvm::Value *Translator::call(llvm::StringRef name, llvm::Type *result,
                              llvm::ArrayRef<llvm::Value *> values) {
  llvm::SmallVector<llvm::Type *> types;
  for (llvm::Value *value : values)
    types.push_back(value->getType());
  llvm::FunctionCallee callee =
      module.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
  llvm::cast<llvm::Function>(callee.getCallee())->addFnAttr(llvm::Attribute::NoUnwind);
  return builder.CreateCall(callee, values);
}

llvm::Value *Translator::intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value *> values) {
  return builder.CreateIntrinsic(values[0]->getType(), id, values);
}
