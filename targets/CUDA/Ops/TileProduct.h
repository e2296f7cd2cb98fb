#ifndef DPC_TARGETS_CUDA_OPS_TILEPRODUCT_H
#define DPC_TARGETS_CUDA_OPS_TILEPRODUCT_H

#include "targets/CUDA/Grids/GridEmitter.h"
#include "targets/Loops/Combiner.h"

#include <functional>
#include <memory>

namespace dpc {

/// A slice of a factor in the shared memory of the block: `extent` rows of A or
/// columns of B, with `depth` elements along the depth of the product.
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
  // Because of the padding, neighbours along the depth are in different banks of
  // shared memory.
  static constexpr int64_t kPadding = 1;
  Index placeOf(Index k, Index i) const { return k * (extent + kPadding) + i; }

  GridEmitter &e;
  mlir::Type type;
  mlir::Value memory;
};

/// How a thread adds products to its sums of a tile. For f64, and for f32 if tf32
/// is allowed, all threads of a warp together multiply small matrices with the
/// instruction mma (NVIDIA, "PTX ISA"). For other types, and if sums must keep
/// their order, a thread adds one product after the other.
class TileSums {
public:
  using Index = LoopEmitter::Index;
  using Values = LoopEmitter::Values;

  TileSums(GridEmitter &emitter, Combiner &combiner, int64_t high, int64_t wide)
      : e(emitter), combiner(combiner), high(high), wide(wide) {}
  virtual ~TileSums() = default;

  /// The number of elements along the depth that one step adds.
  virtual int64_t getStep() const = 0;
  /// The row and the column in the tile of sum number `number` of the thread.
  virtual std::pair<Index, Index> placeOf(Index thread, int64_t number) const = 0;
  /// Adds the products of one step to `sums`, from index `kA` along the depth of
  /// slice `a` and index `kB` of slice `b`.
  virtual Values add(Index thread, const Slice &a, Index kA, const Slice &b, Index kB,
                     mlir::ValueRange sums) const = 0;
  /// An element of a factor, rounded as slices must hold it. Its type is that of
  /// the sums.
  virtual mlir::Value round(mlir::Value factor) const { return factor; }

protected:
  GridEmitter &e;
  Combiner &combiner;
  const int64_t high, wide; // sums of a thread
};

/// The element types of a product: of its factors and of its result, which may be
/// wider (nn::holdsSums). Sums have the type nn::accumulatorType(result).
struct ProductTypes {
  mlir::Type factor, result;
};

/// A tile of a product, which a block of 256 threads sums in registers. It has 16 *
/// `high` rows and 16 * `wide` columns. Slices of both factors are copied to shared
/// memory (Volkov and Demmel, "Benchmarking GPUs to tune dense linear algebra", SC
/// 2008). Sums of 16-bit floats are f32.
class TileProduct {
public:
  using Index = LoopEmitter::Index;
  using Values = LoopEmitter::Values;

  /// The number of threads of a block along each dimension of the tile.
  static constexpr int64_t kSide = 16;
  static constexpr int64_t kThreads = kSide * kSide;
  /// The number of elements along the depth in a slice.
  static constexpr int64_t kSlice = 16;

  TileProduct(GridEmitter &emitter, ProductTypes types, int64_t high, int64_t wide);

  /// The part of a factor that a tile reads: rows of A or columns of B from `first`
  /// on. The factor has `extent` rows or columns; a tile may reach beyond them,
  /// where elements count as 0. `read` emits the value of an element, and may emit
  /// a computation.
  struct Factor {
    Index first;
    int64_t extent;
    /// Whether neighbours along the depth are neighbours in memory.
    bool depthIsInner;
    std::function<mlir::Value(Index i, Index k)> read;
  };

  int64_t getRows() const { return high * kSide; }
  int64_t getColumns() const { return wide * kSide; }
  /// The initial sums of a thread, all 0.
  Values getZeros() const { return Values(static_cast<size_t>(high * wide), zero); }
  mlir::Type getType() const { return zero.getType(); }

  /// Adds the products at the indices [first, first + count) along the depth to
  /// `sums`. Elements from `depth` on count as 0. All threads of the block must run
  /// this code.
  Values add(Index thread, const Factor &a, const Factor &b, Index first, int64_t count,
             int64_t depth, mlir::ValueRange sums);
  /// As above, with the first factor in shared memory. `first` is the index along
  /// the depth of its first element.
  Values add(Index thread, const Slice &a, const Factor &b, Index first, int64_t depth,
             mlir::ValueRange sums);
  /// Emits `body` for each sum of the thread, with the row and the column of the
  /// sum in the tile. Threads run `body` independently.
  void
  forEachSum(Index thread, mlir::ValueRange sums,
             llvm::function_ref<void(int64_t number, Index row, Index column, mlir::Value)> body);

  /// `prepare` converts an element of a factor to the form that slices hold.
  /// `narrow` converts a sum to the type of the result.
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

} // namespace dpc

#endif // DPC_TARGETS_CUDA_OPS_TILEPRODUCT_H
