#ifndef DPC_TARGETS_CUDA_OPS_BLOCKPRODUCT_H
#define DPC_TARGETS_CUDA_OPS_BLOCKPRODUCT_H

#include "targets/CUDA/Grids/GridFill.h"
#include "targets/CUDA/Ops/TileProduct.h"

namespace dpc {

/// The product C = A B, with one tile of C per block of threads (TileProduct). If C has
/// few tiles and long sums, several blocks share each sum, and a second launch adds
/// their partial sums.
struct BlockProduct {
  using Index = LoopEmitter::Index;

  ProductTypes types;
  int64_t batches, rows, columns, depth; // C is rows x columns for each batch element
  /// For each factor: whether neighbours along the depth are neighbours in memory. If
  /// so, neighbouring threads read neighbours along the depth. Otherwise they read
  /// neighbours along the rows of A or along the columns of B.
  bool depthIsInnerOfA = true, depthIsInnerOfB = false;
  /// For each factor: the number of elements in the inner direction that are neighbours in
  /// memory (TileFactor::run).
  int64_t runOfA = 0, runOfB = 0;
  /// Whether factors are positions in an image, which need the registers with which a thread could
  /// keep loaded pieces of a slice. Whether they may be patches of it: their conditions need the
  /// registers with which it could have more pieces.
  bool hasPositions = false, hasPatches = false;

  /// Whether tiles are faster than the element rule for this product.
  bool pays() const;
  /// The grids of the launches: one or two. There is only one launch unless sums may be
  /// divided.
  llvm::SmallVector<TileGrid> getGrids(const GridOptions &options) const;
  /// The bytes of scratch memory for partial sums. Needed only if there are two launches.
  int64_t getScratchBytes() const;

  /// The number of elements that calls of `take` get at least in the code of a launch: one for each
  /// sum of a thread, or one in the launch that adds partial sums.
  int64_t countFinalElements(LaunchPhase phase) const;

  /// Emits the index of an element of a factor, for row or column `i`. The element may be
  /// computed where it is read, because each block reads an element only once.
  using ElementOf = llvm::function_ref<FactorElement(Index batch, Index i, Index k)>;
  /// Emits code that uses neighbouring elements of a row of C, in the one thread that has summed
  /// them. `column` is that of the first one.
  using Take =
      llvm::function_ref<void(Index batch, Index row, Index column, mlir::ValueRange elements)>;
  void emit(GridEmitter &emitter, LaunchPhase phase, ElementOf a, ElementOf b, Take take) const;

private:
  /// The size of a tile (TileShape), and the number of blocks that share each sum.
  struct Division {
    int64_t high, wide, parts;
  };
  Division divide(bool mayDivide, TileUnit unit) const;
  /// Whether threads fill slices of both factors by chunks.
  bool hasChunks() const;
  TileShape shapeOf(const Division &division, TileUnit unit) const;
  int64_t countTiles(int64_t tileRows, int64_t tileColumns) const;
  void store(GridEmitter &emitter, TileProduct &tile, int64_t parts, llvm::ArrayRef<Index> at,
             Index thread, mlir::ValueRange sums, Take take) const;
  void addParts(GridEmitter &emitter, int64_t parts, Take take) const;
};

} // namespace dpc

#endif // DPC_TARGETS_CUDA_OPS_BLOCKPRODUCT_H
