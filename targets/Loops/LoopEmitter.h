#ifndef DPC_TARGETS_LOOPS_LOOPEMITTER_H
#define DPC_TARGETS_LOOPS_LOOPEMITTER_H

#include "targets/Loops/IndexSpace.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace dpc {

/// The interface through which the rules of ops (ElementOpInterface,
/// FillOpInterface) write code: loops, accesses to elements of tensors, and index
/// expressions. The variables of index expressions are those of loops, and i64
/// values that `bind` turned into variables. An expression becomes i64 arithmetic
/// only if an address or a value needs it.
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

  /// An index variable that stands for the i64 `value`, which is in [low, high]. A
  /// second call with the same value returns the same variable.
  Index bind(mlir::Value value, int64_t low, int64_t high);
  /// Emits arithmetic that computes the expression as an i64.
  mlir::Value materialize(Index expression);
  /// Whether low <= expression < high, as an i1. Null if this always holds.
  mlir::Value inRange(Index expression, int64_t low, int64_t high);
  /// The nearest index to `expression` in [0, extent). Let `expression` be the sum of a multiple of
  /// n and of a constant in [0, n), and `extent` a multiple of n. Then the result is such a sum
  /// too, with the same constant, so neighbours that are computed together stay neighbours.
  Index clamped(Index expression, int64_t extent);
  /// Whether all `bounds` hold, as an i1. Null if they always hold.
  mlir::Value allInRange(llvm::ArrayRef<IndexBound> bounds);
  /// The conjunction of two conditions. A null condition means that it always
  /// holds.
  mlir::Value both(mlir::Value a, mlir::Value b);

  //===--------------------------------------------------------------------===//
  // Structure
  //===--------------------------------------------------------------------===//

  /// Emits a loop that runs `body` for 0 <= i < extent in order. Each iteration
  /// gets the values that the previous iteration returned; the first gets
  /// `initial`. The loop returns the values of the last iteration.
  Values loop(int64_t extent, mlir::ValueRange initial,
              llvm::function_ref<Values(Index i, mlir::ValueRange carried)> body);
  /// As above, for all multi-indices of `shape` in row-major order.
  Values loop(llvm::ArrayRef<int64_t> shape, mlir::ValueRange initial,
              llvm::function_ref<Values(llvm::ArrayRef<Index>, mlir::ValueRange)> body);
  /// Emits a loop whose iterations run in order and return no values. An iteration
  /// may read memory that an earlier iteration wrote.
  void sequence(int64_t extent, llvm::function_ref<void(Index i)> body);
  /// What `find` of sequenceOfFound says of a number: whether the body runs for it (null: it
  /// does), and an index that the body gets.
  struct Found {
    mlir::Value condition;
    Index index;
  };
  /// As `sequence`, but runs `body` only for the numbers that `find` chooses. `find` stores nothing
  /// and reads nothing that `body` writes, so that threads may look at several numbers at once.
  virtual void sequenceOfFound(int64_t extent, llvm::function_ref<Found(Index i)> find,
                               llvm::function_ref<void(Index i, Index found)> body);
  /// As `loop`, for i = first, first + 1, .. below `end`. `first` and `end` are i64
  /// values in [0, highest] that the emitted code computes.
  Values loopBetween(mlir::Value first, mlir::Value end, int64_t highest, mlir::ValueRange initial,
                     llvm::function_ref<Values(Index i, mlir::ValueRange)> body);
  /// Whether iterations of a loop may run as the lanes of a vector.
  enum class Lanes {
    whereEstimated, ///< if the compiler of the target estimates that vectors are faster
    whereLegal      ///< whenever it is legal, because the compiler's estimate is wrong
  };
  /// Emits nested loops over all multi-indices of `shape`, in row-major order. An
  /// iteration must not write elements that another iteration reads or writes,
  /// because targets may run iterations in any order.
  virtual void forEach(llvm::ArrayRef<int64_t> shape,
                       llvm::function_ref<void(llvm::ArrayRef<Index>)> body,
                       Lanes lanes = Lanes::whereEstimated);
  /// Emits loops that accumulate over all multi-indices of `shape`. Several threads
  /// or lanes may divide the multi-indices among themselves in any way. Each starts
  /// with `identity`, and `combine` joins partial results, two at a time and in any
  /// order. Therefore `identity` must be the neutral element of `combine`.
  virtual Values
  reduce(llvm::ArrayRef<int64_t> shape, mlir::ValueRange identity,
         llvm::function_ref<Values(llvm::ArrayRef<Index>, mlir::ValueRange)> accumulate,
         llvm::function_ref<Values(mlir::ValueRange, mlir::ValueRange)> combine);
  /// The number of floats that `reduce` can add without a large rounding error.
  /// Longer sums are divided into blocks of this length.
  virtual int64_t getSumTerms() const { return 1 << 12; }
  /// A synchronization point between two loops of one part of a fill rule. After
  /// it, all threads that share the part may read the elements that any of these
  /// threads has stored before it.
  virtual void meet() {}
  /// Emits a branch: its value is `then()` if `condition` holds, otherwise
  /// `otherwise()`. A null condition always holds.
  mlir::Value branch(mlir::Value condition, llvm::function_ref<mlir::Value()> then,
                     llvm::function_ref<mlir::Value()> otherwise);
  /// As above, for several values.
  Values branch(mlir::Value condition, llvm::function_ref<Values()> then,
                llvm::function_ref<Values()> otherwise);
  /// Emits code that runs `then()` if `condition` holds.
  void when(mlir::Value condition, llvm::function_ref<void()> then);

  //===--------------------------------------------------------------------===//
  // Elements. They have register types, in which integers are signless.
  //===--------------------------------------------------------------------===//

  /// An element of an operand of an op. The emitted code loads it, or computes it
  /// at the insertion point.
  virtual mlir::Value read(mlir::Value tensor, const ElementIndex &index) = 0;
  mlir::Value read(mlir::Value tensor, llvm::ArrayRef<Index> positions);
  Index readIndex(mlir::Value tensor, const ElementIndex &index, int64_t extent) override;
  /// Returns the same index as readIndex, and whether the element was in [0,
  /// extent) before it was clamped.
  std::pair<Index, mlir::Value> readCheckedIndex(mlir::Value tensor, const ElementIndex &index,
                                                 int64_t extent);
  /// Says that the code which follows reads for element number `n` of several elements that a rule
  /// computes in the same loops and branches.
  virtual void turnTo(size_t n) {}
  /// Stores element `number` of a result of the op whose fill rule is running.
  virtual void store(mlir::Value result, mlir::Value element, Index number) = 0;
  /// Loads element `number` of a result of the op whose fill rule is running.
  virtual mlir::Value load(mlir::Value result, Index number) = 0;
  /// The address of the first element of a value in memory, for rules that compute
  /// addresses themselves. Null if not every element of the value is in memory, e.g. if
  /// the value is inlined into its readers.
  virtual mlir::Value getBuffer(mlir::Value value) = 0;
  /// The address of `bytes` bytes of scratch memory, aligned to 16 bytes. The
  /// memory keeps its contents during one part of a fill rule.
  virtual mlir::Value getScratch(int64_t bytes) = 0;

  /// `loadAt` loads element `number` of scratch memory with elements of type
  /// `type`. `storeAt` stores one.
  mlir::Value loadAt(mlir::Value address, mlir::Type type, Index number);
  void storeAt(mlir::Value address, mlir::Value element, Index number);

  /// A constant of the register type `type`.
  mlir::Value constantLike(mlir::Type type, double value);
  mlir::Value constantInt(mlir::Type type, const llvm::APInt &value);

  /// Whether sums and products over loops must combine their terms in order, and
  /// round after each term. It is always set if CodeOptions::orderedSums is set. If not,
  /// it is set for an element that several places in the code compute, because all
  /// places must compute the same bits.
  bool orderedSums = false;
  /// Whether index arithmetic has 32 bits where all values fit. Devices have no 64-bit integer
  /// units, so a product takes four instructions there, and a quotient some twenty.
  bool narrowIndices = false;
  /// Whether LLVM joins accesses to neighbours that one thread makes (addressOf).
  bool joinsNeighbours = false;
  /// LLVM annotations. The loops of forEach get `parallelLoop`, or `vectorLoop` if `lanes`
  /// is Lanes::whereLegal. The accesses to memory of loadAt and storeAt get
  /// `accessGroups`.
  mlir::LLVM::LoopAnnotationAttr parallelLoop, vectorLoop;
  mlir::ArrayAttr accessGroups;

protected:
  /// Finds a value that earlier code computed under this key and that dominates the
  /// insertion point; null if there is none.
  mlir::Value lookup(const void *kind, const void *key) const;
  void remember(const void *kind, const void *key, mlir::Value value);
  void enterScope() { scopes.emplace_back(); }
  void leaveScope() { scopes.pop_back(); }

private:
  bool isNarrow(Index expression);
  mlir::Value materializeAs(mlir::IntegerType type, Index expression);
  Values emitLoop(mlir::Value first, mlir::Value end, Range range, bool guarded,
                  mlir::LLVM::LoopAnnotationAttr annotation, mlir::ValueRange initial,
                  llvm::function_ref<Values(Index, mlir::ValueRange)> body);

  llvm::DenseMap<mlir::Value, Index> variableOf;
  llvm::DenseMap<Index, mlir::Value> valueOf;
  llvm::DenseMap<Index, bool> isKnownNarrow;
  llvm::SmallVector<llvm::DenseMap<std::pair<const void *, const void *>, mlir::Value>> scopes;
};

/// The register type of elements of type `elementType`: integers become signless,
/// other types stay the same.
mlir::Type registerType(mlir::Type elementType);

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_LOOPEMITTER_H
