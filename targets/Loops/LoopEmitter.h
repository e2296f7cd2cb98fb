#ifndef DPC_TARGETS_LOOPS_LOOPEMITTER_H
#define DPC_TARGETS_LOOPS_LOOPEMITTER_H

#include "targets/Loops/IndexSpace.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace dpc {

/// The interface with which rules of ops (ElementOpInterface, FillOpInterface)
/// write code: loops, elements of tensors, and index expressions. The variables of
/// expressions are those of loops, and integers bound with `bind`. An expression
/// becomes i64 arithmetic only if an address or a value needs it.
class LoopEmitter : public IndexSpace {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  LoopEmitter(mlir::OpBuilder &builder, mlir::Location loc)
      : IndexSpace(builder.getContext()), builder(builder), loc(loc), scopes(1) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;

  template <typename Op, typename... Args> Op make(Args &&...args) {
    return builder.create<Op>(loc, std::forward<Args>(args)...);
  }

  //===--------------------------------------------------------------------===//
  // Index expressions
  //===--------------------------------------------------------------------===//

  /// An index variable for the i64 `value` in [low, high]. Binding the same value
  /// again gives the same variable.
  Index bind(mlir::Value value, int64_t low, int64_t high);
  /// The expression as an i64.
  mlir::Value materialize(Index expression);
  /// i1: low <= expression < high; null if that always holds.
  mlir::Value inRange(Index expression, int64_t low, int64_t high);
  /// i1: all `bounds` are met; null if they always are.
  mlir::Value allInRange(llvm::ArrayRef<IndexBound> bounds);
  /// The conjunction of two conditions; a null condition always holds.
  mlir::Value both(mlir::Value a, mlir::Value b);

  //===--------------------------------------------------------------------===//
  // Structure
  //===--------------------------------------------------------------------===//

  /// Runs `body` for 0 <= i < extent in order. Each iteration gets the values that
  /// the previous one returned (`initial` for the first); the result is those of
  /// the last iteration.
  Values loop(int64_t extent, mlir::ValueRange initial,
              llvm::function_ref<Values(Index i, mlir::ValueRange carried)> body);
  /// The same for every multi-index of `shape`, row-major.
  Values loop(llvm::ArrayRef<int64_t> shape, mlir::ValueRange initial,
              llvm::function_ref<Values(llvm::ArrayRef<Index>, mlir::ValueRange)> body);
  /// Iterations in order that share memory but carry no values.
  void sequence(int64_t extent, llvm::function_ref<void(Index i)> body);
  /// Iterations first, first + 1, ... below `end`. Both are i64 values of the
  /// program in [0, highest].
  Values loopBetween(mlir::Value first, mlir::Value end, int64_t highest, mlir::ValueRange initial,
                     llvm::function_ref<Values(Index i, mlir::ValueRange)> body);
  /// Whether iterations of a loop run as lanes of a vector.
  enum class Lanes {
    whereEstimated, ///< if the target's compiler estimates a gain
    whereLegal      ///< whenever it is legal, because the compiler's estimate is known to be wrong
  };
  /// Nested loops over every multi-index of `shape`, row-major. No iteration may
  /// write an element that another one reads or writes.
  virtual void forEach(llvm::ArrayRef<int64_t> shape,
                       llvm::function_ref<void(llvm::ArrayRef<Index>)> body,
                       Lanes lanes = Lanes::whereEstimated);
  /// Accumulates over every multi-index of `shape`, starting from `identity`.
  /// Several threads or lanes may take multi-indices in any distribution; each
  /// starts from `identity`, and `combine` joins two partial results in any order.
  /// So `identity` must be neutral for `combine`.
  virtual Values
  reduce(llvm::ArrayRef<int64_t> shape, mlir::ValueRange identity,
         llvm::function_ref<Values(llvm::ArrayRef<Index>, mlir::ValueRange)> accumulate,
         llvm::function_ref<Values(mlir::ValueRange, mlir::ValueRange)> combine);
  /// Number of floats that `reduce` may add with the rounding error of a short sum.
  virtual int64_t getSumTerms() const { return 1 << 12; }
  /// A synchronization point between loops of one part of a fill rule: all threads
  /// that share the part may read the elements that any of them has stored before.
  virtual void meet() {}
  /// `then()` if `condition` holds, else `otherwise()`. A null condition always
  /// holds.
  mlir::Value branch(mlir::Value condition, llvm::function_ref<mlir::Value()> then,
                     llvm::function_ref<mlir::Value()> otherwise);
  /// Runs `then()` if `condition` holds.
  void when(mlir::Value condition, llvm::function_ref<void()> then);

  //===--------------------------------------------------------------------===//
  // Elements. Their types are register types: signless integers.
  //===--------------------------------------------------------------------===//

  /// An element of an op's operand: loaded, or computed at the insertion point.
  virtual mlir::Value read(mlir::Value tensor, const ElementIndex &index) = 0;
  mlir::Value read(mlir::Value tensor, llvm::ArrayRef<Index> positions);
  Index readIndex(mlir::Value tensor, const ElementIndex &index, int64_t extent) override;
  /// The same, and whether the element was in [0, extent).
  std::pair<Index, mlir::Value> readCheckedIndex(mlir::Value tensor, const ElementIndex &index,
                                                 int64_t extent);
  /// Stores an element of a result of the op that the current rule fills.
  virtual void store(mlir::Value result, mlir::Value element, Index number) = 0;
  /// Loads such an element.
  virtual mlir::Value load(mlir::Value result, Index number) = 0;
  /// The address of the first element of a value in memory, for rules that compute
  /// addresses themselves. Null for a value that is not in memory but inlined into
  /// its readers.
  virtual mlir::Value getBuffer(mlir::Value value) = 0;
  /// The address of `bytes` bytes of scratch memory, 16-byte aligned, which are
  /// valid during one part of a fill rule.
  virtual mlir::Value getScratch(int64_t bytes) = 0;

  /// Element `number` of scratch memory with elements of `type`.
  mlir::Value loadAt(mlir::Value address, mlir::Type type, Index number);
  void storeAt(mlir::Value address, mlir::Value element, Index number);

  /// A constant of a register type.
  mlir::Value constantLike(mlir::Type type, double value);
  mlir::Value constantInt(mlir::Type type, const llvm::APInt &value);

  /// Whether sums and products over loops keep the order of their terms and round
  /// after each one. An element that is computed at several places must have the
  /// same bits at each of them.
  bool orderedSums = false;
  /// Annotations: `parallelLoop` for loops whose iterations touch different
  /// elements, `vectorLoop` for those of Lanes::whereLegal, `accessGroups` for
  /// every memory access.
  mlir::LLVM::LoopAnnotationAttr parallelLoop, vectorLoop;
  mlir::ArrayAttr accessGroups;

protected:
  /// Looks up a value that was already computed and dominates the insertion point,
  /// by key.
  mlir::Value lookup(const void *kind, const void *key) const;
  void remember(const void *kind, const void *key, mlir::Value value);
  void enterScope() { scopes.emplace_back(); }
  void leaveScope() { scopes.pop_back(); }

private:
  Values emitLoop(mlir::Value first, mlir::Value end, Range range, bool guarded,
                  mlir::LLVM::LoopAnnotationAttr annotation, mlir::ValueRange initial,
                  llvm::function_ref<Values(Index, mlir::ValueRange)> body);

  llvm::DenseMap<mlir::Value, Index> variableOf;
  llvm::DenseMap<Index, mlir::Value> valueOf;
  llvm::SmallVector<llvm::DenseMap<std::pair<const void *, const void *>, mlir::Value>> scopes;
};

/// The register type of a tensor's elements: integers become signless.
mlir::Type registerType(mlir::Type elementType);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_LOOPEMITTER_H
