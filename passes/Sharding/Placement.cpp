// Derives the layout of every value from a plan of which axes cut which atoms,
// and prices the reshards that it needs.

#include "passes/Sharding/Placement.h"

#include "dialects/NN/IR/NNDialect.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

bool dpc::sameLayout(const Layout &a, const Layout &b, const MeshShape &mesh) {
  Layout left = normalize(a), right = normalize(b);
  return left.partial == right.partial &&
         (left.dims == right.dims || sameIndices(left, right, mesh));
}

/// Whether any of `axes` cuts `dim`.
static bool usesAny(const DimLayout &dim, ArrayRef<std::string> axes) {
  return llvm::any_of(shardedAxes(dim),
                      [&](const std::string &axis) { return llvm::is_contained(axes, axis); });
}

static bool isPartialOver(const Layout &layout, StringRef axis) {
  return llvm::any_of(layout.partial, [&](const Partial &partial) { return partial.axis == axis; });
}

/// Removes every axis from `dim` that `axes` holds.
static void dropAxes(DimLayout &dim, ArrayRef<std::string> axes) {
  for (Segment &segment : dim.segments)
    for (Factor &factor : segment.factors)
      llvm::erase_if(factor.axes,
                     [&](const std::string &axis) { return llvm::is_contained(axes, axis); });
}

DimLayout Assignment::layoutOf(const AtomDim &dim) const {
  DimLayout layout;
  for (const auto &segment : dim) {
    layout.segments.emplace_back();
    SmallVector<std::string> used;
    for (unsigned atom : segment) {
      Factor factor(program.getSize(atom));
      auto it = plan.find(atom);
      if (it != plan.end())
        for (const std::string &axis : it->second)
          if (!llvm::is_contained(used, axis)) {
            used.push_back(axis);
            factor.axes.push_back(axis);
            // One iteration has one index of this factor: nothing to cut.
            if (mesh.axes[*mesh.axisIndex(axis)].sequential)
              break;
          }
      layout.segments.back().factors.push_back(factor);
    }
  }
  return layout;
}

/// Ops that have an atom of `dim` which the plan cuts, the fewest of any.
unsigned Assignment::countOps(const AtomDim &dim) const {
  unsigned ops = ~0u;
  for (const auto &segment : dim)
    for (unsigned atom : segment)
      if (plan.count(atom))
        ops = std::min(ops, program.getOpCount(atom));
  return ops;
}

// Where two dimensions could have an axis, the one that fewer ops have gets it:
// the heads or the inner dimension of a weight, not that which runs through all
// layers. Who reads the weight cuts it so, too.
Layout Assignment::getNatural(Value value) const {
  const int64_t rank = nn::typeOf(value).getRank();
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  llvm::stable_sort(order, [&](int64_t a, int64_t b) {
    return countOps(program.getDim(value, a)) < countOps(program.getDim(value, b));
  });
  Layout layout = Layout::replicated(nn::typeOf(value).getShape());
  SmallVector<std::string> used;
  for (int64_t d : order) {
    if (nn::typeOf(value).getDimSize(d) <= 1)
      continue;
    DimLayout dim = layoutOf(program.getDim(value, d));
    dropAxes(dim, used);
    llvm::append_range(used, shardedAxes(dim));
    layout.dims[d] = std::move(dim);
  }
  return normalize(layout);
}

/// A dimension made of the loops that the rule names.
static DimLayout compose(const ShardingRule::DimLoops &segments, ArrayRef<DimLayout> loops) {
  DimLayout dim;
  for (const auto &segment : segments) {
    std::vector<Segment> parts(1);
    for (unsigned loop : segment) {
      if (loops[loop].segments.size() > 1) {
        parts.assign(loops[loop].segments.begin(), loops[loop].segments.end());
        continue;
      }
      for (Segment &part : parts)
        llvm::append_range(part.factors, loops[loop].segments[0].factors);
    }
    llvm::append_range(dim.segments, parts);
  }
  return dim;
}

/// Whether two loops may not both be cut over one axis: some value has them in
/// different dimensions or as factors of one segment.
static bool collide(const ShardingRule &rule, unsigned a, unsigned b) {
  auto collideIn = [&](const ShardingRule::ValueLoops &value) {
    int dimOfA = -1, dimOfB = -1, segmentOfA = -1, segmentOfB = -1;
    for (unsigned d = 0; d < value.size(); ++d)
      for (unsigned s = 0; s < value[d].size(); ++s)
        for (unsigned loop : value[d][s]) {
          if (loop == a)
            dimOfA = d, segmentOfA = s;
          if (loop == b)
            dimOfB = d, segmentOfB = s;
        }
    if (dimOfA < 0 || dimOfB < 0)
      return false;
    return dimOfA != dimOfB || segmentOfA == segmentOfB;
  };
  bool anyTogether = false, collides = false;
  for (ArrayRef<ShardingRule::ValueLoops> values :
       {ArrayRef(rule.operands), ArrayRef(rule.results)})
    for (const auto &value : values) {
      bool hasA = false, hasB = false;
      for (const auto &dim : value)
        for (const auto &segment : dim) {
          hasA |= llvm::is_contained(segment, a);
          hasB |= llvm::is_contained(segment, b);
        }
      anyTogether |= hasA && hasB;
      collides |= collideIn(value);
    }
  // Loops of one iteration space that no value has together still may not
  // share an axis: a device would run only the diagonal.
  return collides || !anyTogether;
}

SmallVector<std::string> Assignment::sequentialAxes() const {
  SmallVector<std::string> names;
  for (const MeshAxis &axis : mesh.axes)
    if (axis.sequential)
      names.push_back(axis.name);
  return names;
}

void Assignment::keepIterationsWhole(const OpLoops &op, OpPlacement &placement) const {
  SmallVector<std::string> axes = sequentialAxes();
  if (axes.empty())
    return;
  for (ArrayRef<ShardingRule::ValueLoops> values :
       {ArrayRef(op.rule.operands), ArrayRef(op.rule.results)})
    for (const ShardingRule::ValueLoops &value : values)
      for (const ShardingRule::DimLoops &segments : value) {
        DimLayout dim = normalize(compose(segments, placement.loops));
        if (dim.segments.size() == 1 || !usesAny(dim, axes))
          continue;
        for (const auto &segment : segments)
          for (unsigned loop : segment)
            dropAxes(placement.loops[loop], axes);
      }
}

/// Which loops of `op` may not be cut here.
static SmallVector<bool> findUncutLoops(const OpLoops &op) {
  const ShardingRule &rule = op.rule;
  SmallVector<bool> uncut;
  for (const ShardingRule::Loop &loop : rule.loops)
    uncut.push_back(loop.kind == LoopKind::whole || loop.size <= 1);
  for (unsigned loop : op.uncut)
    uncut[loop] = true;
  for (auto [value, dim] : op.broken) {
    unsigned operands = rule.operands.size();
    const auto &segments =
        value < operands ? rule.operands[value][dim] : rule.results[value - operands][dim];
    for (const auto &segment : segments)
      for (unsigned loop : segment)
        uncut[loop] = true;
  }
  return uncut;
}

/// Loops of results first: a cut there needs no reduction.
static SmallVector<unsigned> orderOf(const OpLoops &op) {
  SmallVector<unsigned> order;
  for (bool parallel : {true, false})
    for (unsigned l = 0; l < op.rule.loops.size(); ++l)
      if ((op.rule.loops[l].kind == LoopKind::parallel) == parallel)
        order.push_back(l);
  return order;
}

DimLayout Assignment::cutLoop(const OpLoops &op, unsigned l, ArrayRef<std::string> gathered) const {
  DimLayout dim = layoutOf(op.loops[l]);
  LoopKind kind = op.rule.loops[l].kind;
  // Iterations of a sequential axis are summed, never compared.
  if (kind == LoopKind::max || kind == LoopKind::min)
    dropAxes(dim, sequentialAxes());
  // An axis must cut every segment of a sum or none: one that it leaves
  // replicated would be added once for each device.
  if (kind == LoopKind::sum)
    for (const std::string &axis : shardedAxes(dim))
      if (!llvm::all_of(dim.segments,
                        [&](const Segment &segment) { return usesAny(DimLayout{segment}, axis); }))
        dropAxes(dim, axis);
  if (kind != LoopKind::parallel)
    dropAxes(dim, gathered);
  return dim;
}

void Assignment::cutLoops(const OpLoops &op, ArrayRef<std::string> gathered,
                          const Priorities &first, OpPlacement &placement) const {
  const ShardingRule &rule = op.rule;
  SmallVector<bool> uncut = findUncutLoops(op);
  SmallVector<unsigned> order = orderOf(op);
  placement.loops.resize(rule.loops.size());
  for (size_t position = 0; position < order.size(); ++position) {
    unsigned l = order[position];
    if (uncut[l]) {
      placement.loops[l] = DimLayout::replicated(rule.loops[l].size);
      continue;
    }
    DimLayout dim = cutLoop(op, l, gathered);
    for (const auto &[axis, owner] : first)
      if (owner != l && collide(rule, owner, l))
        dropAxes(dim, axis);
    for (unsigned before : ArrayRef(order).take_front(position)) {
      AxisNames taken = shardedAxes(placement.loops[before]);
      if (usesAny(dim, taken) && collide(rule, before, l))
        dropAxes(dim, taken);
    }
    placement.loops[l] = dim;
  }
  keepIterationsWhole(op, placement);
}

/// Loops of `op` that could be cut over `axis` and may not be so together, in the
/// order in which they are asked.
SmallVector<unsigned> Assignment::findRivals(const OpLoops &op, StringRef axis) const {
  SmallVector<unsigned> wanting;
  SmallVector<bool> uncut = findUncutLoops(op);
  for (unsigned l : orderOf(op))
    if (!uncut[l] && llvm::is_contained(shardedAxes(cutLoop(op, l, {})), axis))
      wanting.push_back(l);
  bool anyCollide = false;
  for (unsigned a : wanting)
    for (unsigned b : wanting)
      anyCollide |= a != b && collide(op.rule, a, b);
  return anyCollide ? wanting : SmallVector<unsigned>();
}

OpPlacement Assignment::place(const OpLoops &op) {
  Priorities first;
  OpPlacement placement = placeWithout(op, {}, first);
  double seconds = placementSeconds(op, placement);
  for (const MeshAxis &axis : mesh.axes) {
    if (axis.sequential)
      continue;
    // What comes first has it already.
    const SmallVector<unsigned> rivals = findRivals(op, axis.name);
    for (size_t next = 1; next < rivals.size(); ++next) {
      const unsigned rival = rivals[next];
      Priorities trialFirst = first;
      trialFirst[axis.name] = rival;
      OpPlacement trial = placeWithout(op, {}, trialFirst);
      double trialSeconds = placementSeconds(op, trial);
      if (trialSeconds < seconds) {
        placement = std::move(trial);
        seconds = trialSeconds;
        first = trialFirst;
      }
    }
  }
  SmallVector<std::string> gathered;
  for (const MeshAxis &axis : mesh.axes) {
    if (axis.sequential || llvm::none_of(placement.results, [&](const Layout &result) {
          return isPartialOver(result, axis.name);
        }))
      continue;
    gathered.push_back(axis.name);
    OpPlacement trial = placeWithout(op, gathered, first);
    double trialSeconds = placementSeconds(op, trial);
    if (2 * trialSeconds <= seconds) {
      placement = std::move(trial);
      seconds = trialSeconds;
    } else {
      gathered.pop_back();
    }
  }
  return placement;
}

/// The layouts of operands and results that the cuts of loops give. Cut
/// reduction loops leave partial results.
static void layOutValues(const OpLoops &op, OpPlacement &placement) {
  const ShardingRule &rule = op.rule;
  auto valueLayout = [&](const ShardingRule::ValueLoops &loops, RankedTensorType type) {
    Layout layout;
    for (unsigned d = 0; d < loops.size(); ++d)
      layout.dims.push_back(type.getDimSize(d) <= 1 ? DimLayout::replicated(type.getDimSize(d))
                                                    : compose(loops[d], placement.loops));
    return normalize(layout);
  };
  for (auto [loops, value] : llvm::zip_equal(rule.operands, op.op->getOperands()))
    placement.operands.push_back(valueLayout(loops, nn::typeOf(value)));
  for (auto [loops, value] : llvm::zip_equal(rule.results, op.op->getResults()))
    placement.results.push_back(valueLayout(loops, nn::typeOf(value)));

  for (auto [l, loop] : llvm::enumerate(rule.loops)) {
    if (loop.kind == LoopKind::parallel || loop.kind == LoopKind::whole)
      continue;
    Reduction reduction = loop.kind == LoopKind::sum   ? Reduction::Sum
                          : loop.kind == LoopKind::max ? Reduction::Max
                                                       : Reduction::Min;
    for (const std::string &axis : shardedAxes(placement.loops[l]))
      for (Layout &result : placement.results)
        if (!isPartialOver(result, axis))
          result.partial.push_back({axis, reduction});
  }
}

bool Assignment::passesThrough(const OpLoops &op, const OpPlacement &placement,
                               ArrayRef<unsigned> set, const Partial &partial) const {
  auto isPartial = [&](unsigned operand) {
    return llvm::is_contained(layouts.find(op.op->getOperand(operand))->second.partial, partial);
  };
  if (partial.reduction != Reduction::Sum || !llvm::all_of(set, isPartial) ||
      isPartialOver(placement.results[0], partial.axis))
    return false;
  for (unsigned operand = 0; operand < op.op->getNumOperands(); ++operand)
    if (!llvm::is_contained(set, operand) && isPartial(operand))
      return false;
  if (llvm::any_of(placement.loops, [&](const DimLayout &dim) {
        return llvm::is_contained(shardedAxes(dim), partial.axis);
      }))
    return false;
  std::optional<unsigned> axis = mesh.axisIndex(partial.axis);
  if (axis && mesh.axes[*axis].sequential)
    return true;
  if (llvm::any_of(set, [&](unsigned operand) {
        return reducedFirst.contains(op.op->getOperand(operand));
      }))
    return false;
  int64_t resultBytes = 0, setBytes = 0;
  for (Value value : op.op->getResults())
    resultBytes += tensorBytes(value.getType());
  for (unsigned operand : set)
    setBytes += tensorBytes(op.op->getOperand(operand).getType());
  return resultBytes <= setBytes;
}

OpPlacement Assignment::placeWithout(const OpLoops &op, ArrayRef<std::string> gathered,
                                     const Priorities &first) const {
  OpPlacement placement;
  cutLoops(op, gathered, first, placement);
  layOutValues(op, placement);
  for (const auto &set : op.rule.additiveSets) {
    if (set.empty())
      continue;
    for (const Partial &partial : layouts.find(op.op->getOperand(set[0]))->second.partial) {
      if (!passesThrough(op, placement, set, partial))
        continue;
      for (unsigned operand : set)
        placement.operands[operand].partial.push_back(partial);
      for (Layout &result : placement.results)
        result.partial.push_back(partial);
    }
  }
  for (auto *list : {&placement.operands, &placement.results})
    for (Layout &layout : *list)
      layout = normalize(layout);
  return placement;
}

/// Devices in a group along the parallel axes of `names`, which are left in it.
static int64_t takeParallel(AxisNames &names, const MeshShape &mesh) {
  int64_t members = 1;
  llvm::erase_if(names, [&](const std::string &name) {
    std::optional<unsigned> axis = mesh.axisIndex(name);
    return axis && mesh.axes[*axis].sequential;
  });
  for (const std::string &name : names)
    members *= mesh.axisSize(name);
  return members;
}

// In the steps of lowerReshard: an all-reduce a kind of partial value, then an
// all-gather a dimension whose elements lie elsewhere; cutting is free.
Traffic Assignment::reshardTraffic(const Layout &from, const Layout &to, int64_t bytes) const {
  if (sameLayout(from, to, mesh))
    return {};
  Traffic total;
  auto local = static_cast<double>(bytes); // of one device
  AxisNames cuts = shardedAxes(from);
  local /= takeParallel(cuts, mesh);
  for (Reduction reduction : {Reduction::Sum, Reduction::Max, Reduction::Min}) {
    AxisNames axes;
    for (const Partial &partial : from.partial)
      if (partial.reduction == reduction && !llvm::is_contained(to.partial, partial))
        axes.push_back(partial.axis);
    if (int64_t members = takeParallel(axes, mesh); members > 1)
      total.add(machine.linkOver(axes), allReduceBytes(local, members));
  }
  for (unsigned d = 0; d < from.dims.size(); ++d) {
    if (sameIndices(from.dims[d], to.dims[d], mesh))
      continue;
    AxisNames axes = shardedAxes(from.dims[d]);
    if (int64_t members = takeParallel(axes, mesh); members > 1) {
      local *= members;
      total.add(machine.linkOver(axes), gatherBytes(local, members));
    }
  }
  return total;
}

/// Part of a loop that the device with the most of it runs.
double Assignment::shareOf(const DimLayout &dim) const {
  double all = 0, own = 0;
  for (const Segment &segment : dim.segments) {
    double extent = 1, local = 1;
    for (const Factor &factor : segment.factors) {
      int64_t devices = 1;
      for (const std::string &axis : factor.axes)
        devices *= mesh.axisSize(axis);
      extent *= static_cast<double>(factor.size);
      local *= static_cast<double>(llvm::divideCeil(factor.size, devices));
    }
    all += extent;
    own += local;
  }
  return all > 0 ? own / all : 1;
}

double Assignment::computeSeconds(const OpLoops &op, const OpPlacement &placement) const {
  double fraction = 1;
  for (const DimLayout &dim : placement.loops)
    fraction *= shareOf(dim);
  return fraction * machine.device.computeSeconds(op.flops, op.bytes);
}

/// Of an op that reads `value` laid out as `to`, as others may have done before.
Traffic Assignment::readTraffic(Value value, const Layout &to) const {
  auto known = reads.find(value);
  if (known != reads.end() && llvm::any_of(known->second, [&](const Layout &made) {
        return sameLayout(made, to, mesh);
      }))
    return {};
  return reshardTraffic(layouts.find(value)->second, to, tensorBytes(value.getType()));
}

void Assignment::read(Value value, const Layout &to) {
  Traffic traffic = readTraffic(value, to);
  if (traffic.bytes == 0)
    return;
  moving.bytes += traffic.bytes;
  moving.seconds += traffic.seconds;
  reads[value].push_back(to);
}

double Assignment::placementSeconds(const OpLoops &op, const OpPlacement &placement) const {
  double total = computeSeconds(op, placement);
  for (auto [value, layout] : llvm::zip_equal(op.op->getOperands(), placement.operands))
    total += readTraffic(value, layout).seconds;
  for (auto [value, layout] : llvm::zip_equal(op.op->getResults(), placement.results)) {
    Layout reduced = layout;
    reduced.partial.clear();
    total += reshardTraffic(layout, reduced, tensorBytes(value.getType())).seconds;
  }
  return total;
}

/// Whether some axis of a device grid has left partial sums of what is so laid out.
bool Assignment::isPartial(const Layout &layout) const {
  return llvm::any_of(layout.partial, [&](const Partial &partial) {
    std::optional<unsigned> axis = mesh.axisIndex(partial.axis);
    return partial.reduction == Reduction::Sum && axis && !mesh.axes[*axis].sequential;
  });
}

// Backwards, from what is reduced in the end: bytes that are reduced because of a
// value, each divided among those whose sum it is.
DenseSet<Value> Assignment::findReducedFirst() const {
  DenseSet<Value> found;
  DenseMap<Value, double> later;
  for (size_t number = placements.size(); number-- > 0;) {
    const OpLoops &op = program.getOps()[number];
    double reduced = 0;
    for (Value result : op.op->getResults()) {
      const Layout &layout = layouts.find(result)->second;
      if (!isPartial(layout))
        continue;
      const auto bytes = static_cast<double>(tensorBytes(result.getType()));
      double passed = later.lookup(result);
      bool isReadWhole = llvm::any_of(getReads(result), [&](const Layout &read) {
        return read.partial != layout.partial;
      });
      if (double all = passed + (isReadWhole ? bytes : 0); passed > 0 && all > bytes) {
        found.insert(result);
        reduced += bytes;
      } else {
        reduced += all;
      }
    }
    SmallVector<Value> summed;
    for (auto [value, layout] : llvm::zip_equal(op.op->getOperands(), placements[number].operands))
      if (isPartial(layout))
        summed.push_back(value);
    for (Value value : summed)
      later[value] += reduced / static_cast<double>(summed.size());
  }
  return found;
}

void Assignment::run(ArrayRef<std::pair<Value, Layout>> arguments) {
  runOnce(arguments);
  reducedFirst = findReducedFirst();
  if (reducedFirst.empty())
    return;
  placements.clear();
  layouts.clear();
  reads.clear();
  computing = 0;
  moving = {};
  runOnce(arguments);
}

void Assignment::runOnce(ArrayRef<std::pair<Value, Layout>> arguments) {
  for (const auto &[value, layout] : arguments)
    layouts[value] = layout;
  for (const OpLoops &op : program.getOps()) {
    OpPlacement placement = place(op);
    for (auto [value, layout] : llvm::zip_equal(op.op->getOperands(), placement.operands))
      read(value, layout);
    computing += computeSeconds(op, placement);
    for (auto [value, layout] : llvm::zip_equal(op.op->getResults(), placement.results))
      layouts[value] = layout;
    placements.push_back(std::move(placement));
  }
}
