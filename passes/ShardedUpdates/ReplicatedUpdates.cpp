// Finds the weight updates that all ranks of a group compute alike. Tells the bucket planner which
// of these updates can be joined into one update.

#include "passes/ShardedUpdates/ReplicatedUpdates.h"

#include "passes/ShardedUpdates/ReadTypes.h"

#include "dialects/Dist/IR/MeshGroups.h"
#include "dialects/NN/IR/Conversions.h"
#include "dialects/NN/IR/Elementwise.h"
#include "dialects/NN/IR/Reduction.h"
#include "dialects/NN/IR/Shape.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dpc;
using nn::ArgKind;
using nn::ResultKind;
using Source = ReplicatedUpdate::Source;

Value ReplicatedUpdate::getGradient() const {
  const auto *source = llvm::find(sources, Source{Source::gradient});
  return getUpdate().getTensors()[source - sources.begin()];
}

static bool haveEqualRegions(nn::UpdateOp a, nn::UpdateOp b) {
  return OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(),
                                                    OperationEquivalence::IgnoreLocations);
}

bool ReplicatedUpdate::isLike(const ReplicatedUpdate &other) const {
  nn::UpdateOp a = getUpdate(), b = other.getUpdate();
  if (sources != other.sources || followerSources != other.followerSources ||
      states.size() != other.states.size() || norms.size() != other.norms.size() ||
      !llvm::equal(a.getScalars(), b.getScalars()) || !squares.isLike(other.squares) ||
      partial.empty() != other.partial.empty() || whole.empty() != other.whole.empty() ||
      mesh != other.mesh || axes != other.axes || restAxes != other.restAxes ||
      readAs != other.readAs)
    return false;
  for (auto [x, y] : llvm::zip_equal(a.getTensors(), b.getTensors()))
    if (getElementTypeOrSelf(x) != getElementTypeOrSelf(y))
      return false;
  for (auto [x, y] : llvm::zip_equal(states, other.states))
    if (x.isFollowers != y.isFollowers || x.result != y.result ||
        x.binding.getKind() != y.binding.getKind())
      return false;
  for (auto [x, y] : llvm::zip_equal(norms, other.norms))
    if (!(x.source == y.source))
      return false;
  // The scalars of followers may differ, because each tensor has its own (e.g. its trust ratio).
  return haveEqualRegions(a, b) &&
         (!follower || haveEqualRegions(getFollower(), other.getFollower()));
}

namespace {

/// Recognises the updates of one function that can be divided.
class UpdateFinder {
public:
  UpdateFinder(func::FuncOp step, ArrayRef<std::string> axes)
      : step(step), module(step->getParentOfType<ModuleOp>()), arguments(module), axes(axes) {}

  std::optional<ReplicatedUpdate> match(nn::UpdateOp op) {
    ReplicatedUpdate update;
    update.update = op;
    update.follower = findFollower(op);
    bool hasGradient = false;
    for (Value tensor : op.getTensors()) {
      if (std::optional<unsigned> state = addState(tensor, update)) {
        update.sources.push_back({Source::state, *state});
        continue;
      }
      if (hasGradient)
        return std::nullopt;
      hasGradient = true;
      update.sources.push_back({Source::gradient});
    }
    if (!hasGradient || (update.follower && !matchFollower(update)) || !areAllUsed(update) ||
        !matchGradient(update))
      return std::nullopt;
    const Type element = getStateType(update);
    for (const ReplicatedUpdate::State &state : update.states) {
      if (getElementTypeOrSelf(step.getArgument(state.argument)) != element ||
          isCut(state.argument, update.axes))
        return std::nullopt;
      if (state.binding.getKind() == ArgKind::parameter)
        update.readAs = findReadType(arguments, state.binding, element, [&](Operation *reader) {
          return reader == update.update || reader == update.follower ||
                 llvm::any_of(update.norms,
                              [&](const auto &norm) { return norm.sum.square == reader; });
        });
    }
    return update;
  }

private:
  Type getStateType(const ReplicatedUpdate &update) {
    return getElementTypeOrSelf(step.getArgument(update.states.front().argument));
  }

  /// Finds the ranks that share the update, and the terms of its gradient. If `axes` is empty, the
  /// gradient must be a sum over ranks, and only the update and at most one norm may read the
  /// gradient; otherwise fails.
  bool matchGradient(ReplicatedUpdate &update) {
    const Value gradient = update.getGradient();
    const bool isOwn = matchUses(gradient, update);
    Builder builder(step.getContext());
    update.restAxes = builder.getArrayAttr({});
    if (axes.empty()) {
      dist::CollectiveOpInterface sum =
          dist::asSumOverRanks(withoutConversions(gradient).getDefiningOp());
      if (!isOwn || !sum)
        return false;
      update.partial = {findTerm(sum->getOperand(0))};
      update.mesh = sum.getMeshAttr().getValue();
      update.axes = sum.getAxes();
      return true;
    }
    update.mesh = dist::findMesh(module).getSymName();
    update.axes = builder.getStrArrayAttr(SmallVector<StringRef>(axes.begin(), axes.end()));
    std::optional<ArrayAttr> rest;
    // The sum stays if another op reads the gradient, because that op needs the complete sum. The
    // sum also stays if the ranks cannot reduce-scatter its terms together. The summed gradient is
    // then the only term.
    if (isOwn && collectTerms(gradient, update, rest) && rest) {
      update.restAxes = *rest;
      return true;
    }
    update.squares = {};
    update.partial.clear();
    update.whole = {gradient};
    return true;
  }

  /// Skips the conversions between floats that compute `value`, as long as the operand of the
  /// conversion has no other reader. Returns the operand of the first conversion in this chain, or
  /// `value` if there is no conversion.
  static Value withoutConversions(Value value) {
    while (nn::isConversion(value.getDefiningOp()) &&
           value.getDefiningOp()->getOperand(0).hasOneUse())
      value = value.getDefiningOp()->getOperand(0);
    return value;
  }

  static Value withoutReshapes(Value value) {
    for (auto reshape = value.getDefiningOp<nn::ReshapeOp>(); reshape && value.hasOneUse();
         reshape = value.getDefiningOp<nn::ReshapeOp>())
      value = reshape.getInput();
    return value;
  }

  /// `summed` is the operand of a sum over ranks. Returns the value from which reshapes make
  /// `summed`. If this value is the conversion of a sum over microbatches, returns that sum
  /// instead: the addend of each microbatch can be converted in the loop.
  static Value findTerm(Value summed) {
    Value term = withoutReshapes(summed);
    if (Operation *op = term.getDefiningOp(); nn::isConversion(op) && term.hasOneUse())
      if (Value sum = withoutReshapes(op->getOperand(0)); sum.getDefiningOp<dist::MicroOp>())
        return sum;
    return term;
  }

  /// Splits `value` into terms. If the ranks that share the update sum a value, its addend on each
  /// rank becomes a `partial` term. All other terms are `whole`. A sum over ranks may also run over
  /// further axes, which are returned in `rest`. Fails if these further axes differ between terms.
  /// A conversion of a sum counts as a conversion of each term.
  bool collectTerms(Value value, ReplicatedUpdate &update, std::optional<ArrayAttr> &rest) {
    Operation *op = value.getDefiningOp();
    const bool isOwn = value == update.getGradient() || value.hasOneUse();
    if ((isa_and_nonnull<nn::ReshapeOp>(op) || nn::isConversion(op)) && isOwn)
      return collectTerms(op->getOperand(0), update, rest);
    if (auto add = dyn_cast_or_null<nn::AddOp>(op); add && isOwn)
      return collectTerms(add.getLhs(), update, rest) && collectTerms(add.getRhs(), update, rest);
    dist::CollectiveOpInterface sum = dist::asSumOverRanks(op);
    std::optional<ArrayAttr> others = sum && isOwn ? othersOf(sum) : std::nullopt;
    if (!others) {
      update.whole.push_back(value);
      return true;
    }
    update.partial.push_back(findTerm(sum->getOperand(0)));
    if (!rest)
      rest = others;
    return rest == others;
  }

  /// The axes of `sum` other than the axes of the ranks that share updates. nullopt if `sum` does
  /// not run over all axes of those ranks.
  std::optional<ArrayAttr> othersOf(dist::CollectiveOpInterface sum) {
    SmallVector<StringRef> others;
    unsigned shared = 0;
    for (StringRef axis : sum.getAxes().getAsValueRange<StringAttr>()) {
      if (llvm::is_contained(axes, axis))
        ++shared;
      else
        others.push_back(axis);
    }
    if (shared < axes.size())
      return std::nullopt;
    return Builder(step.getContext()).getStrArrayAttr(others);
  }

  /// Whether the only readers of the summed gradient are the update and at most one norm.
  static bool matchUses(Value gradient, ReplicatedUpdate &update) {
    for (OpOperand &use : gradient.getUses()) {
      if (use.getOwner() == update.update ||
          (update.squares && use.getOwner() == update.squares.reader))
        continue;
      if (update.squares)
        return false;
      update.squares = matchSquareSum(use.getOwner(), gradient);
      if (!update.squares)
        return false;
    }
    return true;
  }

  /// The one update that reads results of `op`; null if no update does, or several do.
  static nn::UpdateOp findFollower(nn::UpdateOp op) {
    nn::UpdateOp follower;
    for (Operation *user : op->getUsers())
      if (auto update = dyn_cast<nn::UpdateOp>(user)) {
        if (follower && update != follower)
          return {};
        follower = update;
      }
    return follower;
  }

  /// Returns the index of `tensor` among the states of `update`, and appends `tensor` to the states
  /// if it is new. nullopt if `tensor` is neither a parameter nor optimizer state, if it is
  /// optimizer state that another op reads too, or if neither the update nor its follower computes
  /// the new value of `tensor`.
  std::optional<unsigned> addState(Value tensor, ReplicatedUpdate &update) {
    auto argument = dyn_cast<BlockArgument>(tensor);
    if (!argument || argument.getOwner() != &step.front())
      return std::nullopt;
    for (auto [index, state] : llvm::enumerate(update.states))
      if (state.argument == argument.getArgNumber())
        return index;
    ReplicatedUpdate::State state;
    state.argument = argument.getArgNumber();
    state.binding = nn::getArg(step, state.argument);
    if (!state.binding || (state.binding.getKind() != ArgKind::parameter &&
                           !(state.binding.getKind() == ArgKind::optimizer &&
                             isOwn(argument, update) && !isUsedElsewhere(state.binding))))
      return std::nullopt;
    for (bool isFollowers : {false, true})
      if (Operation *maker = isFollowers ? update.follower : update.update)
        for (OpResult result : maker->getResults()) {
          std::optional<unsigned> output = findOutput(result, state.binding);
          if (!output)
            continue;
          state.isFollowers = isFollowers;
          state.result = result.getResultNumber();
          state.output = *output;
          update.states.push_back(state);
          return update.states.size() - 1;
        }
    return std::nullopt;
  }

  /// Whether no op except the update and its follower reads `argument`.
  static bool isOwn(BlockArgument argument, const ReplicatedUpdate &update) {
    return llvm::all_of(argument.getUsers(), [&](Operation *user) {
      return user == update.update || user == update.follower;
    });
  }

  /// The index of the function result that returns `result` as the new value of the state
  /// `binding`. nullopt if the function does not return `result` as this value, or if `result` has
  /// another use.
  std::optional<unsigned> findOutput(OpResult result, nn::ArgAttr binding) {
    if (!result.hasOneUse() || *result.user_begin() != step.front().getTerminator())
      return std::nullopt;
    const unsigned output = result.use_begin()->getOperandNumber();
    nn::ResultAttr attr = nn::getResult(step, output);
    if (!attr || attr.getKind() != ResultKind::state || attr.getName() != binding.getName())
      return std::nullopt;
    return output;
  }

  /// Finds the origin of each tensor that the follower reads, and the norms on which the scalars of
  /// the follower depend. Fails if a tensor is neither state nor a result of the update.
  bool matchFollower(ReplicatedUpdate &update) {
    for (Value tensor : update.getFollower().getTensors()) {
      if (tensor.getDefiningOp() == update.update) {
        update.followerSources.push_back({Source::made, cast<OpResult>(tensor).getResultNumber()});
      } else if (std::optional<unsigned> state = addState(tensor, update)) {
        update.followerSources.push_back({Source::state, *state});
      } else {
        return false;
      }
    }
    collectNorms(update);
    return true;
  }

  /// Collects the norms on which the scalars of the follower depend: the sums of squares of tensors
  /// that the follower reads.
  static void collectNorms(ReplicatedUpdate &update) {
    SmallVector<Value> waiting(update.getFollower().getScalars());
    llvm::SmallDenseSet<Value> seen; // looked up by key only
    while (!waiting.empty()) {
      Value value = waiting.pop_back_val();
      Operation *op = value.getDefiningOp();
      if (!op || !seen.insert(value).second)
        continue;
      if (!isa<nn::ReduceOp>(op)) {
        llvm::append_range(waiting, op->getOperands());
        continue;
      }
      auto square = op->getOperand(0).getDefiningOp<nn::MulOp>();
      if (!square)
        continue;
      SquareSum sum = matchSquareSum(square, square.getLhs());
      const std::optional<Source> source = sum ? findSource(square.getLhs(), update) : std::nullopt;
      if (source)
        update.norms.push_back({sum, *source});
    }
  }

  /// The origin of `tensor` as an operand of the follower; nullopt if the follower does not read
  /// `tensor`.
  static std::optional<Source> findSource(Value tensor, const ReplicatedUpdate &update) {
    for (auto [read, source] :
         llvm::zip_equal(update.getFollower().getTensors(), update.followerSources))
      if (read == tensor)
        return source;
    return std::nullopt;
  }

  /// Whether each result of the update and of its follower has one of two uses: it is the new value
  /// of a state, or only the follower and its norms read it.
  static bool areAllUsed(const ReplicatedUpdate &update) {
    size_t made = 0;
    for (OpResult result : update.update->getResults())
      made += llvm::all_of(result.getUsers(), [&](Operation *user) {
        return user == update.follower ||
               llvm::any_of(update.norms, [&](const ReplicatedUpdate::Norm &norm) {
                 return norm.sum.square == user;
               });
      });
    const size_t results =
        update.update->getNumResults() + (update.follower ? update.follower->getNumResults() : 0);
    return update.states.size() + made == results;
  }

  bool isUsedElsewhere(nn::ArgAttr binding) {
    return llvm::any_of(arguments.get(binding), [&](BlockArgument argument) {
      return argument.getOwner() != &step.front() && !argument.use_empty();
    });
  }

  bool isCut(unsigned argument, ArrayAttr axes) {
    auto layout =
        step.getArgAttrOfType<dist::LayoutAttr>(argument, dist::DistDialect::kLayoutAttrName);
    if (!layout)
      return true;
    auto cut = dist::shardedAxes(layout.getLayout());
    return llvm::any_of(axes.getAsValueRange<StringAttr>(),
                        [&](StringRef axis) { return llvm::is_contained(cut, axis); });
  }

  func::FuncOp step;
  ModuleOp module;
  const BoundArguments arguments;
  ArrayRef<std::string> axes;
};

} // namespace

std::vector<ReplicatedUpdate> dpc::findReplicatedUpdates(func::FuncOp step,
                                                         ArrayRef<std::string> axes) {
  UpdateFinder finder(step, axes);
  std::vector<ReplicatedUpdate> updates;
  llvm::DenseSet<Operation *> followers; // looked up by key only
  for (auto op : step.front().getOps<nn::UpdateOp>())
    if (!followers.contains(op))
      if (std::optional<ReplicatedUpdate> update = finder.match(op)) {
        followers.insert(update->follower);
        updates.push_back(*update);
      }
  return updates;
}

/// Returns the last op that computes one of `terms`. If this op is a loop over microbatches, also
/// returns the last op in the body of the loop that computes one of the terms.
static std::pair<Operation *, Operation *> findLastMaker(ArrayRef<Value> terms) {
  Operation *last = lastProducer(terms);
  auto loop = dyn_cast_or_null<dist::MicroOp>(last);
  if (!loop)
    return {last, nullptr};
  SmallVector<Value> inside;
  for (Value term : terms)
    if (term.getDefiningOp() == last)
      inside.push_back(
          loop.getBodyBlock().getTerminator()->getOperand(cast<OpResult>(term).getResultNumber()));
  return {last, lastProducer(inside)};
}

BucketProblem dpc::makeUpdateProblem(ArrayRef<ReplicatedUpdate> updates,
                                     const dist::MeshShape &mesh, ArrayRef<int64_t> limits) {
  BucketProblem problem;
  problem.limits.assign(limits.begin(), limits.end());
  std::vector<const ReplicatedUpdate *> kinds;
  for (const ReplicatedUpdate &update : updates) {
    auto kind =
        llvm::find_if(kinds, [&](const ReplicatedUpdate *known) { return update.isLike(*known); });
    const std::string number = std::to_string(kind - kinds.begin());
    if (kind == kinds.end())
      kinds.push_back(&update);
    BucketTensor tensor;
    Type type = update.getGradient().getType();
    tensor.elements = cast<RankedTensorType>(type).getNumElements();
    tensor.elementBytes = tensorBytes(type) / std::max<int64_t>(tensor.elements, 1);
    auto axes = llvm::to_vector(update.axes.getAsValueRange<StringAttr>());
    tensor.key.storageAxes = llvm::join(axes, ",");
    tensor.key.shards = dist::groupSize(mesh, axes);
    llvm::raw_string_ostream(tensor.key.dtype) << getElementTypeOrSelf(type);
    tensor.key.reduction = update.partial.empty() ? "" : "sum";
    tensor.key.group = number;
    problem.tensors.push_back(std::move(tensor));
  }
  // An update becomes ready when the last of its `partial` terms is computed or, if it has none,
  // the last of its `whole` terms.
  std::vector<std::pair<Operation *, Operation *>> ready;
  for (const ReplicatedUpdate &update : updates)
    ready.push_back(findLastMaker(update.partial.empty() ? update.whole : update.partial));
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, updates.size()));
  auto precedes = [](Operation *x, Operation *y) {
    if (!x || !y)
      return !x && y;
    return x != y && x->isBeforeInBlock(y);
  };
  llvm::stable_sort(order, [&](int64_t a, int64_t b) {
    auto [x, inX] = ready[a];
    auto [y, inY] = ready[b];
    return x == y ? precedes(inX, inY) : precedes(x, y);
  });
  problem.readyOrder.assign(order.begin(), order.end());
  return problem;
}

Operation *dpc::lastProducer(ArrayRef<Value> values) {
  Operation *last = nullptr;
  for (Value value : values)
    if (Operation *op = value.getDefiningOp(); op && (!last || last->isBeforeInBlock(op)))
      last = op;
  return last;
}
