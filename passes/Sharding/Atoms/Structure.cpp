// Refines the structures of dimensions to a fixed point, and unites the factors that remain by
// union-find (Tarjan, JACM 22, 1975).

#include "passes/Sharding/Atoms/Structure.h"

#include "dialects/Dist/IR/LayoutTransforms.h"
#include "dialects/Interfaces/CurrentWork.h"
#include "dialects/NN/IR/NNDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using dpc::dist::DimStructure;

bool OpLoops::isBroken(unsigned value, unsigned dim) const {
  return llvm::is_contained(broken, std::make_pair(value, dim));
}

/// The operands of `op`, then its results.
static SmallVector<Value> valuesOf(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  return values;
}

/// The rule's loops of dimension `dim` of value number `value` in `valuesOf`.
static const ShardingRule::DimLoops &loopsOf(const OpLoops &loops, unsigned value, unsigned dim) {
  unsigned operands = loops.rule.operands.size();
  return value < operands ? loops.rule.operands[value][dim]
                          : loops.rule.results[value - operands][dim];
}

/// A factor of a node, which is a dimension of a value or a loop of an op. If `isUncut` is true,
/// the object stands for all factors of a loop that must not be cut.
struct FactorRef {
  unsigned node, segment = 0, factor = 0;
  bool isUncut = false;
};

/// The most sweeps over the ops. Factors of models are everywhere after fewer than ten. But if a
/// value and its own shift by one position meet, each sweep cuts off a few more positions, until
/// every position is a segment of its own. Ops that do not agree yet after the last sweep are
/// broken (OpLoops::broken).
static const unsigned kMostSweeps = 32;

namespace dpc {

/// The state of the refinement. A node is a dimension of a value, or a loop of an op.
/// Invariant: the structure of a node never becomes coarser.
class StructureRefinement {
public:
  LogicalResult run(func::FuncOp function,
                    ArrayRef<std::tuple<Value, unsigned, DimStructure>> seeds,
                    ProgramLoops &result) {
    for (BlockArgument argument : function.getArguments())
      addValue(argument);
    for (Operation &op : function.front().without_terminator()) {
      for (Value value : op.getResults())
        addValue(value);
      auto shardable = dyn_cast<ShardableOpInterface>(op);
      if (!shardable)
        return op.emitOpError("has no sharding rule");
      OpLoops loops;
      loops.op = &op;
      loops.rule = shardable.getShardingRule();
      loops.work = workBeforeFusion(&op);
      firstLoop.push_back(structures.size());
      for (const ShardingRule::Loop &loop : loops.rule.loops)
        structures.push_back(DimStructure{{std::max<int64_t>(loop.size, 1)}});
      result.ops.push_back(std::make_shared<OpLoops>(std::move(loops)));
    }
    touched.assign(structures.size(), 0);
    visited.assign(result.ops.size(), 0);
    for (const auto &[value, dim, structure] : seeds)
      refine(firstDim[value] + dim, structure);
    for (unsigned sweep = 0; sweep < kMostSweeps && refineOnce(result); ++sweep)
      ;
    unite(result);
    return success();
  }

private:
  void addValue(Value value) {
    firstDim[value] = structures.size();
    values.push_back(value);
    for (int64_t extent : nn::typeOf(value).getShape())
      structures.push_back(DimStructure{{std::max<int64_t>(extent, 1)}});
  }

  /// Refines a node by `structure`. Returns false if the two structures have no common
  /// refinement.
  bool refine(unsigned node, const DimStructure &structure) {
    if (structures[node] == structure)
      return true;
    std::optional<DimStructure> finer = commonRefinement(structures[node], structure);
    if (!finer)
      return false;
    if (*finer != structures[node]) {
      structures[node] = *finer;
      touch(node);
    }
    return true;
  }

  /// Records that the ops with this node must be visited again.
  void touch(unsigned node) {
    touched[node] = ++clock;
    changed = true;
  }

  /// Whether a dimension or loop of the op changed since the last visit of the op.
  bool isStale(unsigned index, const OpLoops &loops) const {
    auto isNew = [&](unsigned first, unsigned count) {
      return llvm::any_of(llvm::seq(first, first + count),
                          [&](unsigned node) { return touched[node] >= visited[index]; });
    };
    return isNew(firstLoop[index], loops.rule.loops.size()) ||
           llvm::any_of(valuesOf(loops.op), [&](Value value) {
             return isNew(firstDim.lookup(value), nn::typeOf(value).getRank());
           });
  }

  bool refineOnce(ProgramLoops &result) {
    changed = false;
    auto visit = [&](unsigned index) {
      OpLoops &loops = *result.ops[index];
      if (!isStale(index, loops))
        return;
      visited[index] = ++clock;
      CurrentWork work(loops.op->getLoc(), loops.op->getName().getStringRef());
      for (auto [v, value] : llvm::enumerate(valuesOf(loops.op)))
        for (unsigned d = 0; d < nn::typeOf(value).getRank(); ++d)
          if (!loops.isBroken(v, d) &&
              !link(firstDim[value] + d, loopsOf(loops, v, d), firstLoop[index], loops))
            loops.broken.push_back({v, d});
    };
    // Visits the ops in both directions, because factors travel from parameters to the ops that
    // read them, and from these ops back.
    for (unsigned i = 0; i < result.ops.size(); ++i)
      visit(i);
    for (unsigned i = result.ops.size(); i-- > 0;)
      visit(i);
    return changed;
  }

  /// Marks a loop as uncut if it is a sum of segments inside a product, e.g. the loop 5 + 1 in
  /// samples x (5 + 1). A structure is a sum of products, so it cannot express this product.
  void findUncut(const ShardingRule::DimLoops &segments, unsigned loopBase, OpLoops &op) {
    for (const auto &segment : segments) {
      int64_t outer = 1;
      for (unsigned loop : segment) {
        const DimStructure &structure = structures[loopBase + loop];
        if (outer > 1 && structure.segments.size() > 1 && !op.isUncut(loop)) {
          op.uncut.push_back(loop);
          touch(loopBase + loop);
        }
        outer *= structure.extent();
      }
    }
  }

  /// Gives a dimension and its loops a common structure. Returns false if there is none.
  bool link(unsigned node, const ShardingRule::DimLoops &segments, unsigned loopBase, OpLoops &op) {
    if (structures[node].extent() == 1)
      return true;
    // Most dimensions are one loop, and most of these are linked already.
    if (segments.size() == 1 && segments[0].size() == 1 &&
        structures[node] == structures[loopBase + segments[0][0]])
      return true;
    findUncut(segments, loopBase, op);
    DimStructure composed;
    for (const auto &segment : segments) {
      SmallVector<DimStructure> parts;
      int64_t extent = 1;
      for (unsigned loop : segment) {
        const DimStructure &own = structures[loopBase + loop];
        parts.push_back(op.isUncut(loop) ? DimStructure{{own.extent()}} : own);
        extent *= own.extent();
      }
      std::optional<SmallVector<DimStructure, 4>> merged = dist::reshapeStructure(parts, {extent});
      if (!merged)
        return false;
      llvm::append_range(composed.segments, merged->front().segments);
    }
    if (composed.extent() != structures[node].extent() || !refine(node, composed))
      return false;
    // Pass the dimension's own factors on to the loops, segment by segment.
    size_t next = 0;
    for (const auto &segment : segments) {
      SmallVector<int64_t> sizes;
      int64_t extent = 1;
      for (unsigned loop : segment) {
        sizes.push_back(structures[loopBase + loop].extent());
        extent *= sizes.back();
      }
      DimStructure part;
      for (int64_t covered = 0; covered < extent;) {
        if (next == structures[node].segments.size())
          return false;
        const auto &factors = structures[node].segments[next++];
        part.segments.push_back(factors);
        int64_t product = 1;
        for (int64_t size : factors)
          product *= size;
        covered += product;
      }
      if (part.extent() != extent)
        return false;
      std::optional<SmallVector<DimStructure, 4>> split = dist::reshapeStructure({part}, sizes);
      if (!split)
        return false;
      for (auto [loop, structure] : llvm::zip_equal(segment, *split))
        if (!op.isUncut(loop) && !refine(loopBase + loop, structure))
          return false;
    }
    return true;
  }

  /// Returns the factors of each segment of a product of loops, in the order of the product;
  /// nullopt if a factor would have to appear several times.
  std::optional<SmallVector<SmallVector<FactorRef>>> compose(ArrayRef<unsigned> loops,
                                                             unsigned loopBase, const OpLoops &op) {
    SmallVector<SmallVector<FactorRef>> result(1);
    int64_t before = 1;
    for (unsigned loop : loops) {
      unsigned node = loopBase + loop;
      const DimStructure &structure = structures[node];
      if (structure.extent() == 1)
        continue;
      if (op.isUncut(loop)) {
        for (auto &segment : result)
          segment.push_back({node, 0, 0, /*isUncut=*/true});
        before *= structure.extent();
        continue;
      }
      if (structure.segments.size() > 1 && before > 1)
        return std::nullopt;
      if (structure.segments.size() > 1) {
        result.assign(structure.segments.size(), {});
        for (unsigned s = 0; s < structure.segments.size(); ++s)
          for (unsigned f = 0; f < structure.segments[s].size(); ++f)
            result[s].push_back({node, s, f});
      } else {
        for (auto &segment : result)
          for (unsigned f = 0; f < structure.segments[0].size(); ++f)
            segment.push_back({node, 0, f});
      }
      before *= structure.extent();
    }
    return result;
  }

  unsigned idOf(FactorRef ref) { return factorBase[ref.node][ref.segment] + ref.factor; }

  void unite(ProgramLoops &result) {
    // Number every factor, then unite the factors that rules pair.
    std::vector<int64_t> sizes;
    factorBase.resize(structures.size());
    for (unsigned node = 0; node < structures.size(); ++node)
      for (const auto &segment : structures[node].segments) {
        factorBase[node].push_back(sizes.size());
        llvm::append_range(sizes, segment);
      }
    parent.resize(sizes.size());
    for (unsigned i = 0; i < parent.size(); ++i)
      parent[i] = i;
    for (unsigned index = 0; index < result.ops.size(); ++index) {
      OpLoops &loops = *result.ops[index];
      for (auto [v, value] : llvm::enumerate(valuesOf(loops.op)))
        for (unsigned d = 0; d < nn::typeOf(value).getRank(); ++d)
          if (!loops.isBroken(v, d) &&
              !uniteDim(firstDim[value] + d, loopsOf(loops, v, d), firstLoop[index], loops))
            loops.broken.push_back({v, d});
    }
    // Each class is an atom. Atoms are numbered in order of first appearance.
    std::vector<int> classOf(sizes.size(), -1);
    auto classId = [&](unsigned factor) {
      unsigned root = find(factor);
      if (classOf[root] < 0) {
        classOf[root] = result.sizes.size();
        result.sizes.push_back(sizes[root]);
      }
      return static_cast<unsigned>(classOf[root]);
    };
    auto atomsOf = [&](unsigned node) {
      AtomDim dim;
      for (unsigned s = 0; s < structures[node].segments.size(); ++s) {
        dim.emplace_back();
        for (unsigned f = 0; f < structures[node].segments[s].size(); ++f)
          dim.back().push_back(classId(factorBase[node][s] + f));
      }
      return dim;
    };
    for (Value value : values) {
      SmallVector<AtomDim, 4> dims;
      for (unsigned d = 0; d < nn::typeOf(value).getRank(); ++d)
        dims.push_back(atomsOf(firstDim[value] + d));
      result.table->dims[value] = std::move(dims);
    }
    for (unsigned index = 0; index < result.ops.size(); ++index)
      for (unsigned l = 0; l < result.ops[index]->rule.loops.size(); ++l)
        result.ops[index]->loops.push_back(atomsOf(firstLoop[index] + l));
    result.table->values = values;
    result.describeOps();
  }

  /// Pairs the factors of one segment of a dimension with the factors of its loops. Returns
  /// false if they do not fit. The factors of an uncut loop are not paired.
  bool pairFactors(ArrayRef<int64_t> own, ArrayRef<FactorRef> loops,
                   SmallVectorImpl<std::pair<unsigned, FactorRef>> &pairs) {
    // A segment of one index needs no loop.
    if (loops.empty() && own.size() == 1 && own[0] == 1)
      return true;
    size_t next = 0;
    for (const FactorRef &ref : loops) {
      if (ref.isUncut) {
        int64_t extent = structures[ref.node].extent(), covered = 1;
        while (covered < extent && next < own.size())
          covered *= own[next++];
        if (covered != extent)
          return false;
        continue;
      }
      const int64_t size = structures[ref.node].segments[ref.segment][ref.factor];
      // A factor of 1 next to other factors is paired with none of them. For example, if the copies
      // in 3 x 12 x 64 are read one by one, the loop over copies is 1 + 1 + 1. The loops then give
      // three segments 1 x 12 x 64, but the dimension has three segments 12 x 64.
      if (size == 1 && (own.size() > 1 || own[0] > 1))
        continue;
      if (next == own.size() || size != own[next])
        return false;
      pairs.push_back({next++, ref});
    }
    return next == own.size();
  }

  bool uniteDim(unsigned node, const ShardingRule::DimLoops &segments, unsigned loopBase,
                const OpLoops &op) {
    if (structures[node].extent() == 1)
      return true;
    // If the dimension is one uncut loop, there is nothing to unite.
    if (segments.size() == 1 && segments[0].size() == 1 && op.isUncut(segments[0][0]))
      return true;
    SmallVector<SmallVector<FactorRef>> composed;
    for (const auto &segment : segments) {
      auto part = compose(segment, loopBase, op);
      if (!part)
        return false;
      llvm::append_range(composed, *part);
    }
    const auto &own = structures[node].segments;
    if (composed.size() != own.size())
      return false;
    SmallVector<SmallVector<std::pair<unsigned, FactorRef>>> pairs(own.size());
    for (unsigned s = 0; s < own.size(); ++s)
      if (!pairFactors(own[s], composed[s], pairs[s]))
        return false;
    for (unsigned s = 0; s < own.size(); ++s)
      for (const auto &[factor, ref] : pairs[s])
        parent[find(idOf(ref))] = find(factorBase[node][s] + factor);
    return true;
  }

  unsigned find(unsigned factor) {
    while (parent[factor] != factor)
      factor = parent[factor] = parent[parent[factor]];
    return factor;
  }

  bool changed = false;
  /// Counts changes and visits. `touched` is the count at the last change of each node, and
  /// `visited` the count at the last visit of each op. An op is up to date if none of its nodes
  /// has changed since its last visit.
  unsigned clock = 0;
  std::vector<unsigned> touched, visited;
  std::vector<DimStructure> structures;
  std::vector<Value> values;
  std::vector<unsigned> firstLoop; // by op
  llvm::DenseMap<Value, unsigned> firstDim;
  std::vector<SmallVector<unsigned, 2>> factorBase; // by node, by segment
  std::vector<unsigned> parent;                     // union-find
};

} // namespace dpc

FailureOr<ProgramLoops>
ProgramLoops::create(func::FuncOp function,
                     ArrayRef<std::tuple<Value, unsigned, DimStructure>> seeds) {
  ProgramLoops loops;
  StructureRefinement refinement;
  if (failed(refinement.run(function, seeds, loops)))
    return failure();
  return loops;
}
