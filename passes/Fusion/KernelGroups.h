#ifndef DPC_PASSES_FUSION_KERNELGROUPS_H
#define DPC_PASSES_FUSION_KERNELGROUPS_H

#include "passes/Fusion/KernelPlan.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace dpc {

/// Divides the ops of a block into units: groups that become kernels, and ops
/// that stay alone. Greedy in program order; every unit can be run at one point
/// of time (no path leaves a unit and comes back). Ops of kind `repeated` are
/// in no unit unless somebody needs them in memory.
class KernelGroups {
public:
  struct Unit {
    /// In program order.
    llvm::SmallVector<mlir::Operation *> ops;
    /// The shape of what its first op makes.
    llvm::SmallVector<int64_t> shape;
    /// The shape its loops run over: that of an operand where `shape` is one
    /// element a row of it (the losses of a cross-entropy).
    llvm::SmallVector<int64_t> whole;
    /// Whether other ops may join.
    bool open = false;
    /// Whether it holds an op that makes its result in tiles: at most one.
    bool tiled = false;
    /// Units that must run before.
    llvm::BitVector before;
  };

  KernelGroups(mlir::Block &block, const Target &target, int64_t maxOps);

  /// Units in an order in which they can run: by their last op in the program,
  /// but after what they need. Merged units are left out.
  std::vector<const Unit *> inOrder() const;

private:
  /// How an op reads a value, seen through `repeated` ops.
  enum class Reach {
    /// As it is.
    direct,
    /// Repeated along new trailing dimensions: in its own row.
    row,
    /// Any other way.
    indirect
  };
  /// A value that an op reads.
  struct Source {
    mlir::Value value;
    /// Index of the unit that makes it, -1 for none in this block.
    int unit;
    Reach reach;
  };
  llvm::SmallVector<Source> sourcesOf(mlir::Operation *op) const;
  void addSources(mlir::Value value, Reach reach, llvm::SmallVector<Source> &sources) const;
  bool hasPlace(const Unit &unit, FusionKind kind, llvm::ArrayRef<int64_t> shape,
                Reach reach) const;
  bool needsMemory(mlir::Operation *op) const;
  void place(mlir::Operation *op);
  bool waitsLong(unsigned unit, llvm::ArrayRef<Source> sources) const;
  bool mayJoin(unsigned unit, llvm::ArrayRef<Source> sources) const;
  void join(unsigned unit, mlir::Operation *op, llvm::ArrayRef<Source> sources);
  bool mayMerge(unsigned a, unsigned b) const;
  void merge(unsigned into, unsigned from);
  void spread(unsigned unit);

  bool isTiled(mlir::Operation *op) const;
  bool mayBegin(mlir::Operation *op) const;

  mlir::Block &block;
  const Target &target;
  int64_t maxOps;
  std::vector<Unit> units;
  llvm::DenseMap<mlir::Operation *, unsigned> unitOf;
  llvm::DenseMap<mlir::Operation *, int64_t> position;
};

} // namespace dpc

#endif // DPC_PASSES_FUSION_KERNELGROUPS_H
