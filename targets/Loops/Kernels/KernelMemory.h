#ifndef DPC_TARGETS_LOOPS_KERNELS_KERNELMEMORY_H
#define DPC_TARGETS_LOOPS_KERNELS_KERNELMEMORY_H

#include "targets/Loops/Kernels/KernelEmitter.h"
#include "targets/Target.h"

#include "dialects/NN/IR/Shape.h"

#include "llvm/ADT/MapVector.h"

namespace dpc {

/// The places of one kernel's values: the buffers of its operands and results,
/// constant tables, and scratch memory. The buffers are arguments of a function, in
/// the order of Target::emitKernel. A kernel may consist of several functions, each
/// of which calls `enter`.
class KernelMemory {
public:
  KernelMemory(const KernelGraph &graph, KernelEmitter &emitter, mlir::ModuleOp module,
               llvm::StringRef symbol);

  /// The type in which an element of `value` is stored: a byte for i1, else a
  /// signless type.
  static mlir::Type storageType(mlir::Value value);

  unsigned getBufferCount() const { return operands + results + 1; }
  int64_t getScratchBytes() const { return scratch.getPeak(); }

  /// Places the operands, the results, and the constants that are no splats. The
  /// latter become tables in the module.
  mlir::LogicalResult placeArguments();
  /// Gives the emitter the addresses, in `function`, of all values that have a
  /// place. The builder is at the start of the function.
  void enter(mlir::LLVM::LLVMFuncOp function);

  /// Frees the scratch memory that no group from `ordinal` on uses.
  void startGroup(unsigned ordinal) { scratch.startGroup(ordinal); }
  /// Gives `value` a place until group `lastGroup` is emitted. The place holds all
  /// elements, or one row of `rowElements` at a time.
  void placeInScratch(mlir::Value value, int64_t rowElements, unsigned lastGroup);

  /// A place in a buffer, `offset` bytes after its start.
  struct Location {
    unsigned buffer;
    int64_t offset;
  };
  /// The place of `value`, which must be in a buffer.
  Location locate(mlir::Value value) const;
  /// Scratch memory until group `ordinal` is emitted, and its address in the
  /// entered function.
  Location reserve(int64_t bytes, unsigned ordinal);
  mlir::Value addressOf(const Location &scratch);

  /// Whether `value` is stored in the buffer of a result, and whether in that of
  /// `result`.
  bool isResult(mlir::Value value) const { return resultOf.contains(value); }
  bool isStoredIn(mlir::Value value, unsigned result) const;
  KernelEmitter::Buffer resultBuffer(unsigned result);

  /// Finds which results may share the buffer of an operand, from the recorded
  /// reads and writes of the emitter.
  void findAliases(KernelCode &code) const;
  /// Tells LLVM which arguments of `function` overlap with no other argument.
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
  /// The number of the result that a value is stored in, if any.
  llvm::DenseMap<mlir::Value, unsigned> resultOf;
  int64_t tables = 0;
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_KERNELMEMORY_H
