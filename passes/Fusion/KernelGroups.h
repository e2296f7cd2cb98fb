#ifndef DPC_PASSES_FUSION_KERNELGROUPS_H
#define DPC_PASSES_FUSION_KERNELGROUPS_H

#include "passes/Fusion/KernelPlan.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace dpc {

/// Divides the ops of a block into units: groups of ops that become kernels, and ops that stay
/// alone. The division is greedy, in program order. Every unit is convex: if a path of uses leaves
/// a unit, it does not come back. Therefore the unit can run as one kernel. An op of kind
/// `repeated` (FusionKind), such as a broadcast, is in no unit, unless another op reads its result
/// from memory.
class KernelGroups {
public:
  struct Unit {
    /// The ops of the unit, in program order.
    llvm::SmallVector<mlir::Operation *> ops;
    /// The shape of the first op's result, or of its operand if the first op is a reduction. If
    /// units were merged, the shape of the highest rank.
    llvm::SmallVector<int64_t> shape;
    /// The shape over which the loops of the unit run. Usually this is `shape`. If the result has
    /// only one element per row of an operand, it is the shape of that operand. An example is a
    /// cross-entropy, which has one loss per row of logits.
    llvm::SmallVector<int64_t> whole;
    /// The first dimension of the rows of `whole`. It is not 0 if the unit has a reduction with
    /// split rows (Target::sharesSplitRows). `rowDims` is then the number of their dimensions.
    int64_t firstRowDim = 0, rowDims = 0;
    /// Whether other ops may join the unit.
    bool open = false;
    /// Whether the unit has an op whose result is computed in tiles. A unit has at most one such
    /// op.
    bool tiled = false;
    /// The indices of the units that must run before this unit, directly or indirectly.
    llvm::BitVector before;
  };

  KernelGroups(mlir::Block &block, const Target &target, const CodeOptions &code, int64_t maxOps);

  /// Returns the units in an order in which they can run: each unit after all units that it needs,
  /// and otherwise by the program order of their last ops. Units that were merged into others are
  /// left out.
  std::vector<const Unit *> inOrder() const;

private:
  /// How an op reads a value. Between the value and the op, there may be `repeated` ops.
  enum class Reach {
    /// The op reads the value itself.
    direct,
    /// The op reads a broadcast of the value that keeps its dimensions together. Each row of the op
    /// along these dimensions reads the one element that belongs to this row.
    row,
    /// The op reads the value through any other chain of `repeated` ops.
    indirect
  };
  /// A value that an op reads, directly or through `repeated` ops.
  struct Source {
    mlir::Value value;
    /// The index of the unit that computes the value; -1 if no unit of this block computes it.
    int unit;
    Reach reach;
    /// If the reach is `row`: the dimension of the op that is the first dimension of the value.
    int64_t firstRowDim = 0;
  };
  llvm::SmallVector<Source> sourcesOf(mlir::Operation *op) const;
  void addSources(mlir::Value value, Reach reach, int64_t firstRowDim,
                  llvm::SmallVector<Source> &sources) const;
  static bool isInRow(const Unit &unit, const Source &source);
  static bool isPlain(const Unit &unit);
  void setRows(Unit &unit, mlir::Operation *op) const;
  bool isFinalPerRow(const Unit &unit, mlir::Operation *reduction) const;
  bool hasPlace(const Unit &unit, FusionKind kind, llvm::ArrayRef<int64_t> shape,
                const Source &source) const;
  bool needsMemory(mlir::Operation *op) const;
  void place(mlir::Operation *op);
  bool waitsLong(unsigned unit, llvm::ArrayRef<Source> sources) const;
  bool endsCall(const Unit &unit, mlir::Operation *op) const;
  bool mayJoin(unsigned unit, llvm::ArrayRef<Source> sources) const;
  void join(unsigned unit, mlir::Operation *op, llvm::ArrayRef<Source> sources);
  bool mayMerge(unsigned a, unsigned b) const;
  void merge(unsigned into, unsigned from);
  void spread(unsigned unit);

  bool onlySumsColumns(const Unit &unit) const;
  llvm::SmallVector<mlir::Value> largeReads(unsigned unit) const;
  std::optional<unsigned> hostOfSums(unsigned unit) const;
  void joinSums();

  bool isTiled(mlir::Operation *op) const;
  bool joinsOperand(mlir::Operation *op) const;
  bool mayBegin(mlir::Operation *op) const;

  mlir::Block &block;
  const Target &target;
  const CodeOptions &code;
  int64_t maxOps;
  std::vector<Unit> units;
  llvm::DenseMap<mlir::Operation *, unsigned> unitOf;
  llvm::DenseMap<mlir::Operation *, int64_t> position;
  /// The last op with side effects; null if there was none. Such ops keep their order.
  mlir::Operation *lastEffect = nullptr;
};

} // namespace dpc

#endif // DPC_PASSES_FUSION_KERNELGROUPS_H
