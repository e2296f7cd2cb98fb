#ifndef DPC_TARGETS_CUDA_OPS_TILEPRODUCT_H
#define DPC_TARGETS_CUDA_OPS_TILEPRODUCT_H

#include "targets/CUDA/Ops/SliceFill.h"
#include "targets/CUDA/Ops/TileSums.h"

namespace dpc {

/// A tile of a product, which a block of 256 threads sums in registers. Slices of both
/// factors are copied to shared memory (Volkov and Demmel, "Benchmarking GPUs to tune dense
/// linear algebra", SC 2008), in several stages: threads fill the next slices while they
/// multiply. Sums of 16-bit floats are f32.
class TileProduct {
public:
  using Index = LoopEmitter::Index;
  using Values = LoopEmitter::Values;

  TileProduct(GridEmitter &emitter, ProductTypes types, const TileShape &shape,
              SliceForms forms = {});

  const TileShape &getShape() const { return shape; }
  int64_t getRows() const { return shape.getRows(); }
  int64_t getColumns() const { return shape.getColumns(); }
  /// The initial sums of a thread, all 0.
  Values getZeros() const { return Values(static_cast<size_t>(shape.countSums()), zero); }
  mlir::Type getType() const { return zero.getType(); }
  /// A slice that code fills itself, as the first factor of products with `depth` elements
  /// along the depth.
  Slice makeSlice(int64_t extent, int64_t depth) const;

  /// Adds the products at the indices [first, first + count) along the depth to
  /// `sums`. Elements from `depth` on count as 0. All threads of the block must run
  /// this code. After it, no thread reads slices any more.
  Values add(Index thread, const TileFactor &a, const TileFactor &b, Index first, int64_t count,
             int64_t depth, mlir::ValueRange sums);
  /// As above, with the first factor in shared memory. `first` is the index along
  /// the depth of its first element.
  Values add(Index thread, const Slice &a, const TileFactor &b, Index first, int64_t depth,
             mlir::ValueRange sums);
  /// Emits `body` for each sum of the thread, with the row and the column of the
  /// sum in the tile. Threads run `body` independently.
  void
  forEachSum(Index thread, mlir::ValueRange sums,
             llvm::function_ref<void(int64_t number, Index row, Index column, mlir::Value)> body);

  /// As above, for pieces of sums that are neighbours in a row. `column` is that of the first one,
  /// a multiple of their number.
  void forEachPiece(Index thread, mlir::ValueRange sums,
                    llvm::function_ref<void(Index row, Index column, mlir::ValueRange)> body);

  /// `prepare` converts an element of a factor to the form that slices hold.
  /// `narrow` converts a sum to the type of the result.
  mlir::Value prepare(mlir::Value factor) { return sums->prepare(factor); }
  mlir::Value narrow(mlir::Value sum) { return combiner.narrow(sum); }
  Values narrow(mlir::ValueRange sums);

private:
  /// Emits the products of the slices of a stage. `stage` is null if there is one stage.
  using Multiply = llvm::function_ref<Values(Index round, mlir::Value stage, mlir::ValueRange)>;
  Values addInStages(llvm::MutableArrayRef<SliceFill> fills, int64_t rounds, Index first,
                     mlir::ValueRange before, Multiply multiply);
  /// Adds the products of a round: multiplies the slices of stage `multiplied`, and begins to fill
  /// stage `filled`.
  using AddStage = llvm::function_ref<Values(Index round, mlir::Value multiplied,
                                             mlir::Value filled, mlir::ValueRange)>;
  Values addOneByOne(int64_t rounds, mlir::ValueRange before, AddStage add);
  Values addTogether(llvm::MutableArrayRef<SliceFill> fills, int64_t rounds,
                     mlir::ValueRange before, AddStage add);
  Values addInTurns(llvm::MutableArrayRef<SliceFill> fills, int64_t rounds, Index first,
                    mlir::ValueRange before, Multiply multiply);
  SlicePart partOf(const Slice &slice, mlir::Value stage) const;
  void createSlices(bool hasA);

  GridEmitter &e;
  const ProductTypes types;
  Combiner combiner;
  const TileShape shape;
  mlir::Value zero;
  std::unique_ptr<TileSums> sums;
  std::unique_ptr<Slice> sliceA, sliceB;
};

} // namespace dpc

#endif // DPC_TARGETS_CUDA_OPS_TILEPRODUCT_H
