// Types, verifiers, costs and sharding rules of the ops that read or write at
// positions from an index tensor. Their interpreter rules are in
// IndexingInterp.cpp, and their gradients are in IndexingVjp.cpp.

#include "dialects/NN/IR/Indexing.h"
#include "planning/KernelClass.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

#define GET_OP_CLASSES
#include "dialects/NN/IR/Indexing.cpp.inc"

void NNDialect::registerIndexingOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/NN/IR/Indexing.cpp.inc"
      >();
}

using DimLoops = ShardingRule::DimLoops;
using ValueLoops = ShardingRule::ValueLoops;

/// Adds one loop of kind `kind` per dimension of `shape` to `rule`, and appends
/// these dimensions to `dims`.
static void appendLoops(ShardingRule &rule, ValueLoops &dims, ArrayRef<int64_t> shape,
                        LoopKind kind) {
  for (int64_t extent : shape)
    dims.push_back(ShardingRule::dim(rule.addLoop(extent, kind)));
}

/// The bytes that a gather moves. It reads and writes the gathered elements, and
/// reads the indices.
static int64_t gatherBytes(Value indices, Value result) {
  return 2 * tensorBytes(result.getType()) + tensorBytes(indices.getType());
}

/// Fails with an error that names `op` unless `dimension` is inside `rank`.
static LogicalResult checkDimension(std::optional<Location> loc, StringRef op, int64_t dimension,
                                    int64_t rank) {
  if (dimension < 0 || dimension >= rank)
    return emitOptionalError(loc, "'", op, "' op has dimension ", dimension, ", but rank ", rank);
  return success();
}

/// The additive sets of a scatter. If updates are added to or replace elements of
/// the input, the scatter is additive in the input and the updates together.
static SmallVector<SmallVector<unsigned, 2>> scatterAdditive(ScatterKind kind) {
  if (kind == ScatterKind::none || kind == ScatterKind::add)
    return {{0, 2}};
  return {};
}

//===----------------------------------------------------------------------===//
// nn.gather, nn.scatter_add
//===----------------------------------------------------------------------===//

/// The shape of `table` with the extents of `indices` in place of `dimension`.
static SmallVector<int64_t> gatheredShape(ArrayRef<int64_t> table, ArrayRef<int64_t> indices,
                                          int64_t dimension) {
  SmallVector<int64_t> shape(table.take_front(dimension));
  llvm::append_range(shape, indices);
  llvm::append_range(shape, table.drop_front(dimension + 1));
  return shape;
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                         ValueRange operands, DictionaryAttr attributes,
                                         OpaqueProperties properties, RegionRange regions,
                                         SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType table = typeOf(adaptor.getTable());
  if (failed(checkDimension(loc, "nn.gather", adaptor.getDimension(),
                            table.getRank()))) // gather_c1
    return failure();
  types.push_back(
      withShape(table, gatheredShape(table.getShape(), typeOf(adaptor.getIndices()).getShape(),
                                     adaptor.getDimension())));
  return success();
}

KernelClass GatherOp::getKernelClass() { return KernelClass::indexing; }
int64_t GatherOp::getBytes() { return gatherBytes(getIndices(), getResult()); }

ShardingRule GatherOp::getShardingRule() {
  ShardingRule rule;
  rule.operands.resize(2);
  rule.results.resize(1);
  for (auto [d, extent] : llvm::enumerate(typeOf(getTable()).getShape())) {
    if (d == getDimension()) {
      rule.operands[0].push_back(ShardingRule::dim(rule.addLoop(extent, LoopKind::sum)));
      appendLoops(rule, rule.operands[1], typeOf(getIndices()).getShape(), LoopKind::parallel);
      llvm::append_range(rule.results[0], rule.operands[1]);
      continue;
    }
    DimLoops dim = ShardingRule::dim(rule.addLoop(extent));
    rule.operands[0].push_back(dim);
    rule.results[0].push_back(dim);
  }
  rule.additiveSets = {{0}};
  return rule;
}

LogicalResult ScatterAddOp::verify() {
  RankedTensorType table = typeOf(getResult()), updates = typeOf(getUpdates());
  if (failed(checkDimension(getLoc(), "nn.scatter_add", getDimension(),
                            table.getRank()))) // scatter_add_c1
    return failure();
  RankedTensorType expected = withShape(
      table, gatheredShape(table.getShape(), typeOf(getIndices()).getShape(), getDimension()));
  if (updates != expected) // scatter_add_c2
    return emitOpError("has updates of type ") << updates << " where " << expected << " is needed";
  return success();
}

KernelClass ScatterAddOp::getKernelClass() { return KernelClass::indexing; }
int64_t ScatterAddOp::getFlops() { return typeOf(getUpdates()).getNumElements(); }

ShardingRule ScatterAddOp::getShardingRule() {
  ShardingRule rule;
  rule.operands.resize(2);
  rule.results.resize(1);
  for (auto [d, extent] : llvm::enumerate(typeOf(getResult()).getShape())) {
    DimLoops dim = ShardingRule::dim(rule.addLoop(extent));
    rule.results[0].push_back(dim);
    if (d == getDimension()) {
      appendLoops(rule, rule.operands[1], typeOf(getIndices()).getShape(), LoopKind::sum);
      llvm::append_range(rule.operands[0], rule.operands[1]);
      continue;
    }
    rule.operands[0].push_back(dim);
  }
  rule.additiveSets = {{0}};
  return rule;
}

//===----------------------------------------------------------------------===//
// nn.gather_elements, nn.scatter_elements
//===----------------------------------------------------------------------===//

/// Fails with an error that names `op` unless `indices` has the rank of `input` and
/// no greater extents. The extent along `dimension` may be greater.
static LogicalResult checkElementIndices(std::optional<Location> loc, StringRef op,
                                         RankedTensorType input, RankedTensorType indices,
                                         int64_t dimension) {
  if (failed(checkDimension(loc, op, dimension, input.getRank())))
    return failure();
  bool fits = indices.getRank() == input.getRank();
  for (int64_t d = 0; fits && d < input.getRank(); ++d)
    fits = d == dimension || indices.getDimSize(d) <= input.getDimSize(d);
  if (!fits)
    return emitOptionalError(loc, "'", op, "' op has indices of type ", indices,
                             ", which do not fit into ", input, " beside dimension ", dimension);
  return success();
}

/// Adds the loops of `input` and of `indices` to `rule`. Along each dimension except
/// `dimension`, the extent of `indices` is a loop that both tensors share. If `input` is
/// longer along this dimension, its remaining indices are a loop of their own. Along `dimension`,
/// the loop of `input` has the kind `indexed`, and no axis may cut `indices`.
static void addElementLoops(ShardingRule &rule, RankedTensorType input, RankedTensorType indices,
                            int64_t dimension, LoopKind indexed, ValueLoops &inputDims,
                            ValueLoops &indexDims) {
  for (int64_t d = 0; d < input.getRank(); ++d) {
    int64_t all = input.getDimSize(d), covered = indices.getDimSize(d);
    if (d == dimension) {
      inputDims.push_back(ShardingRule::dim(rule.addLoop(all, indexed)));
      indexDims.push_back(ShardingRule::dim(rule.addLoop(covered, LoopKind::whole)));
      continue;
    }
    unsigned loop = rule.addLoop(covered);
    indexDims.push_back(ShardingRule::dim(loop));
    inputDims.push_back(ShardingRule::dim(loop));
    if (covered < all)
      inputDims.back().push_back({rule.addLoop(all - covered)});
  }
}

LogicalResult GatherElementsOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                                 ValueRange operands, DictionaryAttr attributes,
                                                 OpaqueProperties properties, RegionRange regions,
                                                 SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType input = typeOf(adaptor.getInput()), indices = typeOf(adaptor.getIndices());
  // gather_elements_c1, gather_elements_c2
  if (failed(
          checkElementIndices(loc, "nn.gather_elements", input, indices, adaptor.getDimension())))
    return failure();
  types.push_back(withShape(input, indices.getShape()));
  return success();
}

KernelClass GatherElementsOp::getKernelClass() { return KernelClass::indexing; }
int64_t GatherElementsOp::getBytes() { return gatherBytes(getIndices(), getResult()); }

ShardingRule GatherElementsOp::getShardingRule() {
  ShardingRule rule;
  rule.operands.resize(2);
  addElementLoops(rule, typeOf(getInput()), typeOf(getIndices()), getDimension(), LoopKind::sum,
                  rule.operands[0], rule.operands[1]);
  rule.results = {rule.operands[1]};
  rule.additiveSets = {{0}};
  return rule;
}

LogicalResult ScatterElementsOp::verify() {
  RankedTensorType input = typeOf(getInput()), indices = typeOf(getIndices());
  // scatter_elements_c1, scatter_elements_c2
  if (failed(checkElementIndices(getLoc(), "nn.scatter_elements", input, indices, getDimension())))
    return failure();
  RankedTensorType expected = withShape(input, indices.getShape());
  if (typeOf(getUpdates()) != expected) // scatter_elements_c3
    return emitOpError("has updates of type ")
           << getUpdates().getType() << " where " << expected << " is needed";
  return success();
}

KernelClass ScatterElementsOp::getKernelClass() { return KernelClass::indexing; }
int64_t ScatterElementsOp::getFlops() { return typeOf(getUpdates()).getNumElements(); }

ShardingRule ScatterElementsOp::getShardingRule() {
  ShardingRule rule;
  rule.operands.resize(2);
  addElementLoops(rule, typeOf(getInput()), typeOf(getIndices()), getDimension(), LoopKind::whole,
                  rule.operands[0], rule.operands[1]);
  rule.operands.push_back(rule.operands[1]);
  rule.results = {rule.operands[0]};
  rule.additiveSets = scatterAdditive(getKind());
  return rule;
}

//===----------------------------------------------------------------------===//
// nn.gather_nd, nn.scatter_nd
//===----------------------------------------------------------------------===//

/// Checks constraints gather_nd_c1 to gather_nd_c3. Returns the shape of the result
/// if the tuples in `indices` gather from `input`.
static FailureOr<SmallVector<int64_t>> tupleGatheredShape(std::optional<Location> loc, StringRef op,
                                                          RankedTensorType input,
                                                          RankedTensorType indices,
                                                          int64_t batchDims) {
  if (batchDims < 0 || batchDims >= indices.getRank() || batchDims > input.getRank())
    return emitOptionalError(loc, "'", op, "' op has ", batchDims, " batch dimensions for ", input,
                             " and ", indices);
  for (int64_t d = 0; d < batchDims; ++d)
    if (input.getDimSize(d) != indices.getDimSize(d))
      return emitOptionalError(loc, "'", op, "' op has batch extents ", input.getDimSize(d),
                               " and ", indices.getDimSize(d), " along dimension ", d);
  int64_t length = indices.getShape().back();
  if (length > input.getRank() - batchDims)
    return emitOptionalError(loc, "'", op, "' op has index tuples of length ", length, " for ",
                             input, " with ", batchDims, " batch dimensions");
  SmallVector<int64_t> shape(indices.getShape().drop_back());
  llvm::append_range(shape, input.getShape().drop_front(batchDims + length));
  return shape;
}

/// Adds the loops of an input, of its index tuples, and of the slices that the
/// tuples select. The input and the slices share the loops over the batch and over
/// the elements of a slice. No axis may cut the dimensions that tuples index. The
/// loops over tuples have the kind `tuples`.
static void addTupleLoops(ShardingRule &rule, RankedTensorType input, RankedTensorType indices,
                          int64_t batchDims, LoopKind tuples, ValueLoops &inputDims,
                          ValueLoops &indexDims, ValueLoops &sliceDims) {
  int64_t length = indices.getShape().back();
  ArrayRef<int64_t> shape = input.getShape();
  appendLoops(rule, inputDims, shape.take_front(batchDims), LoopKind::parallel);
  indexDims = inputDims;
  appendLoops(rule, inputDims, shape.slice(batchDims, length), LoopKind::whole);
  appendLoops(rule, indexDims, indices.getShape().drop_back().drop_front(batchDims), tuples);
  sliceDims = indexDims;
  indexDims.push_back(ShardingRule::dim(rule.addLoop(length, LoopKind::whole)));
  ValueLoops slice;
  appendLoops(rule, slice, shape.drop_front(batchDims + length), LoopKind::parallel);
  llvm::append_range(inputDims, slice);
  llvm::append_range(sliceDims, slice);
}

LogicalResult GatherNDOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                           ValueRange operands, DictionaryAttr attributes,
                                           OpaqueProperties properties, RegionRange regions,
                                           SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType input = typeOf(adaptor.getInput());
  // gather_nd_c1, gather_nd_c2, gather_nd_c3
  FailureOr<SmallVector<int64_t>> shape = tupleGatheredShape(
      loc, "nn.gather_nd", input, typeOf(adaptor.getIndices()), adaptor.getBatchDims());
  if (failed(shape))
    return failure();
  types.push_back(withShape(input, *shape));
  return success();
}

KernelClass GatherNDOp::getKernelClass() { return KernelClass::indexing; }
int64_t GatherNDOp::getBytes() { return gatherBytes(getIndices(), getResult()); }

ShardingRule GatherNDOp::getShardingRule() {
  ShardingRule rule;
  rule.operands.resize(2);
  rule.results.resize(1);
  addTupleLoops(rule, typeOf(getInput()), typeOf(getIndices()), getBatchDims(), LoopKind::parallel,
                rule.operands[0], rule.operands[1], rule.results[0]);
  rule.additiveSets = {{0}};
  return rule;
}

LogicalResult ScatterNDOp::verify() {
  RankedTensorType input = typeOf(getInput());
  // scatter_nd_c1, scatter_nd_c2, scatter_nd_c3
  FailureOr<SmallVector<int64_t>> shape =
      tupleGatheredShape(getLoc(), "nn.scatter_nd", input, typeOf(getIndices()), getBatchDims());
  if (failed(shape))
    return failure();
  if (typeOf(getUpdates()) != withShape(input, *shape)) // scatter_nd_c4
    return emitOpError("has updates of type ")
           << getUpdates().getType() << " where " << withShape(input, *shape) << " is needed";
  return success();
}

KernelClass ScatterNDOp::getKernelClass() { return KernelClass::indexing; }
int64_t ScatterNDOp::getFlops() { return typeOf(getUpdates()).getNumElements(); }

ShardingRule ScatterNDOp::getShardingRule() {
  ShardingRule rule;
  rule.operands.resize(3);
  addTupleLoops(rule, typeOf(getInput()), typeOf(getIndices()), getBatchDims(), LoopKind::whole,
                rule.operands[0], rule.operands[1], rule.operands[2]);
  rule.results = {rule.operands[0]};
  rule.additiveSets = scatterAdditive(getKind());
  return rule;
}

//===----------------------------------------------------------------------===//
// nn.top_k
//===----------------------------------------------------------------------===//

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                       ValueRange operands, DictionaryAttr attributes,
                                       OpaqueProperties properties, RegionRange regions,
                                       SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType type = typeOf(adaptor.getInput());
  int64_t dimension = adaptor.getDimension(), k = adaptor.getK();
  if (failed(checkDimension(loc, "nn.top_k", dimension,
                            type.getRank()))) // top_k_c1
    return failure();
  if (k < 0 || k > type.getDimSize(dimension)) // top_k_c2
    return emitOptionalError(loc, "'nn.top_k' op takes ", k, " of ", type.getDimSize(dimension),
                             " elements");
  SmallVector<int64_t> shape(type.getShape());
  shape[dimension] = k;
  types.push_back(withShape(type, shape));
  types.push_back(RankedTensorType::get(shape, IntegerType::get(context, 64)));
  return success();
}

KernelClass TopKOp::getKernelClass() { return KernelClass::indexing; }
int64_t TopKOp::getFlops() { return typeOf(getInput()).getNumElements(); }

ShardingRule TopKOp::getShardingRule() {
  ShardingRule rule;
  rule.operands.resize(1);
  rule.results.resize(1);
  for (auto [d, extent] : llvm::enumerate(typeOf(getInput()).getShape())) {
    bool ranked = d == getDimension();
    DimLoops dim =
        ShardingRule::dim(rule.addLoop(extent, ranked ? LoopKind::whole : LoopKind::parallel));
    rule.operands[0].push_back(dim);
    rule.results[0].push_back(ranked ? ShardingRule::dim(rule.addLoop(getK(), LoopKind::whole))
                                     : dim);
  }
  rule.results.push_back(rule.results[0]);
  return rule;
}
