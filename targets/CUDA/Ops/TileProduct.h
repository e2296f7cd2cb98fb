#ifndef DPC_TARGETS_CUDA_OPS_TILEPRODUCT_H
#define DPC_TARGETS_CUDA_OPS_TILEPRODUCT_H

#include "targets/CUDA/Grids/GridEmitter.h"
#include "targets/Loops/Combiner.h"

#include <functional>
#include <memory>

namespace dpc::nn {

/// Rows or columns of a factor in memory that the block shares: `extent` of them,
/// for `depth` places along the depth.
class Slice {
public:
  using Index = LoopEmitter::Index;

  Slice(GridEmitter &emitter, mlir::Type type, int64_t extent, int64_t depth);

  mlir::Value load(Index k, Index i) const { return e.loadAt(memory, type, placeOf(k, i)); }
  void store(mlir::Value element, Index k, Index i) const {
    e.storeAt(memory, element, placeOf(k, i));
  }

  const int64_t extent, depth;

private:
  // Neighbours along the depth lie in different banks.
  static constexpr int64_t kPadding = 1;
  Index placeOf(Index k, Index i) const { return k * (extent + kPadding) + i; }

  GridEmitter &e;
  mlir::Type type;
  mlir::Value memory;
};

/// How a thread's share of the sums of a tile grows: sums of f64, and of f32 where
/// tf32 is allowed, by the units that multiply small matrices, a warp together
/// (NVIDIA, "PTX ISA", mma), unless sums keep their order; else one
/// multiplication after the other.
class TileSums {
public:
  using Index = LoopEmitter::Index;
  using Values = LoopEmitter::Values;

  TileSums(GridEmitter &emitter, Combiner &combiner, int64_t high, int64_t wide)
      : e(emitter), combiner(combiner), high(high), wide(wide) {}
  virtual ~TileSums() = default;

  /// Places along the depth that a step takes.
  virtual int64_t getStep() const = 0;
  /// Row and column of a sum in the tile.
  virtual std::pair<Index, Index> placeOf(Index thread, int64_t number) const = 0;
  /// Adds a step at place `kA` of one factor and `kB` of the other.
  virtual Values add(Index thread, const Slice &a, Index kA, const Slice &b, Index kB,
                     mlir::ValueRange sums) const = 0;
  /// A factor, of the type of sums, as the slices must hold it.
  virtual mlir::Value round(mlir::Value factor) const { return factor; }

protected:
  GridEmitter &e;
  Combiner &combiner;
  const int64_t high, wide; // sums of a thread
};

/// A tile of a product, 16 x `high` rows and 16 x `wide` columns, that a block of
/// 256 threads sums in registers: slices of both factors go through memory that
/// the block shares (Volkov and Demmel, "Benchmarking GPUs to tune dense linear
/// algebra", SC 2008). Sums of 16-bit floats are f32.
class TileProduct {
public:
  using Index = LoopEmitter::Index;
  using Values = LoopEmitter::Values;

  /// Threads of a block, along each dimension of the tile.
  static constexpr int64_t kSide = 16;
  static constexpr int64_t kThreads = kSide * kSide;
  /// Places along the depth that slices hold.
  static constexpr int64_t kSlice = 16;

  TileProduct(GridEmitter &emitter, mlir::Type elementType, int64_t high, int64_t wide);

  /// What a tile reads of a factor: its rows or columns from `first` on, as far as
  /// there are `extent`; what is beyond adds nothing. `read` gives an element; it
  /// may compute.
  struct Factor {
    Index first;
    int64_t extent;
    /// Whether neighbours along the depth are neighbours in memory.
    bool depthIsInner;
    std::function<mlir::Value(Index i, Index k)> read;
  };

  int64_t getRows() const { return high * kSide; }
  int64_t getColumns() const { return wide * kSide; }
  /// The sums of a thread before anything was added.
  Values getZeros() const { return Values(static_cast<size_t>(high * wide), zero); }
  mlir::Type getType() const { return zero.getType(); }

  /// Adds the products of places `first` up to `first` + `count` along the depth,
  /// as far as there are `depth`. All threads of the block do.
  Values add(Index thread, const Factor &a, const Factor &b, Index first, int64_t count,
             int64_t depth, mlir::ValueRange sums);
  /// The same where the first factor is in shared memory already, `first` being
  /// its place 0.
  Values add(Index thread, const Slice &a, const Factor &b, Index first, int64_t depth,
             mlir::ValueRange sums);
  /// `body` for each sum of the thread, with its row and column in the tile. What
  /// it does is the thread's own.
  void
  forEachSum(Index thread, mlir::ValueRange sums,
             llvm::function_ref<void(int64_t number, Index row, Index column, mlir::Value)> body);

  /// A factor as slices must hold it, and a sum as an element.
  mlir::Value prepare(mlir::Value factor) { return sums->round(combiner.widen(factor)); }
  mlir::Value narrow(mlir::Value sum) { return combiner.narrow(sum); }

private:
  void fill(Slice &slice, const Factor &factor, Index first, int64_t depth);
  Slice &sliceOf(std::unique_ptr<Slice> &slice, int64_t extent);

  GridEmitter &e;
  Combiner combiner;
  const int64_t high, wide;
  mlir::Value zero;
  std::unique_ptr<TileSums> sums;
  std::unique_ptr<Slice> sliceA, sliceB;
};

} // namespace dpc::nn

#endif // DPC_TARGETS_CUDA_OPS_TILEPRODUCT_H
