// Decides which mesh axes cut the loops of one op. Each loop is cut like its atoms, unless this
// collides with the cut of another loop of the op, or a restriction forbids the cut.

#include "passes/Sharding/Search/LoopCuts.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

/// Whether any of `axes` cuts `dim`.
static bool usesAny(const DimLayout &dim, ArrayRef<std::string> axes) {
  return llvm::any_of(shardedAxes(dim),
                      [&](const std::string &axis) { return llvm::is_contained(axes, axis); });
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

DimLayout dpc::composeDim(const ShardingRule::DimLoops &segments, ArrayRef<DimLayout> loops) {
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

/// Returns, for each loop of `op`, whether no axis may cut the loop.
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

/// Returns the order in which loops are cut. Parallel loops come first, because cutting them needs
/// no reduction.
static SmallVector<unsigned> orderOf(const OpLoops &op) {
  SmallVector<unsigned> order;
  for (bool parallel : {true, false})
    for (unsigned l = 0; l < op.rule.loops.size(); ++l)
      if ((op.rule.loops[l].kind == LoopKind::parallel) == parallel)
        order.push_back(l);
  return order;
}

LoopCutter::LoopCutter(const OpSituation &situation, const MeshShape &mesh)
    : situation(situation), op(situation.op), mesh(mesh), uncut(findUncutLoops(op)) {
  for (const MeshAxis &axis : mesh.axes)
    if (axis.sequential)
      sequentialAxes.push_back(axis.name);
  for (auto [place, atom] : llvm::enumerate(op.atoms))
    placeOf[atom] = place;
  for (unsigned l = 0; l < op.loops.size(); ++l)
    asAtoms.push_back(uncut[l] ? DimLayout::replicated(op.rule.loops[l].size) : cutAsAtoms(l));
}

void LoopCutter::keepIterationsWhole(MutableArrayRef<DimLayout> loops) const {
  if (sequentialAxes.empty())
    return;
  for (ArrayRef<ShardingRule::ValueLoops> values :
       {ArrayRef(op.rule.operands), ArrayRef(op.rule.results)})
    for (const ShardingRule::ValueLoops &value : values)
      for (const ShardingRule::DimLoops &segments : value) {
        DimLayout dim = normalize(composeDim(segments, loops));
        if (dim.segments.size() == 1 || !usesAny(dim, sequentialAxes))
          continue;
        for (const auto &segment : segments)
          for (unsigned loop : segment)
            dropAxes(loops[loop], sequentialAxes);
      }
}

DimLayout LoopCutter::cutAsAtoms(unsigned l) const {
  DimLayout dim = layOut(
      op.loops[l], [&](unsigned atom) { return op.sizes[placeOf.lookup(atom)]; },
      [&](unsigned atom) { return situation.cuts[placeOf.lookup(atom)]; }, mesh);
  LoopKind kind = op.rule.loops[l].kind;
  // A loop over a sequential axis can add up the results of its iterations, but cannot take
  // their maximum or minimum.
  if (kind == LoopKind::max || kind == LoopKind::min)
    dropAxes(dim, sequentialAxes);
  // An axis must cut every segment of a summed loop or none of them. If a segment stayed
  // replicated, each device would add this segment to the sum.
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

DimLayout LoopCutter::cutLoop(unsigned l, const CutRestrictions &restrictions) const {
  DimLayout dim = asAtoms[l];
  if (op.rule.loops[l].kind != LoopKind::parallel)
    dropAxes(dim, restrictions.gathered);
  dropAxes(dim, restrictions.passed);
  return dim;
}

std::vector<DimLayout> LoopCutter::cut(const CutRestrictions &restrictions) const {
  const ShardingRule &rule = op.rule;
  std::vector<DimLayout> loops(rule.loops.size());
  // By axis: the loops that the axis cuts so far.
  std::map<std::string, llvm::BitVector> taken;
  for (unsigned l : orderOf(op)) {
    if (uncut[l]) {
      loops[l] = DimLayout::replicated(rule.loops[l].size);
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
    loops[l] = dim;
  }
  keepIterationsWhole(loops);
  return loops;
}

SmallVector<unsigned> LoopCutter::findRivals(StringRef axis) const {
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
