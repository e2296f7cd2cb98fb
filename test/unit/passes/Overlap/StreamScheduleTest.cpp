// Stream schedules: hand cases, small problems against all orders, random
// graphs, errors.

#include "passes/Overlap/StreamSchedule.h"
#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace dpc;

namespace {

std::string text(llvm::Error error) { return llvm::toString(std::move(error)); }

ScheduleTask kernel(int64_t durationNs, std::initializer_list<int64_t> deps) {
  ScheduleTask task;
  task.durationNs = durationNs;
  task.dependencies = deps;
  return task;
}

ScheduleTask collective(int64_t group, int64_t durationNs, int64_t bytes,
                        std::initializer_list<int64_t> deps) {
  ScheduleTask task = kernel(durationNs, deps);
  task.group = group;
  task.bytesInFlight = bytes;
  return task;
}

StreamSchedule solve(const ScheduleProblem &problem) {
  llvm::Expected<StreamSchedule> schedule = scheduleStreams(problem);
  if (!schedule) {
    ADD_FAILURE() << text(schedule.takeError());
    return {};
  }
  EXPECT_EQ(text(schedule->verify(problem)), "");
  return *schedule;
}

std::string spell(const std::vector<ScheduleStep> &steps) {
  std::string result;
  for (ScheduleStep step : steps)
    result += "csw"[step.kind] + std::to_string(step.task) + " ";
  return result;
}

/// Backward of three layers (kernels 0, 1, 2 of 100 ns), a gradient all-reduce
/// each (3, 4, 5 of 80 ns), an update each (6, 7, 8 of 10 ns).
ScheduleProblem dataParallelStep() {
  ScheduleProblem p;
  p.tasks = {kernel(100, {}),           kernel(100, {0}),          kernel(100, {1}),
             collective(0, 80, 7, {0}), collective(0, 80, 7, {1}), collective(0, 80, 7, {2}),
             kernel(10, {3}),           kernel(10, {4}),           kernel(10, {5})};
  p.groupOrder = {{3, 4, 5}};
  return p;
}

/// All but the last all-reduce hide; the updates fill part of its time:
/// 300 + 80 + 10 ns, of which 80 - 20 are exposed.
TEST(StreamSchedule, GradientAllReducesHideBehindBackward) {
  StreamSchedule schedule = solve(dataParallelStep());
  EXPECT_EQ(spell(schedule.steps), "c0 s3 c1 s4 c2 s5 w3 c6 w4 c7 w5 c8 ");
  EXPECT_EQ(schedule.makespanNs, 390);
  EXPECT_EQ(schedule.totalExposedNs, 60);
  EXPECT_EQ(schedule.exposedNs, (std::vector<int64_t>{0, 0, 0, 0, 0, 60, 0, 0, 0}));
  EXPECT_EQ(schedule.peakInFlightBytes, 21);
}

/// Under a cap of one bucket the second start waits for the first to end; that
/// has happened by then, so only the place of the wait changes.
TEST(StreamSchedule, CapMovesWaitsForward) {
  ScheduleProblem p = dataParallelStep();
  p.inFlightCap = 7;
  StreamSchedule schedule = solve(p);
  EXPECT_EQ(schedule.peakInFlightBytes, 7);
  EXPECT_EQ(schedule.makespanNs, 390);
  // Slow ones are worth a stall of 50 ns before the last layer, so that they
  // follow each other: [100, 250), [250, 400), [400, 550), update.
  for (int64_t task : {3, 4, 5})
    p.tasks[task].durationNs = 150;
  EXPECT_EQ(solve(p).makespanNs, 560);
}

/// Gathers of the next layers' parameters start before they are needed.
TEST(StreamSchedule, ParametersArePrefetched) {
  ScheduleProblem p;
  p.tasks = {collective(0, 50, 1, {}), collective(0, 50, 1, {}), collective(0, 50, 1, {}),
             kernel(60, {0}),          kernel(60, {1, 3}),       kernel(60, {2, 4})};
  p.groupOrder = {{0, 1, 2}};
  StreamSchedule schedule = solve(p);
  EXPECT_EQ(spell(schedule.steps), "s0 s1 s2 w0 c3 w1 c4 w2 c5 ");
  EXPECT_EQ(schedule.makespanNs, 230);
  p.inFlightCap = 2;
  schedule = solve(p);
  EXPECT_EQ(spell(schedule.steps), "s0 s1 w0 s2 c3 w1 c4 w2 c5 ");
  EXPECT_EQ(schedule.makespanNs, 230);
}

/// The kernel that feeds a collective goes first, whatever its index.
TEST(StreamSchedule, KernelsThatFeedCollectivesGoFirst) {
  ScheduleProblem p;
  p.tasks = {kernel(100, {}), kernel(10, {}), collective(0, 100, 0, {1}), kernel(1, {2})};
  p.groupOrder = {{2}};
  EXPECT_EQ(spell(solve(p).steps), "c1 s2 c0 w2 c3 ");
  p.computeOrder = {0, 1, 3};
  EXPECT_EQ(spell(solve(p).steps), "c0 c1 s2 w2 c3 ");
}

/// Divided updates: a scatter (4 to 7, 30 ns) of each of four layers'
/// gradients, an update (8 to 11) of a share, its gather (12 to 15). An update
/// goes between two layers once its scatter has ended, so that its gather hides
/// too, but nothing stalls for it: 400 + 30 + 10 + 30 ns.
TEST(StreamSchedule, UpdatesThatFeedGathersGoBetween) {
  ScheduleProblem p;
  for (int64_t layer = 0; layer < 4; ++layer)
    p.tasks.push_back(kernel(100, {}));
  for (int64_t layer = 1; layer < 4; ++layer)
    p.tasks[layer].dependencies = {layer - 1};
  for (int64_t layer = 0; layer < 4; ++layer)
    p.tasks.push_back(collective(0, 30, 0, {layer}));
  for (int64_t layer = 0; layer < 4; ++layer)
    p.tasks.push_back(kernel(10, {4 + layer}));
  for (int64_t layer = 0; layer < 4; ++layer)
    p.tasks.push_back(collective(0, 30, 0, {8 + layer}));
  p.groupOrder = {{4, 5, 12, 6, 13, 7, 14, 15}};
  StreamSchedule schedule = solve(p);
  EXPECT_EQ(spell(schedule.steps),
            "c0 s4 c1 s5 w4 c8 s12 c2 s6 w5 c9 s13 c3 s7 w6 c10 s14 w7 c11 s15 "
            "w12 w13 w14 w15 ");
  EXPECT_EQ(schedule.makespanNs, 420 + 30 + 2 * 30);
}

/// What nobody waits for comes right after what it reads, as long as a link does
/// not wait for it: updates 3, 4 and 5 of the gradients 0, 1 and 2.
TEST(StreamSchedule, LocalUpdatesFollowTheirGradients) {
  ScheduleProblem p;
  p.tasks = {kernel(100, {}), kernel(100, {0}), kernel(100, {1}),
             kernel(10, {0}), kernel(10, {1}),  kernel(10, {2})};
  EXPECT_EQ(spell(solve(p).steps), "c0 c3 c1 c4 c2 c5 ");
  // A collective of the last gradient goes before the updates that would delay it.
  p.tasks.push_back(collective(0, 80, 0, {2}));
  p.groupOrder = {{6}};
  EXPECT_EQ(spell(solve(p).steps), "c0 c1 c2 s6 c3 c4 c5 w6 ");
}

/// Two groups run at the same time; one group's order holds even where the
/// second of it is ready first.
TEST(StreamSchedule, GroupsAreIndependentAndOrdered) {
  ScheduleProblem p;
  p.tasks = {kernel(10, {}), kernel(10, {0}), collective(0, 40, 0, {1}), collective(0, 40, 0, {0}),
             collective(1, 40, 0, {0})};
  p.groupOrder = {{2, 3}, {4}};
  StreamSchedule schedule = solve(p);
  EXPECT_EQ(spell(schedule.steps), "c0 s4 c1 s2 s3 w4 w2 w3 ");
  EXPECT_EQ(schedule.makespanNs, 100);
}

/// A collective on another's result starts after the wait for it.
TEST(StreamSchedule, ChainedCollectives) {
  ScheduleProblem p;
  p.tasks = {kernel(10, {}), collective(0, 20, 1, {0}), collective(1, 20, 1, {1}), kernel(15, {0}),
             kernel(5, {2})};
  p.groupOrder = {{1}, {2}};
  StreamSchedule schedule = solve(p);
  EXPECT_EQ(spell(schedule.steps), "c0 s1 c3 w1 s2 w2 c4 ");
  EXPECT_EQ(schedule.makespanNs, 55);
}

TEST(StreamSchedule, RefusesUnsoundProblems) {
  auto refused = [](auto change) {
    ScheduleProblem p = dataParallelStep();
    change(p);
    return text(scheduleStreams(p).takeError());
  };
  using P = ScheduleProblem;
  EXPECT_EQ(refused([](P &p) { p.tasks[0].durationNs = -1; }), "task 0 takes -1 ns");
  EXPECT_EQ(refused([](P &p) { p.tasks[3].group = 1; }), "task 3 belongs to group 1 of 1");
  EXPECT_EQ(refused([](P &p) { p.tasks[3].bytesInFlight = -1; }), "task 3 has -1 bytes in flight");
  EXPECT_EQ(refused([](P &p) { p.inFlightCap = 6; }),
            "collective 3 has 7 bytes in flight, more than the cap of 6");
  EXPECT_EQ(refused([](P &p) { p.tasks[0].dependencies = {9}; }), "task 0 depends on task 9 of 9");
  EXPECT_EQ(refused([](P &p) { p.tasks[3].bytesInFlight = p.tasks[4].bytesInFlight = INT64_MAX; }),
            "9 tasks have more than 63 bits of bytes in flight");
  EXPECT_EQ(refused([](P &p) { p.groupOrder[0][0] = -1; }),
            "the order of group 0 names task -1 of 9");
  EXPECT_EQ(refused([](P &p) { p.groupOrder[0][0] = 6; }),
            "the order of group 0 names task 6 of group -1");
  EXPECT_EQ(refused([](P &p) { p.groupOrder[0][0] = 4; }),
            "the order of group 0 names task 4 twice");
  EXPECT_EQ(refused([](P &p) { p.groupOrder[0].pop_back(); }), "the order of group 0 lacks task 5");
  EXPECT_EQ(refused([](P &p) { p.computeOrder = {0}; }), "the order of group -1 lacks task 1");
  EXPECT_EQ(refused([](P &p) { p.tasks[0].dependencies = {8}; }),
            "tasks wait for each other: 0, 1, 2, 3, 4, 5, 6, 7, 8");
  EXPECT_EQ(refused([](P &p) { p.tasks[3].dependencies = {7}; }),
            "tasks wait for each other: 3, 4, 5, 6, 7, 8");
  EXPECT_EQ(refused([](P &p) { p.computeOrder = {0, 1, 7, 2, 6, 8}; }), "");
  EXPECT_EQ(refused([](P &p) { p.computeOrder = {1, 0, 2, 6, 7, 8}; }),
            "tasks wait for each other: 0, 1, 2, 3, 4, 5, 6, 7, 8");
}

/// Each way of spoiling a sound schedule is found.
TEST(StreamSchedule, VerifyFindsUnsoundAnswers) {
  ScheduleProblem p = dataParallelStep();
  StreamSchedule good = solve(p);
  auto spoiled = [&](auto change) {
    StreamSchedule schedule = good;
    change(schedule.steps);
    return text(schedule.verify(p));
  };
  // c0 s3 c1 s4 c2 s5 w3 c6 w4 c7 w5 c8
  using S = std::vector<ScheduleStep>;
  EXPECT_EQ(spoiled([](S &s) { s[0].task = 9; }), "a step names task 9 of 9");
  EXPECT_EQ(spoiled([](S &s) { s[0].kind = ScheduleStep::start; }),
            "task 0 of group -1 has a step of the wrong kind");
  EXPECT_EQ(spoiled([](S &s) { s[1].kind = ScheduleStep::compute; }),
            "task 3 of group 0 has a step of the wrong kind");
  EXPECT_EQ(spoiled([](S &s) { s[1].kind = ScheduleStep::wait; }),
            "collective 3 is waited for before its start");
  EXPECT_EQ(spoiled([](S &s) { s[8].task = 3; }), "collective 3 is waited for twice");
  EXPECT_EQ(spoiled([](S &s) { s[2].task = 0; }), "task 0 runs twice");
  EXPECT_EQ(spoiled([](S &s) { s[3].task = 3; }), "task 3 runs twice");
  EXPECT_EQ(spoiled([](S &s) { std::swap(s[0], s[1]); }), "task 3 runs before task 0 is complete");
  EXPECT_EQ(spoiled([](S &s) { std::swap(s[6], s[7]); }), "task 6 runs before task 3 is complete");
  EXPECT_EQ(spoiled([](S &s) {
              s.erase(s.begin() + 1);
              s.insert(s.begin() + 3, {ScheduleStep::start, 3});
            }),
            "collective 4 starts where the order of group 0 has 3");
  EXPECT_EQ(spoiled([](S &s) { s.pop_back(); }), "task 8 never runs");
  EXPECT_EQ(spoiled([](S &s) { s.resize(10); }), "task 5 is never waited for");
  good.peakInFlightBytes = 20;
  EXPECT_EQ(spoiled([](S &) {}), "the schedule records 20 bytes in flight, it has 21");
  good.peakInFlightBytes = 21;
  good.makespanNs = 1;
  EXPECT_EQ(spoiled([](S &) {}), "the schedule records a makespan of 1 ns, it takes 390");
  p.inFlightCap = 20;
  EXPECT_EQ(spoiled([](S &) {}), "collective 5 brings 14 bytes in flight to 7, "
                                 "more than the cap of 20");
  p.inFlightCap = 21;
  p.computeOrder = {0, 1, 2, 7, 6, 8};
  EXPECT_EQ(spoiled([](S &) {}), "task 6 runs where the order has task 7");
}

ScheduleProblem randomProblem(std::mt19937 &random, int tasks, int groups, int collectives) {
  ScheduleProblem p;
  p.groupOrder.resize(groups);
  p.inFlightCap = 4 + random() % 6;
  for (int i = 0; i < tasks; ++i) {
    ScheduleTask task;
    task.durationNs = random() % 10;
    if (static_cast<int>(random() % tasks) < collectives) {
      task.group = random() % groups;
      task.bytesInFlight = random() % 5;
      p.groupOrder[task.group].push_back(i);
    }
    for (int j = std::max(0, i - 8); j < i; ++j)
      if (random() % 4 == 0)
        task.dependencies.push_back(j);
    p.tasks.push_back(task);
  }
  return p;
}

/// The rules said anew, by positions: independent of verify().
bool isLegal(const ScheduleProblem &p, const std::vector<ScheduleStep> &steps) {
  std::vector<int> begin(p.tasks.size(), -1), complete(p.tasks.size(), -1);
  for (int i = 0; i < static_cast<int>(steps.size()); ++i) {
    if (steps[i].kind != ScheduleStep::wait)
      begin[steps[i].task] = i;
    if (steps[i].kind != ScheduleStep::start)
      complete[steps[i].task] = i;
  }
  for (size_t i = 0; i < p.tasks.size(); ++i) {
    if (begin[i] > complete[i])
      return false;
    for (int64_t dependency : p.tasks[i].dependencies)
      if (complete[dependency] > begin[i])
        return false;
  }
  for (const auto &order : p.groupOrder)
    for (size_t i = 1; i < order.size(); ++i)
      if (begin[order[i - 1]] > begin[order[i]])
        return false;
  for (size_t at = 0; at < steps.size(); ++at) {
    int64_t bytes = 0;
    for (size_t i = 0; i < p.tasks.size(); ++i)
      if (p.tasks[i].isCollective() && begin[i] <= static_cast<int>(at) &&
          complete[i] > static_cast<int>(at))
        bytes += p.tasks[i].bytesInFlight;
    if (bytes > p.inFlightCap)
      return false;
  }
  return true;
}

/// All orders of the steps of small problems: verify() accepts exactly the
/// legal ones, and the scheduler's makespan is near the best of them.
TEST(StreamSchedule, SmallProblemsAgainstAllOrders) {
  std::mt19937 random(1);
  int optimal = 0, compared = 0, trials = 150;
  for (int trial = 0; trial < trials; ++trial) {
    ScheduleProblem p = randomProblem(random, 5, 2, 2);
    StreamSchedule schedule = solve(p);
    ASSERT_TRUE(isLegal(p, schedule.steps));
    std::vector<ScheduleStep> steps = schedule.steps;
    if (steps.size() > 7)
      continue;
    auto less = [](ScheduleStep a, ScheduleStep b) {
      return std::pair(a.kind, a.task) < std::pair(b.kind, b.task);
    };
    std::sort(steps.begin(), steps.end(), less);
    int64_t best = INT64_MAX;
    do {
      bool legal = isLegal(p, steps);
      StreamSchedule candidate;
      candidate.steps = steps;
      candidate.makespanNs = -1;
      int64_t bytes = 0;
      for (ScheduleStep step : steps) {
        int64_t moved = p.tasks[step.task].bytesInFlight;
        if (step.kind != ScheduleStep::compute)
          bytes += step.kind == ScheduleStep::start ? moved : -moved;
        candidate.peakInFlightBytes = std::max(candidate.peakInFlightBytes, bytes);
      }
      if (legal) {
        llvm::Expected<Timeline> timeline = simulate(makeSimProblem(p, steps));
        ASSERT_TRUE(bool(timeline));
        candidate.makespanNs = timeline->makespanNs;
        best = std::min(best, timeline->makespanNs);
      }
      ASSERT_EQ(text(candidate.verify(p)).empty(), legal)
          << spell(steps) << text(candidate.verify(p));
    } while (std::next_permutation(steps.begin(), steps.end(), less));
    ASSERT_LE(best, schedule.makespanNs);
    ++compared;
    optimal += schedule.makespanNs == best;
  }
  EXPECT_GT(compared, trials / 2);
  EXPECT_GT(optimal, compared * 9 / 10);
  std::printf("optimal in %d of %d trials\n", optimal, compared);
}

/// Large random graphs: sound, the same twice, never below the bounds.
TEST(StreamSchedule, RandomGraphsAreSound) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 300; ++trial) {
    ScheduleProblem p = randomProblem(random, 1 + random() % 120, 1 + random() % 3, 40);
    if (trial % 2)
      for (size_t i = 0; i < p.tasks.size(); ++i)
        if (!p.tasks[i].isCollective())
          p.computeOrder.push_back(i);
    StreamSchedule schedule = solve(p);
    ASSERT_TRUE(isLegal(p, schedule.steps)) << trial;
    ASSERT_EQ(schedule.steps, solve(p).steps);
    int64_t kernels = 0;
    for (const ScheduleTask &task : p.tasks)
      kernels += task.isCollective() ? 0 : task.durationNs;
    ASSERT_GE(schedule.makespanNs, kernels);
    // Compute idles only while something is in flight.
    ASSERT_EQ(schedule.makespanNs, kernels + schedule.totalExposedNs);
  }
}

TEST(StreamSchedule, FiveThousandTasks) {
  std::mt19937 random(3);
  ScheduleProblem p = randomProblem(random, 5000, 4, 1000);
  EXPECT_GT(solve(p).makespanNs, 0);
}

TEST(StreamSchedule, NothingToSchedule) { EXPECT_EQ(solve(ScheduleProblem()).makespanNs, 0); }

} // namespace
