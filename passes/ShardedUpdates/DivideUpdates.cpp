// Divides weight updates among ranks. An all-reduce and an equal update on every rank become a
// reduce-scatter, an update of each rank's own shard, and an all-gather (Xu et al., 2020; ZeRO-1).
// At stage 3 parameters stay sharded, and are gathered before ops read them (ZeRO-3).

#include "passes/Prices/OpPrices.h"
#include "passes/ShardedUpdates/GradientShards.h"
#include "passes/ShardedUpdates/MemberFactors.h"
#include "passes/ShardedUpdates/Passes.h"
#include "passes/ShardedUpdates/ReadOnlyState.h"
#include "passes/ShardedUpdates/ReplicatedUpdates.h"
#include "passes/ShardedUpdates/StorageArguments.h"

#include "dialects/Dist/IR/FlatStorage.h"
#include "dialects/Dist/IR/MachineAttr.h"
#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/Shape.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_DIVIDEUPDATES
#include "passes/ShardedUpdates/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using dist::MemberAttr;
using dist::StorageAttr;
using nn::ArgKind;

namespace {

/// The offsets of the state of `bucket` in flat storage. All members of the bucket have equal
/// updates, so the first one decides the type and the axes.
StoragePlace makePlace(func::FuncOp step, ArrayRef<ReplicatedUpdate> updates, const Bucket &bucket,
                       const BucketProblem &problem) {
  const ReplicatedUpdate &first = updates[bucket.members.front()];
  SmallVector<Location> locations;
  for (int64_t member : bucket.members)
    locations.push_back(updates[member].update->getLoc());
  StoragePlace place(bucket, problem, first.mesh, first.axes,
                     getElementTypeOrSelf(step.getArgument(first.states.front().argument)),
                     Builder(first.axes.getContext()).getFusedLoc(locations));
  if (first.readAs)
    place.readAs = first.readAs;
  return place;
}

/// Rewrites the updates of one bucket, and adds arguments and results for the storage of the bucket
/// to the functions. The old arguments and results stay until all buckets are rewritten. Then the
/// pass erases them.
class BucketDivision {
public:
  BucketDivision(func::FuncOp step, ArrayRef<ReplicatedUpdate> updates, const Bucket &plan,
                 const StoragePlace &place, int64_t number, bool cutsParameters, bool isKept,
                 const dist::MeshShape &mesh, StorageArguments &functions)
      : step(step), updates(updates), plan(plan), number(number), cutsParameters(cutsParameters),
        isKept(isKept), mesh(mesh), functions(functions), builder(step.getContext()), place(place) {
  }

  /// Updates this rank's shard of the state of all members. `gradient` is this rank's shard of the
  /// summed gradients.
  void run(Value gradient) {
    builder.setInsertionPoint(findLast([](const ReplicatedUpdate &update) {
      return update.follower ? update.follower : update.update;
    }));
    SmallVector<StorageAttr> storages;
    for (size_t slot = 0; slot < first().states.size(); ++slot) {
      storages.push_back(getStorage(slot));
      functions.add(storages.back(), place, isKept);
      Value held = findStorage(step, storages.back());
      shards.push_back(storages.back().getAxes().empty() ? place.takeShard(builder, held) : held);
    }
    Operation *update = build(first().getUpdate(), first().sources, gradient, {}, {});
    Operation *follower = first().follower ? buildFollower(update) : nullptr;
    for (auto [storage, state] : llvm::zip_equal(storages, first().states))
      addResult(storage, (state.isFollowers ? follower : update)->getResult(state.result));
  }

private:
  const ReplicatedUpdate &first() const { return updates[plan.members.front()]; }

  /// Applies `opOf` to each member, and returns the last of the resulting ops in the block.
  Operation *findLast(function_ref<Operation *(const ReplicatedUpdate &)> opOf) const {
    Operation *last = opOf(first());
    for (int64_t member : plan.members)
      if (last->isBeforeInBlock(opOf(updates[member])))
        last = opOf(updates[member]);
    return last;
  }

  /// The shard of the tensor that `source` describes. `made` are the results of the bucket's
  /// update.
  Value getShard(const ReplicatedUpdate::Source &source, Value gradient, ValueRange made) const {
    switch (source.kind) {
    case ReplicatedUpdate::Source::gradient:
      return gradient;
    case ReplicatedUpdate::Source::state:
      return shards[source.index];
    case ReplicatedUpdate::Source::made:
      return made[source.index];
    }
    llvm_unreachable("no other source");
  }

  /// Builds the update `model` on shards. `factors` maps the index of a scalar of `model` to a
  /// tensor that replaces it, because each member has its own value of this scalar.
  Operation *build(nn::UpdateOp model, ArrayRef<ReplicatedUpdate::Source> sources, Value gradient,
                   ValueRange made, const llvm::MapVector<unsigned, Value> &factors) {
    SmallVector<Value> tensors, scalars;
    for (const ReplicatedUpdate::Source &source : sources)
      tensors.push_back(getShard(source, gradient, made));
    const unsigned ownTensors = tensors.size();
    for (auto [index, factor] : factors)
      tensors.push_back(factor);
    for (auto [index, scalar] : llvm::enumerate(model.getScalars()))
      if (!factors.count(index))
        scalars.push_back(scalar);
    auto update = builder.create<nn::UpdateOp>(
        place.loc, SmallVector<Type>(model->getNumResults(), place.shard()), tensors, scalars);
    IRMapping mapping;
    model.getBody().cloneInto(&update.getBody(), mapping);
    Block &body = update.getBodyBlock();
    unsigned next = ownTensors;
    for (auto [index, factor] : factors) {
      // The block arguments must be in the order of the operands: first the tensors with the
      // factors, then the remaining scalars. Each factor that was handled before added one argument
      // and erased one. Therefore `scalar` still has its old position.
      BlockArgument scalar = body.getArgument(ownTensors + index);
      BlockArgument element = body.insertArgument(next++, scalar.getType(), scalar.getLoc());
      scalar.replaceAllUsesWith(element);
      body.eraseArgument(scalar.getArgNumber());
    }
    return update;
  }

  /// Builds the follower on shards. A follower is a second update whose scalars are computed from
  /// norms of complete tensors (LAMB). The norms of each member become sums over ranks. A scalar
  /// becomes a tensor if its values differ between members.
  Operation *buildFollower(Operation *update) {
    SmallVector<int64_t> sizes;
    for (int64_t member : plan.members)
      sizes.push_back(nn::typeOf(updates[member].getGradient()).getNumElements());
    const MemberFactors members(builder, place, sizes, mesh);
    for (size_t norm = 0; norm < first().norms.size(); ++norm) {
      Value shard = getShard(first().norms[norm].source, {}, update->getResults());
      for (auto [member, sum] : llvm::zip_equal(plan.members, members.sumSquares(shard)))
        updates[member].norms[norm].sum.sum->getResult(0).replaceAllUsesWith(sum);
    }
    llvm::MapVector<unsigned, Value> factors;
    for (unsigned index = 0; index < first().getFollower().getScalars().size(); ++index) {
      SmallVector<Value> numbers;
      for (int64_t member : plan.members)
        numbers.push_back(updates[member].getFollower().getScalars()[index]);
      if (!llvm::all_equal(numbers))
        factors.insert({index, members.spread(numbers)});
    }
    return build(first().getFollower(), first().followerSources, {}, update->getResults(), factors);
  }

  /// The flat storage that holds state number `slot` of all members.
  StorageAttr getStorage(size_t slot) {
    SmallVector<MemberAttr> members;
    for (auto [member, offset] : llvm::zip_equal(plan.members, place.offsets)) {
      const ReplicatedUpdate::State &state = updates[member].states[slot];
      members.push_back(makeMember(step, state.argument, offset));
    }
    const nn::ArgAttr binding = first().states[slot].binding;
    std::string name = "parameter";
    if (binding.getKind() == ArgKind::optimizer)
      name = binding.getName().split('|').first.str();
    const bool isCut = binding.getKind() == ArgKind::optimizer || cutsParameters;
    return makeStorage(name + "." + Twine(number) + "." + Twine(slot), members,
                       isCut ? place.axes : builder.getArrayAttr({}));
  }

  void addResult(StorageAttr storage, Value shard) {
    Value value = storage.getAxes().empty() ? place.gather(builder, shard) : shard;
    step.insertResult(step.getNumResults(), value.getType(),
                      builder.getDictionaryAttr(
                          builder.getNamedAttr(dist::DistDialect::kStorageAttrName, storage)));
    Operation *terminator = step.front().getTerminator();
    terminator->insertOperands(terminator->getNumOperands(), value);
  }

  func::FuncOp step;
  ArrayRef<ReplicatedUpdate> updates;
  const Bucket &plan;
  int64_t number;
  bool cutsParameters, isKept;
  const dist::MeshShape &mesh;
  StorageArguments &functions;
  OpBuilder builder;
  const StoragePlace &place;
  /// This rank's shard of each state, in the order of the states.
  SmallVector<Value> shards;
};

/// A gradient norm whose terms belong to divided updates. Each rank sums the squares of its shards,
/// and the ranks sum the results.
struct DividedNorm {
  const ReplicatedUpdate *first;
  SmallVector<Value> shards;
  SmallVector<const ReplicatedUpdate *> members;

  /// Replaces the term whose use comes last by the complete sum, and all other terms by zero.
  void write(func::FuncOp step) {
    SmallVector<OpOperand *> uses;
    SmallVector<Location> locations;
    for (const ReplicatedUpdate *member : members) {
      uses.push_back(&member->squares.getUse());
      locations.push_back(member->squares.sum->getLoc());
    }
    OpOperand *last = &members.front()->squares.getUse();
    for (OpOperand *use : uses)
      if (last->getOwner()->isBeforeInBlock(use->getOwner()))
        last = use;
    OpBuilder builder(last->getOwner());
    Location loc = builder.getFusedLoc(locations);
    nn::Expressions e{builder, loc};
    Value local;
    for (Value shard : shards) {
      Value term = buildSquareSum(
          builder, loc, shard,
          getElementTypeOrSelf(members.front()->squares.sum->getResult(0).getType()));
      local = local ? e.add(local, term) : term;
    }
    Value whole = builder.create<dist::AllReduceOp>(loc, local.getType(), dist::Reduction::sum,
                                                    local, first->mesh, first->axes);
    last->set(whole);
    if (uses.size() == 1)
      return;
    builder.setInsertionPointToStart(&step.front());
    Value zero = e.splat(local.getType(), 0);
    for (OpOperand *use : uses)
      if (use != last)
        use->set(zero);
  }
};

struct DivideUpdatesPass : dpc::impl::DivideUpdatesBase<DivideUpdatesPass> {
  using DivideUpdatesBase::DivideUpdatesBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (stage == 0 || !dist::findMesh(module))
      return;
    int64_t toKeep = stage < 3 ? 0 : int64_t(keepBytes);
    if (auto step = module.lookupSymbol<func::FuncOp>("step"))
      if (failed(divideUpdates(step, toKeep)))
        return signalPassFailure();
    if (stage < 3)
      return;
    const SmallVector<std::string> among(axes.begin(), axes.end());
    if (failed(cutReadOnlyState(module, among, {firstBucketBytes, bucketBytes}, toKeep)))
      signalPassFailure();
  }

private:
  /// Divides the updates of `step`. `toKeep` is the number of bytes of sharded parameters that may
  /// stay whole after a gather. Subtracts from `toKeep` the bytes of the buckets that stay whole.
  LogicalResult divideUpdates(func::FuncOp step, int64_t &toKeep) {
    ModuleOp module = getOperation();
    FailureOr<MeshPrices> prices = dist::getMeshPrices(module);
    if (failed(prices))
      return failure();
    const SmallVector<std::string> among(axes.begin(), axes.end());
    std::vector<ReplicatedUpdate> updates = findReplicatedUpdates(step, among);
    if (updates.empty())
      return success();
    const dist::MeshShape mesh = dist::getMeshShape(module);
    BucketProblem problem = makeUpdateProblem(updates, mesh, {firstBucketBytes, bucketBytes});
    llvm::Expected<BucketPlan> plan = assignBuckets(problem);
    llvm::Error error = plan ? plan->verify(problem) : plan.takeError();
    if (error)
      return step.emitError("buckets: ") << llvm::toString(std::move(error));
    // Looked up by key only, so that the order of the set has no effect.
    llvm::DenseSet<Operation *> ops;
    for (const ReplicatedUpdate &update : updates) {
      ops.insert(update.update);
      if (update.follower)
        ops.insert(update.follower);
      for (const ReplicatedUpdate::Norm &norm : update.norms)
        ops.insert(norm.sum.square);
    }
    StorageArguments functions(module, ops);
    SmallVector<const ReplicatedUpdate *> divided;
    std::vector<DividedNorm> norms;
    std::vector<Bucket> buckets;
    std::vector<StoragePlace> places;
    for (const Bucket &bucket : plan->buckets)
      if (isWorthIt(bucket, updates, problem, *prices)) {
        buckets.push_back(bucket);
        places.push_back(makePlace(step, updates, bucket, problem));
      }
    std::vector<GradientShards> gradients;
    for (auto [bucket, place] : llvm::zip_equal(buckets, places))
      gradients.emplace_back(
          updates, bucket,
          place.withElement(getElementTypeOrSelf(updates[bucket.members.front()].getGradient())));
    std::vector<std::optional<GradientShards::Parts>> parts(buckets.size());
    if (stage >= 2)
      sumInLoops(gradients, parts, updates);
    const std::vector<bool> kept = chooseKept(buckets, toKeep);
    for (auto [number, bucket] : llvm::enumerate(buckets)) {
      if (!parts[number])
        parts[number] = gradients[number].makeParts();
      Value shard = gradients[number].join(*parts[number]);
      // If all readers read the parameters in a narrower type, the shards are gathered in that
      // type, and a rank keeps only its shard of the wide type. Below stage 3 such parameters are
      // gathered once.
      const bool cutsParameters = stage >= 3 || places[number].isConverted();
      BucketDivision(step, updates, bucket, places[number], number, cutsParameters,
                     stage < 3 || kept[number], mesh, functions)
          .run(shard);
      for (int64_t member : bucket.members)
        divided.push_back(&updates[member]);
      addToNorm(norms, bucket, updates, shard);
      if (explain)
        step.emitRemark("divides the update of ")
            << bucket.members.size() << " tensors, " << bucket.payloadBytes << " bytes, among "
            << problem.tensors[bucket.members.front()].key.shards << " ranks";
    }
    for (DividedNorm &norm : norms)
      norm.write(step);
    erase(step, divided);
    // The ops that compute the scalars of a follower still stand at the position of its old update.
    // The joint norms that they now read come later, so the block must be sorted.
    sortTopologically(&step.front());
    int64_t made = llvm::count_if(
        buckets, [&](const Bucket &bucket) { return updates[bucket.members.front()].follower; });
    int64_t whole = llvm::range_size(step.front().getOps<nn::UpdateOp>()) - buckets.size() - made;
    if (explain && whole > 0)
      step.emitRemark("makes ") << whole << " updates whole on every rank that has the tensor";
    return success();
  }

  /// Whether to divide the update of `bucket`. With a ZeRO stage, every update that several ranks
  /// share is divided. Otherwise the bucket must have at least `smallestBytes` bytes. If that
  /// option is negative, the division must save more time in the update than the collectives take
  /// in addition.
  bool isWorthIt(const Bucket &bucket, ArrayRef<ReplicatedUpdate> updates,
                 const BucketProblem &problem, const MeshPrices &prices) {
    int64_t shards = problem.tensors[bucket.members.front()].key.shards;
    if (shards < 2)
      return false;
    if (stage > 0)
      return true;
    if (smallestBytes >= 0)
      return bucket.payloadBytes >= smallestBytes;
    Work update;
    update.kind = KernelClass::update;
    for (int64_t member : bucket.members)
      update.bytes += workOfKernel(updates[member].update).bytes;
    Work part = update;
    part.bytes /= shards;
    const double saved = workSeconds(prices.device(), update) - workSeconds(prices.device(), part);
    const SmallVector<StringRef> axes(
        updates[bucket.members.front()].axes.getAsValueRange<StringAttr>());
    auto seconds = [&](CollectiveKind kind) {
      return prices.collective(kind, bucket.payloadBytes, axes).seconds;
    };
    return saved > seconds(CollectiveKind::reduceScatter) + seconds(CollectiveKind::allGather) -
                       seconds(CollectiveKind::allReduce);
  }

  /// Adds the sums of squares of a bucket's members to the norm that they are terms of.
  static void addToNorm(std::vector<DividedNorm> &norms, const Bucket &bucket,
                        ArrayRef<ReplicatedUpdate> updates, Value shard) {
    const ReplicatedUpdate &first = updates[bucket.members.front()];
    if (!first.squares)
      return;
    auto norm = llvm::find_if(norms, [&](const DividedNorm &known) {
      return first.squares.isLike(known.first->squares) && first.axes == known.first->axes;
    });
    if (norm == norms.end())
      norm = norms.insert(norm, DividedNorm{&first, {}, {}});
    norm->shards.push_back(shard);
    for (int64_t member : bucket.members)
      norm->members.push_back(&updates[member]);
  }

  /// Erases the divided updates, the terms of their norms, the sums of their gradients, and the
  /// arguments and results that flat storage has replaced.
  void erase(func::FuncOp step, ArrayRef<const ReplicatedUpdate *> divided) {
    BitVector results(step.getNumResults());
    llvm::DenseSet<Attribute> bindings;
    for (const ReplicatedUpdate *update : divided)
      for (const ReplicatedUpdate::State &state : update->states) {
        results.set(state.output);
        bindings.insert(state.binding);
      }
    step.front().getTerminator()->eraseOperands(results);
    step.eraseResults(results);
    for (const ReplicatedUpdate *update : divided) {
      SmallVector<Value> unread = {update->getGradient()};
      if (update->follower)
        update->follower->erase();
      for (const ReplicatedUpdate::Norm &norm : update->norms)
        norm.sum.erase();
      update->update->erase();
      if (update->squares)
        update->squares.erase();
      while (!unread.empty()) {
        Value value = unread.pop_back_val();
        Operation *producer = value.getDefiningOp();
        if (!producer || !value.use_empty() ||
            !isa<dist::AllReduceOp, nn::ReshapeOp, nn::ConvertOp, nn::AddOp>(producer))
          continue;
        const llvm::SmallSetVector<Value, 2> operands(producer->operand_begin(),
                                                      producer->operand_end());
        producer->erase();
        llvm::append_range(unread, operands);
      }
    }
    for (auto loop : llvm::make_early_inc_range(step.front().getOps<dist::MicroOp>()))
      dist::eraseUnreadResults(loop);
    eraseArguments(getOperation(), bindings);
  }
};

} // namespace
