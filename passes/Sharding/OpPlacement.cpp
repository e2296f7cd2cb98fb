// Derives the layouts of one op from the cuts of its loops and from the layouts of its
// operands.

#include "passes/Sharding/OpPlacement.h"

#include "dialects/NN/IR/Fusion.h"
#include "dialects/NN/IR/NNDialect.h"
#include "dialects/NN/IR/Program.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

/// Whether any of `axes` cuts `dim`.
static bool usesAny(const DimLayout &dim, ArrayRef<std::string> axes) {
  return llvm::any_of(shardedAxes(dim),
                      [&](const std::string &axis) { return llvm::is_contained(axes, axis); });
}

static bool isPartialOver(const Layout &layout, StringRef axis) {
  return llvm::any_of(layout.partial, [&](const Partial &partial) { return partial.axis == axis; });
}

void dpc::dropAxes(DimLayout &dim, ArrayRef<std::string> axes) {
  if (axes.empty())
    return;
  for (Segment &segment : dim.segments)
    for (Factor &factor : segment.factors)
      llvm::erase_if(factor.axes,
                     [&](const std::string &axis) { return llvm::is_contained(axes, axis); });
}

DimLayout dpc::layOut(const AtomDim &dim, llvm::function_ref<int64_t(unsigned)> sizeOf,
                      llvm::function_ref<const AxisNames *(unsigned)> cutsOf,
                      const MeshShape &mesh) {
  DimLayout layout;
  for (const auto &segment : dim) {
    layout.segments.emplace_back();
    SmallVector<std::string> used;
    for (unsigned atom : segment) {
      Factor factor(sizeOf(atom));
      if (const AxisNames *cuts = cutsOf(atom))
        for (const std::string &axis : *cuts)
          if (!llvm::is_contained(used, axis)) {
            used.push_back(axis);
            factor.axes.push_back(axis);
            // One iteration has one index of this factor, so no other axis can cut it.
            if (mesh.axes[*mesh.axisIndex(axis)].sequential)
              break;
          }
      layout.segments.back().factors.push_back(factor);
    }
  }
  return layout;
}

/// The layout of a dimension that is made of the loops which the rule names for it.
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

/// By loop: whether it must not be cut in `op`.
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

/// The order in which loops are cut: loops of results come first, as their cuts need no
/// reduction.
static SmallVector<unsigned> orderOf(const OpLoops &op) {
  SmallVector<unsigned> order;
  for (bool parallel : {true, false})
    for (unsigned l = 0; l < op.rule.loops.size(); ++l)
      if ((op.rule.loops[l].kind == LoopKind::parallel) == parallel)
        order.push_back(l);
  return order;
}

namespace {

/// Restrictions under which an op is placed, instead of cutting every loop like its atoms.
struct Restrictions {
  /// By axis: the loop that it cuts before any other loop.
  std::map<std::string, unsigned> first;
  /// Axes that cut no reduction loop (`gathered`), and axes that cut no loop at all (`passed`).
  SmallVector<std::string> gathered, passed;
};

class OpPlacer {
public:
  OpPlacer(const OpSituation &situation, const MeshShape &mesh, const Machine &machine,
           ReshardPrices &prices)
      : situation(situation), op(situation.op), uncut(findUncutLoops(op)), mesh(mesh),
        machine(machine), prices(prices) {
    for (const MeshAxis &axis : mesh.axes)
      if (axis.sequential)
        sequentialAxes.push_back(axis.name);
    for (auto [place, atom] : llvm::enumerate(op.atoms))
      placeOf[atom] = place;
    for (unsigned l = 0; l < op.loops.size(); ++l)
      asAtoms.push_back(uncut[l] ? DimLayout::replicated(op.rule.loops[l].size) : cutAsAtoms(l));
  }

  OpPlacement run();

private:
  OpPlacement placeWith(const Restrictions &restrictions) const;
  /// Cuts the op's loops one after the other. A loop does not get an axis that may not cut it
  /// together with a loop before it, or together with the loop that comes first for the axis.
  void cutLoops(const Restrictions &restrictions, OpPlacement &placement) const;
  SmallVector<unsigned> findRivals(StringRef axis) const;
  /// Whether the op adds up several values that are all partial sums over `axis`.
  bool addsPartial(StringRef axis) const;
  /// The cuts of loop `l`, without regard to other loops: without restrictions, and under
  /// `restrictions`.
  DimLayout cutAsAtoms(unsigned l) const;
  DimLayout cutLoop(unsigned l, const Restrictions &restrictions) const;
  /// Whether the op reads `partial` sums in the operands of `set`, in which it is additive, and
  /// passes them on to its result. No loop of the op may be cut over the axis of the sums.
  /// Moreover, the result must have no more bytes than the operands that would be reduced
  /// otherwise, or the sums must be better reduced after the op for another reason
  /// (PartialSums). Sums over a sequential axis always pass, since a loop adds them up. Only
  /// conversions to a narrower type do not pass them, because they would round the sum of each
  /// microbatch.
  bool passesThrough(const OpPlacement &placement, ArrayRef<unsigned> set,
                     const Partial &partial) const;
  /// The modelled seconds of the op under `placement`, with the reshards of its operands, and
  /// with the reduction of its results or their reshards to the wanted layouts.
  double secondsWithReshards(const OpPlacement &placement) const;
  /// The cost of resharding the operands.
  Price readAll(const OpPlacement &placement) const;
  double shareOf(const DimLayout &dim) const;
  int64_t countUpdaters(const OpPlacement &placement) const;
  double computeSeconds(const OpPlacement &placement) const;
  /// Removes sequential axes from dimensions of several segments, because an iteration has one
  /// slice of each value.
  void keepIterationsWhole(OpPlacement &placement) const;

  const OpSituation &situation;
  const OpLoops &op;
  const SmallVector<bool> uncut;
  const MeshShape &mesh;
  const Machine &machine;
  ReshardPrices &prices;
  SmallVector<std::string> sequentialAxes;
  /// The place of each atom in `op.atoms`.
  llvm::DenseMap<unsigned, unsigned> placeOf;
  /// By loop: the result of `cutAsAtoms`. It is stored because dimensions of many segments are
  /// long.
  SmallVector<DimLayout> asAtoms;
};

} // namespace

void OpPlacer::keepIterationsWhole(OpPlacement &placement) const {
  if (sequentialAxes.empty())
    return;
  for (ArrayRef<ShardingRule::ValueLoops> values :
       {ArrayRef(op.rule.operands), ArrayRef(op.rule.results)})
    for (const ShardingRule::ValueLoops &value : values)
      for (const ShardingRule::DimLoops &segments : value) {
        DimLayout dim = normalize(compose(segments, placement.loops));
        if (dim.segments.size() == 1 || !usesAny(dim, sequentialAxes))
          continue;
        for (const auto &segment : segments)
          for (unsigned loop : segment)
            dropAxes(placement.loops[loop], sequentialAxes);
      }
}

DimLayout OpPlacer::cutAsAtoms(unsigned l) const {
  DimLayout dim = layOut(
      op.loops[l], [&](unsigned atom) { return op.sizes[placeOf.lookup(atom)]; },
      [&](unsigned atom) { return situation.cuts[placeOf.lookup(atom)]; }, mesh);
  LoopKind kind = op.rule.loops[l].kind;
  // Iterations of a sequential axis are summed, never compared.
  if (kind == LoopKind::max || kind == LoopKind::min)
    dropAxes(dim, sequentialAxes);
  // An axis must cut every segment of a summed loop or none: a segment that it leaves
  // replicated would be added once for each device.
  if (kind == LoopKind::sum)
    for (const std::string &axis : shardedAxes(dim))
      if (!llvm::all_of(dim.segments,
                        [&](const Segment &segment) { return usesAny(DimLayout{segment}, axis); }))
        dropAxes(dim, axis);
  for (const auto &[loop, axis] : op.whole)
    if (loop == l)
      dropAxes(dim, axis);
  return dim;
}

DimLayout OpPlacer::cutLoop(unsigned l, const Restrictions &restrictions) const {
  DimLayout dim = asAtoms[l];
  if (op.rule.loops[l].kind != LoopKind::parallel)
    dropAxes(dim, restrictions.gathered);
  dropAxes(dim, restrictions.passed);
  return dim;
}

void OpPlacer::cutLoops(const Restrictions &restrictions, OpPlacement &placement) const {
  const ShardingRule &rule = op.rule;
  placement.loops.resize(rule.loops.size());
  // By axis: the loops that it cuts already.
  std::map<std::string, llvm::BitVector> taken;
  for (unsigned l : orderOf(op)) {
    if (uncut[l]) {
      placement.loops[l] = DimLayout::replicated(rule.loops[l].size);
      continue;
    }
    DimLayout dim = cutLoop(l, restrictions);
    for (const auto &[axis, owner] : restrictions.first)
      if (owner != l && op.collisions->collide(owner, l))
        dropAxes(dim, axis);
    for (const std::string &axis : shardedAxes(dim)) {
      llvm::BitVector &takers = taken.try_emplace(axis, rule.loops.size()).first->second;
      if (op.collisions->collideAny(l, takers))
        dropAxes(dim, axis);
      else
        takers.set(l);
    }
    placement.loops[l] = dim;
  }
  keepIterationsWhole(placement);
}

/// The loops that `axis` could cut if they do not allow it together, in the order in which they
/// are cut; empty if it can cut all of them.
SmallVector<unsigned> OpPlacer::findRivals(StringRef axis) const {
  SmallVector<unsigned> wanting;
  for (unsigned l : orderOf(op))
    if (!uncut[l] && llvm::is_contained(shardedAxes(asAtoms[l]), axis))
      wanting.push_back(l);
  llvm::BitVector others(op.rule.loops.size());
  bool anyCollide = false;
  for (unsigned loop : wanting) {
    anyCollide |= op.collisions->collideAny(loop, others);
    others.set(loop);
  }
  return anyCollide ? wanting : SmallVector<unsigned>();
}

bool OpPlacer::addsPartial(StringRef axis) const {
  return llvm::any_of(op.rule.additiveSets, [&](const auto &set) {
    return set.size() > 1 && llvm::all_of(set, [&](unsigned operand) {
             return llvm::is_contained(situation.operands[operand].layout->partial,
                                       Partial{axis.str(), Reduction::sum});
           });
  });
}

OpPlacement OpPlacer::run() {
  Restrictions best;
  OpPlacement placement = placeWith(best);
  double seconds = secondsWithReshards(placement);
  for (const MeshAxis &axis : mesh.axes) {
    if (axis.sequential)
      continue;
    // The first of the rivals has the axis already.
    const SmallVector<unsigned> rivals = findRivals(axis.name);
    for (size_t next = 1; next < rivals.size(); ++next) {
      Restrictions trial = best;
      trial.first[axis.name] = rivals[next];
      OpPlacement other = placeWith(trial);
      if (double otherSeconds = secondsWithReshards(other); otherSeconds < seconds) {
        placement = std::move(other);
        seconds = otherSeconds;
        best = trial;
      }
    }
  }
  for (const MeshAxis &axis : mesh.axes) {
    if (axis.sequential || llvm::none_of(placement.results, [&](const Layout &result) {
          return isPartialOver(result, axis.name);
        }))
      continue;
    Restrictions trial = best;
    trial.gathered.push_back(axis.name);
    OpPlacement other = placeWith(trial);
    if (double otherSeconds = secondsWithReshards(other); 2 * otherSeconds <= seconds) {
      placement = std::move(other);
      seconds = otherSeconds;
      best = trial;
    }
  }
  // A sum of partial sums: if fewer bytes are sent by that, each device adds up its partial
  // values first, and only the sum is reduced and resharded to the layout that the result would
  // have had.
  for (const MeshAxis &axis : mesh.axes) {
    if (axis.sequential || !addsPartial(axis.name))
      continue;
    Restrictions trial = best;
    trial.passed.push_back(axis.name);
    OpPlacement other = placeWith(trial);
    double sent = readAll(other).bytes;
    for (auto [value, from, to] :
         llvm::zip_equal(op.op->getResults(), other.results, placement.results))
      sent += prices.getCost(from, to, tensorBytes(value.getType())).bytes;
    if (sent < readAll(placement).bytes) {
      placement = std::move(other);
      best = trial;
    }
  }
  placement.seconds = computeSeconds(placement);
  return placement;
}

/// Derives the layouts of operands and results from the cuts of loops. Reduction loops that are
/// cut leave partial results.
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
    const std::optional<Reduction> reduction = dist::reductionOf(loop.kind);
    if (!reduction)
      continue;
    for (const std::string &axis : shardedAxes(placement.loops[l]))
      for (Layout &result : placement.results)
        if (!isPartialOver(result, axis))
          result.partial.push_back({axis, *reduction});
  }
}

/// Whether `op` converts floats to floats of fewer bits.
static bool narrows(Operation *op) {
  auto bits = [](Value value) {
    auto type = dyn_cast<FloatType>(getElementTypeOrSelf(value.getType()));
    return type ? type.getWidth() : 0;
  };
  return op->getNumOperands() == 1 && op->getNumResults() == 1 &&
         bits(op->getResult(0)) < bits(op->getOperand(0));
}

bool OpPlacer::passesThrough(const OpPlacement &placement, ArrayRef<unsigned> set,
                             const Partial &partial) const {
  auto isPartial = [&](unsigned operand) {
    return llvm::is_contained(situation.operands[operand].layout->partial, partial);
  };
  if (partial.reduction != Reduction::sum || !llvm::all_of(set, isPartial) ||
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
  const bool isSequential = axis && mesh.axes[*axis].sequential;
  if (isSequential && narrows(op.op))
    return false;
  if (isSequential)
    return true;
  auto areAny = [&](PartialSums sums) {
    return llvm::any_of(set,
                        [&](unsigned operand) { return situation.operands[operand].sums == sums; });
  };
  if (areAny(PartialSums::reducedFirst) || areAny(PartialSums::reducedLast))
    return areAny(PartialSums::reducedLast);
  int64_t resultBytes = 0, setBytes = 0;
  for (Value value : op.op->getResults())
    resultBytes += tensorBytes(value.getType());
  for (unsigned operand : set)
    setBytes += tensorBytes(op.op->getOperand(operand).getType());
  return resultBytes <= setBytes;
}

OpPlacement OpPlacer::placeWith(const Restrictions &restrictions) const {
  OpPlacement placement;
  cutLoops(restrictions, placement);
  layOutValues(op, placement);
  for (const auto &set : op.rule.additiveSets) {
    if (set.empty())
      continue;
    for (const Partial &partial : situation.operands[set[0]].layout->partial) {
      if (!passesThrough(placement, set, partial))
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

/// The fraction of a loop that is run by the device with the largest part of it.
double OpPlacer::shareOf(const DimLayout &dim) const {
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

/// Whether `axis` cuts any loop of the op.
static bool isCutOver(const OpPlacement &placement, StringRef axis) {
  return llvm::any_of(placement.loops, [&](const DimLayout &dim) {
    return llvm::is_contained(shardedAxes(dim), axis);
  });
}

/// The number of devices among which an update of state is divided later, in flat storage
/// (DivideUpdates): the devices that make the same update, and that sum its gradient.
int64_t OpPlacer::countUpdaters(const OpPlacement &placement) const {
  if (!isa<nn::UpdateOp>(op.op))
    return 1;
  auto isSummedOver = [&](StringRef axis) {
    return llvm::any_of(situation.operands, [&](const OpSituation::Operand &operand) {
      return llvm::any_of(operand.layout->partial,
                          [&](const Partial &partial) { return partial.axis == axis; });
    });
  };
  int64_t devices = 1;
  for (const MeshAxis &axis : mesh.axes)
    if (!axis.sequential && isSummedOver(axis.name) && !isCutOver(placement, axis.name))
      devices *= axis.size;
  return devices;
}

double OpPlacer::computeSeconds(const OpPlacement &placement) const {
  double fraction = 1.0 / static_cast<double>(countUpdaters(placement));
  for (const DimLayout &dim : placement.loops)
    fraction *= shareOf(dim);
  return fraction * op.price.secondsOn(machine.device);
}

/// The cost of reading an operand of `bytes` in layout `to`: from the layout in which it was
/// made or, if that is faster, from a layout to which it was resharded before.
static Price readCost(const OpSituation::Operand &operand, const Layout &to, int64_t bytes,
                      ReshardPrices &prices) {
  Price least = prices.getCost(*operand.layout, to, bytes);
  for (const Layout *made : operand.made)
    if (Price cost = prices.getCost(*made, to, bytes); cost.seconds < least.seconds)
      least = cost;
  return least;
}

Price OpPlacer::readAll(const OpPlacement &placement) const {
  Price total;
  for (auto [value, operand, layout] :
       llvm::zip_equal(op.op->getOperands(), situation.operands, placement.operands)) {
    Price cost = readCost(operand, layout, tensorBytes(value.getType()), prices);
    total.seconds += cost.seconds;
    total.bytes += cost.bytes;
  }
  return total;
}

double OpPlacer::secondsWithReshards(const OpPlacement &placement) const {
  double total = computeSeconds(placement) + readAll(placement).seconds;
  for (auto [value, layout, wanted] :
       llvm::zip_equal(op.op->getResults(), placement.results, situation.wanted)) {
    Layout reduced = layout;
    reduced.partial.clear();
    total +=
        prices.getCost(layout, wanted ? *wanted : reduced, tensorBytes(value.getType())).seconds;
  }
  return total;
}

OpPlacement dpc::placeOp(const OpSituation &situation, const MeshShape &mesh,
                         const Machine &machine, ReshardPrices &prices) {
  return OpPlacer(situation, mesh, machine, prices).run();
}

AxisNames dpc::findCutAxes(const OpPlacement &placement) {
  AxisNames axes;
  for (const DimLayout &dim : placement.loops)
    for (const std::string &axis : shardedAxes(dim))
      if (!llvm::is_contained(axes, axis))
        axes.push_back(axis);
  return axes;
}

bool dpc::isIdle(const OpLoops &op, ArrayRef<std::string> cutAxes, StringRef axis) {
  return getFusionKind(op.op) != FusionKind::outside && !op.operands.empty() &&
         llvm::any_of(op.rule.loops,
                      [](const ShardingRule::Loop &loop) {
                        return loop.kind == LoopKind::parallel && loop.size > 1;
                      }) &&
         !llvm::is_contained(cutAxes, axis);
}
