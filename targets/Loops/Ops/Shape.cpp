// Element rules of the ops that move elements, which compute only indices, and of nn.iota,
// whose elements are indices.

#include "dialects/NN/IR/Shape.h"
#include "dialects/NN/IR/Elementwise.h"
#include "targets/Loops/Ops/Ops.h"
#include "targets/Loops/Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"

#include <functional>
#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;

namespace {

struct ReshapeRule : MoveRule<ReshapeRule, ReshapeOp> {
  ElementIndex source(ReshapeOp op, IndexSpace &space, const ElementIndex &index) const {
    return ElementIndex(space, typeOf(op.getInput()).getShape(), index.number());
  }
};

struct TransposeRule : MoveRule<TransposeRule, TransposeOp> {
  ElementIndex source(TransposeOp op, IndexSpace &space, const ElementIndex &index) const {
    SmallVector<Index> positions(op.getPermutation().size());
    for (auto [to, from] : llvm::enumerate(op.getPermutation()))
      positions[from] = index[to];
    return elementOf(space, op.getInput(), positions);
  }
};

struct BroadcastRule : MoveRule<BroadcastRule, BroadcastOp> {
  ElementIndex source(BroadcastOp op, IndexSpace &space, const ElementIndex &index) const {
    SmallVector<Index> positions;
    for (int64_t dimension : op.getDimensions())
      positions.push_back(index[dimension]);
    return elementOf(space, op.getInput(), positions);
  }
};

struct SliceRule : MoveRule<SliceRule, SliceOp> {
  ElementIndex source(SliceOp op, IndexSpace &space, const ElementIndex &index) const {
    SmallVector<Index> positions;
    for (auto [position, start, stride] :
         llvm::zip_equal(index.positions(), op.getStarts(), op.getStrides()))
      positions.push_back(position * stride + start);
    return elementOf(space, op.getInput(), positions);
  }
};

struct ReverseRule : MoveRule<ReverseRule, ReverseOp> {
  ElementIndex source(ReverseOp op, IndexSpace &space, const ElementIndex &index) const {
    ArrayRef<int64_t> shape = typeOf(op.getInput()).getShape();
    SmallVector<Index> positions(index.positions());
    for (int64_t dimension : op.getDimensions())
      positions[dimension] = -positions[dimension] + (shape[dimension] - 1);
    return elementOf(space, op.getInput(), positions);
  }
};

struct PadRule : ElementRule<PadRule, PadOp> {
  // At most one element of the result is an element of the input, however large the result is.
  int64_t getReadsPerElement(Operation *op, unsigned operand) const {
    return operand == 0 ? 1 : resultElementsPer(op, operand);
  }
  static bool isEmpty(PadOp op) { return llvm::is_contained(typeOf(op.getInput()).getShape(), 0); }
  static SmallVector<Index> positions(PadOp op, IndexSpace &space, const ElementIndex &index) {
    SmallVector<Index> positions;
    for (auto [d, low] : llvm::enumerate(op.getLow()))
      positions.push_back(space.floorDiv(index[d] - low, op.getInterior()[d] + 1));
    return positions;
  }

  /// The conditions under which the element at `index` comes from the input. `at` is
  /// its position in the input, as `positions` returns it.
  static SmallVector<IndexBound> bounds(PadOp op, IndexSpace &space, const ElementIndex &index,
                                        ArrayRef<Index> at) {
    SmallVector<IndexBound> bounds;
    for (auto [d, extent] : llvm::enumerate(typeOf(op.getInput()).getShape())) {
      Index place = index[d] - op.getLow()[d];
      bounds.push_back({space.mod(place, op.getInterior()[d] + 1), 1});
      bounds.push_back({at[d], extent});
    }
    return bounds;
  }

  void reads(PadOp op, IndexSpace &space, const ElementIndex &index, VisitRead read) const {
    read(1, elementOf(space, op.getValue(), {}));
    if (isEmpty(op))
      return;
    SmallVector<Index> at = positions(op, space, index);
    space.inBranch(!space.areMet(bounds(op, space, index, at)),
                   [&] { read(0, elementOf(space, op.getInput(), at)); });
  }

  /// Whether each element of the result may read an element of the input, needed or not. Then there
  /// is no branch, and LLVM joins the reads of neighbours. The input must be in memory or a
  /// conversion of a value in memory, and neighbours that are computed together must need it
  /// together.
  static bool isCheapToRead(PadOp op, LoopEmitter &e, ArrayRef<Index> at) {
    Value source = op.getInput();
    while (auto convert = source.getDefiningOp<ConvertOp>())
      source = convert.getInput();
    return e.joinsNeighbours && isa<BlockArgument>(source) &&
           llvm::all_of(op.getInterior(), [](int64_t between) { return between == 0; }) &&
           IndexSpace::roundedDown(at.back(), typeOf(op.getInput()).getShape().back()).second > 1;
  }

  /// The positions `at` in the input, or the nearest ones. Neighbours stay neighbours.
  static SmallVector<Index> clamped(PadOp op, LoopEmitter &e, ArrayRef<Index> at) {
    SmallVector<Index> positions(at);
    for (auto [position, extent] : llvm::zip_equal(positions, typeOf(op.getInput()).getShape()))
      position = e.clamped(position, extent);
    return positions;
  }

  Value element(PadOp op, LoopEmitter &e, const ElementIndex &index) const {
    if (isEmpty(op))
      return e.read(op.getValue(), ArrayRef<Index>());
    SmallVector<Index> at = positions(op, e, index);
    Value inside = e.allInRange(bounds(op, e, index, at));
    // Read the padding value outside of the branch, because it is the same for all
    // elements.
    Value padding = e.read(op.getValue(), ArrayRef<Index>());
    if (inside && isCheapToRead(op, e, at))
      return e.make<arith::SelectOp>(inside, e.read(op.getInput(), clamped(op, e, at)), padding);
    return e.branch(inside, [&] { return e.read(op.getInput(), at); }, [&] { return padding; });
  }
};

struct ConcatRule : ElementRule<ConcatRule, ConcatOp> {
  static SmallVector<Index> positions(ConcatOp op, const ElementIndex &index, int64_t start) {
    SmallVector<Index> positions(index.positions());
    Index &position = positions[op.getDimension()];
    position = position - start;
    return positions;
  }

  // Visits the operands in the order of the branches of `element`. An operand without
  // elements is skipped unless it is the last. No operand is visited after one that
  // contains all positions.
  void reads(ConcatOp op, IndexSpace &space, const ElementIndex &index, VisitRead read) const {
    int64_t start = 0;
    bool isConditional = false;
    for (auto [operand, input] : llvm::enumerate(op.getInputs())) {
      int64_t extent = typeOf(input).getDimSize(op.getDimension());
      bool isLast = operand + 1 == op.getInputs().size();
      if (extent == 0 && !isLast)
        continue;
      bool endsHere = isLast || space.rangeOf(index[op.getDimension()]).second < start + extent;
      isConditional |= !endsHere;
      ElementIndex at = elementOf(space, input, positions(op, index, start));
      space.inBranch(isConditional, [&, number = operand] { read(number, at); });
      if (endsHere)
        return;
      start += extent;
    }
  }

  Value element(ConcatOp op, LoopEmitter &e, const ElementIndex &index) const {
    int64_t dimension = op.getDimension(), start = 0;
    // Emits a chain of branches that reads the first operand which contains the
    // position. Each operand but the last has a branch, and the next operand is in
    // its else part.
    std::function<Value(unsigned)> pick = [&](unsigned operand) {
      Value input = op.getInputs()[operand];
      int64_t extent = typeOf(input).getDimSize(dimension), from = start;
      auto take = [&] { return e.read(input, positions(op, index, from)); };
      if (operand + 1 == op.getInputs().size())
        return take();
      start += extent;
      auto others = [&, operand] { return pick(operand + 1); };
      if (extent == 0)
        return others();
      return e.branch(
          e.inRange(index[dimension], std::numeric_limits<int32_t>::min(), from + extent), take,
          others);
    };
    return pick(0);
  }
};

struct IotaRule : ElementRule<IotaRule, IotaOp> {
  void reads(IotaOp, IndexSpace &, const ElementIndex &, VisitRead) const {}

  Value element(IotaOp op, LoopEmitter &e, const ElementIndex &index) const {
    Value position = e.materialize(index[op.getDimension()]);
    Type type = registerType(typeOf(op.getResult()).getElementType());
    if (isa<FloatType>(type))
      return e.make<arith::SIToFPOp>(type, position);
    if (type.getIntOrFloatBitWidth() < 64)
      return e.make<arith::TruncIOp>(type, position);
    return position;
  }
};

} // namespace

void dpc::attachShapeRules(MLIRContext &context) {
  ReshapeOp::attachInterface<ReshapeRule>(context);
  TransposeOp::attachInterface<TransposeRule>(context);
  BroadcastOp::attachInterface<BroadcastRule>(context);
  SliceOp::attachInterface<SliceRule>(context);
  ReverseOp::attachInterface<ReverseRule>(context);
  PadOp::attachInterface<PadRule>(context);
  ConcatOp::attachInterface<ConcatRule>(context);
  IotaOp::attachInterface<IotaRule>(context);
}
