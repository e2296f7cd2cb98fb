// Derives the layouts of one op from the cuts of its loops and from the layouts of its
// operands. Tries restrictions of the cuts, and keeps the cheapest.

#include "passes/Sharding/Search/OpPlacement.h"

#include "passes/Sharding/Search/LoopCuts.h"

#include "dialects/NN/IR/Fusion.h"
#include "dialects/NN/IR/NNDialect.h"
#include "dialects/NN/IR/Program.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

static bool isPartialOver(const Layout &layout, StringRef axis) {
  return llvm::any_of(layout.partial, [&](const Partial &partial) { return partial.axis == axis; });
}

namespace {

class OpPlacer {
public:
  OpPlacer(const OpSituation &situation, const MeshShape &mesh, const MeshPrices &meshPrices,
           ReshardPrices &prices)
      : situation(situation), op(situation.op), cutter(situation, mesh), mesh(mesh),
        meshPrices(meshPrices), prices(prices) {}

  OpPlacement run();

private:
  OpPlacement placeWith(const CutRestrictions &restrictions) const;
  /// Whether the op adds up several values that are all partial sums over `axis`.
  bool addsPartial(StringRef axis) const;
  /// Whether the op passes the partial sums in the operands of `set` on to its result, so that
  /// they are reduced after the op. The op is additive in these operands. All operands of `set`
  /// must be `partial`, and no other operand may be. No loop of the op may be cut over the axis of
  /// the sums. In addition, the result must have no more bytes than the operands, unless
  /// PartialSums decides otherwise. For sums over a sequential axis the number of bytes does not
  /// matter, because a loop adds them up. But a conversion to a narrower type does not pass them
  /// on, because it would round the sum of each microbatch.
  bool passesThrough(const OpPlacement &placement, ArrayRef<unsigned> set,
                     const Partial &partial) const;
  /// The modelled seconds of the op under `placement`. They include the reshards of its
  /// operands, and the reshards of its results to the wanted layouts. If no layout is wanted
  /// for a result, its reduction counts instead.
  double secondsWithReshards(const OpPlacement &placement) const;
  /// The cost of resharding the operands.
  Price readAll(const OpPlacement &placement) const;
  double shareOf(const DimLayout &dim) const;
  int64_t countUpdaters(const OpPlacement &placement) const;
  double computeSeconds(const OpPlacement &placement) const;

  const OpSituation &situation;
  const OpLoops &op;
  const LoopCutter cutter;
  const MeshShape &mesh;
  const MeshPrices &meshPrices;
  ReshardPrices &prices;
};

} // namespace

bool OpPlacer::addsPartial(StringRef axis) const {
  return llvm::any_of(op.rule.additiveSets, [&](const auto &set) {
    return set.size() > 1 && llvm::all_of(set, [&](unsigned operand) {
             return llvm::is_contained(situation.operands[operand].layout->partial,
                                       Partial{axis.str(), Reduction::sum});
           });
  });
}

OpPlacement OpPlacer::run() {
  CutRestrictions best;
  OpPlacement placement = placeWith(best);
  double seconds = secondsWithReshards(placement);
  for (const MeshAxis &axis : mesh.axes) {
    if (axis.sequential)
      continue;
    // The rivals are loops that compete for the axis. The first one has the axis in
    // `placement` already, so only the others are tried.
    const SmallVector<unsigned> rivals = cutter.findRivals(axis.name);
    for (size_t next = 1; next < rivals.size(); ++next) {
      CutRestrictions trial = best;
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
    CutRestrictions trial = best;
    trial.gathered.push_back(axis.name);
    OpPlacement other = placeWith(trial);
    if (double otherSeconds = secondsWithReshards(other); 2 * otherSeconds <= seconds) {
      placement = std::move(other);
      seconds = otherSeconds;
      best = trial;
    }
  }
  // If the op adds up partial sums, each device may add up its partial values first. Then only
  // one sum is reduced, and resharded to the layout that the result would have had. Do so if this
  // sends fewer bytes.
  for (const MeshAxis &axis : mesh.axes) {
    if (axis.sequential || !addsPartial(axis.name))
      continue;
    CutRestrictions trial = best;
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

/// Derives the layouts of operands and results from the cuts of loops. If a reduction loop is
/// cut, the results are partial.
static void layOutValues(const OpLoops &op, OpPlacement &placement) {
  const ShardingRule &rule = op.rule;
  auto valueLayout = [&](const ShardingRule::ValueLoops &loops, RankedTensorType type) {
    Layout layout;
    for (unsigned d = 0; d < loops.size(); ++d)
      layout.dims.push_back(type.getDimSize(d) <= 1 ? DimLayout::replicated(type.getDimSize(d))
                                                    : composeDim(loops[d], placement.loops));
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

OpPlacement OpPlacer::placeWith(const CutRestrictions &restrictions) const {
  OpPlacement placement;
  placement.loops = cutter.cut(restrictions);
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

/// Returns the fraction of a loop that the device with the largest part of it runs.
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

/// Returns the number of devices among which an update of state will be divided, in flat
/// storage (DivideUpdates). These are the devices that make the same update and that sum its
/// gradient.
int64_t OpPlacer::countUpdaters(const OpPlacement &placement) const {
  if (!updatesState(op.op))
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
  Work work = op.work;
  work.flops *= fraction;
  work.bytes *= fraction;
  return workSeconds(meshPrices.device(), work);
}

/// Returns the cost of reading an operand of `bytes` in layout `to`. The reshard starts at the
/// layout in which the operand was made or, if this is faster, at a layout to which the operand was
/// resharded before.
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
                         const MeshPrices &meshPrices, ReshardPrices &prices) {
  return OpPlacer(situation, mesh, meshPrices, prices).run();
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
