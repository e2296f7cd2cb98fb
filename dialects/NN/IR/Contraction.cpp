// The constraints, result type, cost, sharding rule, interpreter rule, gradient and
// canonicalization of nn.dot.

#include "dialects/NN/IR/Contraction.h"

#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/Shape.h"
#include "dialects/NN/IR/SumTypes.h"
#include "planning/KernelClass.h"

#include "mlir/IR/PatternMatch.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

#define GET_OP_CLASSES
#include "dialects/NN/IR/Contraction.cpp.inc"

void NNDialect::registerContractionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/NN/IR/Contraction.cpp.inc"
      >();
}

SmallVector<int64_t> dpc::nn::extentsOf(Value tensor, ArrayRef<int64_t> dimensions) {
  SmallVector<int64_t> extents;
  for (int64_t d : dimensions)
    extents.push_back(typeOf(tensor).getDimSize(d));
  return extents;
}

int64_t dpc::nn::countAlong(Value tensor, ArrayRef<int64_t> dimensions) {
  return ShapedType::getNumElements(extentsOf(tensor, dimensions));
}

std::optional<int64_t> dpc::nn::strideAlong(Value tensor, ArrayRef<int64_t> dimensions) {
  ArrayRef<int64_t> shape = typeOf(tensor).getShape();
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  std::optional<int64_t> innermost;
  int64_t next = 0;
  for (int64_t d : llvm::reverse(dimensions)) {
    if (shape[d] == 1)
      continue;
    if (innermost && strides[d] != next)
      return std::nullopt;
    if (!innermost)
      innermost = strides[d];
    next = strides[d] * shape[d];
  }
  return innermost.value_or(1);
}

/// The dimensions of a tensor of rank `rank` that are neither in `batch` nor in
/// `contract`, in increasing order.
static SmallVector<int64_t> otherDims(int64_t rank, ArrayRef<int64_t> batch,
                                      ArrayRef<int64_t> contract) {
  SmallVector<int64_t> free;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(batch, d) && !llvm::is_contained(contract, d))
      free.push_back(d);
  return free;
}

SmallVector<int64_t> DotOp::getLhsFree() {
  return otherDims(typeOf(getLhs()).getRank(), getLhsBatch(), getLhsContract());
}

SmallVector<int64_t> DotOp::getRhsFree() {
  return otherDims(typeOf(getRhs()).getRank(), getRhsBatch(), getRhsContract());
}

LogicalResult DotOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                      ValueRange operands, DictionaryAttr attributes,
                                      OpaqueProperties properties, RegionRange regions,
                                      SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType lhs = typeOf(adaptor.getLhs()), rhs = typeOf(adaptor.getRhs());
  auto error = [&]() { return mlir::emitError(loc.value_or(UnknownLoc())) << "'nn.dot' op "; };
  SmallVector<bool> lhsSeen(lhs.getRank()), rhsSeen(rhs.getRank());
  auto checkPairs = [&](ArrayRef<int64_t> left, ArrayRef<int64_t> right,
                        StringRef what) -> LogicalResult {
    if (left.size() != right.size()) // dot_c1
      return error() << "has " << left.size() << " and " << right.size() << " " << what
                     << " dimensions";
    for (auto [l, r] : llvm::zip_equal(left, right)) {
      if (l < 0 || l >= lhs.getRank() || r < 0 || r >= rhs.getRank() || lhsSeen[l] ||
          rhsSeen[r]) // dot_c1
        return error() << "pairs " << what << " dimensions " << l << " and " << r
                       << ", which are out of rank or paired before";
      lhsSeen[l] = rhsSeen[r] = true;
      if (lhs.getDimSize(l) != rhs.getDimSize(r)) // dot_c2
        return error() << "pairs " << what << " extents " << lhs.getDimSize(l) << " and "
                       << rhs.getDimSize(r);
    }
    return success();
  };
  if (failed(checkPairs(adaptor.getLhsBatch(), adaptor.getRhsBatch(), "batch")) ||
      failed(checkPairs(adaptor.getLhsContract(), adaptor.getRhsContract(), "contracted")))
    return failure();
  if (lhs.getElementType() != rhs.getElementType()) // dot_c3
    return error() << "has element types " << lhs.getElementType() << " and "
                   << rhs.getElementType();
  SmallVector<int64_t> shape;
  for (int64_t d : adaptor.getLhsBatch())
    shape.push_back(lhs.getDimSize(d));
  for (int64_t d = 0; d < lhs.getRank(); ++d)
    if (!lhsSeen[d])
      shape.push_back(lhs.getDimSize(d));
  for (int64_t d = 0; d < rhs.getRank(); ++d)
    if (!rhsSeen[d])
      shape.push_back(rhs.getDimSize(d));
  types.push_back(withShape(lhs, shape));
  return success();
}

// dot_c3
bool DotOp::isCompatibleReturnTypes(TypeRange inferred, TypeRange results) {
  return areCompatibleSums(inferred, results);
}

KernelClass DotOp::getKernelClass() { return KernelClass::product; }
int64_t DotOp::getFlops() {
  int64_t flops = 2 * typeOf(getResult()).getNumElements();
  for (int64_t d : getLhsContract())
    flops *= typeOf(getLhs()).getDimSize(d);
  return flops;
}

ShardingRule DotOp::getShardingRule() {
  ShardingRule rule;
  RankedTensorType lhs = typeOf(getLhs()), rhs = typeOf(getRhs());
  rule.operands.resize(2);
  rule.operands[0].resize(lhs.getRank());
  rule.operands[1].resize(rhs.getRank());
  rule.results.emplace_back();
  for (auto [l, r] : llvm::zip_equal(getLhsBatch(), getRhsBatch())) {
    auto dim = ShardingRule::dim(rule.addLoop(lhs.getDimSize(l)));
    rule.operands[0][l] = rule.operands[1][r] = dim;
    rule.results[0].push_back(dim);
  }
  for (auto [l, r] : llvm::zip_equal(getLhsContract(), getRhsContract()))
    rule.operands[0][l] = rule.operands[1][r] =
        ShardingRule::dim(rule.addLoop(lhs.getDimSize(l), LoopKind::sum));
  for (int64_t d : getLhsFree()) {
    rule.operands[0][d] = ShardingRule::dim(rule.addLoop(lhs.getDimSize(d)));
    rule.results[0].push_back(rule.operands[0][d]);
  }
  for (int64_t d : getRhsFree()) {
    rule.operands[1][d] = ShardingRule::dim(rule.addLoop(rhs.getDimSize(d)));
    rule.results[0].push_back(rule.operands[1][d]);
  }
  rule.additiveSets = {{0}, {1}};
  return rule;
}

/// The elements of `tensor` after a transpose to the order of dimensions `first`,
/// `second`, `third`.
template <typename T>
static std::vector<T> gathered(const HostTensor &tensor, const std::vector<T> &elements,
                               ArrayRef<int64_t> first, ArrayRef<int64_t> second,
                               ArrayRef<int64_t> third) {
  SmallVector<int64_t> strides = rowMajorStrides(tensor.getShape()), shape, steps;
  for (ArrayRef<int64_t> group : {first, second, third})
    for (int64_t d : group) {
      shape.push_back(tensor.getShape()[d]);
      steps.push_back(strides[d]);
    }
  std::vector<T> result;
  result.reserve(elements.size());
  forEachIndex(
      shape, [&](ArrayRef<int64_t> index) { result.push_back(elements[linearize(index, steps)]); });
  return result;
}

template <typename T>
static void batchedProduct(const std::vector<T> &a, const std::vector<T> &b, std::vector<T> &c,
                           int64_t batch, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < batch; ++i)
    for (int64_t row = 0; row < m; ++row)
      for (int64_t x = 0; x < k; ++x) {
        T factor = a[(i * m + row) * k + x];
        const T *from = b.data() + (i * k + x) * n;
        T *to = c.data() + (i * m + row) * n;
        for (int64_t column = 0; column < n; ++column)
          to[column] += factor * from[column];
      }
}

LogicalResult DotOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *> in,
                               MutableArrayRef<HostTensor> out) {
  auto count = [](const HostTensor &tensor, ArrayRef<int64_t> dims) {
    int64_t product = 1;
    for (int64_t d : dims)
      product *= tensor.getShape()[d];
    return product;
  };
  SmallVector<int64_t> lhsFree = getLhsFree(), rhsFree = getRhsFree();
  int64_t batch = count(*in[0], getLhsBatch()), m = count(*in[0], lhsFree),
          n = count(*in[1], rhsFree), k = count(*in[0], getLhsContract());
  auto run = [&](auto member) {
    batchedProduct(gathered(*in[0], in[0]->*member, getLhsBatch(), lhsFree, getLhsContract()),
                   gathered(*in[1], in[1]->*member, getRhsBatch(), getRhsContract(), rhsFree),
                   out[0].*member, batch, m, n, k);
  };
  if (out[0].isFloat())
    run(&HostTensor::floats);
  else
    run(&HostTensor::ints);
  return success();
}

/// For each entry of `contract`, its position among the sorted entries, e.g. {2, 0, 1}
/// for {7, 3, 5}. In buildVjp, the product that gives an operand's gradient has the
/// operand's contracted dimensions next to each other, in the increasing order of the
/// other operand's dimensions. This function gives their positions among each other.
static SmallVector<int64_t> rankOf(ArrayRef<int64_t> contract) {
  SmallVector<int64_t> sorted(contract);
  llvm::sort(sorted);
  SmallVector<int64_t> ranks;
  for (int64_t d : contract)
    ranks.push_back(llvm::find(sorted, d) - sorted.begin());
  return ranks;
}

// Let the result have the dimensions (batch, M, N), and let g be its gradient. The
// gradient of lhs contracts N of g with N of rhs. The gradient of rhs contracts M
// of lhs with M of g. A transpose restores the order of the operand's dimensions.
// If the result is wider than the factors, g is rounded to the type of the factors,
// because it is then a factor itself.
LogicalResult DotOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,
                              ArrayRef<bool> wanted, MutableArrayRef<Value> grads) {
  Expressions e{builder, getLoc()};
  Value g = e.convert(resultGrads[0], typeOf(getLhs()).getElementType());
  SmallVector<int64_t> lhsFree = getLhsFree(), rhsFree = getRhsFree();
  int64_t nb = getLhsBatch().size(), nm = lhsFree.size(), nn = rhsFree.size();
  SmallVector<int64_t> gBatch, gM, gN;
  for (int64_t d = 0; d < nb + nm + nn; ++d)
    (d < nb ? gBatch : d < nb + nm ? gM : gN).push_back(d);

  if (wanted[0]) {
    Value product = e.dot(g, getRhs(), gBatch, getRhsBatch(), gN, rhsFree);
    SmallVector<int64_t> permutation(typeOf(getLhs()).getRank());
    for (auto [i, d] : llvm::enumerate(getLhsBatch()))
      permutation[d] = i;
    for (auto [i, d] : llvm::enumerate(lhsFree))
      permutation[d] = nb + i;
    for (auto [d, rank] : llvm::zip_equal(getLhsContract(), rankOf(getRhsContract())))
      permutation[d] = nb + nm + rank;
    grads[0] = e.transpose(product, permutation);
  }
  if (wanted[1]) {
    Value product = e.dot(getLhs(), g, getLhsBatch(), gBatch, lhsFree, gM);
    SmallVector<int64_t> permutation(typeOf(getRhs()).getRank());
    int64_t nk = getRhsContract().size();
    for (auto [i, d] : llvm::enumerate(getRhsBatch()))
      permutation[d] = i;
    for (auto [d, rank] : llvm::zip_equal(getRhsContract(), rankOf(getLhsContract())))
      permutation[d] = nb + rank;
    for (auto [i, d] : llvm::enumerate(rhsFree))
      permutation[d] = nb + nk + i;
    grads[1] = e.transpose(product, permutation);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Canonicalization
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> mapped(ArrayRef<int64_t> dimensions, ArrayRef<int64_t> permutation) {
  return llvm::map_to_vector(dimensions, [&](int64_t d) { return permutation[d]; });
}

namespace {

/// Replaces a transposed operand of a product by the input of the transpose. Needs:
/// the transpose keeps the order of the dimensions that are neither batch nor
/// contracted.
struct ReadThroughTranspose : OpRewritePattern<DotOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DotOp op, PatternRewriter &rewriter) const override {
    auto read = [](Value &value, ArrayRef<int64_t> free, SmallVector<int64_t> &batch,
                   SmallVector<int64_t> &contract) {
      auto transpose = value.getDefiningOp<TransposeOp>();
      if (!transpose)
        return false;
      ArrayRef<int64_t> permutation = transpose.getPermutation();
      if (!llvm::is_sorted(mapped(free, permutation)))
        return false;
      value = transpose.getInput();
      batch = mapped(batch, permutation);
      contract = mapped(contract, permutation);
      return true;
    };
    Value lhs = op.getLhs(), rhs = op.getRhs();
    SmallVector<int64_t> lhsBatch(op.getLhsBatch()), rhsBatch(op.getRhsBatch()),
        lhsContract(op.getLhsContract()), rhsContract(op.getRhsContract());
    bool changed = read(lhs, op.getLhsFree(), lhsBatch, lhsContract);
    changed |= read(rhs, op.getRhsFree(), rhsBatch, rhsContract);
    if (!changed)
      return failure();
    rewriter.replaceOpWithNewOp<DotOp>(op, op.getType(), lhs, rhs, lhsBatch, rhsBatch, lhsContract,
                                       rhsContract);
    return success();
  }
};

/// Replaces a transpose of a product by a product whose result has the transposed
/// dimensions. Needs: no other op reads the product, and the transpose keeps the batch
/// dimensions first, in any order. After them it either keeps the order of the other
/// dimensions, or exchanges those of `lhs` as a group with those of `rhs`.
struct ProduceTransposed : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto dot = op.getInput().getDefiningOp<DotOp>();
    if (!dot || !dot->hasOneUse())
      return failure();
    ArrayRef<int64_t> permutation = op.getPermutation();
    size_t batches = dot.getLhsBatch().size();
    int64_t left = batches + dot.getLhsFree().size(), rank = permutation.size();
    ArrayRef<int64_t> order = permutation.take_front(batches);
    if (llvm::any_of(order, [&](int64_t d) { return d >= int64_t(batches); }))
      return failure();
    auto straight = llvm::to_vector(llvm::seq<int64_t>(batches, rank));
    auto exchanged = llvm::to_vector(llvm::seq<int64_t>(left, rank));
    llvm::append_range(exchanged, llvm::seq<int64_t>(batches, left));
    ArrayRef<int64_t> rest = permutation.drop_front(batches);
    SmallVector<int64_t> lhsBatch, rhsBatch;
    for (int64_t d : order) {
      lhsBatch.push_back(dot.getLhsBatch()[d]);
      rhsBatch.push_back(dot.getRhsBatch()[d]);
    }
    if (rest == ArrayRef(straight))
      rewriter.replaceOpWithNewOp<DotOp>(op, op.getType(), dot.getLhs(), dot.getRhs(), lhsBatch,
                                         rhsBatch, dot.getLhsContract(), dot.getRhsContract());
    else if (rest == ArrayRef(exchanged))
      rewriter.replaceOpWithNewOp<DotOp>(op, op.getType(), dot.getRhs(), dot.getLhs(), rhsBatch,
                                         lhsBatch, dot.getRhsContract(), dot.getLhsContract());
    else
      return failure();
    return success();
  }
};

} // namespace

void DotOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ReadThroughTranspose, ProduceTransposed>(context);
}
