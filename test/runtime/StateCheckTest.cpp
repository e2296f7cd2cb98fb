// Which ranks a difference of replicated state is blamed on.
#include "runtime/src/session/StateCheck.h"

#include <gtest/gtest.h>

using namespace dpc;

namespace {

TEST(StateCheck, NamesTheMinority) {
  EXPECT_EQ(differenceText("w", {0, 1, 2}, {5, 5, 7}),
            "rank 2 holds other values of w than ranks 0, 1");
  EXPECT_EQ(differenceText("w", {1, 3, 5, 7, 9}, {4, 5, 5, 6, 5}),
            "ranks 1, 7 hold other values of w than ranks 3, 5, 9");
}

TEST(StateCheck, NamesAllRanksWithoutAMajority) {
  EXPECT_EQ(differenceText("w", {0, 1}, {5, 7}), "ranks 0, 1 hold different values of w");
  EXPECT_EQ(differenceText("w", {0, 1, 2, 3}, {5, 7, 5, 7}),
            "ranks 0, 1, 2, 3 hold different values of w");
  EXPECT_EQ(differenceText("w", {0, 1, 2, 3, 4}, {9, 7, 5, 7, 5}),
            "ranks 0, 1, 2, 3, 4 hold different values of w");
}

} // namespace
