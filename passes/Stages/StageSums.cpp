// Rewrites additions of terms that are on several chunks of a pipeline.

#include "passes/Stages/StageSums.h"

#include "dialects/Dist/IR/Messages.h"
#include "dialects/Dist/IR/MicroLoop.h"
#include "dialects/NN/IR/Expressions.h"

using namespace mlir;
using namespace dpc;

/// Returns the terms of `sum` in their order. A sum whose only reader adds it to another term is no
/// term itself.
static SmallVector<Value> collectTerms(Value sum) {
  SmallVector<Value> terms, waiting = {sum};
  while (!waiting.empty()) {
    Value value = waiting.pop_back_val();
    auto add = value.getDefiningOp<nn::AddOp>();
    if (add && (value == sum || value.hasOneUse()))
      waiting.append({add.getRhs(), add.getLhs()});
    else
      terms.push_back(value);
  }
  return terms;
}

/// The terms of `sum` by the chunk that adds them, in increasing order of chunks. Empty if one
/// chunk has all terms.
static std::map<int64_t, SmallVector<Value>> groupTerms(Value sum, const ValueChunks &chunks) {
  const SmallVector<Value> terms = collectTerms(sum);
  ChunkSet common;
  for (Value term : terms)
    common = common.intersect(chunks.get(term));
  std::map<int64_t, SmallVector<Value>> groups;
  if (!common.isEmpty())
    return groups;
  for (Value term : terms)
    if (const ChunkSet &set = chunks.get(term); !set.isEverywhere() && set.getChunks().size() == 1)
      groups[set.getChunks().front()];
  auto isMovable = [&](Value term) { return chunks.get(term).isEverywhere(); };
  // One chunk adds each term: the lowest chunk that has it and adds other terms, if there is one.
  for (Value term : terms) {
    if (isMovable(term))
      continue;
    const ChunkSet &set = chunks.get(term);
    auto group = llvm::find_if(groups, [&](const auto &each) { return set.contains(each.first); });
    groups[group != groups.end() ? group->first : set.getChunks().front()].push_back(term);
  }
  llvm::copy_if(terms, std::back_inserter(groups.begin()->second), isMovable);
  return groups;
}

static Value addAll(OpBuilder &builder, Location loc, ArrayRef<Value> terms) {
  Value sum = terms.front();
  for (Value term : terms.drop_front())
    sum = builder.create<nn::AddOp>(loc, sum, term);
  return sum;
}

/// Erases each of `sums` that no op reads, and the additions that only it reads.
static void eraseSums(ArrayRef<Value> sums) {
  SmallVector<Value> waiting(sums);
  llvm::DenseSet<Value> erased; // looked up by key only
  while (!waiting.empty()) {
    Value value = waiting.pop_back_val();
    if (erased.contains(value))
      continue;
    auto add = value.getDefiningOp<nn::AddOp>();
    if (!add || !add->use_empty())
      continue;
    waiting.append({add.getLhs(), add.getRhs()});
    erased.insert(value);
    add->erase();
  }
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
    eraseSums(replaced);
  }
  return changed;
}

bool dpc::combineSums(func::FuncOp function, ValueChunks &chunks) {
  SmallVector<nn::AddOp> roots;
  for (auto add : function.front().getOps<nn::AddOp>())
    if (!chunks.isPerMicrobatch(add) && (!add->hasOneUse() || !isa<nn::AddOp>(*add->user_begin())))
      roots.push_back(add);
  SmallVector<Value> replaced;
  for (nn::AddOp root : roots) {
    const auto groups = groupTerms(root.getResult(), chunks);
    if (groups.empty())
      continue;
    OpBuilder builder(root);
    SmallVector<Value> sums;
    for (const auto &[chunk, terms] : groups)
      sums.push_back(addAll(builder, root.getLoc(), terms));
    Value combined = builder.create<dist::CombineStagesOp>(root.getLoc(), root.getType(), sums);
    chunks.addEverywhere(combined);
    root.getResult().replaceAllUsesWith(combined);
    replaced.push_back(root.getResult());
  }
  // Erase at the end. A new op at the address of an erased one would have its chunks.
  eraseSums(replaced);
  return !replaced.empty();
}
