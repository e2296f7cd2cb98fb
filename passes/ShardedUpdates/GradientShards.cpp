// Builds each rank's shard of the summed gradients: once for the complete batch, or for each
// microbatch in the body of the loop over microbatches (ZeRO-2).

#include "passes/ShardedUpdates/GradientShards.h"

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

/// Sets the insertion point in `block` after the last op that computes one of `values`. If all of
/// them are arguments of `block`, sets it at the start of `block`.
static void setInsertionPointAfter(OpBuilder &builder, Block &block, ArrayRef<Value> values) {
  if (Operation *last = lastProducer(values))
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(&block);
}

static unsigned bitsOf(Type element) { return element.getIntOrFloatBitWidth(); }

Type GradientShards::findWidest(Terms terms) const {
  Type widest;
  for (int64_t member : bucket.members)
    for (Value term : updates[member].*terms)
      if (Type own = getElementTypeOrSelf(term); !widest || bitsOf(own) > bitsOf(widest))
        widest = own;
  return widest;
}

Type GradientShards::getSummedType() const {
  Type terms = findWidest(&ReplicatedUpdate::partial);
  return bitsOf(terms) < bitsOf(place.element) ? terms : place.element;
}

Value GradientShards::convert(Value value, Type type) const {
  if (getElementTypeOrSelf(value) == type)
    return value;
  OpBuilder builder(type.getContext());
  builder.setInsertionPointAfterValue(value);
  return nn::Expressions{builder, place.loc}.convert(value, type);
}

/// Packs the terms `terms` of all members' gradients end to end, as elements of `type`, at the
/// earliest position at which all of them are computed. `valueOf` maps each term to its value in
/// `block`. The terms of one gradient are added in the widest of their types, and the sum is
/// rounded to `type` once.
Value GradientShards::pack(OpBuilder &builder, Block &block, Terms terms, Type type,
                           function_ref<Value(Value)> valueOf) const {
  const Type widest = findWidest(terms);
  SmallVector<Value> gradients;
  for (int64_t member : bucket.members) {
    Value gradient;
    for (Value term : updates[member].*terms) {
      Value value = valueOf(term);
      if (!gradient) {
        gradient = value;
        continue;
      }
      const Value left = convert(gradient, widest), right = convert(value, widest);
      setInsertionPointAfter(builder, block, {left, right});
      nn::Expressions e{builder, place.loc};
      Value shaped = right;
      if (right.getType() != left.getType())
        shaped = builder.create<nn::ReshapeOp>(place.loc, left.getType(), right);
      gradient = e.add(left, shaped);
    }
    gradients.push_back(convert(gradient, type));
  }
  setInsertionPointAfter(builder, block, gradients);
  return builder.create<dist::PackOp>(place.loc, place.withElement(type).whole(), gradients,
                                      place.offsets);
}

GradientShards::Parts GradientShards::makeParts(Block &block,
                                                function_ref<Value(Value)> valueOf) const {
  OpBuilder builder(place.element.getContext());
  Parts parts;
  if (!first().partial.empty()) {
    const StoragePlace summed = place.withElement(getSummedType());
    Value all = pack(builder, block, &ReplicatedUpdate::partial, summed.element, valueOf);
    all = builder.create<nn::ReshapeOp>(place.loc, summed.stacked(), all);
    parts.scattered = builder.create<dist::ReduceScatterOp>(
        place.loc, summed.shard(), dist::Reduction::sum, all, place.mesh, place.axes);
  }
  if (!first().whole.empty()) {
    const StoragePlace taken = place.withElement(findWidest(&ReplicatedUpdate::whole));
    parts.taken = taken.takeShard(
        builder, pack(builder, block, &ReplicatedUpdate::whole, taken.element, valueOf));
  }
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
  // The ranks may sum in a type of few bits. The microbatches are summed in the type in which the
  // old loop summed them.
  if (parts.scattered)
    parts.scattered = convert(parts.scattered, findWidest(&ReplicatedUpdate::partial));
  // If the scattered part needs no further sum over ranks, both parts are added here, so that the
  // loop accumulates only one value.
  if (parts.scattered && parts.taken && first().restAxes.empty())
    return {add(parts.scattered, parts.taken), {}};
  return parts;
}

/// Builds the sum of both parts in the wider of their types, at the earliest position at which both
/// are computed.
Value GradientShards::add(Value scattered, Value taken) const {
  const Type left = getElementTypeOrSelf(scattered), right = getElementTypeOrSelf(taken);
  const Type wide = bitsOf(left) < bitsOf(right) ? right : left;
  scattered = convert(scattered, wide);
  taken = convert(taken, wide);
  OpBuilder builder(place.element.getContext());
  builder.setInsertionPointAfter(lastProducer({scattered, taken}));
  return nn::Expressions{builder, place.loc}.add(scattered, taken);
}

Value GradientShards::join(Parts parts) const {
  if (parts.scattered && !first().restAxes.empty()) {
    parts.scattered = convert(parts.scattered, getSummedType());
    OpBuilder builder(place.element.getContext());
    builder.setInsertionPointAfterValue(parts.scattered);
    parts.scattered = builder.create<dist::AllReduceOp>(place.loc, parts.scattered.getType(),
                                                        dist::Reduction::sum, parts.scattered,
                                                        place.mesh, first().restAxes);
  }
  Value shard = parts.scattered ? parts.scattered : parts.taken;
  if (parts.scattered && parts.taken)
    shard = add(parts.scattered, parts.taken);
  return convert(shard, place.element);
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
    // Collect the terms before the loop is replaced, because the replacement erases the results of
    // the old loop.
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
