// The speed that a progress line shows.
#include "runtime/src/train/Pace.h"

#include <gtest/gtest.h>

using dpc::Pace;

TEST(Pace, FirstStepIsShownAsItWas) {
  Pace pace;
  EXPECT_EQ(pace.stepsPerSecond(), 0);
  EXPECT_EQ(pace.secondsFor(10), 0);
  pace.add(0.5, 0);
  EXPECT_DOUBLE_EQ(pace.stepsPerSecond(), 2);
  EXPECT_DOUBLE_EQ(pace.secondsFor(10), 5);
}

TEST(Pace, OneSlowStepMovesItLittle) {
  Pace pace;
  for (int i = 0; i < 1000; ++i)
    pace.add(0.01, 0);
  pace.add(0.1, 0); // alone it would say 10 steps a second
  EXPECT_LT(pace.stepsPerSecond(), 100);
  EXPECT_GT(pace.stepsPerSecond(), 95);
}

TEST(Pace, FollowsAChangeWithinTheWindow) {
  Pace pace;
  for (int i = 0; i < 1000; ++i)
    pace.add(0.01, 0);
  for (int i = 0; i < 100; ++i)
    pace.add(0.2, 0); // four windows
  EXPECT_NEAR(pace.stepsPerSecond(), 5, 2);
}

// Evaluation every ten steps is time that passes, but no slower step.
TEST(Pace, PausesCountForTheTimeLeftAlone) {
  Pace pace;
  for (int i = 1; i <= 100; ++i)
    pace.add(0.1, i % 10 ? 0 : 1);
  EXPECT_NEAR(pace.stepsPerSecond(), 10, 1e-9);
  EXPECT_NEAR(pace.secondsFor(100), 20, 1e-9);
}
