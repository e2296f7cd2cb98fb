// Emits sums whose products a thread adds one after the other.

#include "targets/CUDA/Ops/TileSums.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

namespace {
/// The sums of a thread are small squares of neighbouring rows and columns, so that
/// one instruction loads the elements of several neighbours from a slice.
class ScalarSums : public TileSums {
public:
  using TileSums::TileSums;

  Type getSliceType() const override { return combiner.identity().getType(); }
  SliceLayout layoutOf(int64_t extent, int64_t depth, bool) const override {
    return SliceLayout::forVectors(extent, depth, shape.bytes);
  }
  std::pair<Index, Index> placeOf(Index thread, int64_t number) const override {
    return {along(e.floorDiv(thread, TileShape::kSide), shape.high, number / shape.wide),
            along(e.mod(thread, TileShape::kSide), shape.wide, number % shape.wide)};
  }
  int64_t countNeighbours() const override { return neighbours(shape.wide); }

  Values add(Index thread, const SlicePart &a, const SlicePart &b, ValueRange sums) const override {
    const Slice::Address addressA = a.slice.addressOf(a.k, placeOf(thread, 0).first),
                         addressB = b.slice.addressOf(b.k, placeOf(thread, 0).second);
    Values now(sums);
    for (int64_t k = 0; k < shape.depth; ++k) {
      Values left = load(a, addressA, k, shape.high), right = load(b, addressB, k, shape.wide);
      for (auto [number, sum] : llvm::enumerate(now))
        sum = e.make<LLVM::FMAOp>(left[number / right.size()], right[number % right.size()], sum);
    }
    return now;
  }

private:
  /// The number of neighbours that one instruction loads, where a thread has `count` sums.
  int64_t neighbours(int64_t count) const {
    return std::min(count, SliceLayout::kChunk / shape.bytes);
  }
  /// The position along a dimension of the tile of sum `number` of a thread. `place` is the
  /// position of the thread along this dimension.
  Index along(Index place, int64_t count, int64_t number) const {
    const int64_t together = neighbours(count);
    return place * together + number / together * together * TileShape::kSide + number % together;
  }
  Values load(const SlicePart &part, const Slice::Address &address, int64_t k,
              int64_t count) const {
    const int64_t together = neighbours(count);
    Values elements;
    for (int64_t first = 0; first < count; first += together)
      llvm::append_range(elements,
                         e.elementsOf(part.slice.loadVector(together, part.stageOffset, address, k,
                                                            first * TileShape::kSide)));
    return elements;
  }
};
} // namespace

std::unique_ptr<TileSums> dpc::createScalarSums(GridEmitter &emitter, Combiner &combiner,
                                                ProductTypes types, const TileShape &shape,
                                                SliceForms forms) {
  return std::make_unique<ScalarSums>(emitter, combiner, types, shape, forms);
}

std::unique_ptr<TileSums> TileSums::create(GridEmitter &emitter, Combiner &combiner,
                                           ProductTypes types, const TileShape &shape,
                                           SliceForms forms) {
  return shape.unit == TileUnit::scalar ? createScalarSums(emitter, combiner, types, shape, forms)
                                        : createMatrixSums(emitter, combiner, types, shape, forms);
}
