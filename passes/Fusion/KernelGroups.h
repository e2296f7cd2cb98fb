#ifndef DPC_PASSES_FUSION_KERNELGROUPS_H
#define DPC_PASSES_FUSION_KERNELGROUPS_H

#include "passes/Fusion/KernelPlan.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace dpc {

/// Divides the ops of a block into units: groups that become kernels, and ops that stay alone. The
/// division is greedy, in program order. Every unit is convex: no path of uses leaves a unit and
/// comes back, so the unit can run as one kernel. Ops of kind `repeated` are in no unit, unless an
/// op reads their results from memory.
class KernelGroups {
public:
  struct Unit {
    /// In program order.
    llvm::SmallVector<mlir::Operation *> ops;
    /// The shape of the first op: of its result, or of its operand if it is a reduction.
    llvm::SmallVector<int64_t> shape;
    /// The shape that the loops of the unit run over. It is the shape of an operand, instead of
    /// `shape`, if the result has one element per row of the operand, as the losses of a
    /// cross-entropy have.
    llvm::SmallVector<int64_t> whole;
    /// Whether other ops may join.
    bool open = false;
    /// Whether the unit holds an op that computes its result in tiles. A unit has at most one.
    bool tiled = false;
    /// The units that must run before this one, by index; transitive.
    llvm::BitVector before;
  };

  KernelGroups(mlir::Block &block, const Target &target, int64_t maxOps);

  /// Returns the units in an order in which they can run: sorted by the program order of their
  /// last ops, but each unit after all units that it needs. Units that were merged into others are
  /// left out.
  std::vector<const Unit *> inOrder() const;

private:
  /// How an op reads a value, possibly through `repeated` ops.
  enum class Reach {
    /// The op reads the value itself.
    direct,
    /// The op reads a broadcast of the value along new trailing dimensions, so each row of the op
    /// reads the element of that row.
    row,
    /// The op reads the value through any other broadcast.
    indirect
  };
  /// A value that an op reads.
  struct Source {
    mlir::Value value;
    /// Index of the unit that computes the value; -1 if no unit of this block does.
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
