#ifndef DPC_TARGETS_CUDA_OPS_TILEPRODUCT_H
#define DPC_TARGETS_CUDA_OPS_TILEPRODUCT_H

#include "targets/CUDA/Grids/GridEmitter.h"
#include "targets/Loops/Combiner.h"

#include <functional>
#include <memory>

namespace dpc::nn {

/// Rows or columns of a factor in the block's shared memory: `extent` of them, with
/// `depth` elements along the depth of the product.
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
  // The padding puts neighbours along the depth into different banks.
  static constexpr int64_t kPadding = 1;
  Index placeOf(Index k, Index i) const { return k * (extent + kPadding) + i; }

  GridEmitter &e;
  mlir::Type type;
  mlir::Value memory;
};

/// The way in which a thread adds products to its sums of a tile. Sums of f64, and
/// of f32 if tf32 is allowed, use the units that multiply small matrices with all
/// threads of a warp (NVIDIA, "PTX ISA", mma), unless sums must keep their order.
/// Other sums add one product after the other.
class TileSums {
public:
  using Index = LoopEmitter::Index;
  using Values = LoopEmitter::Values;

  TileSums(GridEmitter &emitter, Combiner &combiner, int64_t high, int64_t wide)
      : e(emitter), combiner(combiner), high(high), wide(wide) {}
  virtual ~TileSums() = default;

  /// Number of elements along the depth that one step takes.
  virtual int64_t getStep() const = 0;
  /// The row and column in the tile of the thread's sum with this number.
  virtual std::pair<Index, Index> placeOf(Index thread, int64_t number) const = 0;
  /// Adds the products of one step, from index `kA` of one factor and `kB` of the
  /// other.
  virtual Values add(Index thread, const Slice &a, Index kA, const Slice &b, Index kB,
                     mlir::ValueRange sums) const = 0;
  /// A factor, converted to the form that slices must hold; its type stays that of
  /// the sums.
  virtual mlir::Value round(mlir::Value factor) const { return factor; }

protected:
  GridEmitter &e;
  Combiner &combiner;
  const int64_t high, wide; // sums of a thread
};

/// A tile of a product, 16 x `high` rows and 16 x `wide` columns, that a block of
/// 256 threads sums in registers. Slices of both factors go through shared memory
/// (Volkov and Demmel, "Benchmarking GPUs to tune dense linear algebra", SC 2008).
/// Sums of 16-bit floats are f32.
class TileProduct {
public:
  using Index = LoopEmitter::Index;
  using Values = LoopEmitter::Values;

  /// Number of threads of a block along each dimension of the tile.
  static constexpr int64_t kSide = 16;
  static constexpr int64_t kThreads = kSide * kSide;
  /// Number of elements along the depth in a slice.
  static constexpr int64_t kSlice = 16;

  TileProduct(GridEmitter &emitter, mlir::Type elementType, int64_t high, int64_t wide);

  /// The part of a factor that a tile reads: its rows or columns from `first` on,
  /// up to `extent`. Rows or columns past `extent` add nothing. `read` gives an
  /// element; it may be a computation.
  struct Factor {
    Index first;
    int64_t extent;
    /// Whether neighbours along the depth are neighbours in memory.
    bool depthIsInner;
    std::function<mlir::Value(Index i, Index k)> read;
  };

  int64_t getRows() const { return high * kSide; }
  int64_t getColumns() const { return wide * kSide; }
  /// The initial sums of a thread.
  Values getZeros() const { return Values(static_cast<size_t>(high * wide), zero); }
  mlir::Type getType() const { return zero.getType(); }

  /// Adds the products at indices [first, first + count) along the depth, up to
  /// `depth`. All threads of the block must call it.
  Values add(Index thread, const Factor &a, const Factor &b, Index first, int64_t count,
             int64_t depth, mlir::ValueRange sums);
  /// The same with the first factor already in shared memory; `first` is the index
  /// of its first element.
  Values add(Index thread, const Slice &a, const Factor &b, Index first, int64_t depth,
             mlir::ValueRange sums);
  /// Calls `body` for each sum of the thread, with its row and column in the tile.
  /// The threads run it independently.
  void
  forEachSum(Index thread, mlir::ValueRange sums,
             llvm::function_ref<void(int64_t number, Index row, Index column, mlir::Value)> body);

  /// Converts a factor to the form that slices hold, and a sum to the type of
  /// elements.
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
