// Makes each rank's shard of summed gradients, for the whole batch at once or for each
// microbatch in the loop that computes it (ZeRO-2).

#include "passes/Bucketing/GradientShards.h"

#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/Shape.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace dpc;
using dist::MicroKind;
using dist::MicroOp;

MicroOp GradientShards::findLoop() const {
  MicroOp loop;
  for (int64_t member : bucket.members)
    for (Terms terms : {&ReplicatedUpdate::partial, &ReplicatedUpdate::whole})
      for (Value term : updates[member].*terms) {
        auto own = term.getDefiningOp<MicroOp>();
        if (!own || (loop && own != loop) ||
            own.getResultKind(cast<OpResult>(term).getResultNumber()) != MicroKind::summed)
          return {};
        loop = own;
      }
  return loop;
}

/// These terms of all members' gradients end to end, as soon as all are there; `valueOf`
/// says which value of `block` stands for a term.
Value GradientShards::pack(OpBuilder &builder, Block &block, Terms terms,
                           function_ref<Value(Value)> valueOf) const {
  SmallVector<Value> all;
  for (int64_t member : bucket.members)
    for (Value term : updates[member].*terms)
      all.push_back(valueOf(term));
  if (Operation *last = lastProducer(all))
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(&block);
  nn::Expressions e{builder, place.loc};
  SmallVector<Value> gradients;
  for (int64_t member : bucket.members) {
    Value gradient;
    for (Value term : updates[member].*terms) {
      Value value = valueOf(term);
      if (gradient && value.getType() != gradient.getType())
        value = builder.create<nn::ReshapeOp>(place.loc, gradient.getType(), value);
      gradient = gradient ? e.add(gradient, value) : value;
    }
    gradients.push_back(gradient);
  }
  return builder.create<dist::PackOp>(place.loc, place.whole(), gradients, place.offsets);
}

GradientShards::Parts GradientShards::makeParts(Block &block,
                                                function_ref<Value(Value)> valueOf) const {
  OpBuilder builder(place.element.getContext());
  Parts parts;
  if (!first().partial.empty()) {
    Value all = pack(builder, block, &ReplicatedUpdate::partial, valueOf);
    all = builder.create<nn::ReshapeOp>(place.loc, place.stacked(), all);
    parts.scattered = builder.create<dist::ReduceScatterOp>(
        place.loc, place.shard(), dist::ReductionKind::sum, all, place.mesh, place.axes);
  }
  if (!first().whole.empty())
    parts.taken = place.takeShard(builder, pack(builder, block, &ReplicatedUpdate::whole, valueOf));
  return parts;
}

GradientShards::Parts GradientShards::makeParts() const {
  return makeParts(*first().update->getBlock(), [](Value term) { return term; });
}

GradientShards::Parts GradientShards::makeInBody(MicroOp loop) const {
  Operation *yield = loop.getBodyBlock().getTerminator();
  Parts parts = makeParts(loop.getBodyBlock(), [&](Value term) {
    return yield->getOperand(cast<OpResult>(term).getResultNumber());
  });
  // Where nothing else is summed to one part, one sum over microbatches will do.
  if (parts.scattered && parts.taken && first().restAxes.empty())
    return {add(parts.scattered, parts.taken), {}};
  return parts;
}

/// The sum of both, as soon as they are there.
Value GradientShards::add(Value scattered, Value taken) const {
  OpBuilder builder(place.element.getContext());
  builder.setInsertionPointAfter(lastProducer({scattered, taken}));
  return nn::Expressions{builder, place.loc}.add(scattered, taken);
}

Value GradientShards::join(Parts parts) const {
  if (parts.scattered && !first().restAxes.empty()) {
    OpBuilder builder(place.element.getContext());
    builder.setInsertionPointAfterValue(parts.scattered);
    parts.scattered =
        builder.create<dist::AllReduceOp>(place.loc, place.shard(), dist::ReductionKind::sum,
                                          parts.scattered, place.mesh, first().restAxes);
  }
  if (!parts.taken)
    return parts.scattered;
  return parts.scattered ? add(parts.scattered, parts.taken) : parts.taken;
}

void dpc::sumInLoops(ArrayRef<GradientShards> buckets,
                     MutableArrayRef<std::optional<GradientShards::Parts>> made,
                     std::vector<ReplicatedUpdate> &updates) {
  llvm::MapVector<Operation *, SmallVector<size_t>> byLoop;
  for (auto [index, bucket] : llvm::enumerate(buckets))
    if (MicroOp loop = bucket.findLoop())
      byLoop[loop].push_back(index);
  for (auto &[op, members] : byLoop) {
    auto loop = cast<MicroOp>(op);
    const unsigned before = loop.getNumResults();
    SmallVector<Value> values;
    for (size_t index : members) {
      made[index] = buckets[index].makeInBody(loop);
      for (Value part : {made[index]->scattered, made[index]->taken})
        if (part)
          values.push_back(part);
    }
    // Looked for before the loop goes: results are part of it.
    SmallVector<std::pair<Value *, unsigned>> terms;
    for (ReplicatedUpdate &update : updates)
      for (auto *own : {&update.partial, &update.whole})
        for (Value &term : *own)
          if (auto result = dyn_cast<OpResult>(term); result && result.getOwner() == op)
            terms.push_back({&term, result.getResultNumber()});
    MicroOp summed = dist::addSums(loop, values);
    for (auto [term, number] : terms)
      *term = summed.getResult(number);
    unsigned next = before;
    for (size_t index : members)
      for (Value *part : {&made[index]->scattered, &made[index]->taken})
        if (*part)
          *part = summed.getResult(next++);
  }
}
