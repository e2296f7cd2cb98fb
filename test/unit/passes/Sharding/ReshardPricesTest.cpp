// What reshards cost, by layouts and by their numbers; references to prices stay.

#include "passes/Sharding/Reshards/ReshardPrices.h"

#include "test/unit/planning/FlatMachine.h"

#include "dialects/Dist/IR/PricesOnMesh.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace dpc;
using dpc::test::makeFlatMachine;
using namespace dpc::dist;

namespace {

Layout parse(llvm::StringRef layout) { return llvm::cantFail(parseLayout(layout)); }

/// Prices on mesh a=2, b=2, micro=2 (sequential), of a link that sends a byte in 1 ns.
class ReshardPricesTest : public testing::Test {
protected:
  const Price &costOf(llvm::StringRef from, llvm::StringRef to, int64_t bytes) {
    return prices.getCost(parse(from), parse(to), bytes);
  }

  const MeshShape mesh{{"micro", 2, true}, {"a", 2}, {"b", 2}};
  const MeshPrices meshPrices = dist::getMeshPrices(makeFlatMachine(5e10, 1e10, 1e9, 1e-6), mesh);
  ReshardPrices prices{mesh, meshPrices};
};

TEST_F(ReshardPricesTest, PricesThePlan) {
  // Of 32 f32 on two devices an all-reduce sends twice a half.
  const Price &sum = costOf("[8], [4] partial sum(a)", "[8], [4]", 128);
  EXPECT_EQ(sum.bytes, 128);
  auto plan =
      planReshard({parse("[8], [4] partial sum(a)"), parse("[8], [4]"), mesh, meshPrices, 4});
  ASSERT_TRUE(bool(plan));
  EXPECT_EQ(sum.seconds, plan->seconds);
  EXPECT_GT(sum.seconds, 1e-6);
  // An all-gather sends a half of it. A slice sends nothing.
  EXPECT_EQ(costOf("[(8: a)], [4]", "[8], [4]", 128).bytes, 64);
  EXPECT_EQ(costOf("[8], [4]", "[(8: a)], [4]", 128).bytes, 0);
}

TEST_F(ReshardPricesTest, TakesTheBytesOfAnElementFromTheTensor) {
  EXPECT_EQ(costOf("[(8: a)], [4]", "[8], [4]", 64).bytes, 32);
  EXPECT_EQ(costOf("[(8: a)], [4]", "[8], [4]", 256).bytes, 128);
  // At least one byte each.
  EXPECT_EQ(costOf("[(8: a)], [4]", "[8], [4]", 4).bytes, 16);
  EXPECT_EQ(costOf("[(8: a)], [4]", "[8], [4]", 0).bytes, 16);
}

TEST_F(ReshardPricesTest, AsksNothingForTheSameLayout) {
  const Price &same = costOf("[(8: a)]", "[(8: a)]", 32);
  EXPECT_EQ(same.seconds, 0);
  EXPECT_EQ(same.bytes, 0);
  EXPECT_EQ(prices.layouts.size(), 0u); // not even a number
  const unsigned cut = prices.layouts.getNumber(parse("[(8: a)]"));
  EXPECT_EQ(prices.getCost(cut, cut, 32).seconds, 0);
  // Other factors, of which devices hold the same.
  EXPECT_EQ(costOf("[(8: a)]", "[(4: a)(2)]", 32).bytes, 0);
  EXPECT_EQ(costOf("[(8: a)]", "[(4: a)(2)]", 32).seconds, 0);
}

TEST_F(ReshardPricesTest, IsInfiniteWhereThereIsNoWay) {
  // No step makes partial sums of a whole tensor.
  const Price &none = costOf("[8]", "[8] partial sum(a)", 32);
  EXPECT_TRUE(std::isinf(none.seconds) && none.seconds > 0);
  EXPECT_TRUE(std::isinf(none.bytes) && none.bytes > 0);
}

TEST_F(ReshardPricesTest, KeepsReferencesToPrices) {
  const Price &first = costOf("[(8: a)]", "[8]", 32);
  const Price before = first;
  for (int64_t extent = 1; extent <= 200; ++extent)
    prices.getCost(Layout{{DimLayout{Segment{Factor(extent, {"a"})}}}, {}},
                   Layout::replicated({extent}), 4 * extent);
  EXPECT_EQ(&costOf("[(8: a)]", "[8]", 32), &first);
  EXPECT_EQ(first.bytes, before.bytes);
  EXPECT_EQ(first.seconds, before.seconds);
  const unsigned from = prices.layouts.getNumber(parse("[(8: a)]")),
                 to = prices.layouts.getNumber(parse("[8]"));
  EXPECT_EQ(&prices.getCost(from, to, 32), &first);
  // The other direction and another size are other questions.
  EXPECT_NE(&prices.getCost(to, from, 32), &first);
  EXPECT_NE(&prices.getCost(from, to, 64), &first);
}

} // namespace
