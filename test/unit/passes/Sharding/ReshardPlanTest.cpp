// Reshard plans: each kind of step where it pays, wrong plans refused, and random
// plans played on the elements of all devices.

#include "passes/Sharding/ReshardPlan.h"
#include "test/unit/dialects/Dist/IR/LayoutReference.h"

#include <gtest/gtest.h>
#include <map>
#include <numeric>

using namespace dpc;
using namespace dpc::dist;
using namespace dpc::dist::reference;

namespace {

/// A slow link, so that bytes decide.
Machine makeMachine() { return {"cpu", "native", {5e10, 1e10}, {1e9, 1e-9}, {}}; }

std::string text(llvm::Error error) { return llvm::toString(std::move(error)); }

Layout parse(llvm::StringRef layout) { return llvm::cantFail(parseLayout(layout)); }

/// A plan between two layouts of f32 on mesh a=2, b=2, micro=2 (sequential).
class ReshardPlanTest : public testing::Test {
protected:
  ReshardProblem problemOf(llvm::StringRef from, llvm::StringRef to) const {
    return {parse(from), parse(to), mesh, machine, 4};
  }

  ReshardPlan solve(const ReshardProblem &problem) const {
    auto plan = planReshard(problem);
    if (!plan) {
      ADD_FAILURE() << text(plan.takeError());
      return {};
    }
    EXPECT_EQ(text(plan->verify(problem)), "");
    return *plan;
  }

  std::string stepsOf(llvm::StringRef from, llvm::StringRef to) const {
    return toString(solve(problemOf(from, to)));
  }

  MeshShape mesh{{"micro", 2, true}, {"a", 2}, {"b", 2}, {"one", 1}};
  Machine machine = makeMachine();
};

TEST_F(ReshardPlanTest, PartialBecomesWhole) {
  EXPECT_EQ(stepsOf("[8], [4] partial sum(a)", "[8], [4]"), "all_reduce a");
  EXPECT_EQ(stepsOf("[8] partial sum(a,b)", "[8]"), "all_reduce a+b");
  EXPECT_EQ(stepsOf("scalar partial sum(a), max(b)", "scalar"), "all_reduce a, all_reduce b");
}

TEST_F(ReshardPlanTest, PartialBecomesCut) {
  EXPECT_EQ(stepsOf("[8], [4] partial sum(a)", "[(8: a)], [4]"), "reduce_scatter a");
  EXPECT_EQ(stepsOf("[8], [4] partial max(a)", "[8], [(4: a)]"), "reduce_scatter a");
  EXPECT_EQ(stepsOf("[8] partial sum(a,b)", "[(8: a,b)]"), "reduce_scatter a+b");
  EXPECT_EQ(stepsOf("[8], [4] partial sum(a,b)", "[(8: a)], [(4: b)]"), "reduce_scatter a+b");
}

TEST_F(ReshardPlanTest, PartialThatStays) {
  EXPECT_EQ(stepsOf("[8] partial sum(a,b)", "[8] partial sum(b)"), "all_reduce a");
  EXPECT_EQ(stepsOf("[8] partial sum(a,b)", "[(8: a)] partial sum(b)"), "reduce_scatter a");
  EXPECT_EQ(stepsOf("[(8: a)], [4] partial sum(b)", "[8], [(4: a)] partial sum(b)"),
            "all_to_all a");
}

// A sum of maxima is no maximum of sums.
TEST_F(ReshardPlanTest, SumsBeforeMaxima) {
  EXPECT_EQ(stepsOf("[8] partial max(a), sum(b)", "[(8: a)]"), "all_reduce b, reduce_scatter a");
}

TEST_F(ReshardPlanTest, WholeBecomesCut) {
  EXPECT_EQ(stepsOf("[8], [4]", "[(8: a)], [4]"), "slice a");
  EXPECT_EQ(stepsOf("[(8: a)]", "[(8: a,b)]"), "slice b");
}

// What is cut first makes less to reduce or gather.
TEST_F(ReshardPlanTest, SlicesBeforeItSends) {
  EXPECT_EQ(stepsOf("[8], [4] partial sum(a)", "[8], [(4: b)]"), "slice b, all_reduce a");
  EXPECT_EQ(stepsOf("[(8: a)], [4]", "[8], [(4: b)]"), "slice b, all_gather a");
}

TEST_F(ReshardPlanTest, CutBecomesWhole) {
  EXPECT_EQ(stepsOf("[(8: a)], [4]", "[8], [4]"), "all_gather a");
  EXPECT_EQ(stepsOf("[(8: b,a)]", "[8]"), "all_gather b+a");
  EXPECT_EQ(stepsOf("[(8: a)], [(4: b)]", "[8], [4]"), "all_gather a+b");
  EXPECT_EQ(stepsOf("[(6: a)+(2: a)], [4]", "[8], [4]"), "all_gather a");
}

TEST_F(ReshardPlanTest, CutMoves) {
  EXPECT_EQ(stepsOf("[(8: a)], [4]", "[8], [(4: a)]"), "all_to_all a");
  EXPECT_EQ(stepsOf("[(8: a)], [(4: b)], [2]", "[8], [(4: b)], [(2: a)]"), "all_to_all a");
  EXPECT_EQ(stepsOf("[(8: a)], [(8: b)], [4], [4]", "[8], [8], [(4: a)], [(4: b)]"),
            "all_to_all a+b");
  // Between factors of one dimension.
  EXPECT_EQ(stepsOf("[(8: a)]", "[(2)(4: a)]"), "all_to_all a");
  EXPECT_EQ(stepsOf("[(8: a,b)]", "[(4: b)(2)]"), "all_gather a, all_to_all b");
  // Into and out of a concatenation.
  EXPECT_EQ(stepsOf("[(8: a)], [6]", "[8], [(4: a)+(2: a)]"), "all_to_all a");
  EXPECT_EQ(stepsOf("[8], [(4: a)+(2: a)]", "[(8: a)], [6]"), "all_to_all a");
}

// Two axes change places: one has to go before the other can come.
TEST_F(ReshardPlanTest, CutsChangePlaces) {
  std::string steps = stepsOf("[(8: a)], [(8: b)]", "[(8: b)], [(8: a)]");
  EXPECT_EQ(steps, "all_gather a, all_to_all b, slice a") << steps;
}

TEST_F(ReshardPlanTest, UnevenCuts) {
  EXPECT_EQ(stepsOf("[(7: a)], [3]", "[7], [(3: a)]"), "all_to_all a");
  EXPECT_EQ(stepsOf("[7] partial sum(a,b)", "[(7: a,b)]"), "reduce_scatter a+b");
  // One after the other, what the first cut pads does not travel.
  EXPECT_EQ(stepsOf("[(5: a,b)]", "[5]"), "all_gather b, all_gather a");
}

// Segments that nest their axes in different orders give them up together.
TEST_F(ReshardPlanTest, AxesNestedInDifferentOrders) {
  EXPECT_EQ(stepsOf("[(4: a,b)+(8: b,a)]", "[12]"), "all_gather a+b");
  EXPECT_EQ(stepsOf("[12]", "[(4: a,b)+(8: b,a)]"), "slice a+b");
}

TEST_F(ReshardPlanTest, NothingToDo) {
  EXPECT_EQ(stepsOf("[(8: a)] partial sum(b)", "[(8: a)] partial sum(b)"), "");
  EXPECT_EQ(stepsOf("[(8: a)]", "[(2: a)(4)]"), "");
}

// No device stands along a sequential axis, and one of one device cuts nothing.
TEST_F(ReshardPlanTest, IdleAxes) {
  EXPECT_EQ(stepsOf("[(8: micro)] partial sum(one)", "[8]"), "");
  EXPECT_EQ(stepsOf("[(2: micro)(4: a)]", "[8]"), "all_gather a");
}

// Latency: neighbours are one collective; bytes: a slow link is passed alone.
TEST_F(ReshardPlanTest, WidensWhereThatIsCheaper) {
  EXPECT_EQ(stepsOf("[(800: a,b)]", "[800]"), "all_gather a+b");
  machine.axisLinks = {{"a", {1e6, 1e-9}}};
  EXPECT_EQ(stepsOf("[(800: a)(800: b)]", "[640000]"), "all_gather a, all_gather b");
}

TEST_F(ReshardPlanTest, Bytes) {
  auto bytes = [&](llvm::StringRef from, llvm::StringRef to) {
    return solve(problemOf(from, to)).bytes;
  };
  EXPECT_EQ(bytes("[8] partial sum(a)", "[8]"), 32);
  EXPECT_EQ(bytes("[8] partial sum(a)", "[(8: a)]"), 16);
  EXPECT_EQ(bytes("[(8: a)]", "[8]"), 16);
  EXPECT_EQ(bytes("[(8: a)], [4]", "[8], [(4: a)]"), 32);
  EXPECT_EQ(bytes("[8]", "[(8: a)]"), 0);
}

TEST_F(ReshardPlanTest, PricesAreThoseOfPlans) {
  ReshardPrices prices(mesh, machine);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(prices.getSeconds(parse("[(8: a)], [4]"), parse("[8], [(4: a)]"), 128),
              solve(problemOf("[(8: a)], [4]", "[8], [(4: a)]")).seconds);
  EXPECT_EQ(prices.getSeconds(parse("[(8: a)]"), parse("[(8: a)]"), 32), 0);
  EXPECT_TRUE(std::isinf(prices.getSeconds(parse("[8]"), parse("[8] partial sum(a)"), 32)));
}

TEST_F(ReshardPlanTest, RefusesUnsoundProblems) {
  EXPECT_EQ(text(problemOf("[(8: x)]", "[8]").check()),
            "from: dimension 0 is cut by axis 'x', which the mesh lacks");
  EXPECT_EQ(text(problemOf("[8]", "[4]").check()),
            "to: layout of dimension 0 has extent 4 but the shape has 8");
  EXPECT_EQ(text(problemOf("[8]", "[8] partial max(a)").check()),
            "[8] is to become partial max(a)");
  ReshardProblem empty{parse("[8]"), parse("[8]"), mesh, machine, 0};
  EXPECT_EQ(text(empty.check()), "elements have 0 bytes");
  EXPECT_EQ(text(planReshard(empty).takeError()), "elements have 0 bytes");
}

/// What verify() says of `plan` after `change`.
template <typename Change>
std::string refusal(ReshardPlan plan, const ReshardProblem &problem, Change change) {
  change(plan);
  return text(plan.verify(problem));
}

TEST_F(ReshardPlanTest, VerifyRefusesWrongSteps) {
  ReshardProblem problem = problemOf("[(8: a)], [4]", "[8], [(4: a)]");
  ReshardPlan plan = solve(problem);
  EXPECT_EQ(refusal(plan, problem, [](ReshardPlan &p) { p.start = parse("[8], [4]"); }),
            "begins with [8], [4], not [(8: a)], [4]");
  EXPECT_EQ(refusal(plan, problem, [](ReshardPlan &p) { p.steps.clear(); }),
            "ends with [(8: a)], [4], not [8], [(4: a)]");
  EXPECT_EQ(refusal(plan, problem, [](ReshardPlan &p) { p.steps[0].kind = ReshardKind::slice; }),
            "step 0 (slice over a): index 4 of dimension 0 comes from nowhere");
  EXPECT_EQ(refusal(plan, problem, [](ReshardPlan &p) { p.steps[0].axes = {"b"}; }),
            "step 0 (all_to_all over b): index 4 of dimension 0 comes from nowhere");
  EXPECT_EQ(refusal(plan, problem, [](ReshardPlan &p) { p.steps[0].axes = {"micro"}; }),
            "step 0 (all_to_all over micro): no device stands along axis 'micro'");
  EXPECT_EQ(refusal(plan, problem, [](ReshardPlan &p) { p.steps[0].axes = {"a", "a"}; }),
            "step 0 (all_to_all over a,a): axis 'a' is listed twice");
  EXPECT_EQ(refusal(plan, problem, [](ReshardPlan &p) { p.steps[0].after = parse("[8], [8]"); }),
            "step 0 (all_to_all over a): layout of dimension 1 has extent 8 but the shape has 4");
  EXPECT_EQ(
      refusal(plan, problem, [](ReshardPlan &p) { p.steps[0].kind = ReshardKind::reduceScatter; }),
      "step 0 (reduce_scatter over a): the value is not partial over 'a'");
  EXPECT_NE(refusal(plan, problem, [](ReshardPlan &p) { p.seconds *= 2; }), "");
  EXPECT_NE(refusal(plan, problem, [](ReshardPlan &p) { p.bytes += 1; }), "");
}

TEST_F(ReshardPlanTest, VerifyRefusesWrongReductions) {
  ReshardProblem problem = problemOf("[8] partial sum(a,b)", "[(8: a)] partial sum(b)");
  ReshardPlan plan = solve(problem);
  EXPECT_EQ(refusal(plan, problem, [](ReshardPlan &p) { p.steps[0].reduction = Reduction::Max; }),
            "step 0 (reduce_scatter over a): the value is not partial over 'a'");
  EXPECT_EQ(refusal(plan, problem, [](ReshardPlan &p) { p.steps[0].kind = ReshardKind::slice; }),
            "step 0 (slice over a): the value is partial over 'a'");
  EXPECT_EQ(refusal(plan, problem, [](ReshardPlan &p) { p.steps[0].after.partial.clear(); }),
            "step 0 (reduce_scatter over a): leaves [(8: a)] of [8] partial sum(a,b)");
  EXPECT_EQ(
      refusal(plan, problem, [](ReshardPlan &p) { p.steps[0].kind = ReshardKind::allReduce; }),
      "step 0 (all_reduce over a): changes dimension 0");
}

//===-- Plans played on elements ------------------------------------------===//

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
    for (Reduction reduction : {Reduction::Min, Reduction::Max, Reduction::Sum})
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
    return reduction == Reduction::Sum   ? sum + value
           : reduction == Reduction::Max ? std::max(sum, value)
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
  Machine machine = makeMachine();
  std::map<std::string, int> met;
  for (int round = 0; round < 4000; ++round) {
    machine.link.latencySeconds = random.oneIn(2) ? 1e-9 : 1e-6;
    MeshShape mesh = random.mesh(3, 4);
    for (MeshAxis &axis : mesh.axes)
      axis.sequential = false;
    Layout from = random.layout(mesh, 3, 2, 2, 4);
    if (random.oneIn(4)) { // sums over everything are common
      from = Layout::replicated(from.shape());
      for (const MeshAxis &axis : mesh.axes)
        from.partial.push_back({axis.name, Reduction::Sum});
    }
    Layout to = randomTarget(random, from, mesh);
    SCOPED_TRACE(dist::toString(from) + " -> " + dist::toString(to));
    ReshardProblem problem{from, to, mesh, machine, 4};
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
