// Replaces an all-reduce and equal updates on all ranks by a reduce-scatter, an
// update of each rank's own shard and an all-gather (Xu et al., 2020; ZeRO-1), or
// keeps parameters cut and gathers them where they are read (ZeRO-3).

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
                 const BucketProblem &problem, int64_t number, bool cutsParameters)
      : step(step), updates(updates), plan(plan), number(number), cutsParameters(cutsParameters),
        builder(step.getContext()),
        shards(problem.tensors[plan.members.front()].key.shards),
        elements(plan.bytes / problem.tensors[plan.members.front()].elementBytes) {
    for (int64_t member : plan.members) {
      locations.push_back(updates[member].update->getLoc());
      offsets.push_back(plan.offsets[offsets.size()] / problem.tensors[member].elementBytes);
    }
    loc = builder.getFusedLoc(locations);
    element = getElementTypeOrSelf(first().getGradient());
  }

  /// Returns this rank's shard of the summed gradients.
  Value run() {
    Value gradient = first().sum ? scatterGradients() : takeShard(packGradients());
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
  StringRef mesh() const { return first().mesh; }
  ArrayAttr axes() const { return first().axes; }
  Value takeShard(Value all) {
    return builder.create<dist::ShardOp>(loc, flat(elements / shards), all, mesh(), axes());
  }
  /// The flat tensor that the ranks' shards are together.
  static Value gather(OpBuilder &builder, Location loc, Value shard, RankedTensorType stacked,
                      RankedTensorType whole, StringRef mesh, ArrayAttr axes) {
    Value value = builder.create<dist::AllGatherOp>(loc, stacked, shard, mesh, axes);
    return builder.create<nn::ReshapeOp>(loc, whole, value);
  }

  /// The gradients end to end, as soon as all of them are there.
  Value packGradients() {
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
    return builder.create<dist::PackOp>(loc, flat(elements), gradients, offsets);
  }

  /// This rank's shard of the summed gradients: summed over the ranks that share the
  /// update, then over those that do not.
  Value scatterGradients() {
    Value all = builder.create<nn::ReshapeOp>(loc, stacked(), packGradients());
    Value shard = builder.create<dist::ReduceScatterOp>(
        loc, flat(elements / shards), dist::ReductionKind::sum, all, mesh(), axes());
    if (first().restAxes.empty())
      return shard;
    return builder.create<dist::AllReduceOp>(loc, shard.getType(), dist::ReductionKind::sum, shard,
                                             mesh(), first().restAxes);
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
    if (binding.getKind() == ArgKind::optimizer)
      name = binding.getName().split('|').first.str();
    if (binding.getKind() == ArgKind::optimizer || cutsParameters)
      for (StringRef axis : axes().getAsValueRange<StringAttr>())
        cutOver.push_back(builder.getStringAttr(axis));
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
      Value whole = function.getArguments().back();
      if (function == step)
        shard = isCut ? whole : takeShard(whole);
      if (!isCut) {
        OpBuilder entry = OpBuilder::atBlockBegin(&function.front());
        replaceReads(entry, arguments, whole, [](Operation *) { return true; });
        continue;
      }
      // What the loss depends on reads one copy, which then can go, and the rest, the
      // backward pass, another.
      const llvm::DenseSet<Operation *> forward = findForward(function);
      for (bool isForward : {true, false}) {
        auto isPart = [&](Operation *op) { return forward.contains(op) == isForward; };
        Operation *reader = findReader(function, arguments, isPart);
        if (!reader)
          continue;
        OpBuilder entry(reader);
        Value all = gather(entry, loc, whole, stacked(), flat(elements), mesh(), axes());
        replaceReads(entry, arguments, all, isPart);
      }
    }
    return shard;
  }

  bool updatesMember(Operation *op) const {
    return llvm::any_of(plan.members,
                        [&](int64_t member) { return updates[member].update == op; });
  }

  /// Takes the members out of flat `all` and has those ops of the body read them that
  /// `isPart` is true of; the updates read shards.
  void replaceReads(OpBuilder &entry, ArrayRef<BlockArgument> arguments, Value all,
                    llvm::function_ref<bool(Operation *)> isPart) const {
    SmallVector<Type> types;
    for (BlockArgument argument : arguments)
      types.push_back(argument.getType());
    auto unpack = entry.create<dist::UnpackOp>(loc, types, all, offsets);
    for (auto [index, argument] : llvm::enumerate(arguments)) {
      Value read = argument;
      read.replaceUsesWithIf(unpack.getResult(index), [&](OpOperand &use) {
        Operation *op = entry.getInsertionBlock()->findAncestorOpInBlock(*use.getOwner());
        return !updatesMember(op) && isPart(op);
      });
    }
  }

  /// The first op of the body that `isPart` is true of and that reads one of
  /// `arguments`, itself or within its regions, the updates apart; null if none does.
  Operation *findReader(func::FuncOp function, ArrayRef<BlockArgument> arguments,
                        llvm::function_ref<bool(Operation *)> isPart) const {
    Operation *reader = nullptr;
    for (BlockArgument argument : arguments)
      for (Operation *user : argument.getUsers()) {
        Operation *op = function.front().findAncestorOpInBlock(*user);
        if (!updatesMember(op) && isPart(op) && (!reader || op->isBeforeInBlock(reader)))
          reader = op;
      }
    return reader;
  }

  /// The ops of the body that the metric `loss` depends on; none without it.
  static llvm::DenseSet<Operation *> findForward(func::FuncOp function) {
    llvm::DenseSet<Operation *> forward;
    SmallVector<Value> waiting;
    for (OpOperand &result : function.front().getTerminator()->getOpOperands())
      if (nn::ResultAttr attr = nn::getResult(function, result.getOperandNumber());
          attr && attr.getKind() == nn::ResultKind::metric && attr.getName() == "loss")
        waiting.push_back(result.get());
    while (!waiting.empty()) {
      Operation *op = waiting.pop_back_val().getDefiningOp();
      if (op && forward.insert(op).second)
        llvm::append_range(waiting, op->getOperands());
    }
    return forward;
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
    if (storage.getAxes().empty())
      value = gather(builder, loc, shard, stacked(), flat(elements), mesh(), axes());
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
  bool cutsParameters;
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
    Value whole =
        builder.create<dist::AllReduceOp>(loc, local.getType(), dist::ReductionKind::sum, local,
                                          first->mesh, first->axes);
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
    if (stage == 0 || !step || !dist::findMesh(module))
      return;
    FailureOr<Machine> found = dist::getMachine(getOperation());
    if (failed(found))
      return signalPassFailure();
    const Machine &machine = *found;
    SmallVector<std::string> among(axes.begin(), axes.end());
    std::vector<ReplicatedUpdate> updates = findReplicatedUpdates(step, among);
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
      Value shard = BucketDivision(step, updates, bucket, problem, number++, stage >= 3).run();
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
    if (stage > 0)
      return true;
    if (smallestBytes >= 0)
      return bucket.payloadBytes >= smallestBytes;
    double bytes = 0;
    for (int64_t member : bucket.members)
      bytes += operandAndResultBytes(updates[member].update);
    const Link link = machine.linkOver(
        updates[bucket.members.front()].axes.getAsValueRange<StringAttr>());
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
             first.axes == known.first->axes;
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
      Value value = update->getGradient();
      update->update->erase();
      if (!update->sum)
        continue;
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
