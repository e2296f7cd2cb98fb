#ifndef DPC_PASSES_SHARDING_PARTITION_LOOPSCHEDULE_H
#define DPC_PASSES_SHARDING_PARTITION_LOOPSCHEDULE_H

#include "passes/Sharding/Partition/MicrobatchAxis.h"

#include "dialects/Dist/IR/Collectives.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace dpc {

/// The layouts of the operands, and of the results, of an op at level `placed`; empty if the op has
/// no layout attributes.
std::vector<dist::Layout> operandLayouts(mlir::Operation *op);
std::vector<dist::Layout> resultLayouts(mlir::Operation *op);

/// Decides which ops of a function at level `placed` run in a loop over microbatches, and in which
/// order ops and loops run. Each op and each loop has a time. The time of an op is the latest that
/// its users allow. At each time t, loop t runs first, and then the ops of time t that are outside
/// of loops. The object refers to ops of the function, so these ops must not be erased while the
/// object is used.
class LoopSchedule {
public:
  LoopSchedule(mlir::func::FuncOp function, const MicrobatchAxis &micro);

  /// Whether `op` runs once per iteration. A reshard runs in the loop if both of its layouts use
  /// the sequential axis in the same way.
  bool inLoop(mlir::Operation *op) const { return looped.contains(op); }
  int64_t getTime(mlir::Operation *op) const { return time.lookup(op); }
  /// The first time at which the operands of `op` exist.
  int64_t getEarliest(mlir::Operation *op) const { return earliest.lookup(op); }
  /// The latest time of any op.
  int64_t getLast() const { return last; }

  /// Other reshards of the input of `op` whose results exist when `op` runs, in program order. `op`
  /// may start from one of these results instead of its input.
  llvm::SmallVector<dist::ReshardOp> madeBefore(dist::ReshardOp op) const;

private:
  // These maps are looked up by key only, so their order cannot affect the program.
  llvm::DenseSet<mlir::Operation *> looped;
  llvm::DenseMap<mlir::Operation *, int64_t> time, earliest;
  int64_t last = 0;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_PARTITION_LOOPSCHEDULE_H
