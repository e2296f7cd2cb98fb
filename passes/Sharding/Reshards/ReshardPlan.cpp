// Checks that reshard problems and plans are sound, and prints plans.

#include "passes/Sharding/Reshards/ReshardPlan.h"

#include "dialects/Dist/IR/LayoutShards.h"
#include "planning/PlanError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace dpc;
using namespace dpc::dist;
using llvm::ArrayRef;

llvm::StringRef dpc::toString(ReshardKind kind) {
  switch (kind) {
  case ReshardKind::allReduce:
    return "all_reduce";
  case ReshardKind::reduceScatter:
    return "reduce_scatter";
  case ReshardKind::slice:
    return "slice";
  case ReshardKind::allGather:
    return "all_gather";
  case ReshardKind::allToAll:
    return "all_to_all";
  }
  llvm_unreachable("a kind of step");
}

std::string dpc::toString(const ReshardPlan &plan) {
  std::string text;
  for (const ReshardStep &step : plan.steps)
    text +=
        (text.empty() ? "" : ", ") + toString(step.kind).str() + " " + llvm::join(step.axes, "+");
  return text;
}

llvm::Error ReshardProblem::check() const {
  if (auto defect = dist::check(from, from.shape(), mesh))
    return planError("from: {0}", *defect);
  if (auto defect = dist::check(to, from.shape(), mesh))
    return planError("to: {0}", *defect);
  if (elementBytes < 1)
    return planError("elements have {0} bytes", elementBytes);
  for (const Partial &partial : withoutIdleAxes(to, mesh).partial)
    if (!llvm::is_contained(from.partial, partial))
      return planError("{0} is to become partial {1}({2})", dist::toString(from),
                       dist::stringifyReduction(partial.reduction), partial.axis);
  return llvm::Error::success();
}

//===-- Verification ------------------------------------------------------===//

/// Returns an index of `wanted` that is not in `held`; nullopt if `held` has all of them.
static std::optional<int64_t> findOutside(ArrayRef<IndexRun> wanted, std::vector<IndexRun> held) {
  llvm::sort(held, [](const IndexRun &a, const IndexRun &b) { return a.global < b.global; });
  std::vector<std::pair<int64_t, int64_t>> stretches; // ascending, disjoint
  for (const IndexRun &run : held) {
    int64_t end = run.global + run.count;
    if (stretches.empty() || stretches.back().second < run.global)
      stretches.push_back({run.global, end});
    else
      stretches.back().second = std::max(stretches.back().second, end);
  }
  for (const IndexRun &run : wanted) {
    auto after = llvm::upper_bound(stretches, std::make_pair(run.global, INT64_MAX));
    int64_t reach = after == stretches.begin() ? 0 : std::prev(after)->second;
    if (reach < run.global + run.count)
      return std::max(reach, run.global);
  }
  return std::nullopt;
}

namespace {

/// Checks one step by comparing the indices that devices hold before and after it. Each
/// dimension is checked separately. This suffices because a device holds an element if it holds
/// each of its indices, and because no axis cuts two dimensions.
class StepCheck {
public:
  StepCheck(const Layout &before, const ReshardStep &step, const ReshardProblem &problem,
            size_t number)
      : before(before), step(step), mesh(problem.mesh), number(number) {}

  llvm::Error run() {
    if (auto defect = dist::check(step.after, before.shape(), mesh))
      return fail(*defect);
    for (auto [i, axis] : llvm::enumerate(step.axes)) {
      auto index = mesh.axisIndex(axis);
      if (!index || mesh.axes[*index].sequential)
        return fail("no device stands along axis '" + axis + "'");
      if (llvm::is_contained(ArrayRef(step.axes).take_front(i), axis))
        return fail("axis '" + axis + "' is listed twice");
    }
    if (llvm::Error error = checkPartial())
      return error;
    for (unsigned d = 0; d < before.dims.size(); ++d)
      if (llvm::Error error = checkDim(d))
        return error;
    return llvm::Error::success();
  }

private:
  llvm::Error fail(const std::string &what) const {
    return planError("step {0} ({1} over {2}): {3}", number, toString(step.kind),
                     llvm::join(step.axes, ","), what);
  }

  bool reduces() const {
    return step.kind == ReshardKind::allReduce || step.kind == ReshardKind::reduceScatter;
  }

  llvm::Error checkPartial() const {
    Layout expected = before;
    for (const std::string &axis : step.axes) {
      Partial partial{axis, step.reduction};
      if (reduces() != llvm::is_contained(expected.partial, partial))
        return fail(reduces() ? "the value is not partial over '" + axis + "'"
                              : "the value is partial over '" + axis + "'");
      llvm::erase(expected.partial, partial);
    }
    if (normalize(expected).partial != normalize(step.after).partial)
      return fail("leaves " + dist::toString(step.after) + " of " + dist::toString(before));
    return llvm::Error::success();
  }

  /// Checks that every index that a device has after the step comes from some device. In a
  /// slice, it must come from the device itself. In a reduction, every member must have it. In
  /// a gather or all-to-all, consider members that differ only along those axes of the step
  /// that cut this dimension. Together these members must have the index, for any coordinates
  /// along the other axes of the step.
  llvm::Error checkDim(unsigned d) const {
    const DimLayout &from = before.dims[d], &to = step.after.dims[d];
    if (step.kind == ReshardKind::allReduce && !sameIndices(from, to, mesh))
      return fail("changes dimension " + std::to_string(d));
    MeshShape devices, united, all;
    auto addTo = [&](MeshShape &shape, const std::string &axis) {
      if (auto index = mesh.axisIndex(axis); index && !shape.axisIndex(axis))
        shape.axes.push_back({axis, mesh.axisSize(axis)});
    };
    for (const std::string &axis : step.axes) {
      if (step.kind != ReshardKind::slice)
        addTo(all, axis);
      if (!reduces() && step.kind != ReshardKind::slice &&
          llvm::is_contained(shardedAxes(from), axis))
        addTo(united, axis);
    }
    for (const DimLayout *dim : {&from, &to})
      for (const std::string &axis : shardedAxes(*dim))
        addTo(devices, axis);
    for (const MeshAxis &axis : all.axes)
      addTo(devices, axis.name);
    for (int64_t device = 0; device < devices.worldSize(); ++device)
      if (std::optional<int64_t> missing = findMissing(d, devices, all, united, device))
        return fail("index " + std::to_string(*missing) + " of dimension " + std::to_string(d) +
                    " comes from nowhere");
    return llvm::Error::success();
  }

  /// Returns an index that `device` has after the step but that no device could have sent to
  /// it; nullopt if there is no such index.
  std::optional<int64_t> findMissing(unsigned d, const MeshShape &devices, const MeshShape &all,
                                     const MeshShape &united, int64_t device) const {
    auto own = devices.coordinates(device);
    auto wanted = localRuns(step.after.dims[d], own, devices);
    auto at = [&](const MeshShape &group, int64_t member, auto coordinates) {
      auto moved = group.coordinates(member);
      for (auto [axis, coordinate] : llvm::zip_equal(group.axes, moved))
        coordinates[*devices.axisIndex(axis.name)] = coordinate;
      return coordinates;
    };
    for (int64_t other = 0; other < all.worldSize(); ++other) {
      std::vector<IndexRun> held;
      for (int64_t member = 0; member < united.worldSize(); ++member)
        llvm::append_range(
            held, localRuns(before.dims[d], at(united, member, at(all, other, own)), devices));
      if (std::optional<int64_t> index = findOutside(wanted, std::move(held)))
        return index;
    }
    return std::nullopt;
  }

  const Layout &before;
  const ReshardStep &step;
  const MeshShape &mesh;
  size_t number;
};

} // namespace

/// Whether every device holds the same elements under both layouts. Idle axes, which
/// withoutIdleAxes removes, do not count.
static bool isSame(const Layout &a, const Layout &b, const MeshShape &mesh) {
  Layout left = withoutIdleAxes(a, mesh), right = withoutIdleAxes(b, mesh);
  return left.partial == right.partial && sameIndices(left, right, mesh);
}

llvm::Error ReshardPlan::verify(const ReshardProblem &problem) const {
  if (!isSame(start, problem.from, problem.mesh))
    return planError("begins with {0}, not {1}", dist::toString(start),
                     dist::toString(problem.from));
  Price sum;
  for (auto [i, step] : llvm::enumerate(steps)) {
    if (llvm::Error error = StepCheck(getBefore(i), step, problem, i).run())
      return error;
    Price cost = costOf(getBefore(i), step, problem);
    sum.seconds += cost.seconds;
    sum.bytes += cost.bytes;
  }
  const Layout &last = getBefore(steps.size());
  if (!isSame(last, problem.to, problem.mesh))
    return planError("ends with {0}, not {1}", dist::toString(last), dist::toString(problem.to));
  if (seconds != sum.seconds || bytes != sum.bytes)
    return planError("says {0} s and {1} bytes, its steps {2} s and {3} bytes", seconds, bytes,
                     sum.seconds, sum.bytes);
  return llvm::Error::success();
}
