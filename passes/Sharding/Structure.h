#ifndef DPC_PASSES_SHARDING_STRUCTURE_H
#define DPC_PASSES_SHARDING_STRUCTURE_H

#include "dialects/Dist/IR/DimStructure.h"
#include "dialects/Interfaces/Interfaces.h"
#include "passes/Prices/OpPrices.h"
#include "passes/Sharding/LoopCollisions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/iterator.h"

#include <memory>

namespace dpc {

/// A dimension, or an op's loop, as a sum of products of atoms.
using AtomDim = llvm::SmallVector<llvm::SmallVector<unsigned, 2>, 1>;

/// One op and its rule, with each loop written in atoms.
struct OpLoops {
  mlir::Operation *op;
  ShardingRule rule;
  llvm::SmallVector<AtomDim> loops;
  /// Which loops of the rule may not share an axis.
  std::shared_ptr<const LoopCollisions> collisions;
  /// Dimensions (value index, operands then results; dimension) whose
  /// structure does not fit the rule's loops: they, and the loops in them, are
  /// replicated here.
  llvm::SmallVector<std::pair<unsigned, unsigned>> broken;
  /// Loops that some dimension has inside a product though they are sums
  /// (samples x (5 + 1) positions): replicated here, the loops around them are
  /// not.
  llvm::SmallVector<unsigned> uncut;
  /// Loops, and an axis that cuts no part of them here: of what is asked for whole.
  llvm::SmallVector<std::pair<unsigned, std::string>> whole;
  /// The atoms of its loops, each once, in order of first appearance, and their
  /// sizes.
  llvm::SmallVector<unsigned, 8> atoms;
  llvm::SmallVector<int64_t, 8> sizes;
  /// Numbers of its operands and results (ProgramLoops::getValues).
  llvm::SmallVector<unsigned, 4> operands, results;
  /// Ops of one kind are alike in all that layouts depend on: name, types, rule,
  /// cost, and which of their loops have the same atoms.
  unsigned kind = 0;
  /// Ops of one form are alike but for the types of their floats and for what they cost.
  unsigned form = 0;
  /// What the op costs if nothing is cut.
  OpPrice price;

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

/// The loops of a whole function, made one: an atom is a class of loop factors
/// that run together through every op they meet (an atom is to a program what
/// a letter is to an einsum). Cutting an atom over an axis cuts every value
/// that has it, without moving data between ops.
///
/// Found by refining the structure of every dimension until all ops agree, then
/// by uniting the factors that each op's rule pairs.
///
/// Copies share what they have in common: a copy costs a pointer per op.
class ProgramLoops {
public:
  /// Analyses `function`. `seeds` gives dimensions (value, dimension) a
  /// structure from the start. Fails with an error on an op without a sharding
  /// rule.
  static mlir::FailureOr<ProgramLoops>
  create(mlir::func::FuncOp function,
         llvm::ArrayRef<std::tuple<mlir::Value, unsigned, dist::DimStructure>> seeds);

  /// The atoms of dimension `dim` of `value`.
  const AtomDim &getDim(mlir::Value value, unsigned dim) const {
    return table->dims.find(value)->second[dim];
  }
  int64_t getSize(unsigned atom) const { return sizes[atom]; }
  unsigned getAtomCount() const { return sizes.size(); }
  /// Ops of which a loop has `atom`.
  unsigned getOpCount(unsigned atom) const { return opCounts[atom]; }
  OpList getOps() const { return OpList(ops); }
  /// All values, by number: arguments, then results of ops in their order.
  llvm::ArrayRef<mlir::Value> getValues() const { return table->values; }
  unsigned getNumber(mlir::Value value) const { return table->numbers.find(value)->second; }

  /// Gives the loops of `ops` (indices into getOps) that have `atom` a new atom of
  /// the same size in its place, and returns it: an axis may then cut them without
  /// cutting the others. Values keep their atoms, which only arguments are laid out
  /// by.
  unsigned splitAtom(unsigned atom, llvm::ArrayRef<unsigned> ops);

  /// Leaves the loops of `value` uncut over `axis` in all ops that sum over one of
  /// them, in it or in a conversion of it, and in its conversions: who asks for the
  /// weight of a product whole gets the product computed so. Where it is added to
  /// something, or scales it, a part of it is cut out at no cost.
  void keepWhole(mlir::Value value, llvm::StringRef axis);

private:
  friend class StructureRefinement;
  /// Its values in their order, their numbers, and the atoms of their dimensions.
  struct ValueTable {
    std::vector<mlir::Value> values;
    // Looked up by key only: their order never shows.
    llvm::DenseMap<mlir::Value, unsigned> numbers;
    llvm::DenseMap<mlir::Value, llvm::SmallVector<AtomDim, 4>> dims;
  };

  void describeOps();
  void describe(OpLoops &op);
  /// Op number `index`, to be changed: no other program has it.
  OpLoops &own(size_t index);

  std::vector<std::shared_ptr<OpLoops>> ops;
  std::shared_ptr<ValueTable> table = std::make_shared<ValueTable>();
  std::vector<int64_t> sizes;
  std::vector<unsigned> opCounts;
  /// Kinds and forms of ops by their text. Copies of a program number them together.
  std::shared_ptr<llvm::StringMap<unsigned>> kinds, forms;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_STRUCTURE_H
