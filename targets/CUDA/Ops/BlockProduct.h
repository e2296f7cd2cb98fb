#ifndef DPC_TARGETS_CUDA_OPS_BLOCKPRODUCT_H
#define DPC_TARGETS_CUDA_OPS_BLOCKPRODUCT_H

#include "targets/CUDA/Grids/GridFill.h"

namespace dpc::nn {

/// C = A B, a tile of C for each block of threads: slices of both factors go
/// through memory that the block shares, and each thread sums some elements of
/// the tile in registers, over the depth in its order (Volkov and Demmel,
/// "Benchmarking GPUs to tune dense linear algebra", SC 2008). Sums of 16-bit
/// floats are f32. Products of f64, and of f32 where tf32 is allowed, are made by
/// the units that multiply small matrices, a warp together (NVIDIA, "PTX ISA",
/// mma), unless sums keep their order.
struct BlockProduct {
  using Index = LoopEmitter::Index;

  mlir::Type elementType;
  int64_t batches, rows, columns, depth; // C is rows x columns for each batch
  /// Whether neighbours along the depth are neighbours in memory, for a factor:
  /// threads that are neighbours read these.
  bool depthIsInnerOfA = true, depthIsInnerOfB = false;

  /// Whether a product of this size and type is worth the tiles.
  static bool pays(mlir::Type elementType, int64_t rows, int64_t columns, int64_t depth);
  TileGrid getGrid() const;

  /// Elements of the factors. Both are read once a block: they may compute.
  using ReadA = llvm::function_ref<mlir::Value(Index batch, Index row, Index k)>;
  using ReadB = llvm::function_ref<mlir::Value(Index batch, Index k, Index column)>;
  /// Takes an element of C, in the one thread that has it.
  using Take = llvm::function_ref<void(Index batch, Index row, Index column, mlir::Value element)>;
  void emit(GridEmitter &emitter, ReadA readA, ReadB readB, Take take) const;

private:
  /// Elements of the tile that a thread has along a dimension of it.
  std::pair<int64_t, int64_t> getThreadTile() const;
  int64_t countTiles(int64_t tileRows, int64_t tileColumns) const;
};

} // namespace dpc::nn

#endif // DPC_TARGETS_CUDA_OPS_BLOCKPRODUCT_H
