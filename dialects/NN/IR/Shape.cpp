// Types, verifiers, folders and sharding rules of the ops that move elements. Their
// interpreter rules are in ShapeInterp.cpp, and their gradients are in
// ShapeVjp.cpp.

#include "dialects/NN/IR/Shape.h"

#include "dialects/NN/IR/Fusion.h"
#include "dialects/NN/IR/Program.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

#define GET_OP_CLASSES
#include "dialects/NN/IR/Shape.cpp.inc"

void NNDialect::registerShapeOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/NN/IR/Shape.cpp.inc"
      >();
}

/// Adds one loop of kind `kind` per dimension of `shape` to `rule`, and returns
/// these dimensions.
static ShardingRule::ValueLoops addDims(ShardingRule &rule, ArrayRef<int64_t> shape,
                                        LoopKind kind = LoopKind::parallel) {
  ShardingRule::ValueLoops dims;
  for (int64_t extent : shape)
    dims.push_back(ShardingRule::dim(rule.addLoop(extent, kind)));
  return dims;
}

/// Completes the rule of an op that only moves elements of operand 0. Such an op is
/// additive and monotone.
static ShardingRule movement(ShardingRule rule) {
  rule.additiveSets = {{0}};
  rule.monotone = true;
  return rule;
}

/// The result of an op that moves the elements of a splat: a splat of type
/// `result`. Null if `operand` is not a splat.
static OpFoldResult foldSplat(Attribute operand, Type result) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(operand);
  if (!dense || !dense.isSplat())
    return {};
  return DenseElementsAttr::get(cast<ShapedType>(result), dense.getSplatValue<Attribute>());
}

//===----------------------------------------------------------------------===//
// nn.reshape
//===----------------------------------------------------------------------===//

void ReshapeOp::build(OpBuilder &builder, OperationState &state, Value input,
                      ArrayRef<int64_t> shape) {
  build(builder, state, withShape(typeOf(input), shape), input);
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType from = typeOf(getInput()), to = typeOf(getResult());
  if (from.getNumElements() != to.getNumElements()) // reshape_c1
    return emitOpError("makes ") << to.getNumElements() << " elements of " << from.getNumElements();
  if (from.getElementType() != to.getElementType()) // reshape_c2
    return emitOpError("turns ") << from.getElementType() << " into " << to.getElementType();
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto inner = getInput().getDefiningOp<ReshapeOp>()) {
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(adaptor.getInput()))
    return dense.reshape(cast<ShapedType>(getType()));
  return {};
}

FusionKind ReshapeOp::getFusionKind() { return FusionKind::view; }

/// Divides the dimensions of both shapes into groups. Pairs each group of the
/// operand with a group of the result that has as many elements: from 2 x 6 x 5 to
/// 12 x 5, the pairs are 2 x 6 with 12, and 5 with 5. Then splits each pair into
/// loops that are common to both sides, major to minor. If the two groups of a pair
/// have no common factors, as 2 x 3 and 3 x 2, each side keeps its own loops. No
/// axis may cut these, nor a dimension of a tensor without elements.
ShardingRule ReshapeOp::getShardingRule() {
  ShardingRule rule;
  ArrayRef<int64_t> from = typeOf(getInput()).getShape();
  ArrayRef<int64_t> to = typeOf(getResult()).getShape();
  rule.operands.emplace_back();
  rule.results.emplace_back();
  ShardingRule::ValueLoops &in = rule.operands[0], &out = rule.results[0];
  if (llvm::is_contained(from, 0) || llvm::is_contained(to, 0)) {
    in = addDims(rule, from, LoopKind::whole);
    out = addDims(rule, to, LoopKind::whole);
    return movement(rule);
  }
  size_t i = 0, o = 0;
  while (i < from.size() || o < to.size()) {
    // Find the next group: dimensions [iBegin, i) of the operand and [oBegin, o) of
    // the result.
    size_t iBegin = i, oBegin = o;
    int64_t left = i < from.size() ? from[i++] : 1;
    int64_t right = o < to.size() ? to[o++] : 1;
    while (left != right) {
      if (left < right)
        left *= from[i++];
      else
        right *= to[o++];
    }
    // Walk through both sides from the minor end, and split off common loops.
    SmallVector<SmallVector<unsigned, 2>> inLoops(i - iBegin), outLoops(o - oBegin);
    SmallVector<ShardingRule::Loop> saved(rule.loops);
    bool common = true;
    int64_t a = i, b = o, restA = 1, restB = 1;
    while (true) {
      while (restA == 1 && a > static_cast<int64_t>(iBegin))
        restA = from[--a];
      while (restB == 1 && b > static_cast<int64_t>(oBegin))
        restB = to[--b];
      if (restA == 1 && restB == 1)
        break;
      int64_t size = std::min(restA, restB);
      if (restA % size || restB % size) {
        common = false;
        break;
      }
      unsigned loop = rule.addLoop(size);
      inLoops[a - iBegin].insert(inLoops[a - iBegin].begin(), loop);
      outLoops[b - oBegin].insert(outLoops[b - oBegin].begin(), loop);
      restA /= size;
      restB /= size;
    }
    if (!common) {
      rule.loops.assign(saved);
      inLoops.assign(i - iBegin, {});
      outLoops.assign(o - oBegin, {});
      for (size_t d = iBegin; d < i; ++d)
        inLoops[d - iBegin] = {rule.addLoop(from[d], LoopKind::whole)};
      for (size_t d = oBegin; d < o; ++d)
        outLoops[d - oBegin] = {rule.addLoop(to[d], LoopKind::whole)};
    }
    for (auto &loops : inLoops)
      in.push_back({loops});
    for (auto &loops : outLoops)
      out.push_back({loops});
  }
  return movement(rule);
}

//===----------------------------------------------------------------------===//
// nn.transpose
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                            ValueRange operands, DictionaryAttr attributes,
                                            OpaqueProperties properties, RegionRange regions,
                                            SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType type = typeOf(adaptor.getInput());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  SmallVector<bool> seen(type.getRank(), false);
  SmallVector<int64_t> shape;
  bool valid = static_cast<int64_t>(permutation.size()) == type.getRank();
  for (int64_t from : permutation) {
    valid = valid && from >= 0 && from < type.getRank() && !seen[from];
    if (!valid)
      break;
    seen[from] = true;
    shape.push_back(type.getDimSize(from));
  }
  if (!valid) // transpose_c1
    return emitOptionalError(loc,
                             "'nn.transpose' op has a permutation that does "
                             "not hold every dimension of ",
                             type, " once");
  types.push_back(withShape(type, shape));
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (llvm::equal(getPermutation(), llvm::seq<int64_t>(0, getPermutation().size())))
    return getInput();
  if (auto inner = getInput().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> combined;
    for (int64_t from : getPermutation())
      combined.push_back(inner.getPermutation()[from]);
    getInputMutable().assign(inner.getInput());
    setPermutation(combined);
    return getResult();
  }
  return foldSplat(adaptor.getInput(), getType());
}

ShardingRule TransposeOp::getShardingRule() {
  ShardingRule rule;
  rule.operands.push_back(addDims(rule, typeOf(getInput()).getShape()));
  rule.results.emplace_back();
  for (int64_t from : getPermutation())
    rule.results[0].push_back(rule.operands[0][from]);
  return movement(rule);
}

//===----------------------------------------------------------------------===//
// nn.broadcast
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  RankedTensorType from = typeOf(getInput()), to = typeOf(getResult());
  ArrayRef<int64_t> dimensions = getDimensions();
  if (static_cast<int64_t>(dimensions.size()) != from.getRank()) // broadcast_c1
    return emitOpError("has ") << dimensions.size() << " dimensions for an operand of rank "
                               << from.getRank();
  if (failed(verifyIncreasing(*this, dimensions, to.getRank(), // broadcast_c1
                              "dimensions")))
    return failure();
  for (auto [index, dimension] : llvm::enumerate(dimensions))
    if (from.getDimSize(index) != to.getDimSize(dimension)) // broadcast_c2
      return emitOpError("maps dimension ")
             << index << " of extent " << from.getDimSize(index) << " to dimension " << dimension
             << " of extent " << to.getDimSize(dimension);
  if (from.getElementType() != to.getElementType()) // broadcast_c2
    return emitOpError("turns ") << from.getElementType() << " into " << to.getElementType();
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  return foldSplat(adaptor.getInput(), getType());
}

FusionKind BroadcastOp::getFusionKind() { return FusionKind::repeated; }

std::optional<int64_t> BroadcastOp::getFirstRowDim() {
  const int64_t first = getDimensions().empty() ? 0 : getDimensions().front();
  for (auto [from, to] : llvm::enumerate(getDimensions()))
    if (first + int64_t(from) != to)
      return std::nullopt;
  return first;
}

ShardingRule BroadcastOp::getShardingRule() {
  ShardingRule rule;
  rule.results.push_back(addDims(rule, typeOf(getResult()).getShape()));
  rule.operands.emplace_back();
  for (int64_t dimension : getDimensions())
    rule.operands[0].push_back(rule.results[0][dimension]);
  return movement(rule);
}

//===----------------------------------------------------------------------===//
// nn.slice
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                        ValueRange operands, DictionaryAttr attributes,
                                        OpaqueProperties properties, RegionRange regions,
                                        SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType type = typeOf(adaptor.getInput());
  size_t rank = type.getRank();
  if (adaptor.getStarts().size() != rank || adaptor.getLimits().size() != rank ||
      adaptor.getStrides().size() != rank) // slice_c1
    return emitOptionalError(loc, "'nn.slice' op has ", adaptor.getStarts().size(), " starts, ",
                             adaptor.getLimits().size(), " limits and ",
                             adaptor.getStrides().size(), " strides for rank ", rank);
  SmallVector<int64_t> shape;
  for (auto [extent, start, limit, stride] : llvm::zip_equal(
           type.getShape(), adaptor.getStarts(), adaptor.getLimits(), adaptor.getStrides())) {
    if (start < 0 || start > limit || limit > extent || stride < 1) // slice_c2
      return emitOptionalError(loc, "'nn.slice' op takes [", start, ", ", limit, ") by ", stride,
                               " from extent ", extent);
    shape.push_back((limit - start + stride - 1) / stride);
  }
  types.push_back(withShape(type, shape));
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType() &&
      llvm::all_of(getStrides(), [](int64_t stride) { return stride == 1; }))
    return getInput();
  return foldSplat(adaptor.getInput(), getType());
}

FusionKind SliceOp::getFusionKind() {
  return (*this)->hasAttr(kReadInPlaceAttrName) ? FusionKind::repeated : FusionKind::alone;
}

// A row of the result needs a row of the operand.
std::optional<int64_t> SliceOp::getFirstRowDim() { return std::nullopt; }

ShardingRule SliceOp::getShardingRule() {
  ShardingRule rule;
  rule.operands.emplace_back();
  rule.results.emplace_back();
  ArrayRef<int64_t> shape = typeOf(getInput()).getShape();
  for (auto [extent, start, limit, stride, kept] : llvm::zip_equal(
           shape, getStarts(), getLimits(), getStrides(), typeOf(getResult()).getShape())) {
    if (stride != 1) {
      rule.operands[0].push_back(ShardingRule::dim(rule.addLoop(extent, LoopKind::whole)));
      rule.results[0].push_back(ShardingRule::dim(rule.addLoop(kept, LoopKind::whole)));
      continue;
    }
    ShardingRule::DimLoops segments;
    if (start > 0)
      segments.push_back({rule.addLoop(start)});
    unsigned loop = rule.addLoop(limit - start);
    segments.push_back({loop});
    if (limit < extent)
      segments.push_back({rule.addLoop(extent - limit)});
    rule.operands[0].push_back(segments);
    rule.results[0].push_back(ShardingRule::dim(loop));
  }
  return movement(rule);
}

//===----------------------------------------------------------------------===//
// nn.pad
//===----------------------------------------------------------------------===//

LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                      ValueRange operands, DictionaryAttr attributes,
                                      OpaqueProperties properties, RegionRange regions,
                                      SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType type = typeOf(adaptor.getInput());
  size_t rank = type.getRank();
  if (adaptor.getLow().size() != rank || adaptor.getHigh().size() != rank ||
      adaptor.getInterior().size() != rank) // pad_c1
    return emitOptionalError(loc, "'nn.pad' op has ", adaptor.getLow().size(), " low, ",
                             adaptor.getHigh().size(), " high and ", adaptor.getInterior().size(),
                             " interior for rank ", rank);
  SmallVector<int64_t> shape;
  for (auto [extent, low, high, interior] : llvm::zip_equal(
           type.getShape(), adaptor.getLow(), adaptor.getHigh(), adaptor.getInterior())) {
    int64_t spread = extent == 0 ? 0 : extent + (extent - 1) * interior;
    if (interior < 0 || low + spread + high < 0) // pad_c2
      return emitOptionalError(loc, "'nn.pad' op pads extent ", extent, " by ", low, ", ", high,
                               " and ", interior, " between");
    shape.push_back(low + spread + high);
  }
  Type element = typeOf(adaptor.getValue()).getElementType();
  if (element != type.getElementType()) // pad_c3
    return emitOptionalError(loc, "'nn.pad' op pads ", type.getElementType(), " with ", element);
  types.push_back(withShape(type, shape));
  return success();
}

ShardingRule PadOp::getShardingRule() {
  ShardingRule rule;
  rule.operands.resize(2);
  rule.results.emplace_back();
  for (auto [extent, low, high, interior, padded] :
       llvm::zip_equal(typeOf(getInput()).getShape(), getLow(), getHigh(), getInterior(),
                       typeOf(getResult()).getShape())) {
    if (interior != 0 || low < 0 || high < 0) {
      rule.operands[0].push_back(ShardingRule::dim(rule.addLoop(extent, LoopKind::whole)));
      rule.results[0].push_back(ShardingRule::dim(rule.addLoop(padded, LoopKind::whole)));
      continue;
    }
    ShardingRule::DimLoops segments;
    if (low > 0)
      segments.push_back({rule.addLoop(low)});
    unsigned loop = rule.addLoop(extent);
    segments.push_back({loop});
    if (high > 0)
      segments.push_back({rule.addLoop(high)});
    rule.operands[0].push_back(ShardingRule::dim(loop));
    rule.results[0].push_back(segments);
  }
  // The op is additive in its first operand only if the padding value is known
  // to be zero.
  auto value = getValue().getDefiningOp<ConstantOp>();
  auto dense = value ? dyn_cast<DenseElementsAttr>(value.getValue()) : nullptr;
  bool zero = false;
  if (dense && isa<FloatType>(dense.getElementType()))
    zero = dense.getSplatValue<APFloat>().isZero();
  else if (dense)
    zero = dense.getSplatValue<APInt>().isZero();
  if (zero)
    rule.additiveSets = {{0}};
  return rule;
}

//===----------------------------------------------------------------------===//
// nn.concat
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                         ValueRange operands, DictionaryAttr attributes,
                                         OpaqueProperties properties, RegionRange regions,
                                         SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  int64_t dimension = adaptor.getDimension();
  if (operands.empty()) // concat_c1
    return emitOptionalError(loc, "'nn.concat' op has no operands");
  RankedTensorType first = typeOf(operands[0]);
  if (dimension < 0 || dimension >= first.getRank()) // concat_c1
    return emitOptionalError(loc, "'nn.concat' op has dimension ", dimension, ", but rank ",
                             first.getRank());
  SmallVector<int64_t> shape(first.getShape());
  shape[dimension] = 0;
  for (Value operand : operands) {
    RankedTensorType type = typeOf(operand);
    SmallVector<int64_t> expected(type.getShape());
    if (static_cast<int64_t>(expected.size()) > dimension) {
      shape[dimension] += expected[dimension];
      expected[dimension] = first.getDimSize(dimension);
    }
    if (withShape(type, expected) != first) // concat_c2
      return emitOptionalError(loc, "'nn.concat' op joins ", first, " and ", type,
                               " along dimension ", dimension);
  }
  types.push_back(withShape(first, shape));
  return success();
}

ShardingRule ConcatOp::getShardingRule() {
  ShardingRule rule;
  int64_t dimension = getDimension();
  ShardingRule::ValueLoops result = addDims(rule, typeOf(getResult()).getShape());
  // Replace the loop of the joined dimension by one segment per operand.
  rule.loops[result[dimension][0][0]] = {1, LoopKind::whole};
  result[dimension].clear();
  rule.additiveSets.emplace_back();
  for (auto [index, operand] : llvm::enumerate(getInputs())) {
    unsigned loop = rule.addLoop(typeOf(operand).getDimSize(dimension));
    result[dimension].push_back({loop});
    ShardingRule::ValueLoops dims = result;
    dims[dimension] = ShardingRule::dim(loop);
    rule.operands.push_back(dims);
    rule.additiveSets[0].push_back(index);
  }
  rule.results.push_back(result);
  return rule;
}

//===----------------------------------------------------------------------===//
// nn.reverse, nn.iota
//===----------------------------------------------------------------------===//

LogicalResult ReverseOp::verify() { // reverse_c1
  return verifyIncreasing(*this, getDimensions(), typeOf(getInput()).getRank(), "dimensions");
}

ShardingRule ReverseOp::getShardingRule() {
  ShardingRule rule;
  rule.operands.push_back(addDims(rule, typeOf(getInput()).getShape()));
  rule.results = {rule.operands[0]};
  for (int64_t dimension : getDimensions())
    rule.loops[rule.operands[0][dimension][0][0]].kind = LoopKind::whole;
  return movement(rule);
}

LogicalResult IotaOp::verify() {
  int64_t rank = typeOf(getResult()).getRank(), dimension = getDimension();
  if (dimension < 0 || dimension >= rank) // iota_c1
    return emitOpError("has dimension ") << dimension << ", but rank " << rank;
  return success();
}

FusionKind IotaOp::getFusionKind() { return FusionKind::repeated; }

ShardingRule IotaOp::getShardingRule() {
  ShardingRule rule;
  rule.results.push_back(addDims(rule, typeOf(getResult()).getShape()));
  return rule;
}
