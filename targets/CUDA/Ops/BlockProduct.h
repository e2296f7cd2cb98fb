#ifndef DPC_TARGETS_CUDA_OPS_BLOCKPRODUCT_H
#define DPC_TARGETS_CUDA_OPS_BLOCKPRODUCT_H

#include "targets/CUDA/Grids/GridFill.h"

namespace dpc::nn {

/// C = A B, a tile of C for each block of threads (TileProduct). Where the tiles
/// are few and sums are long, each sum is divided among blocks, whose parts a
/// second launch adds up.
struct BlockProduct {
  using Index = LoopEmitter::Index;

  mlir::Type elementType;
  int64_t batches, rows, columns, depth; // C is rows x columns for each batch
  /// Whether neighbours along the depth are neighbours in memory, for a factor:
  /// threads that are neighbours read these.
  bool depthIsInnerOfA = true, depthIsInnerOfB = false;

  /// Whether a product of this size and type is worth the tiles.
  static bool pays(mlir::Type elementType, int64_t rows, int64_t columns, int64_t depth);
  /// The grids of its launches; of one where not `mayDivide`.
  llvm::SmallVector<TileGrid> getGrids(bool mayDivide) const;
  /// Bytes for parts of sums, where there are several launches.
  int64_t getScratchBytes() const;

  /// Elements of the factors. Both are read once a block: they may compute.
  using ReadA = llvm::function_ref<mlir::Value(Index batch, Index row, Index k)>;
  using ReadB = llvm::function_ref<mlir::Value(Index batch, Index k, Index column)>;
  /// Takes an element of C, in the one thread that has it.
  using Take = llvm::function_ref<void(Index batch, Index row, Index column, mlir::Value element)>;
  void emit(GridEmitter &emitter, LaunchPhase phase, ReadA readA, ReadB readB, Take take) const;

private:
  /// Sums of a thread along the dimensions of the tile, and parts of a sum.
  struct Division {
    int64_t high, wide, parts;
  };
  Division divide(bool mayDivide) const;
  int64_t countTiles(int64_t tileRows, int64_t tileColumns) const;
  void addParts(GridEmitter &emitter, int64_t parts, Take take) const;
};

} // namespace dpc::nn

#endif // DPC_TARGETS_CUDA_OPS_BLOCKPRODUCT_H
