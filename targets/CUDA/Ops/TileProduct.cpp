// Emits the sums of a tile of a product, and the copies of its factors to shared
// memory.

#include "targets/CUDA/Ops/TileProduct.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

//===----------------------------------------------------------------------===//
// Sums of a thread
//===----------------------------------------------------------------------===//

namespace {
/// Adds one product after the other. Neighbouring threads sum neighbouring columns
/// of a row.
class ScalarSums : public TileSums {
public:
  using TileSums::TileSums;
  int64_t getStep() const override { return 1; }
  std::pair<Index, Index> placeOf(Index thread, int64_t number) const override {
    return {e.floorDiv(thread, TileProduct::kSide) + number / wide * TileProduct::kSide,
            e.mod(thread, TileProduct::kSide) + number % wide * TileProduct::kSide};
  }
  Values add(Index thread, const Slice &a, Index kA, const Slice &b, Index kB,
             ValueRange sums) const override {
    Values left, right, next;
    for (int64_t i = 0; i < high; ++i)
      left.push_back(a.load(kA, placeOf(thread, i * wide).first));
    for (int64_t j = 0; j < wide; ++j)
      right.push_back(b.load(kB, placeOf(thread, j).second));
    for (auto [number, sum] : llvm::enumerate(sums))
      next.push_back(combiner.accumulateProduct(sum, left[number / wide], right[number % wide]));
    return next;
  }
};

/// Base of sums by mma, with which a warp multiplies small matrices. The eight
/// warps of a block divide the tile into two rows and four columns.
class WarpSums : public TileSums {
public:
  using TileSums::TileSums;

protected:
  static constexpr int64_t kWarpRows = 2, kWarpColumns = 4, kWarp = LaunchPlan::kWarp;

  Index lane(Index thread) const { return e.mod(thread, kWarp); }
  /// A quad is a group of four lanes. `quad` is the number of this lane's quad, and
  /// `inQuad` is the position of the lane in it.
  Index quad(Index thread) const { return e.floorDiv(lane(thread), 4); }
  Index inQuad(Index thread) const { return e.mod(thread, 4); }
  Index firstRow(Index thread) const {
    return e.floorDiv(e.floorDiv(thread, kWarp), kWarpColumns) *
           (high * TileProduct::kSide / kWarpRows);
  }
  Index firstColumn(Index thread) const {
    return e.mod(e.floorDiv(thread, kWarp), kWarpColumns) *
           (wide * TileProduct::kSide / kWarpColumns);
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

/// Sums of f64 by mma.m8n8k4: it computes 8 x 8 sums, two per lane.
class DoubleSums : public WarpSums {
public:
  using WarpSums::WarpSums;
  int64_t getStep() const override { return 4; }
  std::pair<Index, Index> placeOf(Index thread, int64_t number) const override {
    int64_t matrix = number / 2, column = number % 2;
    return {firstRow(thread) + matrix / columnsOfMatrices() * 8 + quad(thread),
            firstColumn(thread) + matrix % columnsOfMatrices() * 8 + inQuad(thread) * 2 + column};
  }
  Values add(Index thread, const Slice &a, Index kA, const Slice &b, Index kB,
             ValueRange sums) const override {
    Values left, right, next;
    const Index depthA = kA + inQuad(thread), depthB = kB + inQuad(thread);
    for (int64_t i = 0; i < high; ++i)
      left.push_back(a.load(depthA, firstRow(thread) + i * 8 + quad(thread)));
    for (int64_t j = 0; j < columnsOfMatrices(); ++j)
      right.push_back(b.load(depthB, firstColumn(thread) + j * 8 + quad(thread)));
    for (int64_t i = 0; i < high; ++i)
      for (int64_t j = 0; j < columnsOfMatrices(); ++j)
        llvm::append_range(next, multiply("llvm.nvvm.mma.m8n8k4.row.col.f64", {left[i], right[j]},
                                          sums.slice((i * columnsOfMatrices() + j) * 2, 2)));
    return next;
  }

private:
  int64_t columnsOfMatrices() const { return wide / 2; }
};

/// Sums of tf32 products by mma.m16n8k8: it computes 16 x 8 sums in f32, four per
/// lane. Slices hold factors that are rounded to tf32.
class Tf32Sums : public WarpSums {
public:
  using WarpSums::WarpSums;
  int64_t getStep() const override { return 8; }
  std::pair<Index, Index> placeOf(Index thread, int64_t number) const override {
    int64_t matrix = number / 4, row = number % 4 / 2, column = number % 2;
    return {firstRow(thread) + matrix / columnsOfMatrices() * 16 + quad(thread) + row * 8,
            firstColumn(thread) + matrix % columnsOfMatrices() * 8 + inQuad(thread) * 2 + column};
  }
  Values add(Index thread, const Slice &a, Index kA, const Slice &b, Index kB,
             ValueRange sums) const override {
    Values next;
    SmallVector<SmallVector<Value>> left, right;
    const Index depthA = kA + inQuad(thread), depthB = kB + inQuad(thread),
                row = firstRow(thread) + quad(thread), column = firstColumn(thread) + quad(thread);
    for (int64_t i = 0; i < high / 2; ++i)
      left.push_back({bits(a, depthA, row + i * 16), bits(a, depthA, row + (i * 16 + 8)),
                      bits(a, depthA + 4, row + i * 16), bits(a, depthA + 4, row + (i * 16 + 8))});
    for (int64_t j = 0; j < columnsOfMatrices(); ++j)
      right.push_back({bits(b, depthB, column + j * 8), bits(b, depthB + 4, column + j * 8)});
    for (int64_t i = 0; i < high / 2; ++i)
      for (int64_t j = 0; j < columnsOfMatrices(); ++j) {
        SmallVector<Value> factors(left[i]);
        llvm::append_range(factors, right[j]);
        llvm::append_range(next, multiply("llvm.nvvm.mma.m16n8k8.row.col.tf32", factors,
                                          sums.slice((i * columnsOfMatrices() + j) * 4, 4)));
      }
    return next;
  }

  /// An element of a factor rounded to tf32: an f32 whose last bits are zeros.
  Value round(Value factor) const override {
    Value bits = e.make<LLVM::CallIntrinsicOp>(e.builder.getI32Type(),
                                               e.builder.getStringAttr("llvm.nvvm.f2tf32.rna"),
                                               ValueRange(factor))
                     .getResult(0);
    return e.make<arith::BitcastOp>(factor.getType(), bits);
  }

private:
  int64_t columnsOfMatrices() const { return wide / 2; }
  Value bits(const Slice &slice, Index k, Index i) const {
    return e.make<arith::BitcastOp>(e.builder.getI32Type(), slice.load(k, i));
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

Slice::Slice(GridEmitter &emitter, Type type, int64_t extent, int64_t depth)
    : extent(extent), depth(depth), e(emitter), type(type),
      memory(e.allocateShared(depth * (extent + kPadding) * type.getIntOrFloatBitWidth() / 8)) {}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

TileProduct::TileProduct(GridEmitter &emitter, ProductTypes types, int64_t high, int64_t wide)
    : e(emitter), combiner(emitter, ReduceKind::sum, types.factor, types.result), high(high),
      wide(wide), zero(combiner.identity()) {
  if (types.factor.isF32() && getType().isF32() && e.usesTf32 && !e.orderedSums)
    sums = std::make_unique<Tf32Sums>(e, combiner, high, wide);
  else if (getType().isF64() && !e.orderedSums)
    sums = std::make_unique<DoubleSums>(e, combiner, high, wide);
  else
    sums = std::make_unique<ScalarSums>(e, combiner, high, wide);
}

Slice &TileProduct::sliceOf(std::unique_ptr<Slice> &slice, int64_t extent) {
  if (!slice)
    slice = std::make_unique<Slice>(e, zero.getType(), extent, kSlice);
  return *slice;
}

/// Copies a part of a factor to a slice, from index `first` along the depth on. All
/// threads of the block share the work.
void TileProduct::fill(Slice &slice, const Factor &factor, Index first, int64_t depth) {
  SmallVector<int64_t> shape{slice.depth, slice.extent};
  if (factor.depthIsInner)
    std::swap(shape[0], shape[1]);
  e.forEach(shape, [&](ArrayRef<Index> at) {
    const Index k = at[factor.depthIsInner ? 1 : 0], i = at[factor.depthIsInner ? 0 : 1],
                row = factor.first + i, place = first + k;
    Value rowValue = e.materialize(row), placeValue = e.materialize(place);
    Value isThere = e.both(e.inRange(row, 0, factor.extent), e.inRange(place, 0, depth));
    Value element = e.branch(
        isThere,
        [&] {
          return prepare(factor.read(e.bind(rowValue, 0, factor.extent - 1),
                                     e.bind(placeValue, 0, depth - 1)));
        },
        [&] { return zero; });
    slice.store(element, k, i);
  });
}

Values TileProduct::add(Index thread, const Factor &a, const Factor &b, Index first, int64_t count,
                        int64_t depth, ValueRange before) {
  Slice &ofA = sliceOf(sliceA, getRows()), &ofB = sliceOf(sliceB, getColumns());
  const auto rounds = static_cast<int64_t>(llvm::divideCeil(count, kSlice));
  return e.loop(rounds, before, [&](Index round, ValueRange carried) {
    const Index at = first + round * kSlice;
    fill(ofA, a, at, depth);
    fill(ofB, b, at, depth);
    e.meet();
    const int64_t step = sums->getStep();
    Values added = e.loop(kSlice / step, carried, [&](Index number, ValueRange now) {
      return sums->add(thread, ofA, number * step, ofB, number * step, now);
    });
    // Wait until all threads have read the slices, because the next iteration
    // overwrites them.
    e.meet();
    return added;
  });
}

Values TileProduct::add(Index thread, const Slice &a, const Factor &b, Index first, int64_t depth,
                        ValueRange before) {
  Slice &ofB = sliceOf(sliceB, getColumns());
  return e.loop(a.depth / kSlice, before, [&](Index round, ValueRange carried) {
    fill(ofB, b, first + round * kSlice, depth);
    e.meet();
    const int64_t step = sums->getStep();
    Values added = e.loop(kSlice / step, carried, [&](Index number, ValueRange now) {
      return sums->add(thread, a, round * kSlice + number * step, ofB, number * step, now);
    });
    e.meet();
    return added;
  });
}

void TileProduct::forEachSum(Index thread, ValueRange made,
                             function_ref<void(int64_t, Index, Index, Value)> body) {
  for (auto [number, sum] : llvm::enumerate(made)) {
    auto [row, column] = sums->placeOf(thread, static_cast<int64_t>(number));
    body(static_cast<int64_t>(number), row, column, sum);
  }
}
