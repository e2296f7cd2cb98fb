// Layouts by number, and which of them are the same to devices.

#include "passes/Sharding/Reshards/LayoutTable.h"

#include <gtest/gtest.h>

using namespace dpc;
using namespace dpc::dist;

namespace {

Layout parse(llvm::StringRef layout) { return llvm::cantFail(parseLayout(layout)); }

const MeshShape mesh{{"micro", 2, true}, {"a", 2}, {"b", 3}};

bool isSame(llvm::StringRef one, llvm::StringRef two) {
  const bool same = sameLayout(parse(one), parse(two), mesh);
  EXPECT_EQ(sameLayout(parse(two), parse(one), mesh), same);
  return same;
}

TEST(LayoutTableTest, ComparesWhatDevicesHold) {
  EXPECT_TRUE(isSame("[(4: a)(2)]", "[(4: a)(2)]"));
  EXPECT_TRUE(isSame("[(2)(4)]", "[8]"));
  // Cut in halves, both are 0 to 3 and 4 to 7. In thirds, 8 leaves 3, 3 and 2, but 4 times 2
  // leaves 4, 4 and none.
  EXPECT_TRUE(isSame("[(8: a)]", "[(4: a)(2)]"));
  EXPECT_FALSE(isSame("[(8: b)]", "[(4: b)(2)]"));
  EXPECT_FALSE(isSame("[(8: a)], [8]", "[8], [(8: a)]"));
  EXPECT_FALSE(isSame("[(6: a)]", "[(6: b)]"));
}

TEST(LayoutTableTest, ComparesPartialAxes) {
  EXPECT_TRUE(isSame("[8] partial sum(a,b)", "[8] partial sum(b,a)"));
  EXPECT_FALSE(isSame("[8] partial sum(a)", "[8]"));
  EXPECT_FALSE(isSame("[8] partial sum(a)", "[8] partial max(a)"));
  EXPECT_FALSE(isSame("[8] partial sum(a)", "[8] partial sum(b)"));
}

TEST(LayoutTableTest, GivesEqualLayoutsOneNumber) {
  LayoutTable table(mesh);
  const unsigned cut = table.getNumber(parse("[(8: a)]")), whole = table.getNumber(parse("[8]"));
  EXPECT_NE(cut, whole);
  EXPECT_EQ(table.getNumber(parse("[(8: a)]")), cut);
  EXPECT_EQ(table.getNumber(parse("[8]")), whole);
  EXPECT_EQ(table.size(), 2u);
  EXPECT_EQ(toString(table[cut]), "[(8: a)]");
}

/// A layout of other factors keeps its own number, whatever devices hold.
TEST(LayoutTableTest, KeepsFactorsApart) {
  LayoutTable table(mesh);
  const unsigned one = table.getNumber(parse("[(8: a)]")),
                 two = table.getNumber(parse("[(4: a)(2)]")),
                 three = table.getNumber(parse("[(8: b)]"));
  EXPECT_NE(one, two);
  // Twice: the second answer is the remembered one.
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(table.isSame(one, one));
    EXPECT_TRUE(table.isSame(one, two));
    EXPECT_TRUE(table.isSame(two, one));
    EXPECT_FALSE(table.isSame(one, three));
    EXPECT_FALSE(table.isSame(three, one));
  }
  EXPECT_EQ(table.size(), 3u);
}

TEST(LayoutTableTest, KeepsReferencesWhileItGrows) {
  LayoutTable table(mesh);
  const Layout &first = table[table.getNumber(parse("[(8: a)]"))];
  for (int64_t extent = 1; extent <= 1000; ++extent)
    table.getNumber(Layout::replicated({extent}));
  EXPECT_EQ(table.size(), 1001u);
  EXPECT_EQ(&first, &table[0]);
  EXPECT_EQ(toString(first), "[(8: a)]");
}

TEST(LayoutTableTest, KnowsSumsThatDevicesHaveLeft) {
  LayoutTable table(mesh);
  auto isPartialSum = [&](llvm::StringRef layout) {
    return table.isPartialSum(table.getNumber(parse(layout)));
  };
  EXPECT_TRUE(isPartialSum("[8] partial sum(a)"));
  EXPECT_TRUE(isPartialSum("[8] partial sum(micro,a)"));
  EXPECT_TRUE(isPartialSum("[8] partial max(b), sum(a)"));
  EXPECT_FALSE(isPartialSum("[8]"));
  EXPECT_FALSE(isPartialSum("[(8: a)]"));
  EXPECT_FALSE(isPartialSum("[8] partial max(a)"));
  // A device walks a sequential axis itself.
  EXPECT_FALSE(isPartialSum("[8] partial sum(micro)"));
}

} // namespace
