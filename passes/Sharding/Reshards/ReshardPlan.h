// Plans the steps that bring a tensor from one layout to another.
//
// A reshard is a sequence of steps. Each step cuts dimensions over some axes, undoes such cuts, or
// reduces partial values. The cheapest sequence is a shortest path in a graph of layouts. An edge
// of the graph changes the use of one axis, or of all axes of a dimension that has several
// segments. Consecutive edges of one kind become one collective if that is cheaper. Two kinds of
// axes take no part: sequential axes, which have no devices along them, and axes of one device.
//
// Under any layout, the indices of a dimension ascend on every device. Therefore no step changes
// the order of elements; only the padding differs.

#ifndef DPC_PASSES_SHARDING_RESHARDS_RESHARDPLAN_H
#define DPC_PASSES_SHARDING_RESHARDS_RESHARDPLAN_H

#include "dialects/Dist/IR/Layout.h"
#include "planning/Prices.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace dpc {

enum class ReshardKind {
  allReduce,     // a partial value becomes complete
  reduceScatter, // a partial value becomes a sharded one
  slice,         // a dimension is cut: no data moves between devices
  allGather,     // a cut is undone
  allToAll       // a cut moves to another dimension or factor
};

llvm::StringRef toString(ReshardKind kind);

/// One step. The layouts before and after the step tell which dimensions it changes.
struct ReshardStep {
  ReshardKind kind;
  /// The axes of the groups that exchange data, the one that varies slowest first. For a slice, the
  /// axes that cut.
  dist::AxisNames axes;
  /// Used only by all_reduce and reduce_scatter.
  dist::Reduction reduction = dist::Reduction::sum;
  dist::Layout after;
};

struct ReshardProblem {
  dist::Layout from, to;
  const dist::MeshShape &mesh;
  const MeshPrices &meshPrices;
  int64_t elementBytes;

  /// Checks that the problem is sound: the layouts have one shape and fit the mesh, and `to` is
  /// partial only where `from` is.
  llvm::Error check() const;
};

struct ReshardPlan {
  /// `from`, written in the factors in which the steps work.
  dist::Layout start;
  std::vector<ReshardStep> steps;
  /// The modelled time, and the bytes that one device sends.
  double seconds = 0, bytes = 0;

  /// The layout before step `index`.
  const dist::Layout &getBefore(size_t index) const {
    return index == 0 ? start : steps[index - 1].after;
  }

  /// Checks that the plan is right for `problem`: every step finds the indices that it needs on the
  /// devices that send them, the last step leaves `to`, and time and bytes are the sums over the
  /// steps.
  llvm::Error verify(const ReshardProblem &problem) const;
};

/// Returns the steps as text, with the axes of each: "all_gather a, reduce_scatter b+c".
std::string toString(const ReshardPlan &plan);

/// Returns the cheapest plan. Of equally cheap plans, returns a plan with the fewest steps; of
/// several such plans, the one that was found first. Fails only if `problem.check()` does.
llvm::Expected<ReshardPlan> planReshard(const ReshardProblem &problem);

/// Returns `layout` without the axes that take no part in reshards: sequential axes, and axes of
/// one device.
dist::Layout withoutIdleAxes(dist::Layout layout, const dist::MeshShape &mesh);

//===-- Steps in detail ---------------------------------------------------===//

/// A part of the local shape that a step treats in one way. It is a factor that the step changes, a
/// complete dimension of several segments that the step changes, or neighbouring dimensions and
/// factors that the step does not change.
struct ReshardPiece {
  /// The axes whose cut is undone here (`gathered`) or made here (`cut`), outermost first.
  dist::AxisNames gathered, cut;
  /// The local extents of the piece under none, one, two .. of the axes of `gathered` (or of
  /// `cut`). Each extent is the extent before it, divided by the size of the next axis and rounded
  /// up. A dimension of several segments has two extents only: without the axes, and under all of
  /// them.
  std::vector<int64_t> gatheredExtents, cutExtents;
  /// Set only for a dimension of several segments. If the shards of all members are laid end to
  /// end, `gatherOrder` gives, for each index of the uncut dimension, its position in this
  /// sequence. `cutOrder` is the inverse: for each position it gives the index, or any index if
  /// the position is padding.
  std::vector<int64_t> gatherOrder, cutOrder;

  /// The local extent before the step.
  int64_t before() const { return gathered.empty() ? cutExtents.front() : gatheredExtents.back(); }
  /// The local extent while data is exchanged, that is, under all axes of the piece.
  int64_t exchanged() const { return cut.empty() ? gatheredExtents.back() : cutExtents.back(); }
};

/// Returns the pieces of the local shape, in order, for a step from layout `before`. No piece has
/// both `gathered` and `cut`. If one of them is empty, its list of extents has a single element,
/// the extent of the piece.
std::vector<ReshardPiece> piecesOf(const dist::Layout &before, const ReshardStep &step,
                                   const dist::MeshShape &mesh);

/// Returns the cut that leads from `whole` to `cut`, as a layout of the indices that a device has
/// under `whole`. It tells which of these indices the device keeps. `whole` has the same factors as
/// `cut`, and fewer axes.
dist::DimLayout relativeCut(const dist::DimLayout &whole, const dist::DimLayout &cut,
                            const dist::MeshShape &mesh);

/// The price of a step for one device.
Price costOf(const dist::Layout &before, const ReshardStep &step, const ReshardProblem &problem);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_RESHARDS_RESHARDPLAN_H
