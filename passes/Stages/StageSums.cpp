// Rewrites additions of terms that are on several chunks of a pipeline.

#include "passes/Stages/StageSums.h"

#include "dialects/Dist/IR/Messages.h"
#include "dialects/Dist/IR/MicroLoop.h"
#include "dialects/NN/IR/Expressions.h"

using namespace mlir;
using namespace dpc;

/// Appends the terms of `value` in their order. A sum whose only reader adds it to another term is
/// no term itself.
static void collectTerms(Value value, bool isRoot, SmallVectorImpl<Value> &terms) {
  auto add = value.getDefiningOp<nn::AddOp>();
  if (!add || (!isRoot && !value.hasOneUse())) {
    terms.push_back(value);
    return;
  }
  collectTerms(add.getLhs(), /*isRoot=*/false, terms);
  collectTerms(add.getRhs(), /*isRoot=*/false, terms);
}

/// The terms of `sum` by the chunk that adds them, in increasing order of chunks. Empty if one
/// chunk has all terms, or if a term is newer than `chunks`.
static std::map<int64_t, SmallVector<Value>> groupTerms(Value sum, const ValueChunks &chunks) {
  SmallVector<Value> terms;
  collectTerms(sum, /*isRoot=*/true, terms);
  std::map<int64_t, SmallVector<Value>> groups;
  if (!llvm::all_of(terms, [&](Value term) { return chunks.has(term); }))
    return groups;
  ChunkSet common;
  for (Value term : terms)
    common = common.intersect(chunks.get(term));
  if (!common.isEmpty())
    return groups;
  for (Value term : terms)
    if (const ChunkSet &set = chunks.get(term); !set.isEverywhere() && set.getChunks().size() == 1)
      groups[set.getChunks().front()];
  // A term that several chunks have is added once, by the lowest of them that adds other terms.
  for (Value term : terms) {
    const ChunkSet &set = chunks.get(term);
    auto group = llvm::find_if(groups, [&](const auto &each) { return set.contains(each.first); });
    const int64_t chunk = group != groups.end() ? group->first : set.getChunks().front();
    groups[chunk].push_back(term);
  }
  return groups;
}

static Value addAll(OpBuilder &builder, Location loc, ArrayRef<Value> terms) {
  Value sum = terms.front();
  for (Value term : terms.drop_front())
    sum = builder.create<nn::AddOp>(loc, sum, term);
  return sum;
}

/// Erases `op` and the additions that only it reads.
static void eraseSum(Operation *op) {
  if (!isa_and_nonnull<nn::AddOp>(op) || !op->use_empty())
    return;
  const SmallVector<Value> operands(op->getOperands());
  op->erase();
  for (Value operand : operands)
    eraseSum(operand.getDefiningOp());
}

bool dpc::splitYieldedSums(func::FuncOp function, const ValueChunks &chunks) {
  bool changed = false;
  for (auto loop : llvm::make_early_inc_range(function.front().getOps<dist::MicroOp>())) {
    Operation *yield = loop.getBodyBlock().getTerminator();
    // By result of the loop: the sums of its chunks, and their number.
    SmallVector<Value> sums;
    SmallVector<std::pair<unsigned, unsigned>> counts;
    for (OpResult result : loop.getResults()) {
      const unsigned number = result.getResultNumber();
      if (loop.getResultKind(number) != dist::MicroKind::summed)
        continue;
      const auto groups = groupTerms(yield->getOperand(number), chunks);
      if (groups.empty())
        continue;
      OpBuilder builder(yield);
      for (const auto &[chunk, terms] : groups)
        sums.push_back(addAll(builder, result.getLoc(), terms));
      counts.push_back({number, groups.size()});
    }
    if (counts.empty())
      continue;
    changed = true;
    const unsigned before = loop.getNumResults();
    dist::MicroOp made = dist::addSums(loop, sums);
    OpBuilder builder(made->getContext());
    builder.setInsertionPointAfter(made);
    unsigned next = before;
    SmallVector<Value> replaced;
    for (auto [number, count] : counts) {
      SmallVector<Value> terms(made.getResults().slice(next, count));
      next += count;
      Value old = made.getResult(number);
      replaced.push_back(made.getBodyBlock().getTerminator()->getOperand(number));
      old.replaceAllUsesWith(addAll(builder, old.getLoc(), terms));
    }
    dist::eraseUnreadResults(made);
    for (Value sum : replaced)
      eraseSum(sum.getDefiningOp());
  }
  return changed;
}

bool dpc::combineSums(func::FuncOp function, const ValueChunks &chunks) {
  SmallVector<nn::AddOp> roots;
  for (auto add : function.front().getOps<nn::AddOp>())
    if (!chunks.isPerMicrobatch(add) && (!add->hasOneUse() || !isa<nn::AddOp>(*add->user_begin())))
      roots.push_back(add);
  bool changed = false;
  for (nn::AddOp root : roots) {
    const auto groups = groupTerms(root.getResult(), chunks);
    if (groups.empty())
      continue;
    changed = true;
    OpBuilder builder(root);
    SmallVector<Value> sums;
    for (const auto &[chunk, terms] : groups)
      sums.push_back(addAll(builder, root.getLoc(), terms));
    root.getResult().replaceAllUsesWith(
        builder.create<dist::CombineStagesOp>(root.getLoc(), root.getType(), sums));
    eraseSum(root);
  }
  return changed;
}
