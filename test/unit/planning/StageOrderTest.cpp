// The text form of the order of a stage.

#include "planning/StageOrder.h"

#include <gtest/gtest.h>

using namespace dpc;

TEST(StageOrder, HasATextForm) {
  llvm::Expected<StageOrder> order = StageOrder::parse("v3.0 w3.0 r0.0  s5.12");
  ASSERT_TRUE(bool(order));
  ASSERT_EQ(order->steps.size(), 4u);
  EXPECT_EQ(order->steps[0].kind, StageStep::recv);
  EXPECT_EQ(order->steps[1].kind, StageStep::wait);
  EXPECT_EQ(order->steps[2].kind, StageStep::run);
  EXPECT_EQ(order->steps[3].kind, StageStep::send);
  EXPECT_EQ(order->steps[3].index, 5);
  EXPECT_EQ(order->steps[3].microbatch, 12);
  EXPECT_EQ(order->toString(), "v3.0 w3.0 r0.0 s5.12");
  EXPECT_EQ(StageOrder().toString(), "");
}

TEST(StageOrder, RefusesOtherTexts) {
  for (const char *text : {"x3.0", "v3", "v.0", "v3.", "v-1.0", "v3.-1", "3.0", "v3.0x", "r"}) {
    llvm::Expected<StageOrder> order = StageOrder::parse(std::string("r0.0 ") + text);
    ASSERT_FALSE(bool(order)) << text;
    EXPECT_EQ(llvm::toString(order.takeError()),
              "'" + std::string(text) + "' is no step of a stage");
  }
}
