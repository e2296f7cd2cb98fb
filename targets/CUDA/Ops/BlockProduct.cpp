// Writes a product as tiles of blocks of threads.

#include "targets/CUDA/Ops/BlockProduct.h"

#include "targets/Loops/Combiner.h"

#include "llvm/Support/MathExtras.h"

#include <memory>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Values = LoopEmitter::Values;

/// Threads of a block, along each dimension of the tile.
static const int64_t kSide = 16;
/// Elements along the depth that are in shared memory at a time.
static const int64_t kSlice = 16;
/// Between rows of a slice: neighbours along the depth lie in different banks.
static const int64_t kPadding = 1;
/// Blocks that keep a device busy.
static const int64_t kEnoughBlocks = 128;

bool BlockProduct::pays(Type elementType, int64_t rows, int64_t columns, int64_t depth) {
  return isa<FloatType>(elementType) && rows >= kSide && columns >= kSide && depth >= kSlice / 2;
}

int64_t BlockProduct::countTiles(int64_t tileRows, int64_t tileColumns) const {
  return batches * llvm::divideCeil(rows, tileRows) * llvm::divideCeil(columns, tileColumns);
}

// The more elements a thread has, the fewer times a factor is read; but first
// every multiprocessor needs a block.
std::pair<int64_t, int64_t> BlockProduct::getThreadTile() const {
  auto fitting = [](int64_t extent) -> int64_t {
    return extent > 4 * kSide ? 8 : extent > 2 * kSide ? 4 : 2;
  };
  std::pair<int64_t, int64_t> tile{fitting(rows), fitting(columns)};
  while (countTiles(tile.first * kSide, tile.second * kSide) < kEnoughBlocks &&
         std::max(tile.first, tile.second) > 2)
    (tile.first >= tile.second ? tile.first : tile.second) /= 2;
  return tile;
}

TileGrid BlockProduct::getGrid() const {
  auto [high, wide] = getThreadTile();
  return {countTiles(high * kSide, wide * kSide), kSide * kSide};
}

namespace {
/// A slice of a factor in shared memory: `extent` rows or columns, for kSlice
/// places along the depth.
struct Slice {
  GridEmitter &e;
  Type type;
  int64_t extent;
  Value memory;

  Slice(GridEmitter &e, Type type, int64_t extent)
      : e(e), type(type), extent(extent),
        memory(e.allocateShared(kSlice * (extent + kPadding) * type.getIntOrFloatBitWidth() / 8)) {}

  LoopEmitter::Index placeOf(LoopEmitter::Index k, LoopEmitter::Index i) const {
    return k * (extent + kPadding) + i;
  }

  /// Fills it, all threads of the block together.
  void fill(bool depthIsInner,
            function_ref<Value(LoopEmitter::Index k, LoopEmitter::Index i)> element) {
    SmallVector<int64_t> shape{kSlice, extent};
    if (depthIsInner)
      std::swap(shape[0], shape[1]);
    e.forEach(shape, [&](ArrayRef<LoopEmitter::Index> at) {
      LoopEmitter::Index k = at[depthIsInner ? 1 : 0], i = at[depthIsInner ? 0 : 1];
      e.storeAt(memory, element(k, i), placeOf(k, i));
    });
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// How a thread's sums grow
//===----------------------------------------------------------------------===//

namespace {
using Index = LoopEmitter::Index;

/// The sums that a thread keeps: where they lie in the tile, and what a step
/// along the depth adds to them. There are `high` x `wide` of them.
class Sums {
public:
  Sums(GridEmitter &e, Combiner &combiner, const Slice &a, const Slice &b, int64_t high,
       int64_t wide)
      : e(e), combiner(combiner), a(a), b(b), high(high), wide(wide) {}
  virtual ~Sums() = default;
  /// Places along the depth that a step takes.
  virtual int64_t getStep() const = 0;
  /// Row and column of a sum in the tile.
  virtual std::pair<Index, Index> placeOf(Index thread, int64_t number) const = 0;
  virtual Values add(Index thread, Index k, ValueRange sums) const = 0;

protected:
  Value read(const Slice &slice, Index k, Index i) const {
    return e.loadAt(slice.memory, slice.type, slice.placeOf(k, i));
  }

  GridEmitter &e;
  Combiner &combiner;
  const Slice &a, &b;
  const int64_t high, wide;
};

/// One multiplication after the other. Threads that are neighbours have
/// neighbours of a row.
class ScalarSums : public Sums {
public:
  using Sums::Sums;
  int64_t getStep() const override { return 1; }
  std::pair<Index, Index> placeOf(Index thread, int64_t number) const override {
    return {e.floorDiv(thread, kSide) + number / wide * kSide,
            e.mod(thread, kSide) + number % wide * kSide};
  }
  Values add(Index thread, Index k, ValueRange sums) const override {
    Values left, right, next;
    for (int64_t i = 0; i < high; ++i)
      left.push_back(read(a, k, placeOf(thread, i * wide).first));
    for (int64_t j = 0; j < wide; ++j)
      right.push_back(read(b, k, placeOf(thread, j).second));
    for (auto [number, sum] : llvm::enumerate(sums))
      next.push_back(combiner.accumulateProduct(sum, left[number / wide], right[number % wide]));
    return next;
  }
};

/// Products of small matrices by a warp. Warps stand in two rows and four
/// columns of the tile.
class WarpSums : public Sums {
public:
  using Sums::Sums;

protected:
  static constexpr int64_t kWarpRows = 2, kWarpColumns = 4, kWarp = LaunchPlan::kWarp;

  Index lane(Index thread) const { return e.mod(thread, kWarp); }
  /// The lane's quad, and its place there.
  Index quad(Index thread) const { return e.floorDiv(lane(thread), 4); }
  Index inQuad(Index thread) const { return e.mod(thread, 4); }
  Index firstRow(Index thread) const {
    return e.floorDiv(e.floorDiv(thread, kWarp), kWarpColumns) * (high * kSide / kWarpRows);
  }
  Index firstColumn(Index thread) const {
    return e.mod(e.floorDiv(thread, kWarp), kWarpColumns) * (wide * kSide / kWarpColumns);
  }

  Values multiply(StringRef intrinsic, ArrayRef<Value> factors, ValueRange sums) const {
    SmallVector<Value> arguments(factors);
    llvm::append_range(arguments, sums);
    SmallVector<Type> types(sums.size(), sums[0].getType());
    auto type = LLVM::LLVMStructType::getLiteral(e.builder.getContext(), types);
    Value made = e.make<LLVM::CallIntrinsicOp>(type, e.builder.getStringAttr(intrinsic), arguments)
                     .getResult(0);
    Values next;
    for (int64_t i = 0; i < static_cast<int64_t>(sums.size()); ++i)
      next.push_back(e.make<LLVM::ExtractValueOp>(made, i));
    return next;
  }
};

/// mma.m8n8k4 of f64: 8 x 8 sums, two a lane.
class DoubleSums : public WarpSums {
public:
  using WarpSums::WarpSums;
  int64_t getStep() const override { return 4; }
  std::pair<Index, Index> placeOf(Index thread, int64_t number) const override {
    int64_t matrix = number / 2, column = number % 2;
    return {firstRow(thread) + matrix / columnsOfMatrices() * 8 + quad(thread),
            firstColumn(thread) + matrix % columnsOfMatrices() * 8 + inQuad(thread) * 2 + column};
  }
  Values add(Index thread, Index k, ValueRange sums) const override {
    Values left, right, next;
    Index depth = k + inQuad(thread);
    for (int64_t i = 0; i < high; ++i)
      left.push_back(read(a, depth, firstRow(thread) + i * 8 + quad(thread)));
    for (int64_t j = 0; j < columnsOfMatrices(); ++j)
      right.push_back(read(b, depth, firstColumn(thread) + j * 8 + quad(thread)));
    for (int64_t i = 0; i < high; ++i)
      for (int64_t j = 0; j < columnsOfMatrices(); ++j)
        llvm::append_range(next, multiply("llvm.nvvm.mma.m8n8k4.row.col.f64", {left[i], right[j]},
                                          sums.slice((i * columnsOfMatrices() + j) * 2, 2)));
    return next;
  }

private:
  int64_t columnsOfMatrices() const { return wide / 2; }
};

/// mma.m16n8k8 of tf32: 16 x 8 sums in f32, four a lane. The slices hold factors
/// that are rounded.
class Tf32Sums : public WarpSums {
public:
  using WarpSums::WarpSums;
  int64_t getStep() const override { return 8; }
  std::pair<Index, Index> placeOf(Index thread, int64_t number) const override {
    int64_t matrix = number / 4, row = number % 4 / 2, column = number % 2;
    return {firstRow(thread) + matrix / columnsOfMatrices() * 16 + quad(thread) + row * 8,
            firstColumn(thread) + matrix % columnsOfMatrices() * 8 + inQuad(thread) * 2 + column};
  }
  Values add(Index thread, Index k, ValueRange sums) const override {
    Values next;
    SmallVector<SmallVector<Value>> left, right;
    Index depth = k + inQuad(thread), row = firstRow(thread) + quad(thread),
          column = firstColumn(thread) + quad(thread);
    for (int64_t i = 0; i < high / 2; ++i)
      left.push_back({bits(a, depth, row + i * 16), bits(a, depth, row + (i * 16 + 8)),
                      bits(a, depth + 4, row + i * 16), bits(a, depth + 4, row + (i * 16 + 8))});
    for (int64_t j = 0; j < columnsOfMatrices(); ++j)
      right.push_back({bits(b, depth, column + j * 8), bits(b, depth + 4, column + j * 8)});
    for (int64_t i = 0; i < high / 2; ++i)
      for (int64_t j = 0; j < columnsOfMatrices(); ++j) {
        SmallVector<Value> factors(left[i]);
        llvm::append_range(factors, right[j]);
        llvm::append_range(next, multiply("llvm.nvvm.mma.m16n8k8.row.col.tf32", factors,
                                          sums.slice((i * columnsOfMatrices() + j) * 4, 4)));
      }
    return next;
  }

  /// A factor as tf32, which is an f32 with zeros at its end.
  static Value round(GridEmitter &e, Value factor) {
    Value bits = e.make<LLVM::CallIntrinsicOp>(e.builder.getI32Type(),
                                               e.builder.getStringAttr("llvm.nvvm.f2tf32.rna"),
                                               ValueRange(factor))
                     .getResult(0);
    return e.make<arith::BitcastOp>(factor.getType(), bits);
  }

private:
  int64_t columnsOfMatrices() const { return wide / 2; }
  Value bits(const Slice &slice, Index k, Index i) const {
    return e.make<arith::BitcastOp>(e.builder.getI32Type(), read(slice, k, i));
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

void BlockProduct::emit(GridEmitter &e, ReadA readA, ReadB readB, Take take) const {
  auto [high, wide] = getThreadTile();
  const int64_t tileRows = high * kSide, tileColumns = wide * kSide;
  const int64_t rowTiles = llvm::divideCeil(rows, tileRows),
                columnTiles = llvm::divideCeil(columns, tileColumns);
  Combiner combiner(e, ReduceKind::sum, elementType);
  const Value zero = combiner.identity();
  Slice sliceA(e, zero.getType(), tileRows), sliceB(e, zero.getType(), tileColumns);
  const bool isTf32 = elementType.isF32() && e.usesTf32 && !e.orderedSums;
  std::unique_ptr<Sums> sums;
  if (isTf32)
    sums = std::make_unique<Tf32Sums>(e, combiner, sliceA, sliceB, high, wide);
  else if (elementType.isF64() && !e.orderedSums)
    sums = std::make_unique<DoubleSums>(e, combiner, sliceA, sliceB, high, wide);
  else
    sums = std::make_unique<ScalarSums>(e, combiner, sliceA, sliceB, high, wide);
  e.forEachBlock({batches, rowTiles, columnTiles}, [&](ArrayRef<Index> tile, Index thread) {
    const Index batch = tile[0], firstRow = tile[1] * tileRows, firstColumn = tile[2] * tileColumns;
    // What lies outside of a factor adds nothing.
    auto inside = [&](Index i, int64_t extent, Index k, function_ref<Value(Index, Index)> read) {
      Value place = e.materialize(i), depthPlace = e.materialize(k);
      Value isThere = e.both(e.inRange(i, 0, extent), e.inRange(k, 0, depth));
      return e.branch(
          isThere,
          [&] {
            Value factor = combiner.widen(
                read(e.bind(place, 0, extent - 1), e.bind(depthPlace, 0, depth - 1)));
            return isTf32 ? Tf32Sums::round(e, factor) : factor;
          },
          [&] { return zero; });
    };
    auto addSlice = [&](ArrayRef<Index> step, ValueRange carried) {
      const Index first = step[0] * kSlice;
      sliceA.fill(depthIsInnerOfA, [&](Index k, Index i) {
        return inside(firstRow + i, rows, first + k,
                      [&](Index row, Index place) { return readA(batch, row, place); });
      });
      sliceB.fill(depthIsInnerOfB, [&](Index k, Index i) {
        return inside(firstColumn + i, columns, first + k,
                      [&](Index column, Index place) { return readB(batch, place, column); });
      });
      e.meet();
      Values added = e.loop(kSlice / sums->getStep(), carried, [&](Index step, ValueRange now) {
        return sums->add(thread, step * sums->getStep(), now);
      });
      // The next slice may go there.
      e.meet();
      return added;
    };
    SmallVector<Value> none(static_cast<size_t>(high * wide), zero);
    Values made = e.loop({static_cast<int64_t>(llvm::divideCeil(depth, kSlice))}, none, addSlice);
    for (auto [number, sum] : llvm::enumerate(made)) {
      auto [rowInTile, columnInTile] = sums->placeOf(thread, static_cast<int64_t>(number));
      const Index row = firstRow + rowInTile, column = firstColumn + columnInTile;
      Value rowPlace = e.materialize(row), columnPlace = e.materialize(column),
            element = combiner.narrow(sum);
      e.alone(e.both(e.inRange(row, 0, rows), e.inRange(column, 0, columns)), [&] {
        take(batch, e.bind(rowPlace, 0, rows - 1), e.bind(columnPlace, 0, columns - 1), element);
      });
    }
  });
}
