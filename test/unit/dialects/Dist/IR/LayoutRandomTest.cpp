// Layouts against index lists.
//
// Random layouts on random meshes; every answer of the algebra is compared with
// what the index lists of all devices say.

#include "LayoutReference.h"
#include "dialects/Dist/IR/LayoutShards.h"
#include "dialects/Dist/IR/LayoutTransforms.h"
#include "gtest/gtest.h"

using namespace dpc::dist;
using reference::allCoordinates;
using reference::Coordinates;
using reference::Indices;
using reference::Random;

namespace {

constexpr int cases = 4000;

std::string describe(const Layout &layout, const MeshShape &mesh) {
  std::string text = toString(layout) + " on";
  for (const MeshAxis &axis : mesh.axes)
    text += " " + axis.name + "=" + std::to_string(axis.size);
  return text;
}

TEST(LayoutRandom, QueriesAgreeWithIndexLists) {
  Random random(1);
  for (int i = 0; i < cases; ++i) {
    MeshShape mesh = random.mesh();
    Layout layout = random.layout(mesh, 3, 3, 3, 6);
    SCOPED_TRACE(describe(layout, mesh));
    ASSERT_FALSE(check(layout, layout.shape(), mesh));
    bool padding = false;
    for (const Coordinates &at : allCoordinates(mesh))
      for (const DimLayout &dim : layout.dims) {
        Indices expected = reference::indices(dim, at, mesh);
        ASSERT_EQ(localIndices(dim, at, mesh), expected);
        ASSERT_EQ(localExtent(dim, mesh), int64_t(expected.size()));
        padding |= llvm::is_contained(expected, -1);
      }
    ASSERT_EQ(hasPadding(layout, mesh), padding);
  }
}

TEST(LayoutRandom, NormalFormKeepsIndicesAndIsFinal) {
  Random random(2);
  for (int i = 0; i < cases; ++i) {
    MeshShape mesh = random.mesh();
    Layout layout = random.layout(mesh, 2, 4, 4, 4);
    SCOPED_TRACE(describe(layout, mesh));
    Layout normal = normalize(layout);
    ASSERT_TRUE(reference::same(layout, normal, mesh)) << toString(normal);
    ASSERT_EQ(normalize(normal), normal);
    ASSERT_TRUE(sameIndices(layout, normal, mesh));
  }
}

TEST(LayoutRandom, EqualityAgreesWithIndexLists) {
  Random random(3);
  int equal = 0;
  for (int i = 0; i < 5 * cases; ++i) {
    MeshShape mesh = random.mesh(2, 3);
    // Small extents, so that different structures often hold the same indices.
    Layout a = random.layout(mesh, 2, 2, 3, 3), b = random.layout(mesh, 2, 2, 3, 3);
    for (int tries = 0; a.shape() != b.shape() && tries < 200; ++tries)
      b = random.layout(mesh, 2, 2, 3, 3);
    if (a.shape() != b.shape())
      continue;
    SCOPED_TRACE(describe(a, mesh) + " and " + toString(b));
    bool expected = reference::same(a, b, mesh);
    equal += expected;
    ASSERT_EQ(sameIndices(a, b, mesh), expected);
    for (auto [dimA, dimB] : llvm::zip(a.dims, b.dims))
      ASSERT_EQ(sameIndices(dimA, dimB, mesh), reference::same(dimA, dimB, mesh));
  }
  EXPECT_GT(equal, cases / 4);
}

TEST(LayoutRandom, ReshapesMoveNoData) {
  Random random(4);
  int found = 0, wanted = 0;
  for (int i = 0; i < 3 * cases; ++i) {
    MeshShape mesh = random.mesh();
    Layout layout = random.layout(mesh, 3, 2, 3, 6);
    auto shape = random.reshaped(layout);
    std::optional<Layout> result = reshapeLayout(layout, shape, mesh);
    ++wanted;
    if (!result)
      continue;
    ++found;
    SCOPED_TRACE(describe(layout, mesh) + " to " + toString(*result));
    std::optional<std::string> defect = check(*result, shape, mesh);
    ASSERT_FALSE(defect) << *defect;
    ASSERT_TRUE(reference::same(layout, *result, mesh));
    ASSERT_EQ(*result, normalize(*result));
    // The way back exists too, and leads to the same indices.
    std::optional<Layout> back = reshapeLayout(*result, layout.shape(), mesh);
    ASSERT_TRUE(back);
    ASSERT_TRUE(sameIndices(*back, layout, mesh)) << toString(*back);
  }
  EXPECT_GT(found, wanted / 3);
}

TEST(LayoutRandom, TransposesPermuteTheShard) {
  Random random(5);
  for (int i = 0; i < cases / 4; ++i) {
    MeshShape mesh = random.mesh();
    Layout layout = random.layout(mesh, 4, 2, 2, 4);
    llvm::SmallVector<int64_t, 4> permutation;
    for (size_t dim = 0; dim < layout.dims.size(); ++dim)
      permutation.push_back(dim);
    std::shuffle(permutation.begin(), permutation.end(), random.engine);
    std::optional<Layout> result = transposeLayout(layout, permutation);
    ASSERT_TRUE(result);
    for (const Coordinates &at : allCoordinates(mesh))
      for (auto [to, from] : llvm::enumerate(permutation))
        ASSERT_EQ(reference::indices(result->dims[to], at, mesh),
                  reference::indices(layout.dims[from], at, mesh));
  }
}

TEST(LayoutRandom, ConcatAndSliceAreInverse) {
  Random random(6);
  for (int i = 0; i < cases; ++i) {
    MeshShape mesh = random.mesh();
    Layout a = random.layout(mesh, 2, 3, 3, 4), b = a;
    AxisNames axes = shardedAxes(a.dims[0]);
    b.dims[0] = random.dim(axes, 3, 3, 4);
    std::optional<Layout> both = concatLayouts({a, b}, 0, mesh);
    ASSERT_TRUE(both);
    SCOPED_TRACE(describe(a, mesh) + " and " + toString(b) + " in " + toString(*both));
    int64_t extentA = a.dims[0].extent();
    for (const Coordinates &at : allCoordinates(mesh)) {
      Indices expected = reference::indices(a.dims[0], at, mesh);
      for (int64_t index : reference::indices(b.dims[0], at, mesh))
        expected.push_back(index < 0 ? -1 : index + extentA);
      ASSERT_EQ(reference::indices(both->dims[0], at, mesh), expected);
    }
    std::optional<Layout> first = sliceLayout(*both, 0, 0, extentA, mesh);
    std::optional<Layout> second = sliceLayout(*both, 0, extentA, b.dims[0].extent(), mesh);
    ASSERT_TRUE(first && second);
    ASSERT_TRUE(sameIndices(*first, a, mesh)) << toString(*first);
    ASSERT_TRUE(sameIndices(*second, b, mesh)) << toString(*second);
  }
}

TEST(LayoutRandom, SlicesAreTheSameLocalIndicesEverywhere) {
  Random random(7);
  int found = 0;
  for (int i = 0; i < 2 * cases; ++i) {
    MeshShape mesh = random.mesh(2);
    Layout layout = random.layout(mesh, 1, 3, 3, 4);
    const DimLayout &dim = layout.dims[0];
    int64_t begin = random.in(0, dim.extent() - 1), size = random.in(1, dim.extent() - begin);
    std::optional<DimLayout> result = sliceDim(dim, begin, size, mesh);
    if (!result)
      continue;
    ++found;
    SCOPED_TRACE(describe(layout, mesh) + " from " + std::to_string(begin) + ": " +
                 toString(*result));
    ASSERT_EQ(result->extent(), size);
    int64_t localBegin = 0;
    if (begin > 0) {
      std::optional<DimLayout> before = sliceDim(dim, 0, begin, mesh);
      ASSERT_TRUE(before);
      localBegin = localExtent(*before, mesh);
    }
    for (const Coordinates &at : allCoordinates(mesh)) {
      Indices whole = reference::indices(dim, at, mesh),
              part = reference::indices(*result, at, mesh);
      ASSERT_LE(localBegin + part.size(), whole.size());
      for (auto [k, index] : llvm::enumerate(part))
        ASSERT_EQ(whole[localBegin + k], index < 0 ? -1 : index + begin);
      for (auto [k, index] : llvm::enumerate(whole))
        ASSERT_TRUE(int64_t(k) >= localBegin && k < localBegin + part.size()
                        ? true
                        : index < begin || index >= begin + size);
    }
  }
  EXPECT_GT(found, cases / 4);
}

TEST(LayoutRandom, BroadcastsRepeatTheShard) {
  Random random(8);
  for (int i = 0; i < cases / 4; ++i) {
    MeshShape mesh = random.mesh();
    Layout layout = random.layout(mesh, 2, 2, 2, 4);
    if (random.oneIn(2)) {
      layout.dims[0] = DimLayout{Segment{Factor(1, shardedAxes(layout.dims[0]))}};
    }
    auto shape = layout.shape();
    int64_t repeat = random.in(1, 4);
    if (shape[0] == 1)
      shape[0] = repeat;
    llvm::SmallVector<int64_t, 4> map;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      map.push_back(dim + 1);
    shape.insert(shape.begin(), 3);
    std::optional<Layout> result = broadcastLayout(layout, shape, map);
    ASSERT_TRUE(result);
    SCOPED_TRACE(describe(layout, mesh) + " to " + toString(*result));
    ASSERT_FALSE(check(*result, shape, mesh));
    for (const Coordinates &at : allCoordinates(mesh)) {
      ASSERT_EQ(reference::indices(result->dims[0], at, mesh), (Indices{0, 1, 2}));
      Indices expected = reference::indices(layout.dims[0], at, mesh);
      if (layout.dims[0].extent() == 1) {
        bool held = expected[0] == 0;
        expected.clear();
        for (int64_t k = 0; k < repeat; ++k)
          expected.push_back(held ? k : -1);
      }
      ASSERT_EQ(reference::indices(result->dims[1], at, mesh), expected);
    }
  }
}

TEST(LayoutRandom, ShardsRoundTripThroughBuffers) {
  Random random(9);
  for (int i = 0; i < cases / 2; ++i) {
    MeshShape mesh = random.mesh();
    Layout layout = random.layout(mesh, 3, 2, 2, 5);
    SCOPED_TRACE(describe(layout, mesh));
    int64_t elements = 1, elementBytes = random.oneIn(2) ? 4 : 3;
    for (int64_t extent : layout.shape())
      elements *= extent;
    std::vector<char> global(elements * elementBytes), gathered(global.size(), 0);
    for (char &byte : global)
      byte = char(random.in(1, 100));
    for (const Coordinates &at : allCoordinates(mesh)) {
      Indices held = reference::indices(layout, at, mesh);
      std::vector<char> local(held.size() * elementBytes, 111), expected;
      for (int64_t index : held)
        for (int64_t byte = 0; byte < elementBytes; ++byte)
          expected.push_back(index < 0 ? 0 : global[index * elementBytes + byte]);
      copyToLocal(global.data(), local.data(), elementBytes, layout, at, mesh);
      ASSERT_EQ(local, expected);
      copyToGlobal(local.data(), gathered.data(), elementBytes, layout, at, mesh);

      int64_t lastGlobal = -1, lastLocal = -1;
      forEachRun(layout, at, mesh, [&](int64_t globalOffset, int64_t localOffset, int64_t count) {
        EXPECT_GT(count, 0);
        EXPECT_GE(localOffset, lastLocal);
        EXPECT_FALSE(globalOffset == lastGlobal && localOffset == lastLocal)
            << "runs could be joined";
        lastGlobal = globalOffset + count;
        lastLocal = localOffset + count;
      });
    }
    ASSERT_EQ(gathered, global);
  }
}

TEST(LayoutRandom, TextRoundTrips) {
  Random random(10);
  for (int i = 0; i < cases; ++i) {
    Layout layout = random.layout(random.mesh(4), 4, 3, 3, 1000);
    llvm::Expected<Layout> back = parseLayout(toString(layout));
    ASSERT_TRUE(bool(back)) << toString(layout) << ": " << llvm::toString(back.takeError());
    ASSERT_EQ(*back, layout) << toString(layout);
  }
}

} // namespace
