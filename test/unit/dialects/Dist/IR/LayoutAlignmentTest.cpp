// Factors of two layouts brought in line: known cases, and random ones by brute
// force.

#include "dialects/Dist/IR/LayoutAlignment.h"
#include "test/unit/dialects/Dist/IR/LayoutReference.h"

#include <gtest/gtest.h>

using namespace dpc::dist;
using namespace dpc::dist::reference;

namespace {

/// `a | b`, aligned on a mesh a=2, b=2, c=4.
std::string align(llvm::StringRef a, llvm::StringRef b) {
  const MeshShape mesh{{"a", 2}, {"b", 2}, {"c", 4}};
  Layout one = llvm::cantFail(parseLayout(a)), other = llvm::cantFail(parseLayout(b));
  bool agree = alignFactors(one.dims[0], other.dims[0], mesh);
  EXPECT_EQ(agree, haveSameFactors(one.dims[0], other.dims[0]));
  return (agree ? "" : "no: ") + toString(one) + " | " + toString(other);
}

TEST(LayoutAlignment, UncutTakesTheFactorsOfTheOther) {
  EXPECT_EQ(align("[8]", "[(2)(4: a)]"), "[(2)(4)] | [(2)(4: a)]");
  EXPECT_EQ(align("[(4: a) + (2: a)]", "[6]"), "[(4: a) + (2: a)] | [4 + 2]");
}

TEST(LayoutAlignment, OneFactorAnAxis) {
  EXPECT_EQ(align("[(8: a,b)]", "[8]"), "[(2: a)(4: b)] | [(2)(4)]");
  EXPECT_EQ(align("[(8: a,b)]", "[(8: b)]"), "[(2: a)(4: b)] | [(2: b)(4)]");
  // Three, cut in two and again, is no product.
  EXPECT_EQ(align("[(3: a,b)]", "[3]"), "[(3: a,b)] | [3]");
}

TEST(LayoutAlignment, FactorsAreSplit) {
  EXPECT_EQ(align("[(8: a)]", "[(2)(4: a)]"), "[(2: a)(4)] | [(2)(4: a)]");
}

TEST(LayoutAlignment, FactorsAreMerged) {
  EXPECT_EQ(align("[(2: a)(3)]", "[(6: c)]"), "[(6: a)] | [(6: c)]");
}

TEST(LayoutAlignment, WhereThereIsNoWay) {
  EXPECT_EQ(align("[(8: c)]", "[(2)(4: c)]"), "no: [(8: c)] | [(2)(4: c)]");
  EXPECT_EQ(align("[(4: a) + (4: a)(2)]", "[(12: a)]").substr(0, 3), "no:");
}

TEST(LayoutAlignment, EveryDeviceKeepsWhatItHas) {
  Random random(21);
  int agreed = 0;
  for (int round = 0; round < 3000; ++round) {
    MeshShape mesh = random.mesh();
    AxisNames axes;
    for (const MeshAxis &axis : mesh.axes)
      axes.push_back(axis.name);
    DimLayout a = random.dim(axes, 2, 3, 4), b = random.dim(axes, 2, 3, 4);
    if (a.extent() != b.extent())
      continue;
    DimLayout one = a, other = b;
    bool same = alignFactors(one, other, mesh);
    SCOPED_TRACE(toString(a) + " | " + toString(b));
    agreed += same;
    EXPECT_EQ(same, haveSameFactors(one, other));
    EXPECT_TRUE(reference::same(a, one, mesh));
    EXPECT_TRUE(reference::same(b, other, mesh));
  }
  EXPECT_GT(agreed, 50);
}

} // namespace
