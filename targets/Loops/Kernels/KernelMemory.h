#ifndef DPC_TARGETS_LOOPS_KERNELS_KERNELMEMORY_H
#define DPC_TARGETS_LOOPS_KERNELS_KERNELMEMORY_H

#include "targets/Loops/Kernels/KernelEmitter.h"
#include "targets/Target.h"

#include "dialects/NN/IR/Shape.h"

#include "llvm/ADT/MapVector.h"

namespace dpc {

/// Emits the addresses of the values of one kernel, whose places are planned (KernelPlaces). The
/// buffers are arguments of a function, in the order that Target::emitKernel describes. A kernel
/// may consist of several functions. For each of them, `enter` must be called.
class KernelMemory {
public:
  KernelMemory(const KernelGraph &graph, const KernelPlaces &plan, KernelEmitter &emitter,
               mlir::ModuleOp module, llvm::StringRef symbol);

  unsigned getBufferCount() const { return operands + results + 1; }

  /// Adds the operands, the results, and the constants that are not splats. These constants become
  /// tables in the module.
  mlir::LogicalResult addArguments();
  /// Tells the emitter the addresses that all added values have in `function`. The insertion point
  /// of the builder must be at the start of the function.
  void enter(mlir::LLVM::LLVMFuncOp function);

  /// Tells the emitter the planned place of `value`, which is in scratch memory or registers.
  void add(mlir::Value value);

  /// A place in a buffer of the kernel: `offset` bytes after the start of buffer number `buffer`.
  struct Location {
    unsigned buffer;
    int64_t offset;
  };
  /// The place of `value`, which must be in a buffer of the kernel.
  Location locate(mlir::Value value) const;
  Location locate(const ScratchPiece &piece) const { return {operands + results, piece.offset}; }
  /// The address of a piece of scratch memory in the function that was entered last.
  mlir::Value addressOf(const ScratchPiece &piece);
  KernelEmitter::Buffer resultBuffer(unsigned result);

  /// Checks that the accesses of the emitted code allow results to share the buffers of operands as
  /// `needs` says.
  mlir::LogicalResult checkAliases(const KernelNeeds &needs) const;
  /// Marks the arguments of `function` that never overlap with another argument as `noalias` for
  /// LLVM.
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
  /// The places of the values that were added.
  llvm::MapVector<mlir::Value, Place> places;
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_KERNELMEMORY_H
