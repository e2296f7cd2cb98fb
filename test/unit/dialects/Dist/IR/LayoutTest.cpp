// Layouts one by one: soundness, queries, normal form, transforms, shards,
// text.

#include "LayoutReference.h"
#include "dialects/Dist/IR/LayoutShards.h"
#include "dialects/Dist/IR/LayoutTransforms.h"
#include "gtest/gtest.h"

using namespace dpc::dist;

namespace {

using Shape = llvm::SmallVector<int64_t, 4>;

const MeshShape cube{{"micro", 2, true}, {"data", 2}, {"model", 2}};

Layout parsed(llvm::StringRef text) {
  llvm::Expected<Layout> layout = parseLayout(text);
  EXPECT_TRUE(bool(layout)) << text.str() << ": " << llvm::toString(layout.takeError());
  return layout ? std::move(*layout) : Layout();
}

DimLayout parsedDim(llvm::StringRef text) { return parsed(text).dims.front(); }

std::string parseError(llvm::StringRef text) {
  llvm::Expected<Layout> layout = parseLayout(text);
  return layout ? "parsed" : llvm::toString(layout.takeError());
}

/// Reshapes, and holds the answer against the index lists.
std::string reshaped(llvm::StringRef text, Shape to, const MeshShape &mesh) {
  Layout from = parsed(text);
  std::optional<Layout> layout = reshapeLayout(from, to, mesh);
  if (!layout)
    return "none";
  EXPECT_FALSE(check(*layout, to, mesh)) << *check(*layout, to, mesh);
  EXPECT_TRUE(reference::same(from, *layout, mesh)) << toString(*layout);
  return toString(*layout);
}

//===-- Mesh --------------------------------------------------------------===//

TEST(MeshShape, RanksEnumerateTheParallelAxesLastFastest) {
  EXPECT_EQ(cube.worldSize(), 4);
  EXPECT_EQ(cube.coordinates(2, {1}), (llvm::SmallVector<int64_t, 4>{1, 1, 0}));
  EXPECT_EQ(cube.coordinates(1), (llvm::SmallVector<int64_t, 4>{0, 0, 1}));
  for (int64_t rank = 0; rank < 4; ++rank)
    EXPECT_EQ(cube.rankOf(cube.coordinates(rank, {1})), rank);
  EXPECT_EQ(cube.axisIndex("model"), 2u);
  EXPECT_FALSE(cube.axisIndex("pipe"));
}

TEST(MeshShape, Check) {
  EXPECT_FALSE(cube.check());
  EXPECT_EQ(*MeshShape({{"data", 0}}).check(), "mesh axis 'data' has size 0, less than 1");
  EXPECT_EQ(*MeshShape({{"data", 2}, {"data", 3}}).check(),
            "mesh axes 0 and 1 are both named 'data'");
  EXPECT_EQ(*MeshShape({{"2d", 2}}).check(),
            "mesh axis 0 has the name '2d', which is not an identifier");
}

//===-- Soundness ---------------------------------------------------------===//

TEST(LayoutCheck, EveryDefectHasItsMessage) {
  auto defect = [](llvm::StringRef text, Shape shape) {
    std::optional<std::string> message = check(parsed(text), shape, cube);
    return message ? *message : "sound";
  };
  EXPECT_EQ(defect("[(8: micro,data)], [(4: model)(8) + (4: model)(8)] ", {8, 64}), "sound");
  EXPECT_EQ(defect("[8]", {8, 1}), "layout has 1 dimensions but the shape has 2");
  EXPECT_EQ(defect("[4], [(8)(3) + 2]", {4, 24}),
            "layout of dimension 1 has extent 26 but the shape has 24");
  EXPECT_EQ(defect("[(8: pipe)]", {8}), "dimension 0 is cut by axis 'pipe', which the mesh lacks");
  EXPECT_EQ(defect("[(8: data)(4: data)]", {32}),
            "axis 'data' cuts one segment of dimension 0 twice");
  EXPECT_EQ(defect("[(8: data,data)]", {8}), "axis 'data' cuts one segment of dimension 0 twice");
  EXPECT_EQ(defect("[(8: data)], [4], [(4: data)]", {8, 4, 4}),
            "axis 'data' cuts dimensions 0 and 2");
  EXPECT_EQ(defect("[8], [(4: data)] partial max(data)", {8, 4}),
            "axis 'data' cuts dimension 1 and is partial");
  EXPECT_EQ(defect("[8] partial sum(data), max(data)", {8}),
            "axis 'data' is partial twice: sum and max");
  EXPECT_EQ(defect("[8] partial sum(pipe)", {8}), "partial over axis 'pipe', which the mesh lacks");
  for (const char *text : {"[(4294967296)(4294967296)]", "[9223372036854775807 + 1]"}) {
    llvm::Expected<Layout> layout = parseLayout(text);
    ASSERT_FALSE(bool(layout)) << text;
    EXPECT_NE(llvm::toString(layout.takeError()).find("expected an extent that fits 64 bits"),
              std::string::npos);
  }

  Layout broken;
  broken.dims.emplace_back();
  EXPECT_EQ(*check(broken, {8}, cube), "dimension 0 has no segments");
  broken.dims[0].segments.emplace_back();
  EXPECT_EQ(*check(broken, {8}, cube), "dimension 0 has a segment without factors");
  broken.dims[0].segments[0].factors.push_back(Factor(0));
  EXPECT_EQ(*check(broken, {8}, cube), "dimension 0 has a factor of size 0, less than 1");
}

//===-- Queries -----------------------------------------------------------===//

TEST(LayoutQueries, LocalExtentIsTheSumOfProductsOfCeils) {
  Layout layout = parsed("[(8: micro,data)], [(3: model)(8) + (3: model)(8) + 5], [12]");
  EXPECT_EQ(localShape(layout, cube), (Shape{2, 37, 12}));
  EXPECT_EQ(shardedAxes(layout), (AxisNames{"micro", "data", "model"}));
  EXPECT_TRUE(hasPadding(layout.dims[1], cube));
  EXPECT_FALSE(hasPadding(layout.dims[0], cube));
  EXPECT_TRUE(hasPadding(layout, cube));
}

TEST(LayoutQueries, ReplicatedMeansWholeAndReduced) {
  EXPECT_TRUE(isReplicated(Layout::replicated({4, 5})));
  EXPECT_FALSE(isReplicated(parsed("[(4: data)], [5]")));
  EXPECT_FALSE(isReplicated(parsed("[4], [5] partial sum(data)")));
}

TEST(LayoutQueries, AxesCutByCeilOneAfterAnother) {
  // By axes of product 4 at once each device would hold 2 rows, and the last
  // none.
  std::vector<std::vector<int64_t>> held;
  for (const auto &at : reference::allCoordinates({{"micro", 2, true}, {"data", 2}}))
    held.push_back(
        localIndices(parsedDim("[(6: micro,data)]"), at, {{"micro", 2, true}, {"data", 2}}));
  EXPECT_EQ(held, (std::vector<std::vector<int64_t>>{{0, 1}, {2, -1}, {3, 4}, {5, -1}}));
}

TEST(LayoutQueries, HeadsCutAloneDifferFromHeadsCutByGroup) {
  MeshShape mesh{{"model", 2}};
  EXPECT_EQ(localIndices(parsedDim("[(6: model)]"), {1}, mesh), (std::vector<int64_t>{3, 4, 5}));
  EXPECT_EQ(localIndices(parsedDim("[(3: model)(2)]"), {1}, mesh),
            (std::vector<int64_t>{4, 5, -1, -1}));
}

//===-- Normal form and equality ------------------------------------------===//

TEST(LayoutNormalize, Rules) {
  auto normal = [](llvm::StringRef text) { return toString(normalize(parsed(text))); };
  EXPECT_EQ(normal("[(1)(8)(1)]"), "[8]");
  EXPECT_EQ(normal("[(2)(4)(3: data)(5)(1)(2)]"), "[(8)(3: data)(10)]");
  EXPECT_EQ(normal("[3 + (2)(2) + 1]"), "[8]");
  EXPECT_EQ(normal("[(4: model)(8) + (4: model)(8) + (4: model)(8)]"), "[(3)(4: model)(8)]");
  EXPECT_EQ(normal("[(2)(4: model) + (4: model) + 4]"), "[(3)(4: model) + 4]");
  EXPECT_EQ(normal("[(4: model) + (4: data)]"), "[(4: model) + (4: data)]");
  EXPECT_EQ(normal("[(1: data)(8)]"),
            "[(1: data)(8)]"); // only the device at 0 holds it
  EXPECT_EQ(normal("[1]"), "[1]");
  EXPECT_EQ(normal("[8] partial sum(model,data)"), "[8] partial sum(data,model)");
}

TEST(LayoutEquality, SameIndices) {
  auto same = [](llvm::StringRef a, llvm::StringRef b) {
    Layout x = parsed(a), y = parsed(b);
    bool result = sameIndices(x, y, cube);
    EXPECT_EQ(result, reference::same(x, y, cube)) << a.str() << " and " << b.str();
    return result;
  };
  EXPECT_TRUE(same("[(2: data)(4: model)]", "[(8: data,model)]"));
  EXPECT_TRUE(same("[(4: data)(6)]", "[(24: data)]"));
  EXPECT_FALSE(same("[(3: data)(8)]", "[(24: data)]"));
  EXPECT_FALSE(same("[(8: data,model)]", "[(8: model,data)]"));
  EXPECT_TRUE(same("[(2: data) + (6: data)]", "[(2: data) + (2: data)(3)]"));
  EXPECT_TRUE(same("[(1: data)(2)], [3]", "[2], [(3)(1: data)]"));
  EXPECT_FALSE(same("[(1: data)(2)], [3]", "[2], [3]"));
  EXPECT_TRUE(same("[(2: data,model)]", "[(2: data)(1: model)]"));
  EXPECT_FALSE(same("[(2: data)], [3]", "[2], [3]"));
}

//===-- Reshape -----------------------------------------------------------===//

TEST(Reshape, AttentionBatchAndHeadsMerge) {
  EXPECT_EQ(reshaped("[(8: micro,data)], [(4: model)], [12], [8]", {32, 12, 8}, cube),
            "[(8: micro,data)(4: model)], [12], [8]");
}
TEST(Reshape, PaddedHeadsLeaveHolesInsideTheMergedDimension) {
  EXPECT_EQ(reshaped("[(8: micro,data)], [(3: model)], [12], [8]", {24, 12, 8}, cube),
            "[(8: micro,data)(3: model)], [12], [8]");
}
TEST(Reshape, HiddenSplitsIntoHeads) {
  EXPECT_EQ(reshaped("[(8: micro,data)], [12], [(3: model)(8)]", {8, 12, 3, 8}, cube),
            "[(8: micro,data)], [12], [(3: model)], [8]");
}
TEST(Reshape, OneCutOfWholeHeadsSplits) {
  EXPECT_EQ(reshaped("[(32: model)]", {4, 8}, cube), "[(4: model)], [8]");
  EXPECT_EQ(reshaped("[(24: model)]", {3, 8}, cube),
            "none"); // the cut at 12 is inside a head
}
TEST(Reshape, UnevenBatchKeepsItsGranule) {
  EXPECT_EQ(reshaped("[(7: data)], [12], [4]", {84, 4}, {{"data", 3}}), "[(7: data)(12)], [4]");
  EXPECT_EQ(reshaped("[(7: data)(12)], [4]", {7, 12, 4}, {{"data", 3}}), "[(7: data)], [12], [4]");
}
TEST(Reshape, SequenceParallelMerges) {
  EXPECT_EQ(reshaped("[(8: micro,data)], [(12: model)], [4]", {96, 4}, cube),
            "[(8: micro,data)(12: model)], [4]");
}
TEST(Reshape, GroupedQueryHeadsMerge) {
  EXPECT_EQ(reshaped("[(8: micro,data)], [(3: model)], [2], [4]", {8, 6, 4}, cube),
            "[(8: micro,data)], [(3: model)(2)], [4]");
}
TEST(Reshape, FusedProjectionSplitsIntoThree) {
  EXPECT_EQ(reshaped("[(4: model)(8) + (4: model)(8) + (4: model)(8)]", {3, 4, 8}, cube),
            "[3], [(4: model)], [8]");
  EXPECT_EQ(reshaped("[3], [(4: model)], [8]", {96}, cube), "[(3)(4: model)(8)]");
}
TEST(Reshape, SumsShareTheirTail) {
  EXPECT_EQ(reshaped("[(4: model)(8) + (2: model)(8)]", {6, 8}, cube),
            "[(4: model) + (2: model)], [8]");
  EXPECT_EQ(reshaped("[(4: model)(8) + (2: data)(8)]", {6, 8}, cube),
            "[(4: model) + (2: data)], [8]");
  EXPECT_EQ(reshaped("[(4: model)(2) + (4: data)(4)]", {12, 2}, cube),
            "[(4: model) + (4: data)(2)], [2]");
  EXPECT_EQ(reshaped("[(4: model) + (4: data)]", {4, 2}, cube), "[(2: model) + (2: data)], [2]");
  EXPECT_EQ(reshaped("[(3: model) + (3: data)]", {3, 2}, cube), "none");
}
TEST(Reshape, SumsInsideADimensionRepeat) {
  EXPECT_EQ(reshaped("[2], [(3: model) + 2]", {10}, cube), "[(3: model) + 2 + (3: model) + 2]");
  EXPECT_EQ(reshaped("[(3: model) + 2 + (3: model) + 2]", {2, 5}, cube), "[2], [(3: model) + 2]");
  EXPECT_EQ(reshaped("[(2: data)], [(3: model) + 2]", {10}, cube), "none");
  EXPECT_EQ(reshaped("[1000], [(3: model) + 2]", {5000}, cube),
            "none"); // not worth 2000 segments
}
TEST(Reshape, CutsAcrossFactors) {
  EXPECT_EQ(reshaped("[(2: data)], [12]", {4, 6}, cube), "[(2: data)(2)], [6]");
  EXPECT_EQ(reshaped("[(2: data)], [(12: model)]", {8, 3}, cube), "[(2: data)(4: model)], [3]");
  EXPECT_EQ(reshaped("[(2: data)], [(3: model)], [4]", {4, 6}, {{"data", 2}, {"model", 1}}),
            "[(2: data)(2)], [6]");
  EXPECT_EQ(reshaped("[(8: data,model)]", {2, 4}, cube), "[(2: data)], [(4: model)]");
  EXPECT_EQ(reshaped("[6], [(4: data)]", {4, 6}, cube), "none");
}
TEST(Reshape, ExtentsOfOne) {
  EXPECT_EQ(reshaped("[(8: data)], [1], [4]", {8, 4}, cube), "[(8: data)], [4]");
  EXPECT_EQ(reshaped("[(8: data)], [4]", {1, 8, 1, 4, 1}, cube), "[1], [(8: data)], [1], [4], [1]");
  EXPECT_EQ(reshaped("[1], [1]", {}, cube), "scalar");
  EXPECT_EQ(reshaped("scalar", {1, 1}, cube), "[1], [1]");
  EXPECT_EQ(reshaped("[(1: data)], [8]", {8}, cube), "[(1: data)(8)]");
  EXPECT_EQ(reshaped("[(1: data)]", {}, cube),
            "none"); // rank 0 cannot say that only one device has it
}
TEST(Reshape, RefusesOtherElementCounts) {
  EXPECT_EQ(reshaped("[8]", {9}, cube), "none");
  EXPECT_EQ(reshaped("[8]", {-2, -4}, cube), "none");
}
TEST(Reshape, KeepsPartialAxes) {
  EXPECT_EQ(reshaped("[(8: data)], [4] partial sum(model)", {32}, cube),
            "[(8: data)(4)] partial sum(model)");
}

//===-- Other structural ops ----------------------------------------------===//

TEST(Transpose, PermutesAndRefusesNonPermutations) {
  Layout layout = parsed("[(8: data)], [4], [(6: model)]");
  EXPECT_EQ(toString(*transposeLayout(layout, {2, 0, 1})), "[(6: model)], [(8: data)], [4]");
  EXPECT_FALSE(transposeLayout(layout, {0, 1}));
  EXPECT_FALSE(transposeLayout(layout, {0, 1, 1}));
  EXPECT_FALSE(transposeLayout(layout, {0, 1, 3}));
}

TEST(Concat, AppendsSegments) {
  Layout a = parsed("[(8: data)], [(4: model)(8)]"), b = parsed("[(8: data)], [5]");
  EXPECT_EQ(toString(*concatLayouts({a, b}, 1, cube)), "[(8: data)], [(4: model)(8) + 5]");
  EXPECT_EQ(toString(*concatLayouts({a, a}, 1, cube)), "[(8: data)], [(2)(4: model)(8)]");
  EXPECT_FALSE(concatLayouts({a, parsed("[8], [5]")}, 1, cube)); // rows lie elsewhere
  EXPECT_FALSE(concatLayouts({a, parsed("[(8: data)]")}, 1, cube));
  EXPECT_FALSE(concatLayouts({a, parsed("[(8: data)], [5] partial sum(micro)")}, 1, cube));
  EXPECT_FALSE(concatLayouts({a, b}, 2, cube));
  EXPECT_FALSE(concatLayouts({}, 0, cube));
}

TEST(Slice, TakesSegmentsAndLeadingPartsApart) {
  auto slice = [](llvm::StringRef text, int64_t begin, int64_t size) {
    std::optional<DimLayout> dim = sliceDim(parsedDim(text), begin, size, cube);
    return dim ? toString(*dim) : "none";
  };
  EXPECT_EQ(slice("[(4: model)(8) + (4: data)(8)]", 32, 32), "[(4: data)(8)]");
  EXPECT_EQ(slice("[(3)(4: model)(8)]", 32, 32), "[(4: model)(8)]");
  EXPECT_EQ(slice("[(3)(4: model)(8)]", 32, 64), "[(2)(4: model)(8)]");
  EXPECT_EQ(slice("[(3)(4: model)(8)]", 16, 32), "none");
  EXPECT_EQ(slice("[10 + (4: model)]", 3, 11), "[7 + (4: model)]");
  EXPECT_EQ(slice("[(4: model)]", 0, 2), "none");
  EXPECT_EQ(slice("[(1: model)(4)]", 1, 2), "[(1: model)(2)]");
  EXPECT_EQ(slice("[8]", 5, 4), "none");
  EXPECT_EQ(slice("[8]", -1, 4), "none");
  EXPECT_EQ(slice("[8]", 1, 0), "none");
  EXPECT_EQ(toString(*sliceLayout(parsed("[8], [(4: model)]"), 0, 2, 3, cube)),
            "[3], [(4: model)]");
  EXPECT_FALSE(sliceLayout(parsed("[8]"), 1, 0, 1, cube));
}

TEST(Broadcast, NewDimensionsAreWhole) {
  auto broadcast = [](llvm::StringRef text, Shape to, Shape map) {
    std::optional<Layout> layout = broadcastLayout(parsed(text), to, map);
    return layout ? toString(*layout) : "none";
  };
  EXPECT_EQ(broadcast("[(8: data)]", {4, 8}, {1}), "[4], [(8: data)]");
  EXPECT_EQ(broadcast("[1], [(8: data)] partial sum(model)", {4, 8}, {0, 1}),
            "[4], [(8: data)] partial sum(model)");
  EXPECT_EQ(broadcast("[(1: data)]", {4}, {0}), "[(1: data)(4)]");
  EXPECT_EQ(broadcast("scalar", {2}, {}), "[2]");
  EXPECT_EQ(broadcast("[8]", {4}, {0}), "none");
  EXPECT_EQ(broadcast("[8]", {8}, {1}), "none");
  EXPECT_EQ(broadcast("[8], [4]", {4, 8}, {1, 0}), "none");
  EXPECT_EQ(broadcast("[8], [4]", {8, 4}, {0}), "none");
}

//===-- Shards ------------------------------------------------------------===//

TEST(Shards, RunsAreAsLongAsTheyCanBe) {
  auto runs = [](llvm::StringRef text, int64_t rank) {
    std::vector<IndexRun> list;
    forEachRun(parsed(text), cube.coordinates(rank), cube,
               [&](int64_t global, int64_t local, int64_t count) {
                 list.push_back({global, local, count});
               });
    return list;
  };
  using Runs = std::vector<IndexRun>;
  EXPECT_EQ(runs("[1000], [1000]", 0), (Runs{{0, 0, 1000000}}));
  EXPECT_EQ(runs("[(1000: data)], [1000]", 2), (Runs{{500000, 0, 500000}}));
  EXPECT_EQ(runs("[2], [(8: model)]", 1), (Runs{{4, 0, 4}, {12, 4, 4}}));
  EXPECT_EQ(runs("[2], [(4: model) + (2: model)], [10]", 0),
            (Runs{{0, 0, 20}, {40, 20, 10}, {60, 30, 20}, {100, 50, 10}}));
  EXPECT_EQ(runs("[2], [(3: model)]", 1), (Runs{{2, 0, 1}, {5, 2, 1}}));
  EXPECT_EQ(runs("scalar", 1), (Runs{{0, 0, 1}}));
  EXPECT_EQ(runs("[(1: model)]", 1), Runs());
}

TEST(Shards, PaddingIsZeroedAndIgnored) {
  Layout layout = parsed("[2], [(3: model)]");
  std::vector<short> global{1, 2, 3, 4, 5, 6}, local(4, 77), back(6, 9);
  copyToLocal(global.data(), local.data(), 2, layout, {0, 0, 1}, cube);
  EXPECT_EQ(local, (std::vector<short>{3, 0, 6, 0}));
  copyToGlobal(local.data(), back.data(), 2, layout, {0, 0, 1}, cube);
  EXPECT_EQ(back, (std::vector<short>{9, 9, 3, 9, 9, 6}));
}

//===-- Text --------------------------------------------------------------===//

TEST(LayoutText, RoundTrips) {
  for (const char *text : {"[(8: micro,data)], [(4: model)(8) + (4: model)(8)], [12] partial "
                           "sum(data)",
                           "scalar", "scalar partial sum(data,model)", "[1 + (1: data)]",
                           "[(2)(3)]", "[8] partial sum(micro), max(data,model), sum(pipe)"})
    EXPECT_EQ(toString(parsed(text)), text);
  EXPECT_EQ(toString(parsed(" [ ( 8 ) ] , [(4:a ,b)(2)+3]partial min( c )")),
            "[8], [(4: a,b)(2) + 3] partial min(c)");
}

TEST(LayoutText, ErrorsNameTheColumn) {
  EXPECT_EQ(parseError(""), "column 1: expected '[' or 'scalar', found the end");
  EXPECT_EQ(parseError("[8], 4"), "column 6: expected '[', found '4'");
  EXPECT_EQ(parseError("[8 4]"), "column 4: expected '+' or ']', found '4]'");
  EXPECT_EQ(parseError("[]"), "column 2: expected a size or '(', found ']'");
  EXPECT_EQ(parseError("[(4611686018427387904)(4)]"),
            "column 26: expected an extent that fits 64 bits, found ']'");
  EXPECT_EQ(parseError("[9223372036854775807 + 1]"),
            "column 25: expected an extent that fits 64 bits, found ']'");
  EXPECT_EQ(parseError("[(a)]"), "column 3: expected a size, found 'a)]'");
  EXPECT_EQ(parseError("[0]"), "column 2: expected a size of at least 1, found '0]'");
  EXPECT_EQ(parseError("[99999999999999999999]"),
            "column 2: expected a size that fits 64 bits, found "
            "'99999999999999999999'");
  EXPECT_EQ(parseError("[(8: )]"), "column 6: expected an axis name, found ')]'");
  EXPECT_EQ(parseError("[(8: data]"), "column 10: expected ')', found ']'");
  EXPECT_EQ(parseError("[8] partial product(data)"),
            "column 13: expected 'sum', 'max' or 'min', found 'product(data)'");
  EXPECT_EQ(parseError("[8] partial sum data"), "column 17: expected '(', found 'data'");
  EXPECT_EQ(parseError("[8] [4]"), "column 5: expected the end of the layout, found '[4]'");
  EXPECT_EQ(parseError("scalars"), "column 1: expected '[' or 'scalar', found 'scalars'");
}

TEST(LayoutText, PrefixLeavesTheRest) {
  llvm::StringRef text = "[8], [4] partial sum(data)> tail";
  llvm::Expected<Layout> layout = parseLayoutPrefix(text);
  ASSERT_TRUE(bool(layout));
  EXPECT_EQ(text, "> tail");
}

} // namespace
