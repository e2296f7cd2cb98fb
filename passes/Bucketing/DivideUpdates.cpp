// Replaces an all-reduce and equal updates on all ranks by a reduce-scatter, an
// update of each rank's own shard and an all-gather (Xu et al., 2020; ZeRO-1).

#include "passes/Bucketing/Passes.h"
#include "passes/Bucketing/ReplicatedUpdates.h"

#include "dialects/Dist/IR/FlatStorage.h"
#include "dialects/Dist/IR/MachineAttr.h"
#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/Shape.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_DIVIDEUPDATES
#include "passes/Bucketing/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using dist::MemberAttr;
using dist::StorageAttr;
using nn::ArgKind;

namespace {

/// Rewrites the updates of one bucket. Arguments and results of functions are
/// added here; what they replace is erased by the pass, once all buckets are
/// done.
class BucketDivision {
public:
  BucketDivision(func::FuncOp step, ArrayRef<ReplicatedUpdate> updates, const Bucket &plan,
                 const BucketProblem &problem, int64_t number)
      : step(step), updates(updates), plan(plan), number(number), builder(step.getContext()),
        shards(problem.tensors[plan.members.front()].key.shards),
        elements(plan.bytes / problem.tensors[plan.members.front()].elementBytes) {
    for (int64_t member : plan.members) {
      locations.push_back(updates[member].update->getLoc());
      offsets.push_back(plan.offsets[offsets.size()] / problem.tensors[member].elementBytes);
    }
    loc = builder.getFusedLoc(locations);
    element = getElementTypeOrSelf(first().getSum().getType());
  }

  /// Returns this rank's shard of the summed gradients.
  Value run() {
    Value gradient = scatterGradients();
    nn::UpdateOp model = first().getUpdate();
    Operation *last = model;
    for (int64_t member : plan.members)
      if (last->isBeforeInBlock(updates[member].update))
        last = updates[member].update;
    builder.setInsertionPoint(last);
    SmallVector<Value> tensors(model.getTensors().size());
    tensors[first().gradient] = gradient;
    SmallVector<StorageAttr> storages;
    for (size_t slot = 0; slot < first().states.size(); ++slot) {
      storages.push_back(getStorage(slot));
      tensors[first().states[slot].tensor] = addArguments(storages.back());
    }
    auto update = builder.create<nn::UpdateOp>(
        loc, SmallVector<Type>(model->getNumResults(), flat(elements / shards)), tensors,
        model.getScalars());
    IRMapping mapping;
    model.getBody().cloneInto(&update.getBody(), mapping);
    for (auto [slot, storage] : llvm::enumerate(storages))
      addResult(storage, update.getResult(first().states[slot].result));
    return gradient;
  }

private:
  const ReplicatedUpdate &first() const { return updates[plan.members.front()]; }
  RankedTensorType flat(int64_t count) const { return RankedTensorType::get({count}, element); }
  RankedTensorType stacked() const {
    return RankedTensorType::get({shards, elements / shards}, element);
  }
  StringRef mesh() const { return first().getSum().getMesh(); }
  ArrayAttr axes() const { return first().getSum().getAxes(); }

  /// This rank's shard of the summed gradients.
  Value scatterGradients() {
    SmallVector<Value> gradients;
    Operation *last = nullptr;
    for (int64_t member : plan.members) {
      gradients.push_back(updates[member].getLocalGradient());
      Operation *producer = gradients.back().getDefiningOp();
      if (producer && (!last || last->isBeforeInBlock(producer)))
        last = producer;
    }
    if (last)
      builder.setInsertionPointAfter(last);
    else
      builder.setInsertionPointToStart(&step.front());
    Value all = builder.create<dist::PackOp>(loc, flat(elements), gradients, offsets);
    all = builder.create<nn::ReshapeOp>(loc, stacked(), all);
    return builder.create<dist::ReduceScatterOp>(loc, flat(elements / shards),
                                                 dist::ReductionKind::sum, all, mesh(), axes());
  }

  /// What becomes of state `slot` of all members.
  StorageAttr getStorage(size_t slot) {
    SmallVector<MemberAttr> members;
    for (auto [member, offset] : llvm::zip_equal(plan.members, offsets)) {
      const ReplicatedUpdate::State &state = updates[member].states[slot];
      members.push_back(MemberAttr::get(builder.getContext(), state.binding,
                                        step.getArgAttrOfType<dist::LayoutAttr>(
                                            state.argument, dist::DistDialect::kLayoutAttrName),
                                        TypeAttr::get(step.getArgumentTypes()[state.argument]),
                                        offset));
    }
    const nn::ArgAttr binding = first().states[slot].binding;
    SmallVector<StringAttr> cutOver;
    std::string name = "parameter";
    if (binding.getKind() == ArgKind::optimizer) {
      name = binding.getName().split('|').first.str();
      for (StringRef axis : axes().getAsValueRange<StringAttr>())
        cutOver.push_back(builder.getStringAttr(axis));
    }
    return StorageAttr::get(builder.getContext(),
                            builder.getStringAttr(name + "." + Twine(number) + "." + Twine(slot)),
                            members, cutOver);
  }

  /// Gives every function that takes a member the storage instead, and returns
  /// this rank's shard of it in the step.
  Value addArguments(StorageAttr storage) {
    Value shard;
    const bool isCut = !storage.getAxes().empty();
    DictionaryAttr attributes = builder.getDictionaryAttr(
        builder.getNamedAttr(dist::DistDialect::kStorageAttrName, storage));
    auto module = step->getParentOfType<ModuleOp>();
    for (auto function : module.getOps<func::FuncOp>()) {
      SmallVector<BlockArgument> arguments = findMembers(function, storage);
      if (arguments.empty())
        continue;
      function.insertArgument(function.getNumArguments(),
                              flat(isCut ? elements / shards : elements), attributes, loc);
      BlockArgument whole = function.getArguments().back();
      if (function == step && isCut)
        shard = whole;
      if (isCut)
        continue;
      OpBuilder entry = OpBuilder::atBlockBegin(&function.front());
      SmallVector<Type> types;
      for (BlockArgument argument : arguments)
        types.push_back(argument.getType());
      auto unpack = entry.create<dist::UnpackOp>(loc, types, whole, offsets);
      for (auto [argument, result] : llvm::zip_equal(arguments, unpack.getResults()))
        argument.replaceAllUsesWith(result);
      if (function == step)
        shard = builder.create<dist::ShardOp>(loc, flat(elements / shards), whole, mesh(), axes());
    }
    return shard;
  }

  /// The arguments of `function` that are the members of `storage`, in their
  /// order; none if it takes none of them.
  static SmallVector<BlockArgument> findMembers(func::FuncOp function, StorageAttr storage) {
    llvm::DenseMap<Attribute, BlockArgument> byBinding;
    for (BlockArgument argument : function.getArguments())
      if (nn::ArgAttr arg = nn::getArg(function, argument.getArgNumber()))
        byBinding[arg] = argument;
    SmallVector<BlockArgument> arguments;
    for (MemberAttr member : storage.getMembers())
      if (BlockArgument argument = byBinding.lookup(member.getBinding()))
        arguments.push_back(argument);
    return arguments;
  }

  void addResult(StorageAttr storage, Value shard) {
    Value value = shard;
    if (storage.getAxes().empty()) {
      value = builder.create<dist::AllGatherOp>(loc, stacked(), shard, mesh(), axes());
      value = builder.create<nn::ReshapeOp>(loc, flat(elements), value);
    }
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
  OpBuilder builder;
  int64_t shards, elements;
  SmallVector<int64_t> offsets;
  SmallVector<Location> locations;
  Location loc = builder.getUnknownLoc();
  Type element;
};

/// A norm whose terms are divided like the updates: each rank sums the squares
/// of its shards, and the ranks sum that.
struct DividedNorm {
  const ReplicatedUpdate *first;
  SmallVector<Value> shards;
  SmallVector<const ReplicatedUpdate *> members;

  /// Gives the whole sum to the term used last; all other terms are zero.
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
      Value term = buildSquareSum(builder, loc, shard);
      local = local ? e.add(local, term) : term;
    }
    dist::AllReduceOp sum = first->getSum();
    Value whole = builder.create<dist::AllReduceOp>(loc, local.getType(), sum.getReduction(), local,
                                                    sum.getMesh(), sum.getAxes());
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
    auto step = module.lookupSymbol<func::FuncOp>("step");
    if (!step || !dist::findMesh(module))
      return;
    FailureOr<Machine> found = dist::getMachine(getOperation());
    if (failed(found))
      return signalPassFailure();
    const Machine &machine = *found;
    std::vector<ReplicatedUpdate> updates = findReplicatedUpdates(step);
    if (updates.empty())
      return;
    BucketProblem problem =
        makeUpdateProblem(updates, dist::getMeshShape(module), {firstBucketBytes, bucketBytes});
    llvm::Expected<BucketPlan> plan = assignBuckets(problem);
    llvm::Error error = plan ? plan->verify(problem) : plan.takeError();
    if (error) {
      step.emitError("buckets: ") << llvm::toString(std::move(error));
      return signalPassFailure();
    }
    SmallVector<const ReplicatedUpdate *> divided;
    std::vector<DividedNorm> norms;
    int64_t number = 0;
    for (const Bucket &bucket : plan->buckets) {
      if (!isWorthIt(bucket, updates, problem, machine))
        continue;
      Value shard = BucketDivision(step, updates, bucket, problem, number++).run();
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
    int64_t whole = llvm::range_size(step.front().getOps<nn::UpdateOp>()) - number;
    if (explain && whole > 0)
      step.emitRemark("makes ") << whole << " updates whole on every rank that has the tensor";
  }

private:
  /// Whether the time saved on the update pays for another collective.
  bool isWorthIt(const Bucket &bucket, ArrayRef<ReplicatedUpdate> updates,
                 const BucketProblem &problem, const Machine &machine) {
    int64_t shards = problem.tensors[bucket.members.front()].key.shards;
    if (shards < 2)
      return false;
    if (smallestBytes >= 0)
      return bucket.payloadBytes >= smallestBytes;
    double bytes = 0;
    for (int64_t member : bucket.members)
      bytes += operandAndResultBytes(updates[member].update);
    const Link link = machine.linkOver(dist::axesOf(updates[bucket.members.front()].getSum()));
    return machine.device.computeSeconds(/*flops=*/0, bytes - bytes / shards) > link.latencySeconds;
  }

  /// Adds the squares of a bucket to the norm that they are terms of.
  static void addToNorm(std::vector<DividedNorm> &norms, const Bucket &bucket,
                        ArrayRef<ReplicatedUpdate> updates, Value shard) {
    const ReplicatedUpdate &first = updates[bucket.members.front()];
    if (!first.squares)
      return;
    auto norm = llvm::find_if(norms, [&](const DividedNorm &known) {
      return first.squares.isLike(known.first->squares) &&
             first.getSum().getAxes() == known.first->getSum().getAxes();
    });
    if (norm == norms.end())
      norm = norms.insert(norm, DividedNorm{&first, {}, {}});
    norm->shards.push_back(shard);
    for (int64_t member : bucket.members)
      norm->members.push_back(&updates[member]);
  }

  /// Removes the divided updates, their norms' terms, their sums, and the
  /// arguments and results that storage has replaced.
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
      Value value = update->getSum().getResult();
      update->update->erase();
      if (update->squares)
        update->squares.erase();
      while (Operation *producer = value.getDefiningOp()) {
        if (!value.use_empty() || !isa<dist::AllReduceOp, nn::ReshapeOp>(producer))
          break;
        value = producer->getOperand(0);
        producer->erase();
      }
    }
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      BitVector arguments(function.getNumArguments());
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (nn::ArgAttr arg = nn::getArg(function, i))
          if (bindings.contains(arg))
            arguments.set(i);
      function.eraseArguments(arguments);
    }
  }
};

} // namespace
