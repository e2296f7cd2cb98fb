#ifndef DPC_TARGETS_LOOPS_KERNELS_ACCESSWALK_H
#define DPC_TARGETS_LOOPS_KERNELS_ACCESSWALK_H

#include "targets/Loops/Kernels/KernelAccesses.h"
#include "targets/Loops/Kernels/LoopPlan.h"

#include "llvm/ADT/DenseSet.h"

namespace dpc {

/// Finds the accesses of a kernel's code to memory, without the code. It visits groups,
/// stages and inlined values in the order in which KernelEmitter emits them. The same
/// index is then the same expression as there, up to the names of variables. An element
/// that the code has at hand is not read again: scopes tell where this holds.
///
/// Targets that override the loops of KernelEmitter override those of this class too.
class AccessWalk : public IndexSpace {
public:
  AccessWalk(const KernelGraph &graph, const KernelPlaces &places, bool keepsOrder)
      : IndexSpace(graph.getBlock().getTerminator()->getContext()), keepsOrder(keepsOrder),
        graph(graph), places(places), scopes(1) {}

  /// Visits a group of loops that has elements.
  void visitGroup(const LoopGroup &loops, unsigned ordinal);
  /// Visits a loop that copies all elements of `from` into the buffer of another value.
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

  /// The loops that KernelEmitter runs over rows, over a nest, and in parallel.
  virtual void forEachRow(int64_t rows, llvm::function_ref<void(Index)> body);
  virtual void forEachElement(const LoopNest &nest, Body body);
  virtual void forEach(llvm::ArrayRef<int64_t> shape, Body body);
  /// Visits the elements that a fill rule reads and writes. The order of its reads is not
  /// known.
  virtual void visitFill(mlir::Operation *op);

  /// How many times the rule of `op`, of form `tiles`, writes the code that uses final
  /// elements. Each time is for other elements.
  virtual int64_t countFinishes(mlir::Operation *op) const { return 1; }

  /// Loops in row-major order; a loop with one iteration is none.
  void loops(llvm::ArrayRef<int64_t> shape, Body body);
  /// Runs `body` in a scope of its own.
  void scoped(llvm::function_ref<void()> body);
  /// The variable that holds the value of `expression`.
  Index asVariable(Index expression, int64_t low, int64_t high);
  /// Visits an element of each operand of a fill rule, and an element of each result.
  void visitFillReads(mlir::Operation *op);
  void visitFillWrites(mlir::Operation *op);
  unsigned getStage() const { return stage - 1; }

  const bool keepsOrder;
  /// Whether the current sum adds its terms in order.
  bool orderedSums = false;
  const KernelGraph &graph;
  const KernelPlaces &places;

private:
  using Element = std::pair<const void *, Index>; // a value and the number of the element
  /// What the code has at hand: elements, elements that are variables of indices, and
  /// variables that hold the values of expressions.
  struct Scope {
    llvm::DenseSet<Element> elements;
    llvm::DenseMap<Element, Index> indices;
    llvm::DenseMap<Index, Index> variables;
  };

  void read(mlir::Value tensor, const ElementIndex &index);
  void compute(mlir::Value tensor, const ElementIndex &index);
  void visitFilled(const LoopGroup &group);
  void visitElements(llvm::ArrayRef<mlir::Operation *> roots, Index number);
  KernelAccesses::Access here(Index number) const;
  KernelAccesses accesses;
  llvm::SmallVector<Scope> scopes;
  // The position of the walk.
  unsigned group = 0, stage = 0;
  int64_t rows = 1;
  Index row;
  bool filling = false;
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_ACCESSWALK_H
