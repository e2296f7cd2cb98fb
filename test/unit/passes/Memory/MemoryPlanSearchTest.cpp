// Memory plans: optimality, hard and large instances.

#include "test/unit/passes/Memory/SolvedPlan.h"

#include <ctime>
#include <functional>
#include <random>

using namespace dpc;
using namespace dpc::test;

namespace {

/// Is there any plan within `capacity`? Tries every offset of every buffer.
bool fitsByBruteForce(const MemoryProblem &problem, int64_t capacity) {
  std::vector<int64_t> offsets;
  auto clash = [&](size_t i, int64_t offset) {
    const LiveBuffer &a = problem.buffers[i];
    for (size_t j = 0; j < offsets.size(); ++j) {
      const LiveBuffer &b = problem.buffers[j];
      if (a.firstUse >= b.lastUse || b.firstUse >= a.lastUse || offset >= offsets[j] + b.size ||
          offsets[j] >= offset + a.size)
        continue;
      bool inPlace = (a.inPlaceOf == static_cast<int64_t>(j) && b.lastUse == a.firstUse + 1 &&
                      b.firstUse < a.firstUse) ||
                     (b.inPlaceOf == static_cast<int64_t>(i) && a.lastUse == b.firstUse + 1 &&
                      a.firstUse < b.firstUse);
      if (!inPlace || offset != offsets[j])
        return true;
    }
    return false;
  };
  std::function<bool()> place = [&]() {
    size_t i = offsets.size();
    if (i == problem.buffers.size())
      return true;
    const LiveBuffer &b = problem.buffers[i];
    for (int64_t o = 0; o + b.size <= capacity; o += b.alignment) {
      if ((b.fixedOffset && *b.fixedOffset != o) || clash(i, o))
        continue;
      offsets.push_back(o);
      bool found = place();
      offsets.pop_back();
      if (found)
        return true;
    }
    return false;
  };
  return place();
}

MemoryProblem randomProblem(std::mt19937 &random, int buffers, int steps, int maxSize,
                            bool aligned) {
  MemoryProblem problem;
  for (int i = 0; i < buffers; ++i) {
    LiveBuffer b;
    b.size = 1 + random() % maxSize;
    b.alignment = aligned ? 1 << random() % 3 : 1;
    b.firstUse = random() % steps;
    b.lastUse = b.firstUse + 1 + random() % (steps - b.firstUse);
    problem.buffers.push_back(b);
  }
  return problem;
}

TEST(MemoryPlanSearch, RandomSmallProblemsAreOptimal) {
  std::mt19937 random(1);
  int aboveBound = 0, repaired = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    MemoryProblem p = randomProblem(random, 1 + random() % 8, 8, 5, trial % 2);
    if (trial % 3 == 0)
      p.buffers.front().fixedOffset = p.buffers.front().alignment;
    MemoryPlan plan = solve(p);
    const RegionUse &use = plan.regions[0];
    int64_t unit = 4;
    for (const LiveBuffer &b : p.buffers)
      unit = std::min(unit, b.alignment);
    // The peak is counted in whole units; so is the brute force's capacity.
    ASSERT_TRUE(fitsByBruteForce(p, use.peak));
    ASSERT_FALSE(fitsByBruteForce(p, use.peak - unit)) << trial;
    aboveBound += use.peak > use.lowerBound;
    repaired += use.peak < use.firstFitPeak;
  }
  EXPECT_GT(aboveBound, 10);
  EXPECT_GT(repaired, 10);
}

/// With in-place permissions the plan is sound and never below the true
/// optimum, and the reported bound is a bound.
TEST(MemoryPlanSearch, RandomInPlaceProblemsAreSound) {
  std::mt19937 random(2);
  int shared = 0, optimal = 0, trials = 600;
  for (int trial = 0; trial < trials; ++trial) {
    MemoryProblem p = randomProblem(random, 2 + random() % 6, 6, 5, false);
    for (size_t i = 0; i < p.buffers.size(); ++i)
      for (size_t j = 0; j < p.buffers.size(); ++j)
        if (i != j && p.buffers[j].lastUse == p.buffers[i].firstUse + 1)
          p.buffers[i].inPlaceOf = j;
    MemoryPlan plan = solve(p);
    const RegionUse &use = plan.regions[0];
    ASSERT_FALSE(fitsByBruteForce(p, use.lowerBound - 1)) << trial;
    optimal += !fitsByBruteForce(p, use.peak - 1);
    for (LiveBuffer &b : p.buffers)
      b.inPlaceOf = -1;
    shared += use.peak < solve(p).regions[0].peak;
  }
  EXPECT_GT(shared, trials / 20);
  EXPECT_GT(optimal, trials * 17 / 20);
}

/// Cuts a rectangle of `steps` x `bytes` into `count` buffers that fill it
/// without a gap: the optimum equals the load, and only one of very many
/// placements reaches it.
MemoryProblem perfectPacking(std::mt19937 &random, int count, int64_t steps, int64_t bytes) {
  struct Piece {
    int64_t first, last, bytes;
  };
  std::vector<Piece> pieces = {{0, steps, bytes}};
  while (static_cast<int>(pieces.size()) < count) {
    Piece &piece = pieces[random() % pieces.size()];
    int64_t length = piece.last - piece.first;
    Piece other = piece;
    if (random() % 2 && length > 1) {
      other.first = piece.last = piece.first + 1 + random() % (length - 1);
    } else if (piece.bytes > 1) {
      other.bytes = 1 + random() % (piece.bytes - 1);
      piece.bytes -= other.bytes;
    } else {
      continue;
    }
    pieces.push_back(other);
  }
  std::shuffle(pieces.begin(), pieces.end(), random);
  MemoryProblem problem;
  for (const Piece &piece : pieces) {
    LiveBuffer b;
    b.size = piece.bytes;
    b.alignment = 1;
    b.firstUse = piece.first;
    b.lastUse = piece.last;
    problem.buffers.push_back(b);
  }
  return problem;
}

/// First fit misses the optimum on packings without slack, as published; the
/// exact search finds it.
TEST(MemoryPlanSearch, PerfectPackingsAreFound) {
  std::mt19937 random(3);
  int missed = 0, trials = 30;
  for (int trial = 0; trial < trials; ++trial) {
    MemoryProblem p = perfectPacking(random, 30, 40, 4096);
    MemoryPlan plan = solve(p);
    EXPECT_EQ(plan.regions[0].lowerBound, 4096);
    EXPECT_EQ(plan.regions[0].peak, 4096) << trial;
    missed += plan.regions[0].firstFitPeak > 4096;
  }
  EXPECT_GT(missed, trials / 3);
}

/// 100 to 400 buffers without slack: first fit needs well above the load, and
/// the repair brings the peak down within its budget.
TEST(MemoryPlanSearch, RepairLowersThePeakOfHardInstances) {
  std::mt19937 random(4);
  for (int count : {100, 200, 400}) {
    MemoryProblem p = perfectPacking(random, count, 200, 1 << 20);
    MemoryPlan plan = solve(p);
    const RegionUse &use = plan.regions[0];
    EXPECT_GT(use.firstFitPeak, use.lowerBound) << count;
    if (count < 400) {
      EXPECT_LT(use.peak, use.firstFitPeak) << count;
    }
    std::printf("%d buffers: load %lld, first fit %.3f, repaired %.3f\n", count,
                static_cast<long long>(use.lowerBound), double(use.firstFitPeak) / use.lowerBound,
                double(use.peak) / use.lowerBound);
  }
}

/// A contended stretch inside a long program is repaired by itself.
TEST(MemoryPlanSearch, ContendedWindowOfALongProgram) {
  std::mt19937 random(5);
  MemoryProblem p = perfectPacking(random, 60, 30, 1000);
  for (LiveBuffer &b : p.buffers) {
    b.firstUse += 1000;
    b.lastUse += 1000;
  }
  for (int64_t step = 0; step < 3000; ++step) {
    LiveBuffer b;
    b.size = 1 + random() % 100;
    b.alignment = 1;
    b.firstUse = step;
    b.lastUse = step + 1 + random() % 5;
    if (b.lastUse <= 1000 || b.firstUse >= 1030)
      p.buffers.push_back(b);
  }
  LiveBuffer parameters;
  parameters.size = 500;
  parameters.alignment = 1;
  parameters.lastUse = 4000;
  p.buffers.push_back(parameters);
  MemoryPlan plan = solve(p);
  EXPECT_GT(plan.regions[0].firstFitPeak, 1500);
  EXPECT_EQ(plan.regions[0].peak, 1500);
}

/// A training step: activations born in order and freed in reverse, short
/// temporaries between.
MemoryProblem trainingStep() {
  std::mt19937 random(6);
  MemoryProblem p;
  int64_t layers = 3000;
  for (int64_t i = 0; i < layers; ++i) {
    LiveBuffer activation;
    activation.size = 64 << random() % 10;
    activation.firstUse = i;
    activation.lastUse = 2 * layers - i;
    p.buffers.push_back(activation);
    for (int64_t step : {i, 2 * layers - i - 1})
      if (static_cast<int64_t>(p.buffers.size()) < 10000) {
        LiveBuffer temporary;
        temporary.size = 64 << random() % 12;
        temporary.firstUse = step;
        temporary.lastUse = step + 1 + random() % 4;
        p.buffers.push_back(temporary);
      }
  }
  while (p.buffers.size() < 10000) {
    LiveBuffer b;
    b.size = 1 + random() % 5000;
    b.firstUse = random() % (2 * layers);
    b.lastUse = b.firstUse + 1 + random() % 100;
    p.buffers.push_back(b);
  }
  return p;
}

void expectWithinASecond(const char *name, const MemoryProblem &problem) {
  std::clock_t start = std::clock(); // processor time: other jobs do not count
  llvm::Expected<MemoryPlan> plan = planMemory(problem);
  double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  ASSERT_TRUE(bool(plan));
  EXPECT_EQ(text(plan->verify(problem)), "");
  const RegionUse &use = plan->regions[0];
  std::printf("%s, %zu buffers in %.3f s: first fit %.4f, repaired %.4f\n", name,
              problem.buffers.size(), seconds, double(use.firstFitPeak) / use.lowerBound,
              double(use.peak) / use.lowerBound);
#ifdef NDEBUG
  EXPECT_LT(seconds, 1.0);
#endif
}

TEST(MemoryPlanSearch, TenThousandBuffersInASecond) {
  expectWithinASecond("training step", trainingStep());
  std::mt19937 random(8);
  expectWithinASecond("random lifetimes", randomProblem(random, 10000, 5000, 100000, false));
  expectWithinASecond("no slack", perfectPacking(random, 10000, 5000, 1 << 30));
}

/// Everything at once, and budgets that run out anywhere: always sound.
TEST(MemoryPlanSearch, RandomMixedProblemsAreSound) {
  std::mt19937 random(9);
  int repaired = 0;
  for (int trial = 0; trial < 300; ++trial) {
    MemoryProblem p = randomProblem(random, 60, 40, 200, true);
    p.regions.emplace_back();
    for (size_t i = 0; i < p.buffers.size(); ++i) {
      LiveBuffer &b = p.buffers[i];
      b.lastUse = std::min(b.lastUse, b.firstUse + 1 + int64_t(random() % 15));
      b.region = random() % 8 == 0;
      if (i)
        b.inPlaceOf = random() % i;
    }
    for (LiveBuffer &b : p.buffers)
      if (random() % 10 == 0) {
        b.fixedOffset = 8 * (random() % 50);
        if (llvm::errorToBool(p.check()))
          b.fixedOffset.reset(); // it would lie on another fixed one
      }
    MemoryPlanOptions options;
    options.searchBudget = int64_t(1) << random() % 22;
    MemoryPlan plan = solve(p, options);
    repaired += plan.regions[0].peak < plan.regions[0].firstFitPeak;
    ASSERT_FALSE(HasFailure()) << trial;
  }
  EXPECT_GT(repaired, 5);
}

TEST(MemoryPlanSearch, SamePlanTwice) {
  std::mt19937 random(7);
  MemoryProblem p = perfectPacking(random, 60, 60, 1 << 20);
  EXPECT_EQ(solve(p).offsets, solve(p).offsets);
  MemoryPlanOptions firstFitAlone;
  firstFitAlone.searchBudget = 0;
  MemoryPlan plan = solve(p, firstFitAlone);
  EXPECT_EQ(plan.regions[0].peak, plan.regions[0].firstFitPeak);
}

} // namespace
