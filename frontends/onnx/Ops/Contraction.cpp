// Imports ONNX matrix products.

#include "frontends/onnx/Import/Registry.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

namespace {

/// If `lhs` and `rhs` are reshapes that merge the same leading dimensions of batched
/// matrices into one ([B, heads, T, d] to [B * heads, T, d]): the inputs of the two
/// reshapes. Exporters write products of rank 3, but layouts and kernels work better on
/// the unmerged dimensions. Null for any other operands.
std::pair<Value, Value> unmergedBatch(Value lhs, Value rhs) {
  auto source = [](Value value) -> Value {
    auto reshape = value.getDefiningOp<nn::ReshapeOp>();
    if (!reshape || rankOf(value) != 3)
      return {};
    Value from = reshape.getInput();
    return rankOf(from) > 3 && shapeOf(from).take_back(2) == shapeOf(value).take_back(2) ? from
                                                                                         : Value();
  };
  Value left = source(lhs), right = source(rhs);
  if (!left || !right || rankOf(left) != rankOf(right) ||
      shapeOf(left).drop_back(2) != shapeOf(right).drop_back(2))
    return {};
  return {left, right};
}

/// If a transpose changes the order of a tensor's dimensions, and a reshape then merges
/// several of them into the first dimension of `rows`: `rows` with these dimensions
/// unmerged. In nn.MultiheadAttention, for example, [B, heads, T, d] becomes [T, B, ..]
/// and then [T * B, K]; the result is [T, B, K]. In the merged dimension the batch is
/// not outermost, so no layout could shard that dimension by samples. Any other `rows`
/// is returned unchanged.
Value unmergedRows(Conversion &c, Value rows) {
  auto reshape = rows.getDefiningOp<nn::ReshapeOp>();
  auto transpose = reshape ? reshape.getInput().getDefiningOp<nn::TransposeOp>() : nullptr;
  if (!transpose)
    return rows;
  ArrayRef<int64_t> from = shapeOf(transpose);
  int64_t product = 1;
  size_t merged = 0;
  while (merged < from.size() && product < shapeOf(rows)[0])
    product *= from[merged++];
  if (product != shapeOf(rows)[0] || merged < 2 ||
      llvm::is_sorted(transpose.getPermutation().take_front(merged)))
    return rows;
  SmallVector<int64_t> apart(from.take_front(merged));
  apart.push_back(shapeOf(rows)[1]);
  return c.e.reshape(transpose, apart);
}

/// Converts a product with the meaning of numpy's matmul. If the right operand is a
/// single matrix (each of its leading dimensions has extent 1), the leading dimensions
/// of the left operand become free dimensions of one contraction. If not, the leading
/// dimensions of both operands are broadcast together and become batch dimensions.
LogicalResult convertMatMul(Conversion &c) {
  Value lhs = c.operand(0), rhs = c.operand(1);
  if (rankOf(lhs) == 0 || rankOf(rhs) == 0)
    return c.error("operands must have rank 1 or more");
  bool vectorLeft = rankOf(lhs) == 1, vectorRight = rankOf(rhs) == 1;
  if (vectorLeft)
    lhs = c.e.reshape(lhs, {1, shapeOf(lhs)[0]});
  if (vectorRight)
    rhs = c.e.reshape(rhs, {shapeOf(rhs)[0], 1});
  ArrayRef<int64_t> l = shapeOf(lhs), r = shapeOf(rhs);
  if (l.back() != r[r.size() - 2])
    return c.error("shapes " + printed(l) + " and " + printed(r) +
                   " cannot be multiplied: inner extents " + Twine(l.back()) + " and " +
                   Twine(r[r.size() - 2]) + " differ");

  Value result;
  bool rightIsMatrix =
      llvm::all_of(r.drop_back(2), [](int64_t size) { return size == 1; }) && r.size() <= l.size();
  if (rightIsMatrix) {
    Value matrix = c.e.reshape(rhs, r.take_back(2));
    result = c.e.dot(lhs, matrix, {}, {}, {int64_t(l.size()) - 1}, {0});
  } else if (auto apart = unmergedBatch(lhs, rhs); apart.first) {
    int64_t rank = rankOf(apart.first) - 2;
    SmallVector<int64_t> dims = range(0, rank);
    result = c.e.reshape(c.e.dot(apart.first, apart.second, dims, dims, {rank + 1}, {rank}),
                         {l[0], l[1], r[2]});
  } else {
    SmallVector<int64_t> batch(l.drop_back(2)), other(r.drop_back(2));
    SmallVector<int64_t> &longer = batch.size() >= other.size() ? batch : other;
    SmallVector<int64_t> &shorter = batch.size() >= other.size() ? other : batch;
    shorter.insert(shorter.begin(), longer.size() - shorter.size(), 1);
    for (auto [x, y] : llvm::zip(batch, other)) {
      if (x != y && x != 1 && y != 1)
        return c.error("batch dimensions of " + printed(l) + " and " + printed(r) +
                       " do not broadcast together");
      x = std::max(x, y) * (x != 0 && y != 0);
    }
    auto expand = [&](Value value) {
      SmallVector<int64_t> shape(batch);
      llvm::append_range(shape, shapeOf(value).take_back(2));
      return c.broadcastTo(value, shape);
    };
    int64_t rank = static_cast<int64_t>(batch.size());
    SmallVector<int64_t> dims = range(0, rank);
    Value left = expand(lhs), right = expand(rhs);
    if (!left || !right)
      return failure();
    result = c.e.dot(left, right, dims, dims, {rank + 1}, {rank});
  }
  SmallVector<int64_t> shape(shapeOf(result));
  if (vectorRight)
    shape.pop_back();
  if (vectorLeft)
    shape.erase(shape.end() - (vectorRight ? 1 : 2));
  return c.done(c.e.reshape(result, shape));
}

LogicalResult convertGemm(Conversion &c) {
  Value a = c.operand(0), b = c.operand(1);
  if (rankOf(a) != 2 || rankOf(b) != 2)
    return c.error("A and B have ranks " + Twine(rankOf(a)) + " and " + Twine(rankOf(b)) +
                   " but must have 2");
  int64_t innerA = c.intAttr("transA") ? 0 : 1, innerB = c.intAttr("transB") ? 1 : 0;
  if (shapeOf(a)[innerA] != shapeOf(b)[innerB])
    return c.error("A " + printed(shapeOf(a)) + " and B " + printed(shapeOf(b)) +
                   " cannot be multiplied: inner extents " + Twine(shapeOf(a)[innerA]) + " and " +
                   Twine(shapeOf(b)[innerB]) + " differ");
  SmallVector<int64_t> shape{shapeOf(a)[1 - innerA], shapeOf(b)[1 - innerB]};
  // If the bias has one row per row of the result, the rows must stay merged.
  if (innerA == 1 && (!c.has(2) || rankOf(c.operand(2)) < 2 || shapeOf(c.operand(2))[0] == 1)) {
    a = unmergedRows(c, a);
    innerA = rankOf(a) - 1;
  }
  Value result = c.e.dot(a, b, {}, {}, {innerA}, {innerB});
  double alpha = c.floatAttr("alpha"), beta = c.floatAttr("beta");
  if (alpha != 1)
    result = c.e.mul(result, alpha);
  if (c.has(2) && beta != 0) {
    Value bias = c.operand(2);
    if (beta != 1)
      bias = c.e.mul(bias, beta);
    bias = c.broadcastTo(bias, shapeOf(result));
    if (!bias)
      return failure();
    result = c.e.add(result, bias);
  }
  return c.done(c.e.reshape(result, shape));
}

/// The subscripts of one Einsum operand; each dimension of "..." has its own digit
/// as label.
struct Term {
  Value value;
  SmallVector<char> labels;
};

/// If two dimensions of `term` have the same label, replaces them by their diagonal. It
/// sets the elements off the diagonal to 0 and sums over the later dimension.
void takeDiagonals(Conversion &c, Term &term) {
  for (size_t i = 0; i < term.labels.size(); ++i)
    for (size_t j = term.labels.size() - 1; j > i; --j) {
      if (term.labels[i] != term.labels[j])
        continue;
      auto index = RankedTensorType::get(shapeOf(term.value), c.builder.getI64Type());
      auto place = [&](size_t dimension) -> Value {
        return c.e.make<nn::IotaOp>(index, int64_t(dimension));
      };
      Value onDiagonal = c.e.compare(nn::Comparison::eq, place(i), place(j));
      Value kept = c.e.select(onDiagonal, term.value, c.e.splatLike(term.value, 0));
      term.value = c.e.sum(kept, {int64_t(j)});
      term.labels.erase(term.labels.begin() + j);
    }
}

/// Sums over the labels of `term` that are not among `needed`.
Value sumUnshared(Conversion &c, Term &term, ArrayRef<char> needed) {
  SmallVector<int64_t> summed;
  SmallVector<char> kept;
  for (auto [i, label] : llvm::enumerate(term.labels)) {
    if (llvm::is_contained(needed, label))
      kept.push_back(label);
    else
      summed.push_back(int64_t(i));
  }
  term.labels = kept;
  return c.e.sum(term.value, summed);
}

/// The product of two terms, summed over the labels that are not in `needed`.
Term multiply(Conversion &c, Term lhs, Term rhs, ArrayRef<char> needed) {
  SmallVector<char> wantedLeft(needed), wantedRight(needed);
  llvm::append_range(wantedLeft, rhs.labels);
  llvm::append_range(wantedRight, lhs.labels);
  lhs.value = sumUnshared(c, lhs, wantedLeft);
  rhs.value = sumUnshared(c, rhs, wantedRight);
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
  Term result;
  for (auto [i, label] : llvm::enumerate(lhs.labels)) {
    auto *other = llvm::find(rhs.labels, label);
    if (other == rhs.labels.end())
      continue;
    int64_t j = other - rhs.labels.begin();
    bool keep = llvm::is_contained(needed, label);
    (keep ? lhsBatch : lhsContract).push_back(int64_t(i));
    (keep ? rhsBatch : rhsContract).push_back(j);
    if (keep)
      result.labels.push_back(label);
  }
  for (char label : lhs.labels)
    if (!llvm::is_contained(rhs.labels, label))
      result.labels.push_back(label);
  for (char label : rhs.labels)
    if (!llvm::is_contained(lhs.labels, label))
      result.labels.push_back(label);
  result.value = c.e.dot(lhs.value, rhs.value, lhsBatch, rhsBatch, lhsContract, rhsContract);
  return result;
}

/// Appends the labels of a subscript. A letter is its own label. An ellipsis of `spread`
/// dimensions has the labels '0', '1', .. from right to left, because ellipses of several
/// terms are aligned at the right.
void appendLabels(StringRef subscript, size_t spread, SmallVectorImpl<char> &labels) {
  for (size_t at = 0; at < subscript.size(); ++at) {
    if (subscript[at] != '.') {
      labels.push_back(subscript[at]);
      continue;
    }
    for (size_t k = spread; k-- > 0;)
      labels.push_back(char('0' + k));
    at += 2;
  }
}

/// The terms of an equation, the extent of each label, and the largest number of
/// dimensions of an ellipsis.
struct EinsumTerms {
  SmallVector<Term> terms;
  std::map<char, int64_t> extents;
  size_t ellipsis = 0;
};

/// Reads operand `i` as the term `subscript`.
LogicalResult readTerm(Conversion &c, StringRef equation, unsigned i, StringRef subscript,
                       EinsumTerms &read) {
  Term term{c.operand(i), {}};
  size_t named = llvm::count_if(subscript, [](char ch) { return llvm::isAlpha(ch); }),
         rank = rankOf(term.value);
  bool dots = subscript.contains("...");
  if (named + (dots ? 3 : 0) != subscript.size() || named > rank || (!dots && named != rank))
    return c.error("term '" + subscript + "' of equation '" + equation + "' does not fit shape " +
                   printed(shapeOf(term.value)));
  size_t spread = rank - named;
  if (spread > 10)
    return c.error("an ellipsis stands for more than 10 dimensions");
  appendLabels(subscript, spread, term.labels);
  read.ellipsis = std::max(read.ellipsis, spread);
  for (auto [label, size] : llvm::zip(term.labels, shapeOf(term.value))) {
    auto [known, isNew] = read.extents.try_emplace(label, size);
    if (!isNew && known->second != size)
      return c.error("label '" + Twine(label) + "' of equation '" + equation + "' is " +
                     Twine(known->second) + " and " + Twine(size));
  }
  takeDiagonals(c, term);
  read.terms.push_back(std::move(term));
  return success();
}

/// The labels of the result: those after `->`. Without `->`, the ellipsis and then
/// every letter that occurs exactly once in the inputs, in alphabetical order.
SmallVector<char> resultLabels(StringRef equation, const EinsumTerms &read) {
  auto [inputs, output] = equation.split("->");
  SmallVector<char> result;
  if (equation.contains("->")) {
    appendLabels(output, read.ellipsis, result);
    return result;
  }
  appendLabels("...", read.ellipsis, result);
  for (const auto &[label, size] : read.extents)
    if (llvm::isAlpha(label) && inputs.count(label) == 1)
      result.push_back(label);
  return result;
}

LogicalResult convertEinsum(Conversion &c) {
  std::string equation = c.stringAttr("equation");
  llvm::erase(equation, ' ');
  SmallVector<StringRef> subscripts;
  StringRef(equation).split("->").first.split(subscripts, ',');
  if (subscripts.size() != c.numOperands())
    return c.error("equation '" + equation + "' has " + Twine(subscripts.size()) +
                   " terms but the node has " + Twine(c.numOperands()) + " inputs");
  EinsumTerms read;
  for (auto [i, subscript] : llvm::enumerate(subscripts))
    if (failed(readTerm(c, equation, i, subscript, read)))
      return failure();
  SmallVector<char> result = resultLabels(equation, read);
  for (char label : result)
    if (!read.extents.count(label) || llvm::count(result, label) > 1)
      return c.error("the output of equation '" + equation + "' names '" + Twine(label) +
                     "' which no input has, or twice");

  Term product = read.terms.front();
  for (size_t i = 1; i < read.terms.size(); ++i) {
    SmallVector<char> needed(result);
    for (const Term &later : ArrayRef<Term>(read.terms).drop_front(i + 1))
      llvm::append_range(needed, later.labels);
    product = multiply(c, product, read.terms[i], needed);
  }
  product.value = sumUnshared(c, product, result);
  SmallVector<int64_t> permutation;
  for (char label : result)
    permutation.push_back(llvm::find(product.labels, label) - product.labels.begin());
  return c.done(c.e.transpose(product.value, permutation));
}

} // namespace

void dpc::onnx::registerContractionOps(Registry &registry) {
  registry.add("MatMul", convertMatMul);
  registry.add("Gemm", convertGemm);
  registry.add("Einsum", convertEinsum);
}
