#ifndef DPC_PASSES_SHARDING_ATOMS_STRUCTURE_H
#define DPC_PASSES_SHARDING_ATOMS_STRUCTURE_H

#include "dialects/Dist/IR/DimStructure.h"
#include "dialects/Interfaces/Interfaces.h"
#include "passes/Prices/OpPrices.h"
#include "passes/Sharding/Atoms/LoopCollisions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/iterator.h"

#include <memory>

namespace dpc {

/// A dimension, or a loop of an op, as a sum of products of atoms.
using AtomDim = llvm::SmallVector<llvm::SmallVector<unsigned, 2>, 1>;

/// One op and its sharding rule, with each loop written in atoms.
struct OpLoops {
  mlir::Operation *op;
  ShardingRule rule;
  llvm::SmallVector<AtomDim> loops;
  /// The pairs of loops of the rule that one axis may not cut together.
  std::shared_ptr<const LoopCollisions> collisions;
  /// Dimensions whose structure does not fit the loops of the rule, as pairs of a value index
  /// (operands, then results) and a dimension. These dimensions, and the loops in them, are
  /// replicated in this op.
  llvm::SmallVector<std::pair<unsigned, unsigned>> broken;
  /// Loops that are sums of segments, and that a dimension has inside a product. For example, a
  /// dimension of samples x (5 + 1) positions has the loop 5 + 1. These loops are replicated in
  /// this op; the loops around them are not.
  llvm::SmallVector<unsigned> uncut;
  /// Pairs of a loop and an axis. The axis cuts no part of the loop in this op, because a request
  /// wants the operand to be whole, or because the op updates state after the loop over `axis`.
  llvm::SmallVector<std::pair<unsigned, std::string>> whole;
  /// The atoms of the op's loops, each once, in order of first appearance, and their sizes.
  llvm::SmallVector<unsigned, 8> atoms;
  llvm::SmallVector<int64_t, 8> sizes;
  /// The numbers of the op's operands and results (ProgramLoops::getValues).
  llvm::SmallVector<unsigned, 4> operands, results;
  /// Ops of one kind agree in all facts of the op that layouts depend on: name, types, rule, cost,
  /// and which of their loops have the same atoms.
  unsigned kind = 0;
  /// Ops of one form agree in the same facts, except for types and costs.
  unsigned form = 0;
  /// The cost of the op if nothing is cut.
  Work work;

  bool isBroken(unsigned value, unsigned dim) const;
  bool isUncut(unsigned loop) const { return llvm::is_contained(uncut, loop); }
};

/// The ops of a program, in their order.
class OpList {
public:
  using iterator = llvm::pointee_iterator<const std::shared_ptr<OpLoops> *, const OpLoops>;

  explicit OpList(llvm::ArrayRef<std::shared_ptr<OpLoops>> ops) : ops(ops) {}
  size_t size() const { return ops.size(); }
  const OpLoops &operator[](size_t index) const { return *ops[index]; }
  iterator begin() const { return iterator(ops.begin()); }
  iterator end() const { return iterator(ops.end()); }

private:
  llvm::ArrayRef<std::shared_ptr<OpLoops>> ops;
};

/// The atoms of a complete function. An atom is a class of loop factors that run together through
/// every op that has them; it is to a program what a letter is to an einsum. If an axis cuts an
/// atom, it cuts every value that has the atom, so that no data need to move between the ops.
///
/// To find the atoms, the structure of every dimension is refined until all ops agree. Then the
/// factors that the rule of an op pairs are united.
///
/// Copies of this object share their data: a copy costs one pointer per op.
class ProgramLoops {
public:
  /// Analyses `function`. `seeds` gives the structures that some dimensions (value, dimension) have
  /// from the start. Fails with an error on an op that has no sharding rule.
  static mlir::FailureOr<ProgramLoops>
  create(mlir::func::FuncOp function,
         llvm::ArrayRef<std::tuple<mlir::Value, unsigned, dist::DimStructure>> seeds);

  /// The atoms of dimension `dim` of `value`.
  const AtomDim &getDim(mlir::Value value, unsigned dim) const {
    return table->dims.find(value)->second[dim];
  }
  int64_t getSize(unsigned atom) const { return sizes[atom]; }
  unsigned getAtomCount() const { return sizes.size(); }
  /// The number of ops with a loop that has `atom`. If splitAtom has split or made the atom, this
  /// is the number before the split.
  unsigned getOpCount(unsigned atom) const { return opCounts[atom]; }
  OpList getOps() const { return OpList(ops); }
  /// All values, by number: arguments, then results of ops in their order.
  llvm::ArrayRef<mlir::Value> getValues() const { return table->values; }
  unsigned getNumber(mlir::Value value) const { return table->numbers.find(value)->second; }

  /// Replaces `atom` by a new atom of the same size in the loops of `ops` (indices into getOps),
  /// and returns the new atom. An axis may then cut these loops without cutting the other loops of
  /// `atom`. The atoms of values (getDim) do not change; only the layouts of arguments are derived
  /// from them.
  unsigned splitAtom(unsigned atom, llvm::ArrayRef<unsigned> ops);

  /// Leaves loops of `value` uncut over `axis`, because a request wants `value` to be whole over
  /// `axis`. This concerns two kinds of ops that read `value` or a conversion of it: ops that sum
  /// over a loop of `value`, and conversions. For example, a product whose weight is requested
  /// whole is computed with the whole weight. An op that adds `value` to another operand, or scales
  /// by `value`, may be cut, because taking a part of `value` costs nothing.
  void keepWhole(mlir::Value value, llvm::StringRef axis);

  /// Leaves all loops uncut over `axis` in ops that update state and in ops that depend on an
  /// update. With a sequential axis, these ops then follow the loop over microbatches. For
  /// example, clipping scales each gradient by a norm that only the end of this loop knows.
  void keepUpdatesWhole(llvm::StringRef axis);

private:
  friend class StructureRefinement;
  /// The values of the function in their order, their numbers, and the atoms of their dimensions.
  struct ValueTable {
    std::vector<mlir::Value> values;
    // These maps are looked up by key only, so their order cannot affect the program.
    llvm::DenseMap<mlir::Value, unsigned> numbers;
    llvm::DenseMap<mlir::Value, llvm::SmallVector<AtomDim, 4>> dims;
  };

  void describeOps();
  void describe(OpLoops &op);
  /// Returns op number `index` for modification. Copies the op first if another program shares it.
  OpLoops &own(size_t index);

  std::vector<std::shared_ptr<OpLoops>> ops;
  std::shared_ptr<ValueTable> table = std::make_shared<ValueTable>();
  std::vector<int64_t> sizes;
  std::vector<unsigned> opCounts;
  /// The numbers of kinds and forms of ops, by their text. Copies of a program share the numbering.
  std::shared_ptr<llvm::StringMap<unsigned>> kinds, forms;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_ATOMS_STRUCTURE_H
