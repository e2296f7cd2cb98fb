#ifndef DPC_PASSES_SHARDING_LOOPSCHEDULE_H
#define DPC_PASSES_SHARDING_LOOPSCHEDULE_H

#include "passes/Sharding/MicrobatchAxis.h"

#include "dialects/Dist/IR/Collectives.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace dpc {

/// Layouts of the operands and the results of an op at level `placed`; empty
/// where it has none written on it.
std::vector<dist::Layout> operandLayouts(mlir::Operation *op);
std::vector<dist::Layout> resultLayouts(mlir::Operation *op);

/// Which ops of a function at level `placed` run in a loop over microbatches,
/// and in what order everything runs: an op belongs to the latest loop that all
/// its users inside loops allow. Loop t runs before the outside ops of time t,
/// and after those of time t - 1. Refers to the function's ops, which have to
/// stay while it is used.
class LoopSchedule {
public:
  LoopSchedule(mlir::func::FuncOp function, const MicrobatchAxis &micro);

  /// Whether `op` runs once an iteration. A reshard does if it changes nothing
  /// about the sequential axis.
  bool inLoop(mlir::Operation *op) const { return looped.contains(op); }
  int64_t getTime(mlir::Operation *op) const { return time.lookup(op); }
  /// The first time at which its operands are there.
  int64_t getEarliest(mlir::Operation *op) const { return earliest.lookup(op); }
  /// The latest time of all.
  int64_t getLast() const { return last; }

  /// Other reshards of what `op` reshards whose results are there when it runs,
  /// in their order: it may start from them.
  llvm::SmallVector<dist::ReshardOp> madeBefore(dist::ReshardOp op) const;

private:
  // All looked up by key only: their order never shows.
  llvm::DenseSet<mlir::Operation *> looped;
  llvm::DenseMap<mlir::Operation *, int64_t> time, earliest;
  int64_t last = 0;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_LOOPSCHEDULE_H
