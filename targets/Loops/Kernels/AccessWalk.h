#ifndef DPC_TARGETS_LOOPS_KERNELS_ACCESSWALK_H
#define DPC_TARGETS_LOOPS_KERNELS_ACCESSWALK_H

#include "targets/Loops/Kernels/KernelAccesses.h"
#include "targets/Loops/Kernels/LoopPlan.h"

#include "llvm/ADT/DenseSet.h"

namespace dpc {

/// Finds the memory accesses of a kernel's code before the code is generated. It visits
/// groups, stages and inlined values in the order in which KernelEmitter emits them.
/// Therefore it finds the same index expressions, up to the names of variables. Like the
/// emitter, it does not read an element again that is already in a register; scopes
/// record these elements.
///
/// A target that overrides functions of KernelEmitter must override the corresponding
/// functions of this class.
class AccessWalk : public IndexSpace {
public:
  AccessWalk(const KernelGraph &graph, const KernelPlaces &places, bool keepsOrder)
      : IndexSpace(graph.getBlock().getTerminator()->getContext()), keepsOrder(keepsOrder),
        graph(graph), places(places), scopes(1) {}

  /// Visits the loops of group `ordinal`. The group must have elements.
  void visitGroup(const LoopGroup &loops, unsigned ordinal);
  /// Visits a loop that copies all elements of `from` to the buffer of another value.
  void visitCopy(mlir::Value from, unsigned ordinal);

  llvm::SmallVector<llvm::SmallVector<unsigned>> findAliases() const {
    return accesses.findAliases(*this, graph, places);
  }

  Index readIndex(mlir::Value tensor, const ElementIndex &index, int64_t extent) override;
  llvm::SmallVector<int64_t> splitStrides(mlir::Value tensor) override;
  void inLoops(llvm::ArrayRef<int64_t> shape,
               llvm::function_ref<void(llvm::ArrayRef<Index>)> body) override;
  void inBranch(bool isConditional, llvm::function_ref<void()> body) override;

protected:
  using Body = llvm::function_ref<void(llvm::ArrayRef<Index>)>;

  /// Visit the loops of the KernelEmitter functions with these names.
  virtual void forEachRow(int64_t rows, llvm::function_ref<void(Index)> body);
  virtual void forEachElement(const LoopNest &nest, Body body);
  virtual void forEach(llvm::ArrayRef<int64_t> shape, Body body);
  /// Visits the elements that a fill rule reads and writes. The order of its accesses is
  /// not known.
  virtual void visitFill(mlir::Operation *op);

  /// Visits the reads of KernelEmitter::useElements for element `number`.
  virtual void visitUses(Index number) {}

  /// How often the fill rule of `op`, whose form is `tiles`, emits the code that uses
  /// final elements. Each copy of the code uses other elements.
  virtual int64_t countFinishes(mlir::Operation *op) const { return 1; }

  /// Visits nested loops in row-major order. A loop with one iteration is omitted, as in
  /// the emitter.
  void loops(llvm::ArrayRef<int64_t> shape, Body body);
  /// Runs `body` in a new scope. At the end of the scope, the elements that its code has
  /// read into registers are forgotten.
  void scoped(llvm::function_ref<void()> body);
  /// The variable that stands for the value of `expression`, which is in [low, high].
  Index asVariable(Index expression, int64_t low, int64_t high);
  /// Visits the computation of an element, unless it is in a register.
  void read(mlir::Value tensor, const ElementIndex &index);
  /// Visits the stores of unknown elements of the results of `ops` in group `ordinal`.
  void visitFillsOf(llvm::ArrayRef<mlir::Operation *> ops, unsigned ordinal);
  /// Visit an unknown element of each operand of a fill rule, and an unknown element of
  /// each result.
  void visitFillReads(mlir::Operation *op);
  void visitFillWrites(mlir::Operation *op);
  unsigned getStage() const { return stage - 1; }

  /// The part of the group that is visited (KernelEmitter::part).
  unsigned part = 0;
  const bool keepsOrder;
  /// Whether the current sum must add its terms in order.
  bool orderedSums = false;
  const KernelGraph &graph;
  const KernelPlaces &places;

private:
  using Element = std::pair<const void *, Index>; // a value and the number of an element
  /// The values that the code has in registers: elements, elements that became index
  /// variables, and expressions that became variables.
  struct Scope {
    llvm::DenseSet<Element> elements;
    llvm::DenseMap<Element, Index> indices;
    llvm::DenseMap<Index, Index> variables;
  };

  void compute(mlir::Value tensor, const ElementIndex &index);
  void visitFilled(const LoopGroup &group);
  void visitElements(llvm::ArrayRef<mlir::Operation *> roots, Index number);
  KernelAccesses::Access here(Index number) const;
  KernelAccesses accesses;
  llvm::SmallVector<Scope> scopes;
  // The current group, stage and row.
  unsigned group = 0, stage = 0;
  LoopRows rows;
  Index row;
  bool filling = false;
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_ACCESSWALK_H
