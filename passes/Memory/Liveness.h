#ifndef DPC_PASSES_MEMORY_LIVENESS_H
#define DPC_PASSES_MEMORY_LIVENESS_H

#include "passes/Memory/MemoryPlan.h"

#include "dialects/Exec/IR/ExecOps.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

namespace dpc {

/// The memory problem of a module. Each op of an entry is a step, except ops that only name memory,
/// such as exec.buffer and views. The end of a loop is a step too. Steps are numbered through all
/// entries, one entry after another.
///
/// A routine (exec.routine) is a problem of its own, because each run of it uses the same bytes for
/// the buffers that only this run needs. In the problem of the module, one buffer per space has
/// room for these buffers of any routine, from the first run to the last one.
class Liveness {
public:
  /// The problem of `module`. `routineBytes` has the bytes that its routines need, by space.
  Liveness(mlir::ModuleOp module, llvm::ArrayRef<int64_t> routineBytes);
  /// The problem of one routine.
  explicit Liveness(exec::RoutineOp routine);

  MemoryProblem problem;
  /// The exec.buffer or exec.persistent op of each buffer, by the buffer's index in
  /// problem.buffers. Null for the buffer that has room for the buffers of routines.
  llvm::SmallVector<mlir::Operation *> owners;

  /// Returns the bytes of the exec.buffers that are live after the forward pass of @step. The
  /// forward pass ends at the last op that writes a tensor of more than one element from which the
  /// loss is computed. Returns 0 if @step has no loss.
  int64_t countForwardBytes() const;
  /// Returns at most `most` of the tensors that are live at `step`, largest first.
  llvm::SmallVector<exec::LiveTensorAttr> findLargest(int64_t step, size_t most) const;

private:
  /// A byte range of a buffer. It may be a part of the buffer. For example, a loss lies in the same
  /// bucket as the gradients that are all-reduced together with it.
  struct Bytes {
    mlir::Operation *root;
    int64_t begin, end;
    int64_t elementSize;
  };
  /// The bytes that an op of the entry @step writes, and the bytes from which it computes them.
  struct Access {
    int64_t step;
    Bytes written;
    llvm::SmallVector<Bytes, 4> reads;
  };

  void setRegions();
  void addBuffers();
  void visit(mlir::Block &block);
  void visitLaunch(exec::LaunchOp launch);
  void record(mlir::Operation *op);
  Bytes bytesOf(mlir::Value buffer);
  void use(mlir::Operation *root, int64_t at);
  void add(mlir::Operation *op, mlir::Type type, exec::Space space, int64_t first, int64_t last);
  std::string nameOf(mlir::Operation *owner) const;

  mlir::SymbolTableCollection symbols;
  int64_t step = 0;
  /// The steps of the first and of the last exec.run; -1 if there is none.
  int64_t firstRun = -1, lastRun = -1;
  bool isStep = false;
  std::vector<Access> accesses;
  llvm::MapVector<mlir::Operation *, std::pair<int64_t, int64_t>> ranges;
  llvm::DenseMap<mlir::Operation *, int64_t> indexOf;
  /// For each buffer, the location of the first op of @step that writes the buffer. If this op
  /// launches an nn.kernel, the map has the location of the op in the kernel's body that computes
  /// the result.
  llvm::DenseMap<mlir::Operation *, mlir::Location> makers;
  llvm::SmallVector<std::pair<mlir::Operation *, mlir::Operation *>> replacements;
};

} // namespace dpc

#endif // DPC_PASSES_MEMORY_LIVENESS_H
