#ifndef DPC_TARGETS_CUDA_OPS_TILESHAPE_H
#define DPC_TARGETS_CUDA_OPS_TILESHAPE_H

#include "planning/FactorForm.h"

#include "mlir/IR/Types.h"
#include "llvm/Support/Error.h"

namespace dpc {

/// The element types of a product: of its factors and of its result, which may be
/// wider (nn::holdsSums). Sums have the type nn::accumulatorType(result).
struct ProductTypes {
  mlir::Type factor, result;
};

/// How threads multiply the slices of a tile.
enum class TileUnit {
  scalar, ///< a thread multiplies and adds one element after the other
  halves, ///< mma with factors of bf16 or f16 and sums of f32
  tf32,   ///< mma with factors of f32 that are rounded to tf32, and sums of f32
  tf32x3, ///< three mma with factors of f32 as sums of two numbers of tf32, and sums of f32
  f64     ///< mma with factors and sums of f64
};

/// Whether mma multiplies numbers of tf32.
inline bool isTf32(TileUnit unit) { return unit == TileUnit::tf32 || unit == TileUnit::tf32x3; }

/// The size of a tile of a product and of its slices.
struct TileShape {
  /// The number of threads of a block along each dimension of the tile, if it has kThreads threads.
  static constexpr int64_t kSide = 16;
  static constexpr int64_t kThreads = kSide * kSide;

  TileUnit unit = TileUnit::scalar;
  /// The tile has kSide times as many rows and columns. A thread has `high` x `wide` sums if the
  /// block has kThreads threads.
  int64_t high = 2, wide = 2;
  /// With a matrix unit: how many warps divide the rows and the columns of the tile.
  int64_t warpRows = 2, warpColumns = 4;
  /// The number of elements along the depth in a slice.
  int64_t depth = 16;
  /// The slices of each factor in shared memory. With one stage, threads wait until a slice
  /// is filled. With more, they fill a slice while they multiply others.
  int64_t stages = 1;
  /// The size of an element of a slice in bytes.
  int64_t bytes = 4;

  /// The unit for a product. `keepsOrder`: whether sums must add their terms in order.
  /// `factors`: how products of f32 multiply their factors.
  static TileUnit unitFor(ProductTypes types, bool keepsOrder, FactorForm factors);
  /// The shape of a tile with `high` x `wide` sums per thread. Its slices have 64 bytes along the
  /// depth. It has as many stages as the shared memory of a block holds, up to kMostStages.
  static TileShape of(ProductTypes types, TileUnit unit, int64_t high, int64_t wide);
  /// As above, for blocks that need not have kThreads threads.
  static TileShape ofBlock(ProductTypes types, TileUnit unit, int64_t high, int64_t wide);
  static constexpr int64_t kMostStages = 3;

  int64_t getRows() const { return high * kSide; }
  int64_t getColumns() const { return wide * kSide; }
  /// The threads of a block, and the sums of a thread.
  int64_t getThreads() const;
  int64_t countSums() const { return getRows() * getColumns() / getThreads(); }
  /// The number of blocks that a multiprocessor must have registers for at once. If 0, the
  /// assembler chooses.
  int64_t countResidentBlocks() const;
  /// Elements of a slice per step of the unit along the depth.
  int64_t getStep() const;
  /// At least the bytes of all slices in shared memory, with padding.
  int64_t getSharedBytes() const;

  /// Checks that a block's slices fit shared memory, and that the unit can divide the tile.
  llvm::Error verify() const;
};

} // namespace dpc

#endif // DPC_TARGETS_CUDA_OPS_TILESHAPE_H
