// Memory plans: hand cases and errors.

#include "test/unit/passes/Memory/SolvedPlan.h"

using namespace dpc;
using namespace dpc::test;

namespace {

LiveBuffer buffer(int64_t size, int64_t firstUse, int64_t lastUse, int64_t alignment = 1) {
  LiveBuffer result;
  result.size = size;
  result.alignment = alignment;
  result.firstUse = firstUse;
  result.lastUse = lastUse;
  return result;
}

MemoryProblem problem(std::initializer_list<LiveBuffer> buffers) {
  MemoryProblem result;
  result.buffers = buffers;
  result.regions[0].name = "arena";
  return result;
}

TEST(MemoryPlan, NothingToPlace) {
  EXPECT_EQ(solve(problem({})).regions[0].peak, 0);
  MemoryProblem p = problem({buffer(0, 0, 9), buffer(0, 0, 9)});
  EXPECT_EQ(solve(p).regions[0].peak, 0);
}

TEST(MemoryPlan, DeadBuffersGiveTheirPlace) {
  MemoryPlan plan = solve(problem({buffer(10, 0, 2), buffer(5, 1, 3), buffer(10, 2, 4)}));
  EXPECT_EQ(plan.regions[0].peak, 15);
  EXPECT_EQ(plan.regions[0].lowerBound, 15);
  EXPECT_EQ(plan.offsets[0], plan.offsets[2]);
}

TEST(MemoryPlan, OffsetsAndPeakAreAligned) {
  MemoryPlan plan =
      solve(problem({buffer(10, 0, 1, 64), buffer(70, 0, 1, 64), buffer(1, 0, 1, 256)}));
  // 64 + 128 + 64, the last at a multiple of 256 (which is 0).
  EXPECT_EQ(plan.regions[0].peak, 256);
  EXPECT_EQ(plan.offsets[2], 0);
}

TEST(MemoryPlan, RegionsAreApart) {
  MemoryProblem p = problem({buffer(10, 0, 2), buffer(20, 0, 2)});
  p.regions.push_back({"shared", 20});
  p.buffers[1].region = 1;
  MemoryPlan plan = solve(p);
  EXPECT_EQ(plan.regions[0].peak, 10);
  EXPECT_EQ(plan.regions[1].peak, 20);
  p.regions[1].capacity = 19;
  EXPECT_EQ(text(planMemory(p)->verify(p)), "region 'shared' needs 20 bytes of 19");
}

TEST(MemoryPlan, FixedBuffersAreObstacles) {
  MemoryProblem p = problem({buffer(10, 0, 4), buffer(6, 1, 3), buffer(4, 0, 4)});
  p.buffers[0].fixedOffset = 5;
  MemoryPlan plan = solve(p);
  EXPECT_EQ(plan.offsets[0], 5);
  EXPECT_EQ(plan.offsets[1], 15);
  EXPECT_EQ(plan.offsets[2], 0);
  // Two fixed buffers may overlap in memory if they never live together.
  p = problem({buffer(10, 0, 2), buffer(10, 2, 4)});
  p.buffers[0].fixedOffset = 0;
  p.buffers[1].fixedOffset = 5;
  EXPECT_EQ(solve(p).regions[0].peak, 15);
}

TEST(MemoryPlan, InPlaceOutputTakesItsInputsPlace) {
  MemoryProblem p = problem({buffer(10, 0, 2), buffer(10, 1, 3), buffer(10, 2, 4)});
  EXPECT_EQ(solve(p).regions[0].peak, 20);
  p.buffers[1].inPlaceOf = 0;
  p.buffers[2].inPlaceOf = 1;
  MemoryPlan plan = solve(p);
  EXPECT_EQ(plan.regions[0].peak, 10);
  EXPECT_EQ(plan.regions[0].lowerBound, 10);
}

TEST(MemoryPlan, InPlaceNeedsTheInputToDie) {
  MemoryProblem p = problem({buffer(10, 0, 3), buffer(10, 1, 4)});
  p.buffers[1].inPlaceOf = 0; // the input is read once more in step 2
  EXPECT_EQ(solve(p).regions[0].peak, 20);
  // Born together: nothing was there to be replaced.
  p = problem({buffer(10, 0, 1), buffer(10, 0, 2)});
  p.buffers[1].inPlaceOf = 0;
  EXPECT_EQ(solve(p).regions[0].peak, 20);
  // In another region.
  p = problem({buffer(10, 0, 2), buffer(10, 1, 2)});
  p.regions.emplace_back();
  p.buffers[1].inPlaceOf = 0;
  p.buffers[1].region = 1;
  EXPECT_EQ(solve(p).regions[1].peak, 10);
}

TEST(MemoryPlan, OneOutputAlonePerInput) {
  MemoryProblem p = problem({buffer(10, 0, 2), buffer(8, 1, 3), buffer(10, 1, 3)});
  p.buffers[1].inPlaceOf = p.buffers[2].inPlaceOf = 0;
  MemoryPlan plan = solve(p);
  EXPECT_EQ(plan.regions[0].peak, 18);
  EXPECT_EQ(plan.offsets[2], plan.offsets[0]);
}

/// Joined, the pair would hold 100 bytes to the end: 100 + 90. Apart, the small
/// output lies beside its input for a step and leaves 90 of the 100 free.
TEST(MemoryPlan, InPlaceIsGivenUpWhereItCosts) {
  MemoryProblem p = problem({buffer(100, 0, 2), buffer(10, 1, 9), buffer(95, 2, 9)});
  p.buffers[1].inPlaceOf = 0;
  EXPECT_EQ(solve(p).regions[0].peak, 110);
}

TEST(MemoryPlan, FixedInPlacePairSharesItsOffset) {
  for (int64_t size : {4, 8, 12}) {
    MemoryProblem p = problem({buffer(8, 0, 3), buffer(size, 2, 5), buffer(8, 1, 4)});
    p.buffers[0].fixedOffset = p.buffers[1].fixedOffset = 0;
    p.buffers[1].inPlaceOf = 0;
    EXPECT_EQ(solve(p).regions[0].peak, std::max<int64_t>(size, 8) + 8);
    p.buffers[1].inPlaceOf = -1;
    EXPECT_EQ(text(p.check()), "buffers 0 at [0, 8) and 1 at [0, " + std::to_string(size) +
                                   ") are both live in step 2");
  }
}

TEST(MemoryPlan, RefusesUnsoundProblems) {
  MemoryProblem p = problem({buffer(1, 0, 1), buffer(1, 0, 1)});
  auto refused = [&](auto change) {
    MemoryProblem changed = p;
    change(changed.buffers[1]);
    return text(planMemory(changed).takeError());
  };
  using B = LiveBuffer;
  EXPECT_EQ(refused([](B &b) { b.size = -1; }), "buffer 1 has -1 bytes");
  EXPECT_EQ(refused([](B &b) { b.alignment = 24; }),
            "buffer 1 has alignment 24, not a power of two");
  EXPECT_EQ(refused([](B &b) { b.lastUse = 0; }), "buffer 1 has the empty lifetime [0, 0)");
  EXPECT_EQ(refused([](B &b) { b.region = 1; }), "buffer 1 lies in region 1 of 1");
  EXPECT_EQ(refused([](B &b) { b.inPlaceOf = 1; }), "buffer 1 of 2 is in place of buffer 1");
  EXPECT_EQ(refused([](B &b) { b.inPlaceOf = 2; }), "buffer 1 of 2 is in place of buffer 2");
  EXPECT_EQ(refused([](B &b) {
              b.alignment = 4;
              b.fixedOffset = 6;
            }),
            "buffer 1 is fixed at byte 6, not a multiple of 4");
  EXPECT_EQ(refused([](B &b) { b.size = INT64_MAX; }), "2 buffers need more than 63 bits of bytes");
  EXPECT_EQ(refused([](B &b) { b.alignment = int64_t(1) << 62; }),
            "2 buffers need more than 63 bits of bytes");
  p.regions[0].capacity = -1;
  EXPECT_EQ(text(p.check()), "region 'arena' has a capacity of -1 bytes");
}

/// Each way of spoiling a sound plan is found.
TEST(MemoryPlan, VerifyFindsUnsoundAnswers) {
  MemoryProblem p = problem({buffer(8, 0, 2, 8), buffer(8, 1, 3, 8), buffer(8, 0, 4, 8),
                             buffer(8, 2, 4, 8), buffer(24, 4, 5, 8)});
  p.buffers[3].fixedOffset = 0;
  MemoryPlan good = solve(p);
  ASSERT_EQ(good.offsets, (std::vector<int64_t>{0, 16, 8, 0, 0}));
  auto spoiled = [&](auto change) {
    MemoryPlan plan = good;
    change(plan);
    return text(plan.verify(p));
  };
  using P = MemoryPlan;
  EXPECT_EQ(spoiled([](P &plan) { plan.offsets.pop_back(); }),
            "the plan has 4 offsets for 5 buffers");
  EXPECT_EQ(spoiled([](P &plan) { plan.regions.pop_back(); }), "the plan has 0 regions of 1");
  EXPECT_EQ(spoiled([](P &plan) { plan.offsets[0] = 4; }),
            "buffer 0 lies at byte 4, not a multiple of 8");
  EXPECT_EQ(spoiled([](P &plan) { plan.offsets[3] = 8; }),
            "buffer 3 lies at byte 8 but is fixed at 0");
  EXPECT_EQ(spoiled([](P &plan) { plan.regions[0].peak = 16; }),
            "region 'arena' records a peak of 16 bytes, its buffers need 24");
  EXPECT_EQ(spoiled([](P &plan) { plan.regions[0].lowerBound = 32; }),
            "region 'arena' has a peak of 24 bytes, below its lower bound of "
            "32");
  EXPECT_EQ(spoiled([](P &plan) { plan.offsets[1] = 8; }),
            "buffers 2 at [8, 16) and 1 at [8, 16) are both live in step 1");
  p.buffers[1].inPlaceOf = 0;
  EXPECT_EQ(spoiled([](P &plan) { plan.offsets[1] = 0; }),
            "buffers 1 at [0, 8) and 3 at [0, 8) are both live in step 2");
}

} // namespace
