// Chooses the values of a segment to keep, by minimum cuts (He & Yu, "Transcending runtime-memory
// tradeoffs in checkpointing by being fusion aware", MLSys 2023). The cost of a cut adds bytes and
// time, so a tick (the unit of time) gets a price in bytes. Different prices give different
// answers. Each price that is tried is the slope between two known answers, in ticks and bytes. If
// no third answer is cheaper at this price, no optimal answer lies between the two.

#include "passes/Remat/RematChoices.h"

#include "planning/MinimumCut.h"

#include "llvm/ADT/DenseMap.h"

#include <algorithm>
#include <cmath>

using namespace dpc;

/// All bytes of a problem together have about kByteUnits units, and all seconds together have about
/// kTicks ticks. Costs in the graph are products of units and ticks, and must have less than 63
/// bits.
static constexpr int64_t kByteUnits = int64_t(1) << 24, kTicks = int64_t(1) << 20;

SegmentChoices::SegmentChoices(const RematProblem &problem, const RematUses &uses,
                               const std::vector<int64_t> &cuts, const std::vector<bool> &stays)
    : problem(problem), uses(uses), cuts(cuts), stays(stays) {
  double seconds = 0, sum = 0;
  for (const RematOp &op : problem.ops)
    seconds += op.seconds;
  for (const RematValue &value : problem.values)
    sum += double(value.bytes);
  const double unit = std::max(1., sum / kByteUnits);
  auto segmentOf = [&](int64_t op) {
    return std::upper_bound(cuts.begin(), cuts.end(), op) - cuts.begin();
  };
  for (size_t index = 0; index < problem.values.size(); ++index) {
    const RematValue &value = problem.values[index];
    bytes.push_back(std::ceil(double(value.bytes) / unit));
    if (segmentOf(value.maker) != segmentOf(uses.lastReaderOf(problem, index)))
      this->stays[index] = true;
  }
  for (const RematOp &op : problem.ops)
    ticks.push_back(op.seconds > 0 ? std::max(1., op.seconds / seconds * kTicks) : 0);
  for (int64_t own : bytes)
    allBytes += own;
  for (int64_t own : ticks)
    allTicks += own;
}

/// The graph of one segment. Its nodes are values and ops. A value on the source's side of the cut
/// is needed, and an op on the source's side is repeated. The edge from a value to its maker costs
/// the bytes of the value, so a needed value is either kept (the edge is cut) or its maker is
/// repeated. For a value that cannot be rematerialized, this edge leads to the sink. The edge from
/// an op to the sink costs the ticks of the op. Edges from an op to the values that it reads are
/// never cut, so a repeated op needs these values.
class SegmentChoices::Cut {
public:
  Cut(const SegmentChoices &choices, int64_t segment, int64_t bytePrice, int64_t tickPrice)
      : choices(choices), bytePrice(bytePrice), tickPrice(tickPrice),
        begin(segment ? choices.cuts[segment - 1] : 0),
        end(segment < int64_t(choices.cuts.size()) ? choices.cuts[segment]
                                                   : int64_t(choices.problem.ops.size())) {}

  SegmentChoice run() {
    for (int64_t op = begin; op < end; ++op)
      for (int64_t result : choices.uses.resultsOf(op))
        if (choices.problem.values[result].firstBackward >= 0)
          graph.addEdge(MinimumCut::source, nodeOf(result), MinimumCut::kNever);
    while (!waiting.empty()) {
      const int64_t value = waiting.back();
      waiting.pop_back();
      addValue(value);
    }
    graph.run();
    SegmentChoice choice;
    for (int64_t op = begin; op < end; ++op)
      if (auto node = opNodes.find(op); node != opNodes.end() && isChosen(node->second)) {
        choice.repeated.push_back(op);
        choice.ticks += choices.ticks[op];
      }
    for (auto [value, node] : valueNodes)
      if (isChosen(node) &&
          !(mayRemake(value) && isChosen(opNodes.lookup(choices.problem.values[value].maker))))
        choice.bytes += choices.bytes[value];
    return choice;
  }

private:
  bool isChosen(int64_t node) const { return graph.isOnSourceSide(node); }

  /// Whether `value` can be rematerialized in the segment: an op of the segment makes it, this op
  /// may be repeated, and the value is not one of those that stay. If an op of another segment
  /// reads a value, the value stays.
  bool mayRemake(int64_t value) const {
    const int64_t maker = choices.problem.values[value].maker;
    return maker >= begin && maker < end && !choices.stays[value] &&
           choices.problem.ops[maker].mayRepeat;
  }

  int64_t nodeOf(int64_t value) {
    auto [node, isNew] = valueNodes.insert({value, 0});
    if (isNew) {
      node->second = graph.addNode();
      waiting.push_back(value);
    }
    return node->second;
  }

  void addValue(int64_t value) {
    const int64_t node = nodeOf(value), price = choices.bytes[value] * bytePrice;
    if (!mayRemake(value))
      return graph.addEdge(node, MinimumCut::sink, price);
    const int64_t maker = choices.problem.values[value].maker;
    auto [op, isNew] = opNodes.insert({maker, 0});
    if (isNew) {
      const int64_t own = op->second = graph.addNode();
      graph.addEdge(own, MinimumCut::sink, choices.ticks[maker] * tickPrice);
      for (int64_t read : choices.problem.ops[maker].reads)
        graph.addEdge(own, nodeOf(read), MinimumCut::kNever);
    }
    graph.addEdge(node, opNodes.lookup(maker), price);
  }

  const SegmentChoices &choices;
  const int64_t bytePrice, tickPrice, begin, end;
  MinimumCut graph;
  // The iteration order of these maps has no effect, because only sums are formed over them.
  llvm::DenseMap<int64_t, int64_t> valueNodes, opNodes;
  std::vector<int64_t> waiting;
};

SegmentChoice SegmentChoices::solve(int64_t segment, int64_t bytePrice, int64_t tickPrice) const {
  return Cut(*this, segment, bytePrice, tickPrice).run();
}

void SegmentChoices::refine(int64_t segment, const SegmentChoice &fast, const SegmentChoice &small,
                            std::vector<SegmentChoice> &answers) const {
  const int64_t bytePrice = small.ticks - fast.ticks, tickPrice = fast.bytes - small.bytes;
  if (bytePrice <= 0 || tickPrice <= 0)
    return;
  const SegmentChoice between = solve(segment, bytePrice, tickPrice);
  if (between.bytes * bytePrice + between.ticks * tickPrice >=
      fast.bytes * bytePrice + fast.ticks * tickPrice)
    return;
  refine(segment, fast, between, answers);
  answers.push_back(between);
  refine(segment, between, small, answers);
}

SegmentChoice SegmentChoices::fastest(int64_t segment) const { return solve(segment, 1, allBytes); }

SegmentChoice SegmentChoices::smallest(int64_t segment) const {
  return solve(segment, allTicks, 1);
}

std::vector<SegmentChoice> SegmentChoices::of(int64_t segment) const {
  std::vector<SegmentChoice> answers = {fastest(segment)};
  const SegmentChoice fast = answers.front(), small = smallest(segment);
  refine(segment, fast, small, answers);
  if (small.bytes < fast.bytes)
    answers.push_back(small);
  return answers;
}
