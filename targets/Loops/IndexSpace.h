#ifndef DPC_TARGETS_LOOPS_INDEXSPACE_H
#define DPC_TARGETS_LOOPS_INDEXSPACE_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace dpc {

class IndexSpace;

/// The index of an element in a tensor. It has two forms: one position per
/// dimension, or the row-major number of the element. The object has one form, and
/// computes the other when it is needed.
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

/// The condition 0 <= position < extent on an index.
struct IndexBound {
  mlir::AffineExpr position;
  int64_t extent;
};

/// Creates index expressions of integer variables with known ranges. Expressions
/// are affine, with quotients and remainders by constants. They are simplified with
/// the ranges, e.g. i mod 8 becomes i if i is in [0, 7].
class IndexSpace {
public:
  using Index = mlir::AffineExpr;
  /// The lowest and the highest value, both included.
  using Range = std::pair<int64_t, int64_t>;

  explicit IndexSpace(mlir::MLIRContext *context) : context(context) {}
  virtual ~IndexSpace() = default;

  /// Divides `expression` into a sum without constant terms and the sum of its constant terms.
  static std::pair<Index, int64_t> splitConstant(Index expression);
  /// Returns n and `expression` rounded down to a multiple of n. n is the largest divisor of `unit`
  /// such that `expression` is the sum of a constant and of a multiple of n.
  static std::pair<Index, int64_t> roundedDown(Index expression, int64_t unit);
  /// The same value as one sum, whose terms are products of a constant and a variable or a
  /// quotient.
  static Index flattened(Index expression);
  /// The quotient of an expression and a number that divides it.
  static Index exactQuotient(Index expression, int64_t divisor) {
    return divisor == 1 ? expression : flattened(expression.floorDiv(divisor));
  }

  Index constant(int64_t value) const { return mlir::getAffineConstantExpr(value, context); }
  /// A new variable with values in [low, high].
  Index variable(int64_t low, int64_t high);
  /// The range of values that an expression can have.
  Range rangeOf(Index expression) const;
  /// The quotient and the remainder by n > 0. The quotient is rounded down. Both
  /// are simplified with ranges.
  Index floorDiv(Index expression, int64_t n) const;
  Index mod(Index expression, int64_t n) const;
  Index linearize(llvm::ArrayRef<Index> positions, llvm::ArrayRef<int64_t> shape) const;
  /// linearize(positions, shape) * stride, as a sum with at most one term per position.
  Index offsetOf(llvm::ArrayRef<Index> positions, llvm::ArrayRef<int64_t> shape,
                 int64_t stride) const;
  llvm::SmallVector<Index> delinearize(Index number, llvm::ArrayRef<int64_t> shape) const;
  /// The positions of the element that is `elements` elements after `positions`. It has the same
  /// value as delinearize(number + elements), but its quotients are small if `elements` is: LLVM
  /// computes a quotient in [0, 1] by a comparison.
  llvm::SmallVector<Index> advance(llvm::ArrayRef<Index> positions, int64_t elements,
                                   llvm::ArrayRef<int64_t> shape) const;

  /// An element of an integer tensor as an index in [0, extent). Other values are
  /// clamped to this range, because padding may have any value, and must not lead
  /// to a read outside of a table.
  virtual Index readIndex(mlir::Value tensor, const ElementIndex &index, int64_t extent) = 0;
  /// The row-major strides of `tensor` at which a loop over its elements must be
  /// split into nested loops, so that index expressions need no quotients and
  /// remainders. A tensor in a buffer has none: one loop over the number n of the
  /// element suffices. This also holds for elementwise ops on buffers, because
  /// element n depends only on elements n. The transposition of a 4 x 8 buffer has
  /// the stride 4: element n of the result is at (n / 4, n mod 4), and two nested
  /// loops have these positions as their variables.
  virtual llvm::SmallVector<int64_t> splitStrides(mlir::Value tensor) = 0;

  /// Whether low <= expression < high follows from the ranges of the variables.
  bool isInRange(Index expression, int64_t low, int64_t high) const;
  /// Whether all `bounds` follow from the ranges of the variables.
  bool areMet(llvm::ArrayRef<IndexBound> bounds) const;

  //===--------------------------------------------------------------------===//
  // The loops and branches around reads that an element rule describes (visitReads)
  //===--------------------------------------------------------------------===//

  /// Says that the reads in `body` are in a reduction over `shape`. `body` gets one
  /// index variable per loop.
  virtual void inLoops(llvm::ArrayRef<int64_t> shape,
                       llvm::function_ref<void(llvm::ArrayRef<Index>)> body);
  /// Says that the reads in `body` are in a branch, or, if `isConditional` is
  /// false, that they are not.
  virtual void inBranch(bool isConditional, llvm::function_ref<void()> body);

private:
  /// Joins neighbouring positions that are the quotient x / n and the remainder x
  /// mod n of one expression x. Together, they are the position x. These pairs
  /// appear if a number was split into positions.
  void joinNeighbours(llvm::SmallVector<Index> &positions, llvm::SmallVector<int64_t> &shape) const;

  mlir::MLIRContext *context;
  llvm::SmallVector<Range> variables;
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_INDEXSPACE_H
