#ifndef DPC_TARGETS_CUDA_OPS_TILESUMS_H
#define DPC_TARGETS_CUDA_OPS_TILESUMS_H

#include "targets/CUDA/Ops/Slice.h"
#include "targets/CUDA/Ops/SliceElements.h"
#include "targets/CUDA/Ops/TileShape.h"
#include "targets/Loops/Combiner.h"

#include <memory>

namespace dpc {

/// The slices of both factors: whether their lines are along the depth (SliceLayout), whether that
/// of A holds numbers that are already rounded to tf32, and whether A has any layout
/// (getLayoutOfA), or that of TileProduct::makeSlice.
struct SliceForms {
  bool depthIsInnerOfA = true, depthIsInnerOfB = true;
  bool isRoundedA = false, hasAnyLayoutOfA = false;
};

/// How the threads of a block add the products of two slices to their sums of a tile. Each
/// unit (TileUnit) has a class. With mma (NVIDIA, "PTX ISA"), all threads of a warp together
/// multiply small matrices.
class TileSums : public SliceElements {
public:
  using Index = LoopEmitter::Index;
  using Values = LoopEmitter::Values;

  TileSums(GridEmitter &emitter, Combiner &combiner, ProductTypes types, const TileShape &shape,
           SliceForms forms)
      : forms(forms), e(emitter), combiner(combiner), types(types), shape(shape) {}

  static std::unique_ptr<TileSums> create(GridEmitter &emitter, Combiner &combiner,
                                          ProductTypes types, const TileShape &shape,
                                          SliceForms forms);

  /// The layout of a slice. `depthIsInner`: whether its lines are along the depth, if the unit
  /// takes such lines.
  virtual SliceLayout layoutOf(int64_t extent, int64_t depth, bool depthIsInner) const = 0;
  /// The layouts of slices with `shape.depth` elements along the depth.
  virtual SliceLayout getLayoutOfA() const {
    return layoutOf(shape.getRows(), shape.depth, forms.depthIsInnerOfA);
  }
  virtual SliceLayout getLayoutOfB() const {
    return layoutOf(shape.getColumns(), shape.depth, forms.depthIsInnerOfB);
  }
  /// The row and the column in the tile of sum number `number` of the thread. They depend on
  /// `forms`, because a thread has neighbours in the direction in which it loads vectors.
  virtual std::pair<Index, Index> placeOf(Index thread, int64_t number) const = 0;
  /// The number of sums of a thread with neighbouring numbers that are neighbours in a row of the
  /// tile. The column of the first one is a multiple of it.
  virtual int64_t countNeighbours() const = 0;
  /// Adds the products of `shape.depth` elements along the depth of two slices to `sums`.
  /// The code has no loop, so that the addresses of elements differ by constants.
  virtual Values add(Index thread, const SlicePart &a, const SlicePart &b,
                     mlir::ValueRange sums) const = 0;
  mlir::Value prepare(mlir::Value factor) const override { return combiner.widen(factor); }
  bool holdsFactors() const override { return types.factor == getSliceType(); }
  /// The form of the elements of A. That of B is the object itself.
  virtual const SliceElements &getFormOfA() const { return *this; }

  const SliceForms forms;

protected:
  GridEmitter &e;
  Combiner &combiner;
  const ProductTypes types;
  const TileShape shape;
};

/// Each function creates the class of some units.
std::unique_ptr<TileSums> createScalarSums(GridEmitter &emitter, Combiner &combiner,
                                           ProductTypes types, const TileShape &shape,
                                           SliceForms forms);
std::unique_ptr<TileSums> createMatrixSums(GridEmitter &emitter, Combiner &combiner,
                                           ProductTypes types, const TileShape &shape,
                                           SliceForms forms);

} // namespace dpc

#endif // DPC_TARGETS_CUDA_OPS_TILESUMS_H
