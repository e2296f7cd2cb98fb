// How data gets from one layout into another.
//
// A reshard is a sequence of steps, each of which cuts dimensions over some
// axes, undoes such cuts, or reduces partial values. The cheapest one is a
// shortest path over layouts whose edges touch one axis each; neighbours of one
// kind are one collective where that is cheaper. Axes that no device stands
// along (sequential ones) and axes of one device take no part.
//
// Indices of a dimension ascend on every device under any layout, so no step
// puts elements in another order; what differs is padding.

#ifndef DPC_PASSES_SHARDING_RESHARDPLAN_H
#define DPC_PASSES_SHARDING_RESHARDPLAN_H

#include "dialects/Dist/IR/Layout.h"
#include "planning/Prices.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace dpc {

enum class ReshardKind {
  allReduce,     // a partial value becomes whole
  reduceScatter, // a partial value becomes a cut one
  slice,         // a dimension is cut: nothing travels
  allGather,     // a cut is undone
  allToAll       // a cut moves to another dimension or factor
};

llvm::StringRef toString(ReshardKind kind);

/// One step. Which dimensions it changes is told by the layouts on both sides.
struct ReshardStep {
  ReshardKind kind;
  /// Axes of the groups that exchange data, the first one slowest; of a slice,
  /// those that cut.
  dist::AxisNames axes;
  /// Of all_reduce and reduce_scatter.
  dist::Reduction reduction = dist::Reduction::Sum;
  dist::Layout after;
};

struct ReshardProblem {
  dist::Layout from, to;
  const dist::MeshShape &mesh;
  const Machine &machine;
  int64_t elementBytes;

  /// Is the problem sound: layouts of one shape on the mesh, and nothing
  /// partial in `to` that is not so in `from`.
  llvm::Error check() const;
};

struct ReshardPlan {
  /// `from`, in the factors in which the steps are taken.
  dist::Layout start;
  std::vector<ReshardStep> steps;
  /// Modelled time, and what one device sends.
  double seconds = 0, bytes = 0;

  /// The layout before step `index`.
  const dist::Layout &getBefore(size_t index) const {
    return index == 0 ? start : steps[index - 1].after;
  }

  /// Is the answer right for `problem`: every step finds what it needs, by the
  /// indices that devices hold, the last one leaves `to`, and time and bytes are
  /// those of the steps.
  llvm::Error verify(const ReshardProblem &problem) const;
};

/// `all_gather a, reduce_scatter b+c`: the steps, with the axes of each.
std::string toString(const ReshardPlan &plan);

/// The cheapest plan; of equally cheap ones the one of fewest steps, then the
/// one found first. Fails only where `problem.check()` does.
llvm::Expected<ReshardPlan> planReshard(const ReshardProblem &problem);

/// `layout` without axes that take no part in reshards: sequential ones, and
/// those of one device.
dist::Layout withoutIdleAxes(dist::Layout layout, const dist::MeshShape &mesh);

//===-- Steps in detail ---------------------------------------------------===//

/// A part of the local shape that a step treats alike: a factor of a dimension
/// that the step changes, all of a dimension of several segments, or neighbours
/// that it leaves as they are.
struct ReshardPiece {
  /// Axes whose cut is undone or made here, outermost first.
  dist::AxisNames gathered, cut;
  /// Local extents under no, one, ... of `gathered` (of `cut`): each is the one
  /// before cut by ceil. Those of a dimension of several segments are two: that
  /// without the axes and that under all of them.
  std::vector<int64_t> gatheredExtents, cutExtents;
  /// Of a dimension of several segments. gatherOrder: for each index without
  /// the cut its place in the shards of all members, end to end. cutOrder: the
  /// inverse, for each place an index, any one where it is padding.
  std::vector<int64_t> gatherOrder, cutOrder;

  /// The local extent before the step.
  int64_t before() const { return gathered.empty() ? cutExtents.front() : gatheredExtents.back(); }
  /// The local extent while data are exchanged: under all of the axes.
  int64_t exchanged() const { return cut.empty() ? gatheredExtents.back() : cutExtents.back(); }
};

/// The pieces of the local shape, in its order, for a step from `before`. None
/// has both `gathered` and `cut`; where an axis is missing its extents are the
/// one of the piece.
std::vector<ReshardPiece> piecesOf(const dist::Layout &before, const ReshardStep &step,
                                   const dist::MeshShape &mesh);

/// Where, among the indices of a dimension laid out as `whole`, the device finds
/// those that `cut` leaves it: `cut` relative to `whole`, which has the same
/// factors and fewer axes.
dist::DimLayout relativeCut(const dist::DimLayout &whole, const dist::DimLayout &cut,
                            const dist::MeshShape &mesh);

/// What a step costs a device.
Price costOf(const dist::Layout &before, const ReshardStep &step, const ReshardProblem &problem);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_RESHARDPLAN_H
