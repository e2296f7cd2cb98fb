#ifndef DPC_DIALECTS_INTERFACES_LOOPEMITTER_H
#define DPC_DIALECTS_INTERFACES_LOOPEMITTER_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace dpc {

class LoopEmitter;

/// Where an element of a tensor lies: a position a dimension, or its row-major
/// number. Either is made from the other when it is asked for.
class ElementIndex {
public:
  ElementIndex(LoopEmitter &emitter, llvm::ArrayRef<int64_t> shape,
               llvm::ArrayRef<mlir::AffineExpr> positions);
  ElementIndex(LoopEmitter &emitter, llvm::ArrayRef<int64_t> shape,
               mlir::AffineExpr number);

  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  /// One expression a dimension.
  llvm::ArrayRef<mlir::AffineExpr> positions() const;
  /// The row-major number of the element.
  mlir::AffineExpr number() const;
  mlir::AffineExpr operator[](unsigned dimension) const {
    return positions()[dimension];
  }

private:
  LoopEmitter *emitter;
  llvm::SmallVector<int64_t> shape;
  mutable llvm::SmallVector<mlir::AffineExpr> dims;
  mutable mlir::AffineExpr linear;
};

/// What the loop rules of ops (LoopOpInterface) write with: index expressions
/// whose ranges are known, loops, and elements of tensors. Index expressions
/// are affine over loop variables and over integers bound with `bind`; they
/// become i64 arithmetic only where an address or a value needs them.
class LoopEmitter {
public:
  using Index = mlir::AffineExpr;
  using Values = llvm::SmallVector<mlir::Value>;
  /// Lowest and highest value, both included.
  using Range = std::pair<int64_t, int64_t>;

  LoopEmitter(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc), scopes(1) {}
  virtual ~LoopEmitter() = default;

  mlir::OpBuilder &builder;
  mlir::Location loc;

  template <typename Op, typename... Args> Op make(Args &&...args) {
    return builder.create<Op>(loc, std::forward<Args>(args)...);
  }

  //===--------------------------------------------------------------------===//
  // Index expressions
  //===--------------------------------------------------------------------===//

  Index constant(int64_t value) {
    return mlir::getAffineConstantExpr(value, builder.getContext());
  }
  /// A new index variable for the i64 `value` in [low, high].
  Index bind(mlir::Value value, int64_t low, int64_t high);
  /// The values an expression can have.
  Range rangeOf(Index expression) const;
  /// Quotient and remainder by n > 0, rounded down, simplified by ranges.
  Index floorDiv(Index expression, int64_t n);
  Index mod(Index expression, int64_t n);
  Index linearize(llvm::ArrayRef<Index> positions,
                  llvm::ArrayRef<int64_t> shape);
  llvm::SmallVector<Index> delinearize(Index number,
                                       llvm::ArrayRef<int64_t> shape);
  /// The expression as an i64.
  mlir::Value materialize(Index expression);
  /// i1: low <= expression < high; null when that is always so.
  mlir::Value inRange(Index expression, int64_t low, int64_t high);
  /// Both hold; a null condition always does.
  mlir::Value both(mlir::Value a, mlir::Value b);

  //===--------------------------------------------------------------------===//
  // Structure
  //===--------------------------------------------------------------------===//

  /// `body` for 0 <= i < extent in order; it gets what the round before
  /// returned (`initial` first); returns what the last one returned.
  Values
  loop(int64_t extent, mlir::ValueRange initial,
       llvm::function_ref<Values(Index i, mlir::ValueRange carried)> body);
  /// Rounds in order that share memory but carry no values.
  void sequence(int64_t extent, llvm::function_ref<void(Index i)> body);
  /// Rounds first, first + 1, ... below the i64 values of the program, which
  /// lie in [0, highest].
  Values
  loopBetween(mlir::Value first, mlir::Value end, int64_t highest,
              mlir::ValueRange initial,
              llvm::function_ref<Values(Index i, mlir::ValueRange)> body);
  /// When rounds of a loop run together, as lanes of a vector.
  enum class Lanes {
    whereEstimated, ///< where the target's compiler expects to gain
    whereLegal      ///< wherever it can: its estimate is known to be wrong
  };
  /// Nested loops over every multi-index of `shape`, row-major. No round may
  /// write an element that another one reads or writes.
  void forEach(llvm::ArrayRef<int64_t> shape,
               llvm::function_ref<void(llvm::ArrayRef<Index>)> body,
               Lanes lanes = Lanes::whereEstimated);
  /// Carries `initial` through nested loops over `shape`.
  Values fold(
      llvm::ArrayRef<int64_t> shape, mlir::ValueRange initial,
      llvm::function_ref<Values(llvm::ArrayRef<Index>, mlir::ValueRange)> body);
  /// `then()` where `condition` holds, else `otherwise()`. A null condition
  /// always holds.
  mlir::Value branch(mlir::Value condition,
                     llvm::function_ref<mlir::Value()> then,
                     llvm::function_ref<mlir::Value()> otherwise);
  /// `then()` where `condition` holds.
  void when(mlir::Value condition, llvm::function_ref<void()> then);

  //===--------------------------------------------------------------------===//
  // Elements. Their types are register types: signless integers.
  //===--------------------------------------------------------------------===//

  /// The element of an op's operand: loaded, or computed here and now.
  virtual mlir::Value read(mlir::Value tensor, const ElementIndex &index) = 0;
  mlir::Value read(mlir::Value tensor, llvm::ArrayRef<Index> positions);
  /// An integer element as an index in [0, extent): clamped, so that garbage
  /// (in padding) reads no memory outside the table.
  Index readIndex(mlir::Value tensor, const ElementIndex &index,
                  int64_t extent);
  /// The same, and whether the element was inside.
  std::pair<Index, mlir::Value> readCheckedIndex(mlir::Value tensor,
                                                 const ElementIndex &index,
                                                 int64_t extent);
  /// Writes an element of a result of the op whose `emitLoops` runs.
  virtual void store(mlir::Value result, mlir::Value element, Index number) = 0;
  /// Reads such an element back.
  virtual mlir::Value load(mlir::Value result, Index number) = 0;
  /// The row-major strides at which the elements of `tensor` must be told apart
  /// when they are made from their number: none for a buffer and what is
  /// elementwise over buffers. A loop over the number alone then does.
  virtual llvm::SmallVector<int64_t> cutsOf(mlir::Value tensor) = 0;
  /// Address of the first element of a value in memory, and whether it is in
  /// memory at all, for rules that compute addresses of their own. Null for a
  /// value that is computed where it is read.
  virtual mlir::Value getBuffer(mlir::Value value) = 0;
  /// Address of `bytes` bytes of scratch memory, 64-byte aligned, for the
  /// duration of one `emitLoops`.
  virtual mlir::Value getScratch(int64_t bytes) = 0;

  /// Element `number` of scratch memory that holds elements of `type`.
  mlir::Value loadAt(mlir::Value address, mlir::Type type, Index number);
  void storeAt(mlir::Value address, mlir::Value element, Index number);

  /// Constant of a register type.
  mlir::Value constantLike(mlir::Type type, double value);
  mlir::Value constantInt(mlir::Type type, const llvm::APInt &value);

  /// Floating-point vector width of the target in bytes.
  unsigned vectorBytes = 32;
  /// Whether sums and products over loops keep the order of their terms and
  /// round after each: an element that is computed at several places must have
  /// the same bits at each of them.
  bool orderedSums = false;
  /// What loops whose rounds touch different elements carry (and those of
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
                  mlir::LLVM::LoopAnnotationAttr annotation,
                  mlir::ValueRange initial,
                  llvm::function_ref<Values(Index, mlir::ValueRange)> body);

  struct Variable {
    mlir::Value value;
    int64_t low, high;
  };
  llvm::SmallVector<Variable> variables;
  llvm::DenseMap<mlir::Value, unsigned> variableOf;
  llvm::SmallVector<
      llvm::DenseMap<std::pair<const void *, const void *>, mlir::Value>>
      scopes;
};

/// The register type of a tensor's elements: signless.
mlir::Type registerType(mlir::Type elementType);
/// The type sums of `type` are taken in: f32 for the 16-bit floats.
mlir::Type accumulatorType(mlir::Type type);

/// Result elements of `op` over elements of operand `operand`, rounded up.
int64_t resultElementsPer(mlir::Operation *op, unsigned operand);

} // namespace dpc

#endif // DPC_DIALECTS_INTERFACES_LOOPEMITTER_H
