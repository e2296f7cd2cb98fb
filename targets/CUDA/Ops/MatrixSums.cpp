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
/// The warps of a block divide the tile. A lane has some rows of the part of its warp, and in each
/// of them some columns. Row number n of a lane is that of one of the sums that it has of a small
/// matrix; so is column number n.
///
/// Which row of the tile a row of a small matrix stands for is free. If lanes load vectors along
/// the rows, rows of several matrices that one lane has are neighbours in the tile. The same holds
/// for columns. If ldmatrix loads B from lines of the columns, pairs of columns that one lane has
/// of several matrices are neighbours, so that it stores pieces of 16 bytes.
class MatrixSums : public TileSums {
public:
  MatrixSums(GridEmitter &emitter, Combiner &combiner, ProductTypes types, const TileShape &shape,
             SliceForms forms)
      : TileSums(emitter, combiner, types, shape, forms),
        matrix(emitter, shape.unit, types.factor) {}

  SliceLayout layoutOf(int64_t extent, int64_t depth, bool depthIsInner) const override {
    return SliceLayout::forElements(extent, depth, shape.bytes, depthIsInner);
  }
  std::pair<Index, Index> placeOf(Index thread, int64_t number) const override {
    const int64_t row = number / columnsOfLane(), column = number % columnsOfLane();
    const int64_t high = rowsOfVector(), wide = columnsOfVector();
    Index rowInWarp = high > 1 ? quad(thread) * high + row / high * 8 * high + row % high
                               : lineOf(quad(thread), row, pairsOfA());
    // Columns 2 inQuad and 2 inQuad + 1 of `wide` matrices, or of those whose pairs are neighbours.
    const int64_t together = 2 * (wide > 1 ? wide : pairsTogether()), odd = column / wide % 2,
                  first = column / together * 4 * together;
    Index columnInWarp = wide > 1
                             ? placeOfVector(inQuad(thread), e.constant(odd)) * wide + column % wide
                             : inQuad(thread) * together + column % together;
    return {firstRow(thread) + rowInWarp, firstColumn(thread) + columnInWarp + first};
  }

  int64_t countNeighbours() const override {
    return columnsOfVector() > 1 ? std::min(2 * columnsOfVector(), kWidest) : 2 * pairsTogether();
  }

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
          Values before;
          for (int64_t sum = 0; sum < matrix.sums; ++sum)
            before.push_back(now[numberOf(row, column, sum)]);
          Values next = matrix.multiply(left, right[static_cast<size_t>(column)], before);
          for (int64_t sum = 0; sum < matrix.sums; ++sum)
            now[numberOf(row, column, sum)] = next[static_cast<size_t>(sum)];
        }
      }
    }
    return now;
  }

protected:
  static constexpr int64_t kWarp = LaunchPlan::kWarp;
  /// The most elements of a vector that a lane loads.
  static constexpr int64_t kWidest = 4;

  /// The unit adds up the products of a slice, which are few, and then scalar instructions add them
  /// to the sums.
  Values addSlice(const SlicePart &a, const Slice::Address &placeA, const SlicePart &b,
                  const Slice::Address &placeB, ValueRange sums) const {
    SmallVector<SmallVector<Values>> right;
    for (int64_t k = 0; k < shape.depth; k += matrix.depth)
      right.push_back(loadB(b, placeB, k));
    const auto wide = static_cast<size_t>(matrix.sums);
    Value zero = e.constantLike(sums[0].getType(), 0);
    Values next(sums);
    for (int64_t row = 0; row < countRows(); ++row) {
      SmallVector<Values> added(static_cast<size_t>(countColumns()), Values(wide, zero));
      for (auto [step, columns] : llvm::enumerate(right)) {
        Values left =
            loadA(a, placeA, static_cast<int64_t>(step) * matrix.depth, row * matrix.rows);
        for (auto [of, column] : llvm::zip_equal(added, columns))
          of = matrix.multiply(left, column, of, /*isShort=*/true);
      }
      for (auto [column, values] : llvm::enumerate(added))
        for (auto [sum, value] : llvm::enumerate(values)) {
          Value &own = next[numberOf(row, static_cast<int64_t>(column), static_cast<int64_t>(sum))];
          own = e.make<arith::AddFOp>(own, value);
        }
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
  /// The elements of a vector along the rows of A, or along the columns of B.
  virtual int64_t rowsOfVector() const { return 1; }
  virtual int64_t columnsOfVector() const { return 1; }
  /// The number of small matrices whose pairs of columns that a lane has are neighbours, if vectors
  /// have one column. If slices of A have the same layout as those of B, it is the number of
  /// matrices of 8 rows whose pairs of rows are neighbours.
  virtual int64_t pairsTogether() const { return 1; }
  int64_t pairsOfA() const {
    const int64_t pairs = pairsTogether();
    return forms.hasAnyLayoutOfA && forms.depthIsInnerOfA && rowsOfWarp() % (8 * pairs) == 0 ? pairs
                                                                                             : 1;
  }
  /// The row or column of the warp for number `line` of small matrix number `number` of 8 rows or
  /// columns, if `pairs` matrices have pairs of them that are neighbours.
  Index lineOf(Index line, int64_t number, int64_t pairs) const {
    return lineOf(line, pairs) + aheadOf(number, pairs);
  }
  Index lineOf(Index line, int64_t pairs) const {
    return pairs == 1 ? line : e.floorDiv(line, 2) * (2 * pairs) + e.mod(line, 2);
  }
  static int64_t aheadOf(int64_t number, int64_t pairs) {
    return number / pairs * pairs * 8 + number % pairs * 2;
  }
  /// The registers of the lane with its elements of A, from index `k` along the depth and
  /// from `row` of the rows of the warp: those of `rowsTogether()` small matrices.
  virtual Values loadA(const SlicePart &a, const Slice::Address &address, int64_t k,
                       int64_t row) const = 0;
  /// The registers with the elements of B, for each small matrix of the warp.
  virtual SmallVector<Values> loadB(const SlicePart &b, const Slice::Address &address,
                                    int64_t k) const = 0;

  Index quad(Index thread) const { return matrix.quad(thread); }
  Index inQuad(Index thread) const { return matrix.inQuad(thread); }
  Index firstRow(Index thread) const {
    return e.floorDiv(e.floorDiv(thread, kWarp), shape.warpColumns) * rowsOfWarp();
  }
  Index firstColumn(Index thread) const {
    return e.mod(e.floorDiv(thread, kWarp), shape.warpColumns) * columnsOfWarp();
  }
  int64_t rowsOfWarp() const { return shape.getRows() / shape.warpRows; }
  int64_t columnsOfWarp() const { return shape.getColumns() / shape.warpColumns; }
  /// The small matrices of a warp along the rows and the columns.
  int64_t countRows() const { return rowsOfWarp() / matrix.rows; }
  int64_t countColumns() const { return columnsOfWarp() / matrix.columns; }
  /// The rows and the columns in which a lane has sums.
  int64_t rowsOfMatrix() const { return matrix.rows / 8; }
  int64_t rowsOfLane() const { return countRows() * rowsOfMatrix(); }
  int64_t columnsOfLane() const { return countColumns() * 2; }
  /// The number that a sum of a small matrix has among the sums of the lane. Numbers follow the
  /// rows, and neighbours in a row have neighbouring numbers.
  size_t numberOf(int64_t row, int64_t column, int64_t sum) const {
    const int64_t wide = columnsOfVector();
    return static_cast<size_t>((row * rowsOfMatrix() + sum / 2) * columnsOfLane() +
                               column / wide * 2 * wide + sum % 2 * wide + column % wide);
  }
  /// Which vector of columns column 2 `half` + `odd` of a small matrix stands for. Pieces of lanes
  /// of a quad are neighbours, so that they store whole sectors of 32 bytes.
  Index placeOfVector(Index half, Index odd) const {
    return columnsOfVector() < kWidest ? half * 2 + odd : half + odd * 4;
  }

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
    return addressOfMatrices(thread, a, firstRow(thread), second(thread), first(thread),
                             pairsOfA());
  }
  /// Those of B are neighbours along the depth first, then along the columns.
  Slice::Address addressOfMatricesB(Index thread, const SlicePart &b) const {
    // For a single column of matrices, ldmatrix ignores the addresses of the other lanes.
    return addressOfMatrices(thread, b, firstColumn(thread), first(thread),
                             countColumns() == 1 ? e.constant(0) : second(thread), pairsTogether());
  }
  SliceLayout getLayoutOfA() const override {
    return pairsOfA() > 1 ? SliceLayout::forChunks(shape.getRows(), shape.depth, shape.bytes,
                                                   /*depthIsInner=*/true, pairsOfA())
                          : MatrixSums::getLayoutOfA();
  }
  SliceLayout getLayoutOfB() const override {
    return pairsTogether() > 1
               ? SliceLayout::forChunks(shape.getColumns(), shape.depth, shape.bytes,
                                        /*depthIsInner=*/true, pairsTogether())
               : MatrixSums::getLayoutOfB();
  }
  /// Pairs of 16-bit results that are as long together as the widest store, if lines of B are of
  /// its columns and have the number of chunks for which the swizzle separates pairs. A pair of
  /// 32-bit results is long enough: those of a quad have a whole sector of memory.
  int64_t pairsTogether() const override {
    const int64_t kChunks = 4, kMost = 4;
    if (!forms.depthIsInnerOfB || !MatrixUnit::isHalf(types.result) ||
        shape.depth * shape.bytes != kChunks * SliceLayout::kChunk)
      return 1;
    return std::min(countColumns(), kMost);
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
      Values words = loadMatrices(b, address, k, aheadOf(column, pairsTogether()), 2 * count);
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
                                   Index alongDepth, Index alongExtent, int64_t pairs) const {
    const SliceLayout &layout = part.slice.layout;
    // A matrix has 8 lines of one chunk.
    Index k = part.k + alongDepth * (layout.depthIsInner ? layout.getChunkElements() : 8),
          i = firstOfWarp + alongExtent * aheadOf(1, pairs);
    (layout.depthIsInner ? i : k) = (layout.depthIsInner ? i : k) + lineOf(e.mod(thread, 8), pairs);
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
    return loadMatrices(a, address, k, aheadOf(row / 8, pairsOfA()), 4);
  }
  SmallVector<Values> loadB(const SlicePart &b, const Slice::Address &address,
                            int64_t k) const override {
    return loadPairsB(b, address, k);
  }
};

/// Sums of products of tf32, or of f32 as sums of two numbers of tf32, by mma.m16n8k8: it computes
/// 16 x 8 sums in f32, four per lane. If lines are along the depth, ldmatrix loads elements of f32
/// as pairs of 16 bits. It cannot transpose such pairs, so lanes load vectors of other lines.
/// Slices hold the elements themselves, so that they can be copied without registers.
class Tf32Sums : public ChunkSums {
public:
  Tf32Sums(GridEmitter &emitter, Combiner &combiner, ProductTypes types, const TileShape &shape,
           SliceForms forms)
      : ChunkSums(emitter, combiner, types, shape, forms), rounded(matrix),
        isRoundedA(forms.isRoundedA && shape.unit == TileUnit::tf32) {}
  const SliceElements &getFormOfA() const override {
    return isRoundedA ? static_cast<const SliceElements &>(rounded) : *this;
  }
  Type getSliceType() const override { return e.builder.getF32Type(); }
  SliceLayout layoutOf(int64_t extent, int64_t depth, bool depthIsInner) const override {
    return depthIsInner ? SliceLayout::forChunks(extent, depth, shape.bytes, depthIsInner)
                        : SliceLayout::forFragments(extent, depth);
  }

protected:
  int64_t rowsOfVector() const override { return forms.depthIsInnerOfA ? 1 : 2; }
  int64_t columnsOfVector() const override {
    return forms.depthIsInnerOfB ? 1 : std::min(countColumns(), kWidest);
  }
  Slice::Address addressOfA(Index thread, const SlicePart &a) const override {
    if (forms.depthIsInnerOfA)
      return addressOfMatricesA(thread, a);
    return a.slice.addressOf(a.k + inQuad(thread),
                             firstRow(thread) + quad(thread) * rowsOfVector());
  }
  Slice::Address addressOfB(Index thread, const SlicePart &b) const override {
    if (forms.depthIsInnerOfB)
      return addressOfMatricesB(thread, b);
    const Index column = quad(thread),
                vector = placeOfVector(e.floorDiv(column, 2), e.mod(column, 2));
    return b.slice.addressOf(b.k + inQuad(thread),
                             firstColumn(thread) + vector * columnsOfVector());
  }
  Values loadA(const SlicePart &a, const Slice::Address &address, int64_t k,
               int64_t row) const override {
    if (forms.depthIsInnerOfA)
      return toFactorsOfA(loadMatrices(a, address, k, aheadOf(row / 8, pairsOfA()), 4));
    // The rows of a matrix, quad and quad + 8, stand for neighbours.
    Values pairs[2];
    for (int64_t n : {0, 1})
      pairs[n] = e.elementsOf(a.slice.loadVector(2, a.stageOffset, address, k + 4 * n, row));
    return toFactorsOfA(Values{pairs[0][0], pairs[0][1], pairs[1][0], pairs[1][1]});
  }
  SmallVector<Values> loadB(const SlicePart &b, const Slice::Address &address,
                            int64_t k) const override {
    SmallVector<Values> matrices;
    if (forms.depthIsInnerOfB)
      matrices = loadPairsB(b, address, k);
    else
      for (int64_t column = 0; column < columnsOfWarp();
           column += columnsOfVector() * matrix.columns)
        for (auto [first, second] :
             llvm::zip_equal(loadVector(b, address, k, column, columnsOfVector()),
                             loadVector(b, address, k + 4, column, columnsOfVector())))
          matrices.push_back({first, second});
    for (Values &registers : matrices)
      registers = matrix.toFactors(registers);
    return matrices;
  }

private:
  /// Numbers of tf32. Threads round them before they store them in a slice.
  class RoundedElements : public SliceElements {
  public:
    explicit RoundedElements(const MatrixUnit &matrix) : matrix(matrix) {}
    Type getSliceType() const override { return matrix.getF32Type(); }
    Value prepare(Value factor) const override { return matrix.roundToTf32(factor); }
    bool holdsFactors() const override { return false; }

  private:
    const MatrixUnit &matrix;
  };

  Values toFactorsOfA(ValueRange numbers) const {
    return isRoundedA ? Values(numbers) : matrix.toFactors(numbers);
  }
  /// The elements of a vector of `count` neighbours along the extent.
  Values loadVector(const SlicePart &part, const Slice::Address &address, int64_t k, int64_t i,
                    int64_t count) const {
    if (count == 1)
      return {loadElement(part, address, k, i)};
    return matrix.unpack(part.slice.loadPairs(count, part.stageOffset, address, k, i));
  }

  const RoundedElements rounded;
  const bool isRoundedA;
};
} // namespace

std::unique_ptr<TileSums> dpc::createMatrixSums(GridEmitter &emitter, Combiner &combiner,
                                                ProductTypes types, const TileShape &shape,
                                                SliceForms forms) {
  if (shape.unit == TileUnit::f64)
    return std::make_unique<DoubleSums>(emitter, combiner, types, shape, forms);
  if (isTf32(shape.unit))
    return std::make_unique<Tf32Sums>(emitter, combiner, types, shape, forms);
  return std::make_unique<HalfSums>(emitter, combiner, types, shape, forms);
}
