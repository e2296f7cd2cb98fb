// Result types, constraints, costs and sharding rules of nn.attention and
// nn.attention_grad.

#include "dialects/NN/IR/Attention.h"

#include "dialects/NN/IR/SumTypes.h"
#include "planning/KernelClass.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

#define GET_OP_CLASSES
#include "dialects/NN/IR/Attention.cpp.inc"

void NNDialect::registerAttentionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/NN/IR/Attention.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

AttentionShape::AttentionShape(RankedTensorType q, RankedTensorType k, RankedTensorType v,
                               int64_t rows, bool causal)
    : batch(q.getShape().drop_back()), rows(rows), queries(q.getDimSize(rows)),
      keys(k.getDimSize(rows)), depth(q.getShape().back()), valueDepth(v.getShape().back()),
      causal(causal) {
  batch.erase(batch.begin() + rows);
}

SmallVector<int64_t> AttentionShape::operandBatch() const {
  SmallVector<int64_t> dims;
  for (int64_t b = 0; b < int64_t(batch.size()); ++b)
    dims.push_back(operandDim(b));
  return dims;
}

int64_t AttentionShape::batches() const {
  int64_t count = 1;
  for (int64_t extent : batch)
    count *= extent;
  return count;
}

SmallVector<int64_t> AttentionShape::scores() const {
  SmallVector<int64_t> shape(batch);
  shape.append({queries, keys});
  return shape;
}

SmallVector<int64_t> AttentionShape::logSumExp() const {
  SmallVector<int64_t> shape(batch);
  shape.push_back(queries);
  return shape;
}

SmallVector<int64_t> AttentionShape::operand(int64_t rowCount, int64_t elements) const {
  SmallVector<int64_t> shape(batch);
  shape.insert(shape.begin() + rows, rowCount);
  shape.push_back(elements);
  return shape;
}

int64_t AttentionShape::visiblePairs() const {
  int64_t pairs = queries * keys;
  if (causal)
    pairs -= queries * (queries - 1) / 2;
  return batches() * pairs;
}

/// Checks the constraints that both ops share. Returns the extents of the attention
/// if they hold.
template <typename Adaptor>
static FailureOr<AttentionShape> checkOperands(std::optional<Location> loc, Adaptor adaptor,
                                               StringRef name) {
  auto error = [&]() {
    return mlir::emitError(loc.value_or(UnknownLoc())) << "'" << name << "' op ";
  };
  RankedTensorType q = typeOf(adaptor.getQ()), k = typeOf(adaptor.getK()),
                   v = typeOf(adaptor.getV());
  int64_t rank = q.getRank(), rows = adaptor.getRows();
  if (rank < 2 || k.getRank() != rank || v.getRank() != rank || rows < 0 ||
      rows >= rank - 1) { // attention_c1
    error() << "has rows " << rows << " in operands of types " << q << ", " << k << " and " << v;
    return failure();
  }
  AttentionShape shape(q, k, v, rows, adaptor.getCausal());
  if (k.getShape() != ArrayRef(shape.operand(shape.keys, shape.depth)) ||
      v.getShape() != ArrayRef(shape.operand(shape.keys, shape.valueDepth)) ||
      llvm::is_contained(q.getShape(), 0) || llvm::is_contained(v.getShape(), 0)) { // attention_c2
    error() << "has operands of types " << q << ", " << k << " and " << v
            << ", which do not fit or are empty";
    return failure();
  }
  for (Value operand : {adaptor.getK(), adaptor.getV(), adaptor.getMask()}) {
    if (!operand)
      continue;
    Type element = typeOf(operand).getElementType();
    bool maySum = operand == adaptor.getMask() && element == accumulatorType(q.getElementType());
    if (element != q.getElementType() && !maySum) { // attention_c6
      error() << "has operands of types " << q << " and " << operand.getType();
      return failure();
    }
  }
  SmallVector<int64_t> scores = shape.scores();
  ArrayRef<int64_t> dims = adaptor.getMaskDimensions();
  ArrayRef<int64_t> extents;
  if (adaptor.getMask())
    extents = typeOf(adaptor.getMask()).getShape();
  bool fits = dims.size() == extents.size();
  for (size_t i = 0; fits && i < dims.size(); ++i)
    fits = dims[i] >= 0 && dims[i] < int64_t(scores.size()) && (i == 0 || dims[i] > dims[i - 1]) &&
           extents[i] == scores[dims[i]];
  if (!fits) { // attention_c3
    error() << "has a mask of extents [" << extents << "] over dimensions [" << dims
            << "] of scores [" << scores << "]";
    return failure();
  }
  if (shape.causal && shape.keys < shape.queries) { // attention_c4
    error() << "is causal with " << shape.queries << " queries but " << shape.keys << " keys";
    return failure();
  }
  double scale = adaptor.getScale().convertToDouble();
  if (!std::isfinite(scale)) { // attention_c5
    error() << "has scale " << scale << ", which is not finite";
    return failure();
  }
  return shape;
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                            ValueRange operands, DictionaryAttr attributes,
                                            OpaqueProperties properties, RegionRange regions,
                                            SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  FailureOr<AttentionShape> shape = checkOperands(loc, adaptor, getOperationName());
  if (failed(shape))
    return failure();
  RankedTensorType type = typeOf(adaptor.getQ());
  types.push_back(withShape(type, shape->operand(shape->queries, shape->valueDepth)));
  types.push_back(
      RankedTensorType::get(shape->logSumExp(), accumulatorType(type.getElementType())));
  return success();
}

bool AttentionOp::isCompatibleReturnTypes(TypeRange inferred, TypeRange results) {
  return results.size() == 2 && areCompatibleSums(inferred.take_front(), results.take_front()) &&
         inferred[1] == results[1];
}

LogicalResult AttentionGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                                ValueRange operands, DictionaryAttr attributes,
                                                OpaqueProperties properties, RegionRange regions,
                                                SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  FailureOr<AttentionShape> shape = checkOperands(loc, adaptor, getOperationName());
  if (failed(shape))
    return failure();
  RankedTensorType q = typeOf(adaptor.getQ());
  auto sums = RankedTensorType::get(shape->logSumExp(), accumulatorType(q.getElementType())),
       result = withShape(q, shape->operand(shape->queries, shape->valueDepth));
  if (adaptor.getLogSumExp().getType() != sums || adaptor.getDelta().getType() != sums ||
      adaptor.getResultGrad().getType() != result) // attention_grad_c7
    return emitOptionalError(
        loc, "'nn.attention_grad' op has logSumExp ", adaptor.getLogSumExp().getType(), ", delta ",
        adaptor.getDelta().getType(), " and resultGrad ", adaptor.getResultGrad().getType(),
        " for scores of extents [", shape->scores(), "]");
  for (Value operand : {adaptor.getQ(), adaptor.getK(), adaptor.getV()})
    types.push_back(operand.getType());
  return success();
}

AttentionShape AttentionOp::getAttentionShape() {
  return AttentionShape(typeOf(getQ()), typeOf(getK()), typeOf(getV()), getRows(), getCausal());
}

AttentionShape AttentionGradOp::getAttentionShape() {
  return AttentionShape(typeOf(getQ()), typeOf(getK()), typeOf(getV()), getRows(), getCausal());
}

//===----------------------------------------------------------------------===//
// Cost and sharding
//===----------------------------------------------------------------------===//

KernelClass AttentionOp::getKernelClass() { return KernelClass::attention; }
int64_t AttentionOp::getFlops() {
  AttentionShape shape = getAttentionShape();
  return shape.visiblePairs() * (2 * (shape.depth + shape.valueDepth) + 6);
}

KernelClass AttentionGradOp::getKernelClass() { return KernelClass::attention; }
int64_t AttentionGradOp::getFlops() {
  AttentionShape shape = getAttentionShape();
  return shape.visiblePairs() * (6 * shape.depth + 4 * shape.valueDepth + 6);
}

namespace {
/// The loops of both ops, and the loops that each dimension of their operands and
/// results consists of.
struct AttentionLoops {
  ShardingRule rule;
  SmallVector<ShardingRule::DimLoops> scores; // one per dimension of [batch, queries, keys]
  ShardingRule::DimLoops depth, valueDepth;
  const AttentionShape shape;

  AttentionLoops(const AttentionShape &shape, LoopKind queries) : shape(shape) {
    auto loop = [&](int64_t extent, LoopKind kind) {
      return ShardingRule::dim(rule.addLoop(extent, kind));
    };
    for (int64_t extent : shape.batch)
      scores.push_back(loop(extent, LoopKind::parallel));
    scores.push_back(loop(shape.queries, queries));
    scores.push_back(loop(shape.keys, LoopKind::whole));
    depth = loop(shape.depth, LoopKind::whole);
    valueDepth = loop(shape.valueDepth, LoopKind::whole);
  }

  ShardingRule::ValueLoops rows(bool ofKeys, const ShardingRule::DimLoops &elements) const {
    ArrayRef<ShardingRule::DimLoops> batch = ArrayRef(scores).drop_back(2);
    ShardingRule::ValueLoops loops(batch.begin(), batch.end());
    loops.insert(loops.begin() + shape.rows, ofKeys ? scores.back() : scores[scores.size() - 2]);
    loops.push_back(elements);
    return loops;
  }
  ShardingRule::ValueLoops sums() const {
    return ShardingRule::ValueLoops(scores.begin(), std::prev(scores.end()));
  }
  void addOperands(Value mask, ArrayRef<int64_t> maskDimensions,
                   ArrayRef<ShardingRule::ValueLoops> others) {
    rule.operands.push_back(rows(false, depth));
    rule.operands.push_back(rows(true, depth));
    rule.operands.push_back(rows(true, valueDepth));
    llvm::append_range(rule.operands, others);
    if (!mask)
      return;
    rule.operands.emplace_back();
    for (int64_t d : maskDimensions)
      rule.operands.back().push_back(scores[d]);
  }
};
} // namespace

// In a causal attention, the index of a query in the logical tensor decides which
// keys it sees. A device would use the query's index in its shard instead.
// Therefore no axis may cut the queries unless the op is decomposed.
ShardingRule AttentionOp::getShardingRule() {
  AttentionLoops loops(getAttentionShape(), getCausal() ? LoopKind::whole : LoopKind::parallel);
  loops.addOperands(getMask(), getMaskDimensions(), {});
  loops.rule.results = {loops.rows(false, loops.valueDepth), loops.sums()};
  return loops.rule;
}

// The loop over queries runs along a dimension of dq, but dk and dv are sums over
// it. No LoopKind means both, so no axis may cut this loop.
ShardingRule AttentionGradOp::getShardingRule() {
  AttentionLoops loops(getAttentionShape(), LoopKind::whole);
  loops.addOperands(getMask(), getMaskDimensions(),
                    {loops.sums(), loops.sums(), loops.rows(false, loops.valueDepth)});
  loops.rule.results = {loops.rows(false, loops.depth), loops.rows(true, loops.depth),
                        loops.rows(true, loops.valueDepth)};
  return loops.rule;
}
