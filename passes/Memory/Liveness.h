#ifndef DPC_PASSES_MEMORY_LIVENESS_H
#define DPC_PASSES_MEMORY_LIVENESS_H

#include "passes/Memory/MemoryPlan.h"

#include "dialects/Exec/IR/ExecOps.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

namespace dpc {

/// The memory problem of a module. Steps count the ops of all entries one after the other.
class Liveness {
public:
  explicit Liveness(mlir::ModuleOp module);

  MemoryProblem problem;
  /// By index in problem.buffers: an exec.buffer or exec.persistent.
  llvm::SmallVector<mlir::Operation *> owners;

  /// Bytes of exec.buffers that somebody reads after the forward pass of `step`: after the
  /// last op that makes a tensor of which the loss is computed; 0 without a loss.
  int64_t countForwardBytes() const;
  /// The largest of what is live at `step`, largest first.
  llvm::SmallVector<exec::LiveTensorAttr> findLargest(int64_t step, size_t most) const;

private:
  /// Bytes of a buffer, which may be a part of it: a loss lies in the bucket of the
  /// gradients that are summed with it.
  struct Bytes {
    mlir::Operation *root;
    int64_t begin, end;
    int64_t elementSize;
  };
  /// What an op of the entry `step` writes, and what that is computed from.
  struct Access {
    int64_t step;
    Bytes written;
    llvm::SmallVector<Bytes, 4> reads;
  };

  void visit(mlir::Block &block);
  void visitLaunch(exec::LaunchOp launch);
  void record(mlir::Operation *op);
  Bytes bytesOf(mlir::Value buffer);
  void use(mlir::Operation *root, int64_t at);
  void add(mlir::Operation *op, mlir::Type type, exec::Space space, int64_t first, int64_t last);
  std::string nameOf(mlir::Operation *owner) const;

  mlir::SymbolTableCollection symbols;
  int64_t step = 0;
  bool isStep = false;
  std::vector<Access> accesses;
  llvm::MapVector<mlir::Operation *, std::pair<int64_t, int64_t>> ranges;
  llvm::DenseMap<mlir::Operation *, int64_t> indexOf;
  /// What first writes a buffer, of a kernel the op that makes the result.
  llvm::DenseMap<mlir::Operation *, mlir::Location> makers;
  llvm::SmallVector<std::pair<mlir::Operation *, mlir::Operation *>> replacements;
};

} // namespace dpc

#endif // DPC_PASSES_MEMORY_LIVENESS_H
