// Prices of plain numbers.

#include "planning/Prices.h"

#include "gtest/gtest.h"

using namespace dpc;

namespace {

constexpr Device kDevice{/*flopsPerSecond=*/100, /*memoryBytesPerSecond=*/10};
constexpr Link kLink{/*bytesPerSecond=*/50, /*latencySeconds=*/3};

TEST(Prices, WorkIsOperationsAndBytes) { EXPECT_DOUBLE_EQ(computeSeconds(kDevice, 200, 30), 5); }

TEST(Prices, CopiesThatReorderCostAPartOfAPassOverMemory) {
  EXPECT_DOUBLE_EQ(reorderSeconds(kDevice, 100), computeSeconds(kDevice, 0, 10));
}

TEST(Prices, CollectivesSendTheOthersParts) {
  for (CollectiveKind kind :
       {CollectiveKind::allGather, CollectiveKind::reduceScatter, CollectiveKind::allToAll}) {
    const Price price = priceCollective(kind, 400, 4, kLink);
    EXPECT_DOUBLE_EQ(price.bytes, 300);
    EXPECT_DOUBLE_EQ(price.seconds, 3 + 300. / 50);
  }
}

TEST(Prices, AnAllReduceSendsTwiceAndStartsOnce) {
  const Price price = priceCollective(CollectiveKind::allReduce, 400, 4, kLink);
  EXPECT_DOUBLE_EQ(price.bytes, 600);
  EXPECT_DOUBLE_EQ(price.seconds, 3 + 600. / 50);
}

} // namespace
