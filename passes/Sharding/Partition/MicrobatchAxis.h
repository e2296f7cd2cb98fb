#ifndef DPC_PASSES_SHARDING_PARTITION_MICROBATCHAXIS_H
#define DPC_PASSES_SHARDING_PARTITION_MICROBATCHAXIS_H

#include "dialects/Dist/IR/Layout.h"

#include "mlir/IR/Builders.h"

namespace dpc {

/// The sequential axis over which `dist.micro` loops run, and the conversion of values that enter
/// or leave such a loop. If the axis cuts a value, the value outside of the loop has the slices of
/// all iterations, and the value inside has the slice of one iteration. If the mesh has no such
/// axis, there are no loops, and no layout uses the axis.
class MicrobatchAxis {
public:
  /// Finds the sequential axis of `mesh` that has more than one iteration. `mesh` must outlive the
  /// object.
  explicit MicrobatchAxis(const dist::MeshShape &mesh);

  explicit operator bool() const { return axis; }
  llvm::StringRef getName() const { return axis->name; }
  int64_t getCount() const { return axis->size; }

  bool cuts(const dist::Layout &layout) const;
  bool isPartial(const dist::Layout &layout) const;
  /// Whether a value with `layout` is computed in a loop over the axis, or enters such a loop in
  /// slices.
  bool isUsedBy(const dist::Layout &layout) const { return cuts(layout) || isPartial(layout); }

  /// The layout that a value has outside of loops if `layout` is written on its op.
  dist::Layout outsideOf(dist::Layout layout) const;
  /// The layout of the slice that one iteration has.
  dist::Layout insideOf(dist::Layout layout) const;
  /// Whether each iteration has the same slice under both layouts.
  bool sameSlices(const dist::Layout &from, const dist::Layout &to) const;

  /// Moves the slices of `local` into a new first dimension, which counts microbatches. `local` is
  /// the form that a value with `layout` has outside of loops. Fails with an error at `loc` if the
  /// axis cuts the value unevenly or across a concatenation.
  mlir::FailureOr<mlir::Value> stackSlices(mlir::OpBuilder &builder, mlir::Location loc,
                                           mlir::Value local, const dist::Layout &layout) const;
  /// The inverse of `stackSlices`.
  mlir::FailureOr<mlir::Value> mergeSlices(mlir::OpBuilder &builder, mlir::Location loc,
                                           mlir::Value stacked, const dist::Layout &layout) const;

private:
  /// Where the axis cuts a value: the dimension, and the local extent of that dimension outside of
  /// loops as the product before x axis size x after.
  struct CutPlace {
    unsigned dim;
    int64_t before, after;
  };

  bool cuts(const dist::DimLayout &dim) const;
  /// Finds the factor of `dim` that counts the iterations. Returns the index of the factor, and the
  /// product of the sizes of the factors after it; nullopt if there is no such factor.
  std::optional<std::pair<unsigned, int64_t>> findFactor(const dist::DimLayout &dim) const;
  mlir::FailureOr<CutPlace> placeOf(mlir::Location loc, const dist::Layout &layout) const;

  const dist::MeshShape &mesh;
  const dist::MeshAxis *axis = nullptr;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_PARTITION_MICROBATCHAXIS_H
