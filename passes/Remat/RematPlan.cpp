// Checks that a plan of rematerialization is sound: every value exists when an op needs it, and a
// replay of the plan uses as many bytes as the plan records.

#include "passes/Remat/RematPlan.h"

#include "passes/Remat/RematUses.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;
using namespace dpc;

Error RematProblem::check() const {
  const int64_t opCount = ops.size(), valueCount = values.size(), readers = backwardBytes.size();
  for (auto [index, value] : enumerate(values)) {
    if (value.maker < 0 || value.maker >= opCount)
      return planError("value {0} is made by op {1} of {2}", index, value.maker, opCount);
    if (value.bytes < 0)
      return planError("value {0} has {1} bytes", index, value.bytes);
    if (value.firstBackward > value.lastBackward || value.firstBackward < -1 ||
        (value.firstBackward < 0) != (value.lastBackward < 0) || value.lastBackward >= readers)
      return planError("value {0} is read by ops {1} to {2} of {3} of the backward pass", index,
                       value.firstBackward, value.lastBackward, readers);
  }
  for (auto [index, op] : enumerate(ops)) {
    if (!(op.seconds >= 0))
      return planError("op {0} takes {1} seconds", index, op.seconds);
    for (int64_t read : op.reads) {
      if (read < 0 || read >= valueCount)
        return planError("op {0} reads value {1} of {2}", index, read, valueCount);
      if (values[read].maker >= int64_t(index))
        return planError("op {0} reads value {1}, which op {2} makes", index, read,
                         values[read].maker);
    }
  }
  for (int64_t value : asked)
    if (value < 0 || value >= valueCount)
      return planError("value {0} of {1} is asked for", value, valueCount);
  return Error::success();
}

int64_t RematPlan::segmentOf(int64_t op) const {
  return std::upper_bound(cuts.begin(), cuts.end(), op) - cuts.begin();
}

bool RematPlan::isMadeByReaders(const RematProblem &problem, int64_t value) const {
  std::vector<int64_t> waiting = {value};
  std::vector<bool> seen(problem.values.size());
  while (!waiting.empty()) {
    const int64_t next = waiting.back();
    waiting.pop_back();
    if (kept[next] || seen[next])
      continue;
    seen[next] = true;
    const RematOp &op = problem.ops[problem.values[next].maker];
    if (op.seconds > 0)
      return false;
    waiting.insert(waiting.end(), op.reads.begin(), op.reads.end());
  }
  return !kept[value];
}

int64_t RematPlan::countRepeated(const RematProblem &problem) const {
  return count_if(enumerate(problem.ops),
                  [&](auto op) { return repeated[op.index()] && op.value().seconds > 0; });
}

Error RematPlan::verify(const RematProblem &problem) const {
  for (auto [index, cut] : enumerate(cuts)) {
    if (cut < 1 || cut >= int64_t(problem.ops.size()))
      return planError("cut {0} is at op {1} of {2}", index, cut, problem.ops.size());
    if (index && cut <= cuts[index - 1])
      return planError("cut {0} is at op {1}, the one before at {2}", index, cut, cuts[index - 1]);
  }
  if (kept.size() != problem.values.size() || repeated.size() != problem.ops.size())
    return planError("{0} values and {1} ops, but {2} and {3} decisions", problem.values.size(),
                     problem.ops.size(), kept.size(), repeated.size());
  std::vector<bool> isNeeded(problem.values.size()), makes(problem.ops.size());
  for (auto [index, op] : enumerate(problem.ops)) {
    if (!repeated[index])
      continue;
    if (!op.mayRepeat)
      return planError("op {0} is repeated, and cannot be", index);
    for (int64_t read : op.reads) {
      const int64_t maker = problem.values[read].maker;
      isNeeded[read] = true;
      if (!kept[read] && !(repeated[maker] && segmentOf(maker) == segmentOf(index)))
        return planError("op {0} is repeated, but value {1}, which it reads, is neither kept nor "
                         "made again in its segment",
                         index, read);
    }
  }
  for (auto [index, value] : enumerate(problem.values)) {
    if (value.firstBackward >= 0) {
      isNeeded[index] = true;
      if (!kept[index] && !repeated[value.maker])
        return planError("the backward pass reads value {0}, which is neither kept nor made again",
                         index);
    }
    if (kept[index] && !isNeeded[index])
      return planError("value {0} is kept, and nobody reads it", index);
    if (!kept[index] && isNeeded[index])
      makes[value.maker] = true;
  }
  for (size_t op = 0; op < repeated.size(); ++op)
    if (repeated[op] && !makes[op])
      return planError("op {0} is repeated, and what it makes is kept or read by nobody", op);
  for (int64_t value : problem.asked)
    if (kept[value] && problem.ops[problem.values[value].maker].mayRepeat)
      return planError("value {0} is kept, and asked to be made again", value);
  const std::vector<int64_t> bytes = replayRemat(problem, *this);
  const int64_t peak = *std::max_element(bytes.begin(), bytes.end());
  if (keptBytes != bytes.front() || peakBytes != peak)
    return planError("the plan says {0} bytes kept and {1} at most, the values {2} and {3}",
                     keptBytes, peakBytes, bytes.front(), peak);
  return Error::success();
}

std::vector<int64_t> dpc::replayRemat(const RematProblem &problem, const RematPlan &plan) {
  const int64_t positions = problem.backwardBytes.size();
  const RematUses uses(problem);
  // `begins`: when a repeated op runs. `ends`: until when it needs its operands. An op that takes
  // no time is part of each kernel that reads its result, so it needs its operands until the last
  // of these kernels.
  std::vector<int64_t> begins(problem.ops.size(), positions), ends(problem.ops.size(), -1);
  // The change of the bytes in use at each position; position 0 is the end of the forward pass.
  std::vector<int64_t> changes(positions + 2);
  auto live = [&](const RematValue &value, int64_t from, int64_t to) {
    changes[from + 1] += value.bytes;
    changes[to + 2 <= positions + 1 ? to + 2 : positions + 1] -= value.bytes;
  };
  for (int64_t op = problem.ops.size(); op-- > 0;) {
    const bool isRepeated = plan.repeated[op], isFree = problem.ops[op].seconds == 0;
    for (int64_t result : uses.resultsOf(op)) {
      const RematValue &value = problem.values[result];
      int64_t first = value.firstBackward < 0 ? positions : value.firstBackward;
      int64_t last = value.lastBackward;
      for (int64_t reader : uses.readersOf(result))
        if (plan.repeated[reader]) {
          first = std::min(first, begins[reader]);
          last = std::max(last, ends[reader]);
        }
      if (plan.kept[result]) {
        live(value, -1, last);
      } else if (isRepeated && last >= 0) {
        begins[op] = std::min(begins[op], first);
        ends[op] = std::max(ends[op], last);
      }
    }
    if (!isRepeated || ends[op] < 0 || isFree)
      continue;
    for (int64_t result : uses.resultsOf(op)) {
      const RematValue &value = problem.values[result];
      int64_t last = value.lastBackward;
      for (int64_t reader : uses.readersOf(result))
        if (plan.repeated[reader])
          last = std::max(last, ends[reader]);
      if (!plan.kept[result] && last >= 0)
        live(value, begins[op], last);
    }
    ends[op] = begins[op];
  }
  std::vector<int64_t> bytes(positions + 1);
  int64_t now = 0;
  for (int64_t position = 0; position <= positions; ++position) {
    now += changes[position];
    bytes[position] = now + (position ? problem.backwardBytes[position - 1] : 0);
  }
  return bytes;
}
