// Segments and factors without axes.

#include "LayoutReference.h"
#include "dialects/Dist/IR/LayoutTransforms.h"
#include "gtest/gtest.h"

using namespace dpc::dist;
using reference::Random;

namespace {

std::string common(const DimStructure &a, const DimStructure &b) {
  std::optional<DimStructure> both = commonRefinement(a, b);
  EXPECT_EQ(both, commonRefinement(b, a));
  return both ? toString(*both) : "none";
}

TEST(DimStructure, ProductsMeetWhereTheirSuffixesDivide) {
  EXPECT_EQ(common({{6}}, {{2, 3}}), "[2x3]");
  EXPECT_EQ(common({{2, 3}}, {{3, 2}}), "none");
  EXPECT_EQ(common({{4, 6}}, {{2, 12}}), "[2x2x6]");
  EXPECT_EQ(common({{4, 6}}, {{8, 3}}), "[4x2x3]");
  EXPECT_EQ(common({{4, 6}}, {{3, 8}}), "none");
  EXPECT_EQ(common({{1, 4, 1}}, {{4}}), "[4]");
  EXPECT_EQ(common({{1}}, {{1, 1}}), "[1]");
  EXPECT_EQ(common({{4}}, {{5}}), "none");
}

TEST(DimStructure, SumsKeepTheBoundariesOfBoth) {
  EXPECT_EQ(common({{96}}, {{32}, {32}, {32}}), "[32 + 32 + 32]");
  EXPECT_EQ(common({{3, 4, 8}}, {{32}, {32}, {32}}), "[4x8 + 4x8 + 4x8]");
  EXPECT_EQ(common({{12, 8}}, {{32}, {64}}), "[4x8 + 8x8]");
  EXPECT_EQ(common({{3}, {5}}, {{5}, {3}}), "[3 + 2 + 3]");
  EXPECT_EQ(common({{2, 48}}, {{32}, {64}}),
            "none"); // would cut inside one of two copies
  EXPECT_EQ(common({{2, 3}}, {{2}, {1}, {3}}), "[2 + 1 + 3]");
  EXPECT_EQ(common({{2, 3}}, {{2}, {4}}), "none");
}

DimStructure randomStructure(Random &random, int64_t extent) {
  DimStructure structure;
  while (extent > 0) {
    int64_t part = random.oneIn(2) ? extent : random.in(1, extent);
    extent -= part;
    DimStructure::Sizes sizes;
    for (int64_t divisor = 1; part > 1; part /= divisor) {
      do
        divisor = random.in(2, part);
      while (part % divisor != 0);
      sizes.push_back(divisor);
    }
    if (sizes.empty())
      sizes.push_back(1);
    structure.segments.push_back(std::move(sizes));
  }
  return structure;
}

TEST(DimStructure, RefinementLaws) {
  Random random(20);
  int found = 0, associated = 0;
  for (int i = 0; i < 20000; ++i) {
    int64_t extent = random.in(1, 24);
    DimStructure a = randomStructure(random, extent), b = randomStructure(random, extent),
                 c = randomStructure(random, extent);
    SCOPED_TRACE(toString(a) + " " + toString(b) + " " + toString(c));
    ASSERT_EQ(commonRefinement(a, a), a);
    std::optional<DimStructure> ab = commonRefinement(a, b);
    ASSERT_EQ(ab, commonRefinement(b, a));
    ASSERT_TRUE(refines(a, c) || !refines(a, b) || !refines(b, c));
    ASSERT_TRUE(a == b || !refines(a, b) || !refines(b, a));
    if (!ab)
      continue;
    ++found;
    ASSERT_EQ(ab->extent(), extent);
    ASSERT_TRUE(refines(*ab, a) && refines(*ab, b));
    ASSERT_TRUE(refines(c, *ab) || !refines(c, a) || !refines(c, b)); // the coarsest
    std::optional<DimStructure> bc = commonRefinement(b, c);
    auto left = commonRefinement(*ab, c), right = bc ? commonRefinement(a, *bc) : std::nullopt;
    if (left && right) {
      ++associated;
      ASSERT_EQ(*left, *right);
    }
  }
  EXPECT_GT(found, 3000);
  EXPECT_GT(associated, 1000);
}

TEST(DimStructure, ReshapeKeepsEveryFactor) {
  auto reshaped = [](llvm::ArrayRef<DimStructure> dims, llvm::ArrayRef<int64_t> shape) {
    auto result = reshapeStructure(dims, shape);
    std::string text = result ? "" : "none";
    for (size_t i = 0; result && i < result->size(); ++i)
      text += toString((*result)[i]);
    return text;
  };
  EXPECT_EQ(reshaped({DimStructure{{8}}, DimStructure{{4}}, DimStructure{{12}}}, {32, 12}),
            "[8x4][12]");
  EXPECT_EQ(reshaped({DimStructure{{8}}, DimStructure{{96}}}, {8, 3, 4, 8}), "[8][3][4][8]");
  EXPECT_EQ(reshaped({DimStructure{{32}, {32}, {32}}}, {3, 4, 8}), "[1 + 1 + 1][4][8]");
  EXPECT_EQ(reshaped({DimStructure{{4, 8}, {32}}}, {2, 32}), "[1 + 1][4x8]");
  EXPECT_EQ(reshaped({DimStructure{{4, 6}}}, {3, 8}),
            "none"); // the loop of 4 would be forgotten
  EXPECT_EQ(reshaped({DimStructure{{2}}, DimStructure{{3}, {5}}}, {16}), "none");
  EXPECT_EQ(reshaped({DimStructure{{1}}, DimStructure{{3}, {5}}}, {8}), "[3 + 5]");
}

TEST(DimStructure, LayoutsOnAStructure) {
  MeshShape mesh{{"a", 2}, {"b", 2}};
  auto refined = [&](llvm::StringRef text, const DimStructure &structure) -> std::string {
    llvm::Expected<Layout> layout = parseLayout(text);
    std::optional<DimLayout> dim = refineLayout(layout->dims[0], structure, mesh);
    if (!dim)
      return "none";
    EXPECT_TRUE(reference::same(layout->dims[0], *dim, mesh));
    EXPECT_EQ(structureOf(*dim), structure);
    return toString(*dim);
  };
  EXPECT_EQ(refined("[(32: a)]", {{4, 8}}), "[(4: a)(8)]");
  EXPECT_EQ(refined("[(24: a)]", {{3, 8}}), "none");
  EXPECT_EQ(refined("[(8: a,b)]", {{2, 4}}), "[(2: a)(4: b)]");
  EXPECT_EQ(refined("[(3)(4: a)(8)]", {{4, 8}, {4, 8}, {4, 8}}),
            "[(4: a)(8) + (4: a)(8) + (4: a)(8)]");
  EXPECT_EQ(refined("[(4: a)(8) + (4: a)(8)]", {{2, 4, 8}}), "[(2)(4: a)(8)]");
  EXPECT_EQ(refined("[(4: a)(8) + (4: b)(8)]", {{2, 4, 8}}), "none");
  EXPECT_EQ(refined("[(2: a)(4: b)]", {{8}}), "[(8: a,b)]");
  EXPECT_EQ(refined("[(2)(4: b)]", {{8}}), "none");
  EXPECT_EQ(refined("[(1: a)(8)]", {{8}}),
            "none"); // a factor of 8 cannot say that one device has it
  EXPECT_EQ(refined("[(1: a)(2: b)]", {{2}}), "[(2: b,a)]");
  EXPECT_EQ(refined("[8]", {{9}}), "none");
}

TEST(DimStructure, RandomLayoutsOnRandomStructures) {
  Random random(21);
  int found = 0;
  for (int i = 0; i < 10000; ++i) {
    MeshShape mesh = random.mesh();
    Layout layout = random.layout(mesh, 1, 2, 3, 4);
    const DimLayout &dim = layout.dims[0];
    DimStructure structure = randomStructure(random, dim.extent());
    if (std::optional<DimStructure> finer = commonRefinement(structure, structureOf(dim)))
      structure = *finer;
    std::optional<DimLayout> result = refineLayout(dim, structure, mesh);
    if (!result)
      continue;
    ++found;
    ASSERT_EQ(structureOf(*result), structure);
    ASSERT_TRUE(reference::same(dim, *result, mesh)) << toString(dim) << " " << toString(*result);
  }
  EXPECT_GT(found, 3000);
}

} // namespace
