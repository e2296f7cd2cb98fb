// Random reshard plans, played on the elements of all devices.

#include "passes/Sharding/Reshards/ReshardPlan.h"

#include "test/unit/planning/FlatMachine.h"

#include "dialects/Dist/IR/PricesOnMesh.h"
#include "test/unit/dialects/Dist/IR/LayoutReference.h"

#include <gtest/gtest.h>
#include <map>

using namespace dpc;
using dpc::test::makeFlatMachine;
using namespace dpc::dist;
using namespace dpc::dist::reference;

namespace {

std::string text(llvm::Error error) { return llvm::toString(std::move(error)); }

constexpr int64_t kPadding = -1000000;

/// The elements of all devices, stepped through a plan.
class Player {
public:
  Player(const Layout &from, const MeshShape &mesh) : from(from), mesh(mesh) {
    for (const Coordinates &at : allCoordinates(mesh))
      shards[at] = expected(from, at);
  }

  /// "" if every device has what it should under `layout`, padding aside.
  std::string compare(const Layout &layout) const {
    for (const auto &[at, shard] : shards) {
      std::vector<int64_t> want = expected(layout, at);
      if (shard.size() != want.size())
        return "has " + std::to_string(shard.size()) + " elements of " +
               std::to_string(want.size());
      for (size_t i = 0; i < want.size(); ++i)
        if (want[i] != kPadding && shard[i] != want[i])
          return "element " + std::to_string(i) + " is " + std::to_string(shard[i]) + ", not " +
                 std::to_string(want[i]);
    }
    return "";
  }

  void play(const Layout &before, const ReshardStep &step) {
    pieces = piecesOf(before, step, mesh);
    group = MeshShape();
    for (const std::string &axis : step.axes)
      group.axes.push_back({axis, mesh.axisSize(axis)});
    std::map<Coordinates, std::vector<int64_t>> next;
    for (const auto &[at, shard] : shards)
      next[at] = shardAfter(step, at);
    shards = std::move(next);
  }

private:
  /// What a device has of the element with this index: sums first, then maxima,
  /// then minima over the axes that `layout` does not leave partial.
  int64_t valueOf(int64_t element, const Layout &layout, Coordinates at) const {
    for (Reduction reduction : {Reduction::min, Reduction::max, Reduction::sum})
      for (const Partial &partial : from.partial)
        if (partial.reduction == reduction && !llvm::is_contained(layout.partial, partial)) {
          Layout before = layout;
          before.partial.push_back(partial);
          int64_t result = 0;
          unsigned axis = *mesh.axisIndex(partial.axis);
          for (at[axis] = 0; at[axis] < mesh.axes[axis].size; ++at[axis])
            result = combine(reduction, at[axis] == 0, result, valueOf(element, before, at));
          return result;
        }
    int64_t value = element * 7919;
    for (const Partial &partial : from.partial)
      value = value * 31 + at[*mesh.axisIndex(partial.axis)] * 17;
    return value % 1009;
  }

  static int64_t combine(Reduction reduction, bool isFirst, int64_t sum, int64_t value) {
    if (isFirst)
      return value;
    return reduction == Reduction::sum   ? sum + value
           : reduction == Reduction::max ? std::max(sum, value)
                                         : std::min(sum, value);
  }

  std::vector<int64_t> expected(const Layout &layout, const Coordinates &at) const {
    std::vector<int64_t> values;
    for (int64_t element : indices(layout, at, mesh))
      values.push_back(element < 0 ? kPadding : valueOf(element, layout, at));
    return values;
  }

  int64_t coordinateOf(int64_t member, const std::string &axis) const {
    return group.coordinates(member)[*group.axisIndex(axis)];
  }

  /// Index `e` of a piece of member's part in the shard before the cut; -1 is
  /// padding.
  int64_t placeBeforeCut(const ReshardPiece &piece, int64_t member, int64_t e) const {
    int64_t number = 0;
    for (const std::string &axis : piece.cut)
      number = number * group.axisSize(axis) + coordinateOf(member, axis);
    if (!piece.cutOrder.empty())
      return piece.cutOrder[number * piece.cutExtents.back() + e];
    for (size_t i = piece.cut.size(); i-- > 0;) {
      e += coordinateOf(member, piece.cut[i]) * piece.cutExtents[i + 1];
      if (e >= piece.cutExtents[i])
        return -1;
    }
    return e;
  }

  /// Where index `e` of a piece is after the gather: coordinates of the member
  /// that has it go to `member`.
  int64_t placeAtMember(const ReshardPiece &piece, int64_t e, Coordinates &member) const {
    if (!piece.gatherOrder.empty()) {
      int64_t place = piece.gatherOrder[e], extent = piece.gatheredExtents.back();
      int64_t number = place / extent;
      for (const std::string &axis : llvm::reverse(piece.gathered)) {
        member[*group.axisIndex(axis)] = number % group.axisSize(axis);
        number /= group.axisSize(axis);
      }
      return place % extent;
    }
    for (auto [i, axis] : llvm::enumerate(piece.gathered)) {
      member[*group.axisIndex(axis)] = e / piece.gatheredExtents[i + 1];
      e %= piece.gatheredExtents[i + 1];
    }
    return e;
  }

  /// The part of a shard that is for `member`.
  std::vector<int64_t> partFor(const std::vector<int64_t> &shard, int64_t member) const {
    std::vector<int64_t> part;
    forEachIndex([](const ReshardPiece &piece) { return piece.exchanged(); },
                 [&](llvm::ArrayRef<int64_t> at) {
                   int64_t place = 0;
                   for (auto [piece, e] : llvm::zip_equal(pieces, at)) {
                     int64_t own = placeBeforeCut(piece, member, e);
                     if (own < 0 || place < 0)
                       place = -1;
                     else
                       place = place * piece.before() + own;
                   }
                   part.push_back(place < 0 ? kPadding : shard[place]);
                 });
    return part;
  }

  std::vector<int64_t> merge(const std::vector<std::vector<int64_t>> &parts) const {
    std::vector<int64_t> shard;
    forEachIndex(
        [](const ReshardPiece &piece) {
          return piece.gathered.empty() ? piece.exchanged() : piece.gatheredExtents.front();
        },
        [&](llvm::ArrayRef<int64_t> at) {
          Coordinates member(group.axes.size(), 0);
          int64_t place = 0;
          for (auto [piece, e] : llvm::zip_equal(pieces, at))
            place = place * piece.exchanged() + placeAtMember(piece, e, member);
          shard.push_back(parts[group.rankOf(member)][place]);
        });
    return shard;
  }

  template <typename Extent, typename Visit> void forEachIndex(Extent extent, Visit visit) const {
    int64_t total = 1;
    for (const ReshardPiece &piece : pieces)
      total *= extent(piece);
    for (int64_t flat = 0; flat < total; ++flat) {
      std::vector<int64_t> at(pieces.size());
      int64_t rest = flat;
      for (size_t p = pieces.size(); p-- > 0;) {
        at[p] = rest % extent(pieces[p]);
        rest /= extent(pieces[p]);
      }
      visit(at);
    }
  }

  Coordinates memberAt(const Coordinates &at, int64_t member) const {
    Coordinates other = at;
    auto moved = group.coordinates(member);
    for (auto [axis, coordinate] : llvm::zip_equal(group.axes, moved))
      other[*mesh.axisIndex(axis.name)] = coordinate;
    return other;
  }

  std::vector<int64_t> shardAfter(const ReshardStep &step, const Coordinates &at) const {
    Coordinates own;
    for (const MeshAxis &axis : group.axes)
      own.push_back(at[*mesh.axisIndex(axis.name)]);
    const int64_t self = group.rankOf(own), members = group.worldSize();
    std::vector<std::vector<int64_t>> parts;
    for (int64_t member = 0; member < members; ++member) {
      const std::vector<int64_t> &theirs = shards.at(memberAt(at, member));
      parts.push_back(step.kind == ReshardKind::allGather || step.kind == ReshardKind::allReduce
                          ? theirs
                          : partFor(theirs, self));
    }
    if (step.kind == ReshardKind::slice)
      return parts[self];
    if (step.kind == ReshardKind::allGather || step.kind == ReshardKind::allToAll)
      return merge(parts);
    std::vector<int64_t> sum = parts[0];
    for (const auto &part : llvm::drop_begin(parts))
      for (size_t i = 0; i < sum.size(); ++i)
        sum[i] = sum[i] == kPadding || part[i] == kPadding
                     ? kPadding
                     : combine(step.reduction, false, sum[i], part[i]);
    return sum;
  }

  const Layout from;
  const MeshShape &mesh;
  std::map<Coordinates, std::vector<int64_t>> shards;
  std::vector<ReshardPiece> pieces;
  MeshShape group;
};

/// A layout of the shape of `from`, partial where that may stay so.
Layout randomTarget(Random &random, const Layout &from, const MeshShape &mesh) {
  Layout to;
  for (const Partial &partial : from.partial)
    if (random.oneIn(3))
      to.partial.push_back(partial);
  std::vector<AxisNames> axes(from.dims.size());
  auto isPartial = [](const Layout &layout, const MeshAxis &axis) {
    return llvm::any_of(layout.partial, [&](const Partial &p) { return p.axis == axis.name; });
  };
  const bool scatters = random.oneIn(4); // what is partial becomes cut
  for (const MeshAxis &axis : mesh.axes) {
    bool mustCut = scatters && isPartial(from, axis);
    int64_t owner = random.in(0, from.dims.size() - mustCut);
    if (owner < int64_t(from.dims.size()) && !isPartial(to, axis))
      axes[owner].push_back(axis.name);
  }
  for (auto [d, dim] : llvm::enumerate(from.dims)) {
    DimLayout target = dim;
    int64_t extent = dim.extent();
    if (random.oneIn(3)) {
      // Other factors, at times other segments.
      int64_t divisor = random.in(1, extent);
      while (extent % divisor != 0)
        --divisor;
      target = {Segment{Factor(divisor), Factor(extent / divisor)}};
      if (extent > 1 && random.oneIn(3))
        target = {Segment{Factor(divisor)}, Segment{Factor(extent - divisor)}};
      llvm::erase_if(target.segments, [](const Segment &s) { return s.extent() == 0; });
    }
    for (Segment &segment : target.segments) {
      for (Factor &factor : segment.factors)
        factor.axes.clear();
      AxisNames order = axes[d];
      std::shuffle(order.begin(), order.end(), random.engine);
      for (const std::string &axis : order)
        if (!random.oneIn(5))
          segment.factors[random.in(0, segment.factors.size() - 1)].axes.push_back(axis);
    }
    to.dims.push_back(std::move(target));
  }
  return to;
}

TEST(ReshardPlanRandom, MovesEveryElement) {
  Random random(11);
  std::map<std::string, int> met;
  for (int round = 0; round < 4000; ++round) {
    const Machine machine = makeFlatMachine(5e10, 1e10, 1e9, random.oneIn(2) ? 1e-9 : 1e-6);
    MeshShape mesh = random.mesh(3, 4);
    for (MeshAxis &axis : mesh.axes)
      axis.sequential = false;
    Layout from = random.layout(mesh, 3, 2, 2, 4);
    if (random.oneIn(4)) { // sums over everything are common
      from = Layout::replicated(from.shape());
      for (const MeshAxis &axis : mesh.axes)
        from.partial.push_back({axis.name, Reduction::sum});
    }
    Layout to = randomTarget(random, from, mesh);
    SCOPED_TRACE(dist::toString(from) + " -> " + dist::toString(to));
    const MeshPrices meshPrices = dist::getMeshPrices(machine, mesh);
    ReshardProblem problem{from, to, mesh, meshPrices, 4};
    auto plan = planReshard(problem);
    ASSERT_TRUE(bool(plan)) << text(plan.takeError());
    ASSERT_EQ(text(plan->verify(problem)), "");
    Layout start = withoutIdleAxes(from, mesh);
    Player player(start, mesh);
    for (auto [i, step] : llvm::enumerate(plan->steps)) {
      player.play(plan->getBefore(i), step);
      ASSERT_EQ(player.compare(step.after), "") << i << ": " << toString(step.kind).str();
      ++met[toString(step.kind).str() + (step.axes.size() > 1 ? " of several axes" : "")];
    }
    ASSERT_EQ(player.compare(withoutIdleAxes(to, mesh)), "");
  }
  for (const char *kind : {"all_reduce", "reduce_scatter", "slice", "all_gather", "all_to_all"})
    for (const char *several : {"", " of several axes"})
      EXPECT_GT(met[std::string(kind) + several], 5) << kind << several;
}

} // namespace
