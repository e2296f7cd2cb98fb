#ifndef DPC_TARGETS_LOOPS_LOOPEMITTER_H
#define DPC_TARGETS_LOOPS_LOOPEMITTER_H

#include "targets/Loops/IndexSpace.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace dpc {

/// What the rules of ops (ElementOpInterface, FillOpInterface) write with:
/// loops, elements of tensors, and index expressions over the variables of
/// loops and integers bound with `bind`. Those become i64 arithmetic only where
/// an address or a value needs them.
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

  /// An index variable for the i64 `value` in [low, high]: one for all who
  /// bind it.
  Index bind(mlir::Value value, int64_t low, int64_t high);
  /// The expression as an i64.
  mlir::Value materialize(Index expression);
  /// i1: low <= expression < high; null when that is always so.
  mlir::Value inRange(Index expression, int64_t low, int64_t high);
  /// Both hold; a null condition always does.
  mlir::Value both(mlir::Value a, mlir::Value b);

  //===--------------------------------------------------------------------===//
  // Structure
  //===--------------------------------------------------------------------===//

  /// `body` for 0 <= i < extent in order; it gets what the iteration before
  /// returned (`initial` first); returns what the last one returned.
  Values loop(int64_t extent, mlir::ValueRange initial,
              llvm::function_ref<Values(Index i, mlir::ValueRange carried)> body);
  /// The same for every multi-index of `shape`, row-major.
  Values loop(llvm::ArrayRef<int64_t> shape, mlir::ValueRange initial,
              llvm::function_ref<Values(llvm::ArrayRef<Index>, mlir::ValueRange)> body);
  /// Iterations in order that share memory but carry no values.
  void sequence(int64_t extent, llvm::function_ref<void(Index i)> body);
  /// Iterations first, first + 1, ... below the i64 values of the program, which
  /// lie in [0, highest].
  Values loopBetween(mlir::Value first, mlir::Value end, int64_t highest, mlir::ValueRange initial,
                     llvm::function_ref<Values(Index i, mlir::ValueRange)> body);
  /// When iterations of a loop run together, as lanes of a vector.
  enum class Lanes {
    whereEstimated, ///< where the target's compiler expects to gain
    whereLegal      ///< wherever it can: its estimate is known to be wrong
  };
  /// Nested loops over every multi-index of `shape`, row-major. No
  /// iteration may write an element that another one reads or writes.
  virtual void forEach(llvm::ArrayRef<int64_t> shape,
                       llvm::function_ref<void(llvm::ArrayRef<Index>)> body,
                       Lanes lanes = Lanes::whereEstimated);
  /// What `accumulate` makes of `identity` and every multi-index of `shape`.
  /// The multi-indices may be dealt to several in any way, who each start from
  /// `identity`; `combine` then makes one of two partial results, whichever comes
  /// first. So `identity` must be something that combining leaves as it is.
  virtual Values
  reduce(llvm::ArrayRef<int64_t> shape, mlir::ValueRange identity,
         llvm::function_ref<Values(llvm::ArrayRef<Index>, mlir::ValueRange)> accumulate,
         llvm::function_ref<Values(mlir::ValueRange, mlir::ValueRange)> combine);
  /// How many floats `reduce` may add up with the rounding error of a short sum.
  virtual int64_t getSumTerms() const { return 1 << 12; }
  /// Between loops of a part of a fill rule: what those who share it have stored
  /// so far, all of them may read.
  virtual void meet() {}
  /// `then()` where `condition` holds, else `otherwise()`. A null condition
  /// always holds.
  mlir::Value branch(mlir::Value condition, llvm::function_ref<mlir::Value()> then,
                     llvm::function_ref<mlir::Value()> otherwise);
  /// `then()` where `condition` holds.
  void when(mlir::Value condition, llvm::function_ref<void()> then);

  //===--------------------------------------------------------------------===//
  // Elements. Their types are register types: signless integers.
  //===--------------------------------------------------------------------===//

  /// The element of an op's operand: loaded, or computed here and now.
  virtual mlir::Value read(mlir::Value tensor, const ElementIndex &index) = 0;
  mlir::Value read(mlir::Value tensor, llvm::ArrayRef<Index> positions);
  Index readIndex(mlir::Value tensor, const ElementIndex &index, int64_t extent) override;
  /// The same, and whether the element was inside.
  std::pair<Index, mlir::Value> readCheckedIndex(mlir::Value tensor, const ElementIndex &index,
                                                 int64_t extent);
  /// Writes an element of a result of the op whose rule fills it.
  virtual void store(mlir::Value result, mlir::Value element, Index number) = 0;
  /// Reads such an element back.
  virtual mlir::Value load(mlir::Value result, Index number) = 0;
  /// The row-major strides of `tensor` at which a loop over its elements has to
  /// be split into nested loops. A buffer has none, nor has a value that is
  /// elementwise over buffers: its element number n is made of their elements
  /// number n, so one loop over n reads it without computing coordinates. The
  /// transposition of a 4 x 8 buffer has the stride 4: its elements lie at
  /// n / 4 and n mod 4, which nested loops have as their variables.
  virtual llvm::SmallVector<int64_t> splitStrides(mlir::Value tensor) = 0;
  /// Address of the first element of a value in memory, and whether it is in
  /// memory at all, for rules that compute addresses of their own. Null for a
  /// value that is computed where it is read.
  virtual mlir::Value getBuffer(mlir::Value value) = 0;
  /// Address of `bytes` bytes of scratch memory, 16-byte aligned, for the
  /// duration of one part of a rule that fills results.
  virtual mlir::Value getScratch(int64_t bytes) = 0;

  /// Element `number` of scratch memory that holds elements of `type`.
  mlir::Value loadAt(mlir::Value address, mlir::Type type, Index number);
  void storeAt(mlir::Value address, mlir::Value element, Index number);

  /// Constant of a register type.
  mlir::Value constantLike(mlir::Type type, double value);
  mlir::Value constantInt(mlir::Type type, const llvm::APInt &value);

  /// Whether sums and products over loops keep the order of their terms and
  /// round after each: an element that is computed at several places must have
  /// the same bits at each of them.
  bool orderedSums = false;
  /// What loops whose iterations touch different elements carry (and those of
  /// Lanes::whereLegal), and what every access to memory carries.
  mlir::LLVM::LoopAnnotationAttr parallelLoop, vectorLoop;
  mlir::ArrayAttr accessGroups;

protected:
  /// What was computed already where the insertion point is, by key.
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

/// The register type of a tensor's elements: signless.
mlir::Type registerType(mlir::Type elementType);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_LOOPEMITTER_H
