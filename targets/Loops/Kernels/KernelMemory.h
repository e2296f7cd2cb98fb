#ifndef DPC_TARGETS_LOOPS_KERNELS_KERNELMEMORY_H
#define DPC_TARGETS_LOOPS_KERNELS_KERNELMEMORY_H

#include "targets/Loops/Kernels/KernelEmitter.h"
#include "targets/Target.h"

#include "dialects/NN/IR/Shape.h"

#include "llvm/ADT/MapVector.h"

namespace dpc {

/// The addresses of one kernel's values, in their places (KernelPlaces). The buffers are
/// arguments of a function, in the order of Target::emitKernel. A kernel may consist of several functions, each
/// of which calls `enter`.
class KernelMemory {
public:
  KernelMemory(const KernelGraph &graph, const KernelPlaces &plan, KernelEmitter &emitter,
               mlir::ModuleOp module, llvm::StringRef symbol);

  unsigned getBufferCount() const { return operands + results + 1; }

  /// Adds the operands, the results, and the constants that are no splats. The
  /// latter become tables in the module.
  mlir::LogicalResult addArguments();
  /// Gives the emitter the addresses, in `function`, of all values that have a
  /// place. The builder is at the start of the function.
  void enter(mlir::LLVM::LLVMFuncOp function);

  /// Tells the emitter the planned place of a value, in scratch memory or registers.
  void add(mlir::Value value);

  /// A place in a buffer, `offset` bytes after its start.
  struct Location {
    unsigned buffer;
    int64_t offset;
  };
  /// The place of `value`, which must be in a buffer.
  Location locate(mlir::Value value) const;
  Location locate(const ScratchPiece &piece) const { return {operands + results, piece.offset}; }
  /// The address of a piece of scratch memory in the entered function.
  mlir::Value addressOf(const ScratchPiece &piece);
  KernelEmitter::Buffer resultBuffer(unsigned result);

  /// Checks the accesses of the emitted code: the results may share those buffers of
  /// operands that `needs` tells.
  mlir::LogicalResult checkAliases(const KernelNeeds &needs) const;
  /// Tells LLVM which arguments of `function` overlap with no other argument.
  void declareUnaliased(const KernelNeeds &needs, mlir::LLVM::LLVMFuncOp function) const;

private:
  using Place = KernelPlaces::Place;

  mlir::LogicalResult addTable(nn::ConstantOp constant, int64_t number);
  std::string tableName(int64_t number) const;
  mlir::Value addressOf(const Place &place);
  KernelEmitter::Buffer bufferOf(mlir::Value value, const Place &place);

  const KernelGraph &graph;
  const KernelPlaces &plan;
  KernelEmitter &e;
  mlir::ModuleOp module;
  llvm::StringRef symbol;
  unsigned operands, results;
  mlir::LLVM::LLVMFuncOp function;
  /// The places of the values that have been added.
  llvm::MapVector<mlir::Value, Place> places;
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_KERNELMEMORY_H
