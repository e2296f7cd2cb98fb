#ifndef DPC_TARGETS_CUDA_OPS_SLICEFILL_H
#define DPC_TARGETS_CUDA_OPS_SLICEFILL_H

#include "targets/CUDA/Ops/Slice.h"
#include "targets/CUDA/Ops/SliceElements.h"
#include "targets/CUDA/Ops/TileShape.h"

#include <functional>
#include <optional>

namespace dpc {

/// An element that a tile reads: element `index` of an operand. It counts as 0 where
/// `isThere` (i1) does not hold, e.g. in the padding of an image. A null `isThere` always holds.
struct FactorElement {
  mlir::Value tensor;
  ElementIndex index;
  mlir::Value isThere;
};

/// The part of a factor that a tile reads: rows of A or columns of B from `first` on. The
/// factor has `extent` rows or columns; a tile may reach beyond them, where elements count
/// as 0.
struct TileFactor {
  using Index = LoopEmitter::Index;

  Index first;
  int64_t extent;
  /// Whether neighbours along the depth are neighbours in memory. If not, neighbours along
  /// the rows of A or the columns of B are.
  bool depthIsInner;
  /// If positive: from each multiple of this number on, so many elements in the inner
  /// direction are neighbours in memory, and all of them are there or none.
  int64_t run;
  /// Emits the index of an element. All elements are those of one tensor.
  std::function<FactorElement(Index i, Index k)> at;
  /// Whether the rows or columns from `extent` on may have any elements, because their sums are not
  /// used.
  bool hasOpenEnd = false;
  /// If not null: emits `first` once more, from numbers that the device reads again
  /// (GridEmitter::readBlockAgain).
  std::function<Index()> readFirstAgain = nullptr;
};

/// Fills slices of one factor. There are three ways, from the fastest to the slowest:
///
/// * Copies: if the tensor is in memory and the slice holds the same bits, cp.async copies
///   chunks, or single elements of at least 4 bytes, without registers.
/// * Loads: other elements in memory are loaded into registers before a multiplication, and
///   stored in the slice after it, so that threads need not wait for memory.
/// * Computations: if the tensor is not in memory, threads compute elements and store them.
class SliceFill {
public:
  using Index = LoopEmitter::Index;

  /// The slice is filled by a block of `threads` threads. `depth` is that of the product.
  SliceFill(GridEmitter &emitter, const SliceElements &form, const Slice &slice,
            const TileFactor &factor, Index thread, int64_t depth, int64_t threads);

  /// Begins to fill stage number `stage` with the elements from index `k` along the depth on.
  /// A null stage is the first one. Elements from `depth` on count as 0, and so do all elements
  /// if `isNeeded` (i1) does not hold; a null `isNeeded` always holds.
  void begin(mlir::Value stage, Index k, mlir::Value isNeeded);
  /// Ends what `begin` began. Copies are not complete until the code waits for them.
  void end();
  /// Lets the code that follows read the numbers of the block and of the thread again. After a long
  /// loop, it then needs no registers that keep their values during the loop.
  void readAgain(Index newThread);
  bool isCopied() const { return way == Way::copies; }
  /// Rounds the elements that this thread has copied to stage number `stage`, if slices hold
  /// rounded elements. The copies must be complete.
  void round(mlir::Value stage);

private:
  enum class Way { copies, loads, computations };

  /// The place in the slice of a piece of neighbouring elements.
  struct Place {
    Index k, i;
    /// Whether the piece exists: there may be fewer pieces than threads.
    mlir::Value exists;
    /// The distance from a place in a line with the same swizzle, whose address the code has too.
    int64_t aheadK = 0, aheadI = 0;
  };
  void chooseWay();
  void forEachPlace(llvm::function_ref<void(const Place &)> body);
  int64_t countPieces() const { return slice.layout.extent * slice.layout.depth / elements; }
  Place placeOf(Index number) const;
  Place placeInRound(int64_t round) const;
  mlir::Value pointerTo(mlir::Value stageOffset, const Place &place) const;
  mlir::Value isInFactor(const Place &place, Index first, mlir::Value isNeeded,
                         int64_t ahead) const;
  FactorElement elementAt(const Place &place, Index first, int64_t ahead) const;
  void moveInside(Place &place) const;
  void copy(const Place &place, Index first, mlir::Value isNeeded);
  mlir::Value load(Place place, Index first, mlir::Value isNeeded);
  void compute(Index first, mlir::Value isNeeded);

  GridEmitter &e;
  const SliceElements &form;
  const Slice &slice;
  TileFactor factor;
  Index thread;
  const int64_t depth, threads;
  Way way = Way::computations;
  int64_t elements = 1; // of a piece
  /// Whether the elements of a piece are neighbours in memory, all in the factor or none.
  bool hasRuns = false;
  mlir::Value stageOffset; // of the stage that `begin` fills
  llvm::SmallVector<std::pair<Place, mlir::Value>> loaded;
};

} // namespace dpc

#endif // DPC_TARGETS_CUDA_OPS_SLICEFILL_H
