#ifndef DPC_TARGETS_CUDA_OPS_TILESUMS_H
#define DPC_TARGETS_CUDA_OPS_TILESUMS_H

#include "targets/CUDA/Ops/Slice.h"
#include "targets/CUDA/Ops/SliceElements.h"
#include "targets/CUDA/Ops/TileShape.h"
#include "targets/Loops/Combiner.h"

#include <memory>

namespace dpc {

/// How the threads of a block add the products of two slices to their sums of a tile. Each
/// unit (TileUnit) has a class. With mma (NVIDIA, "PTX ISA"), all threads of a warp together
/// multiply small matrices.
class TileSums : public SliceElements {
public:
  using Index = LoopEmitter::Index;
  using Values = LoopEmitter::Values;

  TileSums(GridEmitter &emitter, Combiner &combiner, ProductTypes types, const TileShape &shape)
      : e(emitter), combiner(combiner), types(types), shape(shape) {}

  static std::unique_ptr<TileSums> create(GridEmitter &emitter, Combiner &combiner,
                                          ProductTypes types, const TileShape &shape);

  /// The layout of a slice. `depthIsInner`: whether neighbours along the depth are
  /// neighbours in the memory from which the slice is filled.
  virtual SliceLayout layoutOf(int64_t extent, int64_t depth, bool depthIsInner) const = 0;
  /// The row and the column in the tile of sum number `number` of the thread.
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

protected:
  GridEmitter &e;
  Combiner &combiner;
  const ProductTypes types;
  const TileShape shape;
};

/// Each function creates the class of some units.
std::unique_ptr<TileSums> createScalarSums(GridEmitter &emitter, Combiner &combiner,
                                           ProductTypes types, const TileShape &shape);
std::unique_ptr<TileSums> createMatrixSums(GridEmitter &emitter, Combiner &combiner,
                                           ProductTypes types, const TileShape &shape);

} // namespace dpc

#endif // DPC_TARGETS_CUDA_OPS_TILESUMS_H
