#ifndef DPC_TEST_CUDA_EMULATOR_PTX_TRANSLATOR_H
#define DPC_TEST_CUDA_EMULATOR_PTX_TRANSLATOR_H

#include "test/cuda_emulator/execution/Context.h"
#include "test/cuda_emulator/ptx/Ptx.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace dpc::emulator {

/// Where a variable lies: in shared or local memory at an offset, in global
/// memory at the address that is entry `offset` of ThreadContext::variables.
struct Place {
  Variable::Space space;
  uint64_t offset;
};

/// What a kernel needs of its variables.
struct KernelPlaces {
  std::map<std::string, Place> places;
  uint32_t staticShared = 0, localBytes = 0;
};

/// Lays out the variables of a kernel. Shared variables get no more alignment
/// than they declare, so that code which assumes more is found out.
KernelPlaces placeVariables(const ModuleText &module, const KernelText &kernel);

/// Whether threads wait for each other in `kernel`.
bool threadsMeet(const KernelText &kernel);

/// Which part of an access counts: the first lanes of the warp, and of each of them so many bytes.
struct Counted {
  unsigned lanes = 32;
  llvm::Value *bytes = nullptr; // null: as many as are checked
};

/// Turns one kernel into a function of LLVM: each register a stack slot, each
/// instruction a few LLVM instructions or a call of a runtime function. What an
/// instruction does stands in one file a family; each returns false for an
/// opcode that is not its own.
class Translator {
public:
  /// With `check` every access is looked at while the code runs; with `count` it is counted.
  Translator(llvm::Module &module, const KernelText &kernel, const KernelPlaces &places, bool check,
             bool count);
  /// Adds the function `name`. Throws PtxError.
  void run(llvm::StringRef name);

private:
  bool translateArithmetic(const Instruction &op); // Arithmetic.cpp
  bool translateFloat(const Instruction &op);      // FloatArithmetic.cpp
  bool translateBits(const Instruction &op);       // BitOperations.cpp
  bool translateMove(const Instruction &op);       // Moves.cpp
  bool translateMemory(const Instruction &op);     // MemoryAccess.cpp
  bool translateWarp(const Instruction &op);       // WarpOperations.cpp
  bool translateControl(const Instruction &op);    // Translator.cpp

  // Parts of the families.
  bool translateCarry(const Instruction &op);
  bool translateMultiply(const Instruction &op);
  void translateConversion(const Instruction &op);
  void translateConversionToFloat(const Instruction &op, PtxType from, PtxType to);
  void translateShuffle(const Instruction &op);
  void translateVote(const Instruction &op);
  void translateMatrixProduct(const Instruction &op);
  void translateAtomic(const Instruction &op);
  llvm::Value *readUsedBytes(const Instruction &op, unsigned bytes);
  void translateAsyncCopy(const Instruction &op);
  void translateInstruction(const Instruction &op);

  [[noreturn]] void error(const std::string &message) const { throw PtxError(line, message); }
  llvm::Type *typeOf(PtxType type);
  llvm::Type *integer(unsigned width) { return builder.getIntNTy(width); }
  llvm::BasicBlock *blockOf(const std::string &label);
  llvm::BasicBlock *newBlock() { return llvm::BasicBlock::Create(context, "", function); }
  /// The same bits as another type: wider ones are cut, others extended.
  llvm::Value *cast(llvm::Value *value, PtxType from, PtxType to, bool isSigned);
  /// An operand's value as `type`.
  llvm::Value *read(const Operand &operand, PtxType type);
  llvm::Value *read(const Instruction &op, unsigned index, PtxType type);
  /// Writes a register, extended with its sign if `isSigned`; `_` takes nothing.
  void write(const Operand &operand, PtxType type, llvm::Value *value, bool isSigned = false);
  void write(const Instruction &op, PtxType type, llvm::Value *value) {
    write(operandOf(op, 0), type, value, type.isSigned());
  }
  const Operand &operandOf(const Instruction &op, unsigned index) const;
  std::vector<Operand> partsOf(const Operand &operand) const {
    return operand.kind == Operand::list || operand.kind == Operand::pair
               ? operand.parts
               : std::vector<Operand>{operand};
  }
  llvm::Value *readSpecial(const std::string &name, PtxType type);
  /// A field of the thread's context at `offset`.
  llvm::Value *contextField(unsigned offset, llvm::Type *type);
  /// Where the host reaches [base + offset] of a state space ("" is generic).
  llvm::Value *address(const Operand &operand, const std::string &space, unsigned bytes,
                       Access access, Counted counted = {});
  /// Adds the code that counts an access of `bytes` at the address `at`.
  void count(llvm::Value *at, llvm::Value *bytes, AddressSpace space, unsigned lanes);
  std::string spaceOf(const Instruction &op) const;
  llvm::Value *call(llvm::StringRef name, llvm::Type *result, llvm::ArrayRef<llvm::Value *> values);
  llvm::Value *intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value *> values);
  llvm::Value *lineValue() { return builder.getInt32(static_cast<uint32_t>(line)); }
  llvm::Value *number(uint32_t value) { return builder.getInt32(value); }
  /// Registers as an array of 32-bit words in memory, and back.
  llvm::Value *pack(unsigned place, const std::vector<Operand> &registers, PtxType element);
  void unpack(const std::vector<Operand> &registers, PtxType element, llvm::Value *words);

  llvm::Module &module;
  llvm::LLVMContext &context;
  llvm::IRBuilder<> builder;
  const KernelText &kernel;
  const KernelPlaces &places;
  bool check, counts;
  int line = 0;
  uint32_t instruction = 0; // its number in the kernel
  llvm::Function *function = nullptr;
  llvm::Value *thread = nullptr, *parameters = nullptr, *delta = nullptr, *shared = nullptr,
              *local = nullptr, *carry = nullptr, *fragments[4] = {};
  llvm::BasicBlock *entry = nullptr;
  std::map<std::string, std::pair<PtxType, llvm::Value *>> registers;
  std::map<std::string, llvm::BasicBlock *> labels;
};

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_PTX_TRANSLATOR_H
