#ifndef DPC_TARGETS_LOOPS_KERNELS_KERNELMEMORY_H
#define DPC_TARGETS_LOOPS_KERNELS_KERNELMEMORY_H

#include "targets/Loops/Kernels/KernelEmitter.h"
#include "targets/Target.h"

#include "dialects/NN/IR/Shape.h"

#include "llvm/ADT/MapVector.h"

namespace dpc {

/// Where the values of one kernel lie: in the buffers of its operands and
/// results, in constant tables, in scratch memory. The buffers are the arguments
/// of a function, in the order of Target::emitKernel; a kernel may be several
/// functions, of which each enters its memory.
class KernelMemory {
public:
  KernelMemory(const KernelGraph &graph, KernelEmitter &emitter, mlir::ModuleOp module,
               llvm::StringRef symbol);

  /// The type an element of `value` is stored as: a byte for i1, else signless.
  static mlir::Type storageType(mlir::Value value);

  unsigned getBufferCount() const { return operands + results + 1; }
  int64_t getScratchBytes() const { return scratch.getPeak(); }

  /// Places the operands, the results, and the constants that are not the same
  /// everywhere, which go into the module.
  mlir::LogicalResult placeArguments();
  /// Has the emitter find all values that have a place in the arguments of
  /// `function`, where its builder stands.
  void enter(mlir::LLVM::LLVMFuncOp function);

  /// Scratch memory that is not used from group `ordinal` on is free.
  void startGroup(unsigned ordinal) { scratch.startGroup(ordinal); }
  /// Gives `value` a place until group `lastGroup` is done: for all elements, or
  /// for one row of `rowElements` at a time.
  void placeInScratch(mlir::Value value, int64_t rowElements, unsigned lastGroup);

  /// A place in a buffer, `offset` bytes behind its start.
  struct Location {
    unsigned buffer;
    int64_t offset;
  };
  /// Where `value`, which has a place in a buffer, begins.
  Location locate(mlir::Value value) const;
  /// Scratch memory until group `ordinal` is done, and where it begins in the
  /// function that was entered.
  Location reserve(int64_t bytes, unsigned ordinal);
  mlir::Value addressOf(const Location &scratch);

  /// Whether `value` is made in the buffer of a result, and of which.
  bool isResult(mlir::Value value) const { return resultOf.contains(value); }
  bool isStoredIn(mlir::Value value, unsigned result) const;
  KernelEmitter::Buffer resultBuffer(unsigned result);

  /// By what the emitter has read and written: which results may lie on which
  /// operands.
  void findAliases(KernelCode &code) const;
  /// Tells LLVM which arguments of `function` overlap with no other.
  void declareUnaliased(const KernelCode &code, mlir::LLVM::LLVMFuncOp function) const;

private:
  struct Place {
    enum class Kind { argument, table, scratch } kind;
    int64_t number; // of the argument or the table, or the offset
    mlir::Type type;
    int64_t rowElements = 0;
  };

  mlir::LogicalResult addTable(nn::ConstantOp constant);
  std::string tableName(int64_t number) const;
  KernelEmitter::Buffer bufferOf(const Place &place);
  bool mayAlias(mlir::Value result, mlir::BlockArgument operand) const;

  const KernelGraph &graph;
  KernelEmitter &e;
  mlir::ModuleOp module;
  llvm::StringRef symbol;
  unsigned operands, results;
  mlir::LLVM::LLVMFuncOp function;
  ScratchAllocator scratch;
  llvm::MapVector<mlir::Value, Place> places;
  /// The result that a value is stored in, if any.
  llvm::DenseMap<mlir::Value, unsigned> resultOf;
  int64_t tables = 0;
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_KERNELMEMORY_H
