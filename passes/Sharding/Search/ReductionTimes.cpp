// Finds the partial sums that should be reduced earlier, or later, than a single op would
// choose. An op chooses the side with fewer bytes, but does not know how many bytes the program
// reduces in the end.

#include "passes/Sharding/Search/Placement.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

static double bytesOf(Value value) { return static_cast<double>(tensorBytes(value.getType())); }

/// Whether devices reduce partial values if a value of layout `from` is read in layout `to`.
/// Reductions over the iterations of a loop do not count, as they send nothing.
static bool isReducedBetween(const Layout &from, const Layout &to, const MeshShape &mesh) {
  return llvm::any_of(from.partial, [&](const Partial &partial) {
    const std::optional<unsigned> axis = mesh.axisIndex(partial.axis);
    const bool isSequential = axis && mesh.axes[*axis].sequential;
    return !isSequential && !llvm::is_contained(to.partial, partial);
  });
}

// Walks backwards, from the values that are reduced in the end. `later` has, by value, the
// bytes that are reduced after later ops because of this value. If a value is a sum, its bytes
// are divided evenly among its terms.
llvm::BitVector Assignment::findReducedFirst() const {
  llvm::BitVector found(layouts.size());
  std::vector<double> later(layouts.size());
  for (size_t number = placements.size(); number-- > 0;) {
    const OpLoops &op = program.getOps()[number];
    double reduced = 0;
    for (unsigned result : op.results) {
      const unsigned layout = layouts[result];
      if (!cache.layouts.isPartialSum(layout))
        continue;
      const auto bytes = static_cast<double>(tensorBytes(program.getValues()[result].getType()));
      const double passed = later[result];
      const bool isReadWhole = llvm::any_of(cache.getSet(reads[result]), [&](unsigned read) {
        return isReducedBetween(cache.layouts[layout], cache.layouts[read], cache.mesh);
      });
      if (double all = passed + (isReadWhole ? bytes : 0); passed > 0 && all > bytes) {
        found.set(result);
        reduced += bytes;
      } else {
        reduced += all;
      }
    }
    SmallVector<unsigned> summed;
    for (auto [value, layout] : llvm::zip(
             op.operands, cache.getLayouts(placements[number]).take_front(op.operands.size())))
      if (cache.layouts.isPartialSum(layout))
        summed.push_back(value);
    for (unsigned value : summed)
      later[value] += reduced / static_cast<double>(summed.size());
  }
  return found;
}

namespace {

/// A value of one of two kinds. The first kind is the result of an additive op whose only
/// operand is a partial sum that is reduced before the op. The second kind is a sum whose terms are
/// values of either kind.
struct Sum {
  /// The bytes that are reduced for this value: of the operand, or of the operands of all
  /// terms.
  double reducedBytes = 0;
  /// Whether the value has a reader that is not a sum of the second kind.
  bool isRead = false;
  /// Whether all its terms, and the terms of these terms, are read only by sums of the second
  /// kind.
  bool isOwn = true;
  /// Whether reducing later pays off: the value is a term of a sum that has no more bytes than
  /// are reduced for this sum. It may be a term directly or through other sums.
  bool isSmaller = false;
};

} // namespace

/// Whether `op` is additive in all operands together: it adds up its operands, or maps a single
/// operand linearly.
static bool isAdditive(const OpLoops &op) {
  return op.results.size() == 1 && llvm::any_of(op.rule.additiveSets, [&](const auto &set) {
           return !set.empty() && set.size() == op.operands.size();
         });
}

// Walks forwards to find the values that are a Sum, and whether their terms have other readers.
// Then walks backwards to find the sums for which a later reduction pays off.
llvm::BitVector Assignment::findReducedLast(ArrayRef<Returned> returned) const {
  llvm::BitVector found(layouts.size());
  llvm::DenseMap<unsigned, Sum> sums; // looked up by key only
  auto isMap = [&](const OpLoops &op) {
    return op.operands.size() == 1 && isAdditive(op) &&
           cache.layouts.isPartialSum(layouts[op.operands[0]]) &&
           !cache.layouts.isPartialSum(layouts[op.results[0]]);
  };
  auto isSum = [&](const OpLoops &op) {
    return op.operands.size() > 1 && isAdditive(op) &&
           llvm::all_of(op.operands, [&](unsigned operand) { return sums.contains(operand); });
  };
  for (const OpLoops &op : program.getOps()) {
    if (isMap(op)) {
      sums[op.results[0]].reducedBytes = bytesOf(program.getValues()[op.operands[0]]);
    } else if (isSum(op)) {
      Sum sum;
      for (unsigned operand : op.operands)
        sum.reducedBytes += sums[operand].reducedBytes;
      sums[op.results[0]] = sum;
      continue;
    }
    for (unsigned operand : op.operands)
      if (auto sum = sums.find(operand); sum != sums.end())
        sum->second.isRead = true;
  }
  for (const Returned &result : returned)
    if (auto sum = sums.find(program.getNumber(result.value)); sum != sums.end())
      sum->second.isRead = true;
  for (const OpLoops &op : program.getOps())
    if (isSum(op) && sums.contains(op.results[0]))
      sums[op.results[0]].isOwn = llvm::all_of(op.operands, [&](unsigned operand) {
        return sums[operand].isOwn && !sums[operand].isRead;
      });
  for (const OpLoops &op : llvm::reverse(program.getOps())) {
    auto own = op.results.size() == 1 ? sums.find(op.results[0]) : sums.end();
    if (own == sums.end())
      continue;
    if (isMap(op)) {
      found[op.operands[0]] = own->second.isSmaller && !own->second.isRead;
      continue;
    }
    const bool isSmaller = own->second.isOwn && ((own->second.isSmaller && !own->second.isRead) ||
                                                 own->second.reducedBytes >=
                                                     bytesOf(program.getValues()[op.results[0]]));
    for (unsigned operand : op.operands)
      sums[operand].isSmaller |= isSmaller;
  }
  return found;
}
