#ifndef DPC_PASSES_SHARDING_MICROBATCHAXIS_H
#define DPC_PASSES_SHARDING_MICROBATCHAXIS_H

#include "dialects/Dist/IR/Layout.h"

#include "mlir/IR/Builders.h"

namespace dpc {

/// The sequential axis that `dist.micro` loops run over, and how values cross
/// the edge of such a loop: outside, a value that the axis cuts holds the
/// slices of all iterations, inside that of one. Without such an axis there are
/// no loops, and no layout uses it.
class MicrobatchAxis {
public:
  /// The sequential axis of `mesh` of more than one iteration. `mesh` outlives
  /// the object.
  explicit MicrobatchAxis(const dist::MeshShape &mesh);

  explicit operator bool() const { return axis; }
  llvm::StringRef getName() const { return axis->name; }
  int64_t getCount() const { return axis->size; }

  bool cuts(const dist::Layout &layout) const;
  bool isPartial(const dist::Layout &layout) const;
  /// Whether a value of that layout is made by a loop, or for one.
  bool isUsedBy(const dist::Layout &layout) const { return cuts(layout) || isPartial(layout); }

  /// The layout outside of loops of a value that is `layout` to its op.
  dist::Layout outsideOf(dist::Layout layout) const;
  /// The layout of the slice that one iteration has.
  dist::Layout insideOf(dist::Layout layout) const;
  /// Whether each iteration has the same slice of both.
  bool sameSlices(const dist::Layout &from, const dist::Layout &to) const;

  /// `local`, the value outside of loops of something of `layout`, with the
  /// microbatch as a new first dimension. Fails with an error at `loc` where
  /// the axis cuts the value unevenly or across a concatenation.
  mlir::FailureOr<mlir::Value> stackSlices(mlir::OpBuilder &builder, mlir::Location loc,
                                           mlir::Value local, const dist::Layout &layout) const;
  /// The inverse of `stackSlices`.
  mlir::FailureOr<mlir::Value> mergeSlices(mlir::OpBuilder &builder, mlir::Location loc,
                                           mlir::Value stacked, const dist::Layout &layout) const;

private:
  /// Where the axis lies in a value: the dimension, and that dimension's local
  /// extent outside of loops as (before, axis size, after).
  struct CutPlace {
    unsigned dim;
    int64_t before, after;
  };

  bool cuts(const dist::DimLayout &dim) const;
  /// The factor that the iterations are, if `dim` is cut into them: its
  /// position, and the extent of the factors after it.
  std::optional<std::pair<unsigned, int64_t>> findFactor(const dist::DimLayout &dim) const;
  mlir::FailureOr<CutPlace> placeOf(mlir::Location loc, const dist::Layout &layout) const;

  const dist::MeshShape &mesh;
  const dist::MeshAxis *axis = nullptr;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_MICROBATCHAXIS_H
