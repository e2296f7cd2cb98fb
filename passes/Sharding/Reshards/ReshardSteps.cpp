// Computes how a step of a reshard changes the local shape, and what the step costs.

#include "passes/Sharding/Reshards/ReshardPlan.h"

#include "dialects/Dist/IR/LayoutAlignment.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace dpc;
using namespace dpc::dist;
using llvm::ArrayRef;

Layout dpc::withoutIdleAxes(Layout layout, const MeshShape &mesh) {
  auto isIdle = [&](llvm::StringRef name) {
    std::optional<unsigned> axis = mesh.axisIndex(name);
    return !axis || mesh.axes[*axis].sequential || mesh.axes[*axis].size == 1;
  };
  for (DimLayout &dim : layout.dims)
    for (Segment &segment : dim.segments)
      for (Factor &factor : segment.factors)
        llvm::erase_if(factor.axes, isIdle);
  llvm::erase_if(layout.partial, [&](const Partial &partial) { return isIdle(partial.axis); });
  return normalize(layout);
}

//===-- Pieces ------------------------------------------------------------===//

static AxisNames intersect(ArrayRef<std::string> axes, ArrayRef<std::string> others) {
  AxisNames both;
  for (const std::string &axis : axes)
    if (llvm::is_contained(others, axis))
      both.push_back(axis);
  return both;
}

static DimLayout dropAxes(DimLayout dim, ArrayRef<std::string> axes) {
  for (Segment &segment : dim.segments)
    for (Factor &factor : segment.factors)
      llvm::erase_if(factor.axes,
                     [&](const std::string &axis) { return llvm::is_contained(axes, axis); });
  return dim;
}

static int64_t membersOf(ArrayRef<std::string> axes, const MeshShape &mesh) {
  int64_t members = 1;
  for (const std::string &axis : axes)
    members *= mesh.axisSize(axis);
  return members;
}

DimLayout dpc::relativeCut(const DimLayout &whole, const DimLayout &cut, const MeshShape &mesh) {
  DimLayout relative = cut;
  for (auto [segment, outer] : llvm::zip_equal(relative.segments, whole.segments))
    for (auto [factor, kept] : llvm::zip_equal(segment.factors, outer.factors)) {
      llvm::erase_if(factor.axes, [&, &axes = kept.axes](const std::string &axis) {
        return llvm::is_contained(axes, axis);
      });
      factor.size = localSize(kept, mesh);
    }
  return relative;
}

/// Returns `size` divided by the sizes of none, one, two .. of `axes`, rounded up each time:
/// {10, 5, 2} for 10 over axes of 2 and 3 devices.
static std::vector<int64_t> extentsUnder(int64_t size, ArrayRef<std::string> axes,
                                         const MeshShape &mesh) {
  std::vector<int64_t> extents = {size};
  for (const std::string &axis : axes)
    extents.push_back(llvm::divideCeil(extents.back(), mesh.axisSize(axis)));
  return extents;
}

/// Lists the local indices of member 0, then those of member 1, and so on. Returns, for each local
/// index in this list, its position among the indices of `whole`; -1 for padding.
static std::vector<int64_t> placesOfMembers(const DimLayout &whole, const DimLayout &cut,
                                            ArrayRef<std::string> axes, const MeshShape &mesh) {
  MeshShape group;
  for (const std::string &axis : axes)
    group.axes.push_back({axis, mesh.axisSize(axis)});
  DimLayout relative = relativeCut(whole, cut, mesh);
  std::vector<int64_t> places;
  for (int64_t member = 0; member < group.worldSize(); ++member)
    llvm::append_range(places, localIndices(relative, group.coordinates(member), group));
  return places;
}

/// Returns the piece of a dimension of several segments. The step undoes the cuts over `lost`,
/// or makes the cuts over `gained`.
static ReshardPiece joinedPiece(const DimLayout &before, const DimLayout &after,
                                ArrayRef<std::string> lost, ArrayRef<std::string> gained,
                                const MeshShape &mesh) {
  ReshardPiece piece;
  if (!lost.empty()) {
    DimLayout whole = dropAxes(before, lost);
    piece.gathered.assign(lost.begin(), lost.end());
    piece.gatheredExtents = {localExtent(whole, mesh), localExtent(before, mesh)};
    piece.gatherOrder.assign(piece.gatheredExtents.front(), 0);
    piece.cutExtents = {piece.gatheredExtents.front()};
    for (auto [place, index] : llvm::enumerate(placesOfMembers(whole, before, lost, mesh)))
      if (index >= 0)
        piece.gatherOrder[index] = place;
  } else {
    DimLayout whole = dropAxes(after, gained);
    piece.cut.assign(gained.begin(), gained.end());
    piece.cutExtents = {localExtent(whole, mesh), localExtent(after, mesh)};
    piece.gatheredExtents = {piece.cutExtents.front()};
    for (int64_t index : placesOfMembers(whole, after, gained, mesh))
      piece.cutOrder.push_back(std::max<int64_t>(index, 0));
  }
  return piece;
}

/// Adds a piece of `extent` indices that the step does not change. Neighbouring pieces of this
/// kind become one piece.
static void addIdle(std::vector<ReshardPiece> &pieces, int64_t extent) {
  if (pieces.empty() || !pieces.back().gathered.empty() || !pieces.back().cut.empty())
    pieces.push_back({{}, {}, {1}, {1}, {}, {}});
  pieces.back().gatheredExtents[0] *= extent;
  pieces.back().cutExtents[0] *= extent;
}

std::vector<ReshardPiece> dpc::piecesOf(const Layout &before, const ReshardStep &step,
                                        const MeshShape &mesh) {
  std::vector<ReshardPiece> pieces;
  const bool gathers = step.kind == ReshardKind::allGather || step.kind == ReshardKind::allToAll;
  const bool cuts = step.kind != ReshardKind::allGather && step.kind != ReshardKind::allReduce;
  for (auto [from, to] : llvm::zip_equal(before.dims, step.after.dims)) {
    AxisNames lost, gained;
    if (gathers)
      lost = intersect(shardedAxes(from), step.axes);
    if (cuts)
      gained = intersect(shardedAxes(to), step.axes);
    if (lost.empty() && gained.empty()) {
      addIdle(pieces, localExtent(from, mesh));
      continue;
    }
    // If the step undoes all cuts of a dimension, the factors of the dimension may change too.
    const DimLayout &factors = lost.empty() ? to : from;
    if (factors.segments.size() > 1) {
      pieces.push_back(joinedPiece(from, to, lost, gained, mesh));
      continue;
    }
    for (auto [f, factor] : llvm::enumerate(factors.segments[0].factors)) {
      ReshardPiece piece;
      if (!lost.empty())
        piece.gathered = intersect(factor.axes, step.axes);
      if (!gained.empty())
        piece.cut = intersect(to.segments[0].factors[f].axes, step.axes);
      Factor whole = factor;
      llvm::erase_if(whole.axes,
                     [&](const std::string &axis) { return llvm::is_contained(step.axes, axis); });
      int64_t size = localSize(whole, mesh);
      if (piece.gathered.empty() && piece.cut.empty()) {
        addIdle(pieces, size);
        continue;
      }
      piece.gatheredExtents = extentsUnder(size, piece.gathered, mesh);
      piece.cutExtents = extentsUnder(size, piece.cut, mesh);
      pieces.push_back(std::move(piece));
    }
  }
  return pieces;
}

//===-- Costs -------------------------------------------------------------===//

/// Whether a step must copy elements between two orders: the order of the collective, in which
/// the parts of the members follow one another, and the order of the local tensor.
static bool movesElements(ArrayRef<ReshardPiece> pieces, const ReshardStep &step, bool gathers,
                          const MeshShape &mesh) {
  std::vector<int64_t> places; // in the order of the collective, without dimensions of one index
  for (auto [p, piece] : llvm::enumerate(pieces)) {
    ArrayRef<std::string> axes = gathers ? piece.gathered : piece.cut;
    ArrayRef<int64_t> extents = gathers ? piece.gatheredExtents : piece.cutExtents;
    ArrayRef<int64_t> order = gathers ? piece.gatherOrder : piece.cutOrder;
    if (!llvm::equal(order, llvm::seq<int64_t>(0, order.size())))
      return true;
    if (order.empty())
      for (size_t i = 0; i < axes.size(); ++i)
        if (extents[i] != extents[i + 1] * mesh.axisSize(axes[i]))
          return true;
    for (const std::string &axis : axes)
      places.push_back(llvm::find(step.axes, axis) - step.axes.begin());
    if (piece.exchanged() > 1)
      places.push_back(step.axes.size() + p);
  }
  return !llvm::is_sorted(places);
}

Price dpc::costOf(const Layout &before, const ReshardStep &step, const ReshardProblem &problem) {
  const int64_t members = membersOf(step.axes, problem.mesh);
  const double in = shardBytes(before, problem.mesh, problem.elementBytes),
               out = shardBytes(step.after, problem.mesh, problem.elementBytes);
  auto copySeconds = [&](double bytes) {
    return reorderSeconds(problem.meshPrices.device(), bytes);
  };
  if (step.kind == ReshardKind::slice)
    return {copySeconds(out), 0};
  std::vector<ReshardPiece> pieces = piecesOf(before, step, problem.mesh);
  CollectiveKind kind = CollectiveKind::allToAll;
  double bytes = problem.elementBytes * members;
  switch (step.kind) {
  case ReshardKind::allReduce:
    kind = CollectiveKind::allReduce;
    bytes = in;
    break;
  case ReshardKind::reduceScatter:
    kind = CollectiveKind::reduceScatter;
    bytes = out * members;
    break;
  case ReshardKind::allGather:
    kind = CollectiveKind::allGather;
    bytes = in * members;
    break;
  default:
    // The parts of all members: each part is the shard under all axes of the step.
    for (const ReshardPiece &piece : pieces)
      bytes *= piece.exchanged();
  }
  const llvm::SmallVector<llvm::StringRef> axes(step.axes.begin(), step.axes.end());
  Price cost = problem.meshPrices.collective(kind, bytes, axes);
  const bool gathers = step.kind == ReshardKind::allGather || step.kind == ReshardKind::allToAll;
  const bool cuts = step.kind == ReshardKind::reduceScatter || step.kind == ReshardKind::allToAll;
  if (gathers && movesElements(pieces, step, /*gathers=*/true, problem.mesh))
    cost.seconds += copySeconds(out);
  if (cuts && movesElements(pieces, step, /*gathers=*/false, problem.mesh))
    cost.seconds += copySeconds(in);
  return cost;
}
