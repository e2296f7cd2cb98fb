// Loads, stores, atomics and asynchronous copies.
#include "test/cuda_emulator/ptx/Translator.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace dpc::emulator;
using llvm::Value;

std::string Translator::spaceOf(const Instruction &op) const {
  for (const char *space : {"global", "shared", "local", "param", "const"})
    if (op.has(space))
      return space == std::string("const") ? "global" : space;
  return "";
}

void Translator::count(Value *at, Value *bytes, AddressSpace space, unsigned lanes) {
  call("emu_count", builder.getVoidTy(),
       {thread, at, bytes, number(static_cast<uint32_t>(space)), number(lanes), number(instruction),
        lineValue()});
}

Value *Translator::address(const Operand &operand, const std::string &space, unsigned bytes,
                           Access access, Counted counted) {
  if (operand.kind != Operand::address)
    error("an address is expected");
  llvm::Type *byte = builder.getInt8Ty();
  if (space == "param") {
    for (const Parameter &parameter : kernel.parameters)
      if (parameter.name == operand.text)
        return builder.CreateConstInBoundsGEP1_64(
            byte, parameters, static_cast<uint64_t>(parameter.offset + operand.offset));
    error("the parameter " + operand.text + " is not known");
  }
  const PtxType pointer = {PtxType::unsignedInteger, 64};
  Value *at = builder.getInt64(0);
  if (!operand.text.empty()) {
    Operand base;
    base.text = operand.text;
    at = read(base, pointer);
  }
  if (operand.offset)
    at = builder.CreateAdd(at, builder.getInt64(static_cast<uint64_t>(operand.offset)));
  const AddressSpace where = space == "global"   ? AddressSpace::global
                             : space == "shared" ? AddressSpace::shared
                             : space == "local"  ? AddressSpace::local
                                                 : AddressSpace::generic;
  if (counts)
    count(at, counted.bytes ? counted.bytes : number(bytes), where, counted.lanes);
  if (where == AddressSpace::local)
    return builder.CreateGEP(byte, local, at);
  if (check && bytes)
    call("emu_check", builder.getVoidTy(),
         {thread, at, number(bytes), number(static_cast<uint32_t>(where)),
          number(static_cast<uint32_t>(access)), lineValue()});
  if (where == AddressSpace::shared)
    return builder.CreateGEP(byte, shared, at);
  if (where == AddressSpace::global)
    return builder.CreateIntToPtr(builder.CreateAdd(at, delta), builder.getPtrTy());
  return call("emu_generic", builder.getPtrTy(), {thread, local, at});
}

void Translator::translateAtomic(const Instruction &op) {
  const PtxType type = op.type(), bits = type.asBits();
  const bool gives = op.opcode == "atom";
  const unsigned first = gives ? 1 : 0; // operand that is the address
  Value *at = address(operandOf(op, first), spaceOf(op), type.bytes(), Access::atomic);
  const auto order = llvm::AtomicOrdering::SequentiallyConsistent;
  if (op.has("cas")) {
    Value *both = builder.CreateAtomicCmpXchg(at, read(op, first + 1, bits),
                                              read(op, first + 2, bits), {}, order, order);
    if (gives)
      write(op, bits, builder.CreateExtractValue(both, 0));
    return;
  }
  using Op = llvm::AtomicRMWInst;
  static const std::map<std::string, Op::BinOp> integers = {
      {"add", Op::Add},   {"min", Op::UMin},     {"max", Op::UMax},
      {"and", Op::And},   {"or", Op::Or},        {"xor", Op::Xor},
      {"exch", Op::Xchg}, {"inc", Op::UIncWrap}, {"dec", Op::UDecWrap}};
  for (const auto &[name, chosen] : integers) {
    if (!op.has(name))
      continue;
    Op::BinOp what = chosen;
    if (type.isFloat()) {
      if (what != Op::Add)
        error("of atomics of floats only add is known");
      what = Op::FAdd;
    } else if (type.isSigned()) {
      what = what == Op::UMin ? Op::Min : what == Op::UMax ? Op::Max : what;
    }
    Value *before =
        builder.CreateAtomicRMW(what, at, read(op, first + 1, type), llvm::MaybeAlign(), order);
    if (gives)
      write(op, type, before);
    return;
  }
  error("this atomic operation is not known");
}

/// How many of `bytes` bytes cp.async reads. Its last operand is this number, or a predicate that
/// says whether it reads none.
Value *Translator::readUsedBytes(const Instruction &op, unsigned bytes) {
  const auto reg = registers.find(operandOf(op, 3).text);
  if (reg == registers.end() || reg->second.first.kind != PtxType::predicate)
    return read(op, 3, {PtxType::unsignedInteger, 32});
  return builder.CreateSelect(read(op, 3, {PtxType::predicate, 1}), number(0), number(bytes));
}

/// cp.async: the copy happens when a later instruction waits for its group.
void Translator::translateAsyncCopy(const Instruction &op) {
  if (op.has("commit_group")) {
    call("emu_copy_commit", builder.getVoidTy(), {thread});
  } else if (op.has("wait_group")) {
    call("emu_copy_wait", builder.getVoidTy(),
         {thread, read(op, 0, {PtxType::unsignedInteger, 32})});
  } else if (op.has("wait_all")) {
    call("emu_copy_commit", builder.getVoidTy(), {thread});
    call("emu_copy_wait", builder.getVoidTy(), {thread, number(0)});
  } else {
    const Operand &bytes = operandOf(op, 2);
    if (bytes.kind != Operand::literal ||
        (bytes.value != 4 && bytes.value != 8 && bytes.value != 16))
      error("cp.async copies 4, 8 or 16 bytes");
    const auto size = static_cast<unsigned>(bytes.value);
    Value *used = op.operands.size() > 3 ? readUsedBytes(op, size) : number(size);
    Value *to = address(operandOf(op, 0), "shared", size, Access::store);
    // Nothing is read from an address of which no bytes are used.
    llvm::BasicBlock *reads = newBlock(), *after = newBlock();
    builder.CreateCondBr(builder.CreateICmpNE(used, number(0)), reads, after);
    builder.SetInsertPoint(reads);
    address(operandOf(op, 1), "global", size, Access::load, {32, used});
    builder.CreateBr(after);
    builder.SetInsertPoint(after);
    llvm::SaveAndRestore isCounted(counts, false);
    Value *from = address(operandOf(op, 1), "global", 0, Access::load);
    call("emu_copy", builder.getVoidTy(), {thread, to, from, number(size), used});
  }
}

bool Translator::translateMemory(const Instruction &op) {
  const PtxType type = op.type(), bits = type.asBits();
  if (op.opcode == "atom" || op.opcode == "red") {
    translateAtomic(op);
    return true;
  }
  if (op.opcode == "cp" && op.has("async")) {
    translateAsyncCopy(op);
    return true;
  }
  const bool loads = op.opcode == "ld" || op.opcode == "ldu";
  if (!loads && op.opcode != "st")
    return false;
  const std::string space = spaceOf(op);
  const std::vector<Operand> values = partsOf(operandOf(op, loads ? 0 : 1));
  Value *at = address(operandOf(op, loads ? 1 : 0), space,
                      type.bytes() * static_cast<unsigned>(values.size()),
                      loads ? Access::load : Access::store);
  const llvm::Align alignment(space == "param" ? 1 : type.bytes());
  for (size_t i = 0; i < values.size(); ++i) {
    Value *element = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), at, i * type.bytes());
    if (loads)
      write(values[i], bits, builder.CreateAlignedLoad(typeOf(bits), element, alignment),
            type.isSigned());
    else
      builder.CreateAlignedStore(read(values[i], bits), element, alignment);
  }
  return true;
}
