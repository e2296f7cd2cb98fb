// Loop rules of the ops that move elements: index arithmetic.

#include "dialects/NN/IR/Shape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"

#include <functional>
#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;

Value ReshapeOp::emitElementAt(LoopEmitter &e, unsigned,
                               const ElementIndex &index) {
  return e.read(getInput(),
                ElementIndex(e, typeOf(getInput()).getShape(), index.number()));
}

Value TransposeOp::emitElementAt(LoopEmitter &e, unsigned,
                                 const ElementIndex &index) {
  SmallVector<Index> positions(getPermutation().size());
  for (auto [to, from] : llvm::enumerate(getPermutation()))
    positions[from] = index[to];
  return e.read(getInput(), positions);
}

Value BroadcastOp::emitElementAt(LoopEmitter &e, unsigned,
                                 const ElementIndex &index) {
  SmallVector<Index> positions;
  for (int64_t dimension : getDimensions())
    positions.push_back(index[dimension]);
  return e.read(getInput(), positions);
}

Value SliceOp::emitElementAt(LoopEmitter &e, unsigned,
                             const ElementIndex &index) {
  SmallVector<Index> positions;
  for (auto [position, start, stride] :
       llvm::zip_equal(index.positions(), getStarts(), getStrides()))
    positions.push_back(position * stride + start);
  return e.read(getInput(), positions);
}

Value PadOp::emitElementAt(LoopEmitter &e, unsigned,
                           const ElementIndex &index) {
  SmallVector<Index> positions;
  Value inside;
  ArrayRef<int64_t> shape = typeOf(getInput()).getShape();
  if (llvm::is_contained(shape, 0))
    return e.read(getValue(), ArrayRef<Index>());
  for (auto [d, extent] : llvm::enumerate(shape)) {
    int64_t step = getInterior()[d] + 1;
    Index place = index[d] - getLow()[d];
    inside = e.both(inside, e.inRange(e.mod(place, step), 0, 1));
    positions.push_back(e.floorDiv(place, step));
    inside = e.both(inside, e.inRange(positions.back(), 0, extent));
  }
  // Read outside of the branch, where it is the same for all elements.
  Value padding = e.read(getValue(), ArrayRef<Index>());
  return e.branch(
      inside, [&] { return e.read(getInput(), positions); },
      [&] { return padding; });
}

Value ConcatOp::emitElementAt(LoopEmitter &e, unsigned,
                              const ElementIndex &index) {
  int64_t dimension = getDimension(), start = 0;
  // From the last operand to the first, each in the else side of the one before
  // would nest as deeply; the first that holds the position wins.
  std::function<Value(unsigned)> pick = [&](unsigned operand) {
    int64_t extent = typeOf(getInputs()[operand]).getDimSize(dimension);
    int64_t from = start;
    SmallVector<Index> positions(index.positions());
    positions[dimension] = positions[dimension] - from;
    auto take = [&] { return e.read(getInputs()[operand], positions); };
    if (operand + 1 == getInputs().size())
      return take();
    start += extent;
    auto others = [&, operand] { return pick(operand + 1); };
    if (extent == 0)
      return others();
    return e.branch(e.inRange(index[dimension],
                              std::numeric_limits<int32_t>::min(),
                              from + extent),
                    take, others);
  };
  return pick(0);
}

Value ReverseOp::emitElementAt(LoopEmitter &e, unsigned,
                               const ElementIndex &index) {
  SmallVector<Index> positions(index.positions());
  for (int64_t dimension : getDimensions())
    positions[dimension] =
        -positions[dimension] + (typeOf(getInput()).getDimSize(dimension) - 1);
  return e.read(getInput(), positions);
}

Value IotaOp::emitElementAt(LoopEmitter &e, unsigned,
                            const ElementIndex &index) {
  Value position = e.materialize(index[getDimension()]);
  Type type = registerType(typeOf(getResult()).getElementType());
  if (isa<FloatType>(type))
    return e.make<arith::SIToFPOp>(type, position);
  if (type.getIntOrFloatBitWidth() < 64)
    return e.make<arith::TruncIOp>(type, position);
  return position;
}
