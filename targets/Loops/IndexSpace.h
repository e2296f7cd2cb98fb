#ifndef DPC_TARGETS_LOOPS_INDEXSPACE_H
#define DPC_TARGETS_LOOPS_INDEXSPACE_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace dpc {

class IndexSpace;

/// The index of an element in a tensor: one position per dimension, or its
/// row-major number. Either form is computed from the other on demand.
class ElementIndex {
public:
  ElementIndex(IndexSpace &space, llvm::ArrayRef<int64_t> shape,
               llvm::ArrayRef<mlir::AffineExpr> positions);
  ElementIndex(IndexSpace &space, llvm::ArrayRef<int64_t> shape, mlir::AffineExpr number);

  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  /// The positions, one expression per dimension.
  llvm::ArrayRef<mlir::AffineExpr> positions() const;
  /// The row-major number of the element.
  mlir::AffineExpr number() const;
  mlir::AffineExpr operator[](unsigned dimension) const { return positions()[dimension]; }

private:
  IndexSpace *space;
  llvm::SmallVector<int64_t> shape;
  mutable llvm::SmallVector<mlir::AffineExpr> dims;
  mutable mlir::AffineExpr linear;
};

/// A condition on an index: 0 <= position < extent.
struct IndexBound {
  mlir::AffineExpr position;
  int64_t extent;
};

/// Index expressions over integer variables with known ranges. Expressions are
/// affine, with quotients and remainders by constants, and are simplified by the
/// ranges.
class IndexSpace {
public:
  using Index = mlir::AffineExpr;
  /// Lowest and highest value, both included.
  using Range = std::pair<int64_t, int64_t>;

  explicit IndexSpace(mlir::MLIRContext *context) : context(context) {}
  virtual ~IndexSpace() = default;

  Index constant(int64_t value) const { return mlir::getAffineConstantExpr(value, context); }
  /// A new variable with values in [low, high].
  Index variable(int64_t low, int64_t high);
  /// The range of values that an expression can have.
  Range rangeOf(Index expression) const;
  /// Quotient and remainder by n > 0, rounded down, simplified by ranges.
  Index floorDiv(Index expression, int64_t n) const;
  Index mod(Index expression, int64_t n) const;
  Index linearize(llvm::ArrayRef<Index> positions, llvm::ArrayRef<int64_t> shape) const;
  /// linearize multiplied by `stride`, as a sum of one term per position.
  Index offsetOf(llvm::ArrayRef<Index> positions, llvm::ArrayRef<int64_t> shape,
                 int64_t stride) const;
  llvm::SmallVector<Index> delinearize(Index number, llvm::ArrayRef<int64_t> shape) const;

  /// An element of an integer tensor as an index in [0, extent). A value outside is
  /// clamped to the range, so that garbage (in padding) reads no memory outside of
  /// the table.
  virtual Index readIndex(mlir::Value tensor, const ElementIndex &index, int64_t extent) = 0;
  /// The row-major strides of `tensor` at which a loop over its elements has to be
  /// split into nested loops. A buffer has none. Neither has a value that is
  /// elementwise over buffers: its element number n depends on their elements
  /// number n, so one loop over n reads it without computing coordinates. The
  /// transposition of a 4 x 8 buffer has the stride 4: its elements are at n / 4
  /// and n mod 4, which nested loops have as their variables.
  virtual llvm::SmallVector<int64_t> splitStrides(mlir::Value tensor) = 0;

  /// Whether the ranges of the variables prove low <= expression < high.
  bool isInRange(Index expression, int64_t low, int64_t high) const;
  /// The same for all `bounds`.
  bool areMet(llvm::ArrayRef<IndexBound> bounds) const;

  //===--------------------------------------------------------------------===//
  // The structure of the reads that a rule describes (visitReads)
  //===--------------------------------------------------------------------===//

  /// Describes a reduction over `shape`: `body` gets an index of each loop.
  virtual void inLoops(llvm::ArrayRef<int64_t> shape,
                       llvm::function_ref<void(llvm::ArrayRef<Index>)> body);
  /// Describes code in a branch, if `isConditional`, or without one.
  virtual void inBranch(bool isConditional, llvm::function_ref<void()> body);

private:
  /// Joins neighbouring positions that are the quotient and remainder of one
  /// expression. Splitting a number into positions makes such pairs; each pair is
  /// that expression.
  void joinNeighbours(llvm::SmallVector<Index> &positions, llvm::SmallVector<int64_t> &shape) const;

  mlir::MLIRContext *context;
  llvm::SmallVector<Range> variables;
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_INDEXSPACE_H
