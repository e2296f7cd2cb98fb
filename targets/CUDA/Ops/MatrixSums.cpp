// Emits sums by mma: the warps of a block divide the tile, and a warp multiplies small
// matrices. Which lane holds which elements follows NVIDIA, "PTX ISA", "Matrix Fragments".

#include "targets/CUDA/Ops/MatrixUnit.h"
#include "targets/CUDA/Ops/TileSums.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

namespace {
/// The eight warps of a block divide the tile into two rows and four columns.
class MatrixSums : public TileSums {
public:
  MatrixSums(GridEmitter &emitter, Combiner &combiner, ProductTypes types, const TileShape &shape)
      : TileSums(emitter, combiner, types, shape), matrix(emitter, shape.unit, types.factor) {}

  SliceLayout layoutOf(int64_t extent, int64_t depth, bool depthIsInner) const override {
    return SliceLayout::forElements(extent, depth, shape.bytes, depthIsInner);
  }
  std::pair<Index, Index> placeOf(Index thread, int64_t number) const override {
    const int64_t product = number / matrix.sums, sum = number % matrix.sums;
    return {firstRow(thread) + product / countColumns() * matrix.rows + quad(thread) + sum / 2 * 8,
            firstColumn(thread) + product % countColumns() * matrix.columns + inQuad(thread) * 2 +
                sum % 2};
  }

  int64_t countNeighbours() const override { return 2; }

  Values add(Index thread, const SlicePart &a, const SlicePart &b, ValueRange sums) const override {
    const Slice::Address placeA = addressOfA(thread, a), placeB = addressOfB(thread, b);
    Values now(sums);
    if (shape.unit == TileUnit::tf32x3)
      return addSlice(a, placeA, b, placeB, sums);
    for (int64_t k = 0; k < shape.depth; k += matrix.depth) {
      SmallVector<Values> right = loadB(b, placeB, k);
      for (int64_t row = 0; row < countRows(); ++row) {
        Values left = loadA(a, placeA, k, row * matrix.rows);
        for (int64_t column = 0; column < countColumns(); ++column) {
          auto first = now.begin() + (row * countColumns() + column) * matrix.sums;
          Values next =
              matrix.multiply(left, right[static_cast<size_t>(column)],
                              ValueRange(ArrayRef(first, static_cast<size_t>(matrix.sums))));
          llvm::copy(next, first);
        }
      }
    }
    return now;
  }

protected:
  static constexpr int64_t kWarpRows = 2, kWarpColumns = 4, kWarp = LaunchPlan::kWarp;

  /// The unit adds up the products of a slice, which are few, and then scalar instructions add them
  /// to the sums.
  Values addSlice(const SlicePart &a, const Slice::Address &placeA, const SlicePart &b,
                  const Slice::Address &placeB, ValueRange sums) const {
    SmallVector<SmallVector<Values>> right;
    for (int64_t k = 0; k < shape.depth; k += matrix.depth)
      right.push_back(loadB(b, placeB, k));
    const auto wide = static_cast<size_t>(matrix.sums);
    Value zero = e.constantLike(sums[0].getType(), 0);
    Values next;
    for (int64_t row = 0; row < countRows(); ++row) {
      SmallVector<Values> added(static_cast<size_t>(countColumns()), Values(wide, zero));
      for (auto [step, columns] : llvm::enumerate(right)) {
        Values left =
            loadA(a, placeA, static_cast<int64_t>(step) * matrix.depth, row * matrix.rows);
        for (auto [of, column] : llvm::zip_equal(added, columns))
          of = matrix.multiply(left, column, of, /*isShort=*/true);
      }
      for (const Values &column : added)
        for (Value sum : column)
          next.push_back(e.make<arith::AddFOp>(sums[next.size()], sum));
    }
    return next;
  }

  /// The addresses from which the lane loads in the first step and the first small matrix.
  virtual Slice::Address addressOfA(Index thread, const SlicePart &a) const {
    return a.slice.addressOf(a.k + inQuad(thread), firstRow(thread) + quad(thread));
  }
  virtual Slice::Address addressOfB(Index thread, const SlicePart &b) const {
    return b.slice.addressOf(b.k + inQuad(thread), firstColumn(thread) + quad(thread));
  }
  /// The registers of the lane with its elements of A, from index `k` along the depth and
  /// from `row` of the rows of the warp.
  virtual Values loadA(const SlicePart &a, const Slice::Address &address, int64_t k,
                       int64_t row) const = 0;
  /// The registers with the elements of B, for each small matrix of the warp.
  virtual SmallVector<Values> loadB(const SlicePart &b, const Slice::Address &address,
                                    int64_t k) const = 0;

  Index quad(Index thread) const { return matrix.quad(thread); }
  Index inQuad(Index thread) const { return matrix.inQuad(thread); }
  Index firstRow(Index thread) const {
    return e.floorDiv(e.floorDiv(thread, kWarp), kWarpColumns) * rowsOfWarp();
  }
  Index firstColumn(Index thread) const {
    return e.mod(e.floorDiv(thread, kWarp), kWarpColumns) * columnsOfWarp();
  }
  int64_t rowsOfWarp() const { return shape.getRows() / kWarpRows; }
  int64_t columnsOfWarp() const { return shape.getColumns() / kWarpColumns; }
  /// The small matrices of a warp along the rows and the columns.
  int64_t countRows() const { return rowsOfWarp() / matrix.rows; }
  int64_t countColumns() const { return columnsOfWarp() / matrix.columns; }

  Value loadElement(const SlicePart &part, const Slice::Address &address, int64_t k,
                    int64_t i) const {
    return e.make<LLVM::LoadOp>(part.slice.type,
                                part.slice.pointerTo(part.stageOffset, address, k, i));
  }

  const MatrixUnit matrix;
};

/// Sums of f64 by mma.m8n8k4: it computes 8 x 8 sums, two per lane.
class DoubleSums : public MatrixSums {
public:
  using MatrixSums::MatrixSums;
  Type getSliceType() const override { return e.builder.getF64Type(); }

protected:
  Values loadA(const SlicePart &a, const Slice::Address &address, int64_t k,
               int64_t row) const override {
    return {loadElement(a, address, k, row)};
  }
  SmallVector<Values> loadB(const SlicePart &b, const Slice::Address &address,
                            int64_t k) const override {
    SmallVector<Values> matrices;
    for (int64_t column = 0; column < countColumns(); ++column)
      matrices.push_back({loadElement(b, address, k, column * matrix.columns)});
    return matrices;
  }
};

/// Base of sums whose small matrices ldmatrix loads: each of up to four groups of eight
/// lanes gives the addresses of the eight lines of a matrix, of one chunk each.
class ChunkSums : public MatrixSums {
public:
  using MatrixSums::MatrixSums;

protected:
  /// The small matrices of A are neighbours along the rows first, then along the depth.
  Slice::Address addressOfMatricesA(Index thread, const SlicePart &a) const {
    return addressOfMatrices(thread, a, firstRow(thread), second(thread), first(thread));
  }
  /// Those of B are neighbours along the depth first, then along the columns.
  Slice::Address addressOfMatricesB(Index thread, const SlicePart &b) const {
    // For a single column of matrices, ldmatrix ignores the addresses of the other lanes.
    return addressOfMatrices(thread, b, firstColumn(thread), first(thread),
                             countColumns() == 1 ? e.constant(0) : second(thread));
  }
  Values loadMatrices(const SlicePart &part, const Slice::Address &address, int64_t k, int64_t i,
                      int64_t count) const {
    return matrix.loadMatrices(part.slice.pointerTo(part.stageOffset, address, k, i), count,
                               /*isTransposed=*/!part.slice.layout.depthIsInner);
  }
  /// Loads pairs of small matrices of B: those of two columns of matrices at once.
  SmallVector<Values> loadPairsB(const SlicePart &b, const Slice::Address &address,
                                 int64_t k) const {
    SmallVector<Values> matrices;
    for (int64_t column = 0; column < countColumns(); column += 2) {
      const int64_t count = std::min<int64_t>(2, countColumns() - column);
      Values words = loadMatrices(b, address, k, column * matrix.columns, 2 * count);
      for (int64_t n = 0; n < count; ++n)
        matrices.push_back(
            {words[static_cast<size_t>(2 * n)], words[static_cast<size_t>(2 * n + 1)]});
    }
    return matrices;
  }

private:
  Index first(Index thread) const { return e.mod(e.floorDiv(thread, 8), 2); }
  Index second(Index thread) const { return e.mod(e.floorDiv(thread, 16), 2); }
  Slice::Address addressOfMatrices(Index thread, const SlicePart &part, Index firstOfWarp,
                                   Index alongDepth, Index alongExtent) const {
    const SliceLayout &layout = part.slice.layout;
    // A matrix has 8 lines of one chunk.
    Index k = part.k + alongDepth * (layout.depthIsInner ? layout.getChunkElements() : 8),
          i = firstOfWarp + alongExtent * 8;
    (layout.depthIsInner ? i : k) = (layout.depthIsInner ? i : k) + e.mod(thread, 8);
    return part.slice.addressOf(k, i);
  }
};

/// Sums of bf16 or f16 products by mma.m16n8k16: it computes 16 x 8 sums in f32, four per
/// lane.
class HalfSums : public ChunkSums {
public:
  using ChunkSums::ChunkSums;
  Type getSliceType() const override { return types.factor; }
  SliceLayout layoutOf(int64_t extent, int64_t depth, bool depthIsInner) const override {
    return SliceLayout::forChunks(extent, depth, shape.bytes, depthIsInner);
  }
  Value prepare(Value factor) const override { return factor; }

protected:
  Slice::Address addressOfA(Index thread, const SlicePart &a) const override {
    return addressOfMatricesA(thread, a);
  }
  Slice::Address addressOfB(Index thread, const SlicePart &b) const override {
    return addressOfMatricesB(thread, b);
  }
  Values loadA(const SlicePart &a, const Slice::Address &address, int64_t k,
               int64_t row) const override {
    return loadMatrices(a, address, k, row, 4);
  }
  SmallVector<Values> loadB(const SlicePart &b, const Slice::Address &address,
                            int64_t k) const override {
    return loadPairsB(b, address, k);
  }
};

/// Sums of products of tf32, or of f32 as sums of two numbers of tf32, by mma.m16n8k8: it computes
/// 16 x 8 sums in f32, four per lane. If lines are along the depth, ldmatrix loads elements of f32
/// as pairs of 16 bits. Slices hold the elements themselves, so that they can be copied without
/// registers.
class Tf32Sums : public ChunkSums {
public:
  using ChunkSums::ChunkSums;
  Type getSliceType() const override { return e.builder.getF32Type(); }
  SliceLayout layoutOf(int64_t extent, int64_t depth, bool depthIsInner) const override {
    return depthIsInner ? SliceLayout::forChunks(extent, depth, shape.bytes, depthIsInner)
                        : SliceLayout::forElements(extent, depth, shape.bytes, depthIsInner);
  }

protected:
  Slice::Address addressOfA(Index thread, const SlicePart &a) const override {
    return a.slice.layout.depthIsInner ? addressOfMatricesA(thread, a)
                                       : MatrixSums::addressOfA(thread, a);
  }
  Slice::Address addressOfB(Index thread, const SlicePart &b) const override {
    return b.slice.layout.depthIsInner ? addressOfMatricesB(thread, b)
                                       : MatrixSums::addressOfB(thread, b);
  }
  Values loadA(const SlicePart &a, const Slice::Address &address, int64_t k,
               int64_t row) const override {
    if (a.slice.layout.depthIsInner)
      return matrix.toFactors(loadMatrices(a, address, k, row, 4));
    return matrix.toFactors(
        Values{loadElement(a, address, k, row), loadElement(a, address, k, row + 8),
               loadElement(a, address, k + 4, row), loadElement(a, address, k + 4, row + 8)});
  }
  SmallVector<Values> loadB(const SlicePart &b, const Slice::Address &address,
                            int64_t k) const override {
    SmallVector<Values> matrices;
    if (b.slice.layout.depthIsInner)
      matrices = loadPairsB(b, address, k);
    else
      for (int64_t column = 0; column < columnsOfWarp(); column += matrix.columns)
        matrices.push_back(
            {loadElement(b, address, k, column), loadElement(b, address, k + 4, column)});
    for (Values &registers : matrices)
      registers = matrix.toFactors(registers);
    return matrices;
  }
};
} // namespace

std::unique_ptr<TileSums> dpc::createMatrixSums(GridEmitter &emitter, Combiner &combiner,
                                                ProductTypes types, const TileShape &shape) {
  if (shape.unit == TileUnit::f64)
    return std::make_unique<DoubleSums>(emitter, combiner, types, shape);
  if (isTf32(shape.unit))
    return std::make_unique<Tf32Sums>(emitter, combiner, types, shape);
  return std::make_unique<HalfSums>(emitter, combiner, types, shape);
}
