// Finds why a value is resharded, as text for users. The value is partial, or it is sharded in
// another way than its reader needs, or it is a result whose layout the program prescribes.

#include "passes/Explain/ReshardCause.h"

#include "dialects/NN/IR/Conversions.h"
#include "passes/Sharding/Partition/LoopSchedule.h"
#include "passes/Sharding/Reshards/ReshardPlan.h"
#include "passes/Sharding/Search/LoopCuts.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

static bool isPartialOver(const Layout &layout, StringRef axis) {
  return llvm::any_of(layout.partial, [&](const Partial &partial) { return partial.axis == axis; });
}

static bool cuts(const DimLayout &dim, StringRef axis) {
  return llvm::is_contained(shardedAxes(dim), axis);
}

/// Returns the first dimension that `axis` shards; nullopt if it shards none.
static std::optional<unsigned> dimCutBy(const Layout &layout, StringRef axis) {
  for (auto [d, dim] : llvm::enumerate(layout.dims))
    if (cuts(dim, axis))
      return d;
  return std::nullopt;
}

/// Returns the kinds of the loops that run along dimension `dim` of operand `operand`.
static SmallVector<LoopKind> kindsOf(const ShardingRule &rule, unsigned operand, unsigned dim) {
  SmallVector<LoopKind> kinds;
  for (const auto &segment : rule.operands[operand][dim])
    for (unsigned loop : segment)
      kinds.push_back(rule.loops[loop].kind);
  return kinds;
}

static bool isReduced(LoopKind kind) { return dist::reductionOf(kind).has_value(); }

//===-- Requests ----------------------------------------------------------===//

std::string ReshardCauses::request(Value value, const Layout &layout) const {
  const std::string name = parts.stateName(nn::getSource(value));
  if (name.empty() || layout.dims.empty())
    return "-";
  std::vector<std::string> entries;
  for (const DimLayout &dim : withoutIdleAxes(layout, mesh).dims) {
    const AxisNames axes = shardedAxes(dim);
    // A request (`--shard=NAME=AXES`) only names axes, which then shard the dimension into
    // contiguous blocks of indices. Therefore no other sharding can be requested. Axes that shard
    // the batch need no check: samples are sharded over them in the same way with and without a
    // request (LayoutBoundary::cutBatch).
    const bool isSamples =
        llvm::all_of(axes, [&](StringRef axis) { return parts.cutsBatch(axis); });
    if (!isSamples && !sameIndices(DimLayout{Segment{Factor(dim.extent(), axes)}}, dim, mesh))
      return "-";
    entries.push_back(axes.empty() ? "-" : llvm::join(axes, "+"));
  }
  return "--shard=" + name + "=" + llvm::join(entries, ",");
}

Layout ReshardCauses::layoutOf(BlockArgument argument) const {
  auto attr = parts.getFunction().getArgAttrOfType<LayoutAttr>(argument.getArgNumber(),
                                                               DistDialect::kLayoutAttrName);
  return attr ? attr.getLayout() : Layout::replicated(nn::typeOf(argument).getShape());
}

/// Follows reshards and conversions backwards from `value`, and returns the value before the first
/// of them.
static Value madeAs(Value value) {
  while (true) {
    value = nn::getSource(value);
    auto reshard = value.getDefiningOp<ReshardOp>();
    if (!reshard)
      return value;
    value = reshard.getInput();
  }
}

std::string ReshardCauses::requestWhole(Value value, StringRef axis) const {
  auto argument = dyn_cast<BlockArgument>(madeAs(value));
  if (!argument)
    return "-";
  Layout layout = layoutOf(argument);
  for (DimLayout &dim : layout.dims)
    dropAxes(dim, axis.str());
  return request(argument, layout);
}

/// Whether an op with the rule `rule` sums over a dimension of operand `o`. If so, a request that
/// keeps the operand whole over a mesh axis also keeps the op unsharded over that mesh axis
/// (ProgramLoops::keepWhole).
static bool sumsOver(const ShardingRule &rule, unsigned o) {
  for (unsigned d = 0; d < rule.operands[o].size(); ++d)
    if (llvm::is_contained(kindsOf(rule, o, d), LoopKind::sum))
      return true;
  return false;
}

std::string ReshardCauses::requestFor(Operation *reader, unsigned operand, StringRef axis) const {
  if (!sumsOver(cast<ShardableOpInterface>(reader).getShardingRule(), operand))
    return "-";
  return requestWhole(reader->getOperand(operand), axis);
}

//===-- Causes ------------------------------------------------------------===//

/// Returns the ops that cause `value` to be partial over `axis`, in program order. The results of
/// these ops are partial over `axis`, but their operands are not. The ops between them and `value`
/// only add partial values or pass them on.
static SmallVector<Operation *> originsOf(Value value, StringRef axis) {
  llvm::DenseSet<Operation *> seen;
  SmallVector<Operation *> waiting, origins;
  auto visit = [&](Operation *op) {
    if (op && seen.insert(op).second)
      waiting.push_back(op);
  };
  visit(value.getDefiningOp());
  while (!waiting.empty()) {
    Operation *op = waiting.pop_back_val();
    bool isOrigin = true;
    for (auto [operand, layout] : llvm::zip_equal(op->getOperands(), operandLayouts(op)))
      if (isPartialOver(layout, axis)) {
        isOrigin = false;
        visit(operand.getDefiningOp());
      }
    if (isOrigin)
      origins.push_back(op);
  }
  llvm::sort(origins, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return origins;
}

/// Adds `request` to the list of requests `all`. All requests of the list are needed together, so
/// the list becomes "-" as soon as one request is "-".
static void addRequest(StringRef request, std::string &all) {
  if (all.empty() || all == "-" || request == "-")
    all = all == "-" ? "-" : request.str();
  else if (!llvm::is_contained(llvm::split(all, ' '), request))
    all += " " + request.str();
}

ReshardCause ReshardCauses::ofSum(Value value, const std::string &axis) const {
  const SmallVector<Operation *> origins = originsOf(value, axis);
  std::optional<ReshardCause> all;
  for (Operation *origin : origins) {
    ReshardCause cause = ofTerm(origin, axis);
    if (!all) {
      all = cause;
      continue;
    }
    // The reshard is avoided only if no term is partial, so the requests of all terms are needed.
    addRequest(cause.request, all->request);
    if (all->text != cause.text)
      all->text = "sum of sums";
  }
  return all.value_or(ReshardCause{"sum"});
}

ReshardCause ReshardCauses::ofTerm(Operation *origin, const std::string &axis) const {
  ReshardCause cause{"sum"};
  auto shardable = dyn_cast<ShardableOpInterface>(origin);
  if (!shardable)
    return cause;
  const ShardingRule rule = shardable.getShardingRule();
  const std::vector<Layout> layouts = operandLayouts(origin);
  std::optional<std::pair<unsigned, unsigned>> chosen; // operand and dimension
  bool selects = false;
  for (auto [o, layout] : llvm::enumerate(layouts)) {
    const std::optional<unsigned> dim = dimCutBy(layout, axis);
    const bool isSummed = dim && llvm::any_of(kindsOf(rule, o, *dim), isReduced);
    // An operand of i64 holds indices, unless `axis` shards a reduced dimension of it. If the op
    // reads indices, it is a lookup in a sharded table.
    selects |= !isSummed && nn::typeOf(origin->getOperand(o)).getElementType().isInteger(64);
    // Prefer an operand that is state, because users usually request the layouts of state.
    auto isState = [&](unsigned number) {
      return !parts.stateName(nn::getSource(origin->getOperand(number))).empty();
    };
    if (isSummed && (!chosen || (!isState(chosen->first) && isState(o))))
      chosen = {unsigned(o), *dim};
  }
  if (!chosen)
    return cause;
  const auto [operand, dim] = *chosen;
  const int64_t extent = layouts[operand].dims[dim].extent();
  const SmallVector<LoopKind> kinds = kindsOf(rule, operand, dim);
  const LoopKind kind = *llvm::find_if(kinds, isReduced);
  if (parts.cutsBatch(axis))
    cause.text = "sum over samples";
  else if (selects && kind == LoopKind::sum)
    cause.text = "looked up in " + std::to_string(extent) + " rows";
  else
    cause.text = (kind == LoopKind::sum   ? "sum over "
                  : kind == LoopKind::max ? "maximum over "
                                          : "minimum over ") +
                 std::to_string(extent);
  if (!parts.cutsBatch(axis))
    cause.request = requestFor(origin, operand, axis);
  return cause;
}

ReshardCause ReshardCauses::ofResult(OpOperand &operand, const Layout &from) const {
  func::FuncOp function = parts.getFunction();
  nn::ResultAttr attr = nn::getResult(function, operand.getOperandNumber());
  if (!attr)
    return {"a result, whole on each rank"};
  const std::string name = attr.getName().str();
  if (attr.getKind() != nn::ResultKind::state)
    return {(attr.getKind() == nn::ResultKind::metric ? "metric '" : "output '") + name +
            "', given to the host"};
  ReshardCause cause{"state, kept as it was before the step"};
  for (BlockArgument argument : function.getArguments())
    if (parts.stateName(argument) == name)
      cause.request = request(argument, from);
  return cause;
}

/// Returns an operand of `reader`, other than `own`, that `axis` shards; nullopt if there is none.
/// Prefers an operand that is state. Because `axis` shards this operand, `reader` cannot also read
/// operand `own` sharded over `axis`.
static std::optional<unsigned> rivalOf(Operation *reader, unsigned own, StringRef axis,
                                       const StepParts &parts) {
  std::optional<unsigned> rival;
  for (auto [o, layout] : llvm::enumerate(operandLayouts(reader)))
    if (o != own && dimCutBy(layout, axis) &&
        (!rival || !parts.stateName(madeAs(reader->getOperand(o))).empty()))
      rival = o;
  return rival;
}

// Looks for readers that are products with a sharded parameter, because each of them needs the
// complete value. The other readers are usually gradients of these products. They are sharded in
// the same way as the products, so they need no request of their own.
std::string ReshardCauses::requestForReaders(ReshardOp reshard, StringRef axis) const {
  std::string all;
  for (OpOperand &use : reshard->getUses()) {
    const std::optional<unsigned> rival =
        rivalOf(use.getOwner(), use.getOperandNumber(), axis, parts);
    if (!rival || !isa<ShardableOpInterface>(use.getOwner()))
      continue;
    if (std::string request = requestFor(use.getOwner(), *rival, axis); request != "-")
      addRequest(request, all);
  }
  return all.empty() ? "-" : all;
}

ReshardCause ReshardCauses::ofGather(ReshardOp reshard, const Layout &from,
                                     const Layout &to) const {
  OpOperand &use =
      *std::min_element(reshard->use_begin(), reshard->use_end(), [](OpOperand &a, OpOperand &b) {
        return a.getOwner()->isBeforeInBlock(b.getOwner());
      });
  Operation *reader = use.getOwner();
  Value value = reshard.getInput();
  if (reader->hasTrait<OpTrait::IsTerminator>())
    return ofResult(use, from);
  std::string axis;
  unsigned dim = 0;
  for (auto [d, before, after] : llvm::enumerate(from.dims, to.dims))
    for (const std::string &each : shardedAxes(before))
      if (axis.empty() && !cuts(after, each)) {
        axis = each;
        dim = d;
      }
  if (axis.empty())
    return {"cut and read in different orders", request(value, to)};
  const std::string here = "along " + std::to_string(dim);
  const std::optional<unsigned> instead = dimCutBy(to, axis);
  if (!parts.stateName(nn::getSource(value)).empty())
    return {"held cut " + here + ", read " +
                (instead ? "along " + std::to_string(*instead) : "whole"),
            request(value, to)};
  const unsigned operand = use.getOperandNumber();
  ReshardCause cause{"read whole " + here, request(value, to)};
  auto shardable = dyn_cast<ShardableOpInterface>(reader);
  if (!shardable)
    return cause;
  const SmallVector<LoopKind> kinds = kindsOf(shardable.getShardingRule(), operand, dim);
  if (llvm::is_contained(kinds, LoopKind::whole)) {
    cause.text = "cut " + here + ", where its reader is whole";
  } else if (instead) {
    cause.text = "cut " + here + ", read along " + std::to_string(*instead);
  } else if (std::optional<unsigned> rival = rivalOf(reader, operand, axis, parts)) {
    Value other = reader->getOperand(*rival);
    const Layout layout = operandLayouts(reader)[*rival];
    const unsigned own = *dimCutBy(layout, axis);
    const std::string name = parts.stateName(madeAs(other));
    cause.text = "cut " + here + ", the " + (name.empty() ? "other operand" : "parameter") +
                 " along " + std::to_string(own);
    cause.request = requestFor(reader, *rival, axis);
    if (cause.request != "-")
      cause.request = requestForReaders(reshard, axis);
  } else if (llvm::any_of(kinds, isReduced)) {
    cause.text = "summed " + here + ", its sum is larger";
  } else {
    cause.text = "cut " + here + ", taken apart by its reader";
  }
  return cause;
}

ReshardCause ReshardCauses::find(ReshardOp reshard, const Layout &start) const {
  const Layout from = withoutIdleAxes(start, mesh);
  const Layout to = withoutIdleAxes(reshard.getTo().getLayout(), mesh);
  for (const Partial &partial : from.partial)
    if (!isPartialOver(to, partial.axis) && !parts.cutsBatch(partial.axis))
      return ofSum(reshard.getInput(), partial.axis);
  // Sums of gradients over samples have no row in the table, so no cause is needed for them.
  if (!parts.isGradient(reshard, /*summed=*/true))
    for (const Partial &partial : from.partial)
      if (!isPartialOver(to, partial.axis))
        return ofSum(reshard.getInput(), partial.axis);
  return ofGather(reshard, from, to);
}
