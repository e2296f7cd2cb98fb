// Timelines: hand cases, published pipeline schedules, errors.

#include "planning/EventSimulator.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace dpc;

namespace {

std::string text(llvm::Error error) { return llvm::toString(std::move(error)); }

Timeline run(const SimProblem &problem) {
  llvm::Expected<Timeline> timeline = simulate(problem);
  if (!timeline) {
    ADD_FAILURE() << text(timeline.takeError());
    return {};
  }
  return *timeline;
}

/// Compute A (10) B (20) C (5); collective X (12) after A, Y (30) after B;
/// C after X. By hand: X [10, 22), Y [30, 60), C [30, 35).
SimProblem overlapExample() {
  SimProblem p;
  p.tasks = {{10, {}}, {20, {}}, {5, {{3, 0}}}, {12, {{0, 0}}}, {30, {{1, 0}}}};
  p.streams = {{false, 0, {0, 1, 2}}, {true, 0, {3, 4}}};
  return p;
}

TEST(EventSimulator, OverlapByHand) {
  Timeline t = run(overlapExample());
  EXPECT_EQ(t.startNs, (std::vector<int64_t>{0, 10, 30, 10, 30}));
  EXPECT_EQ(t.endNs, (std::vector<int64_t>{10, 30, 35, 22, 60}));
  EXPECT_EQ(t.makespanNs, 60);
  EXPECT_EQ(t.exposedNs, (std::vector<int64_t>{0, 0, 0, 0, 25}));
  EXPECT_EQ(t.exposedOfRankNs, (std::vector<int64_t>{25}));
}

TEST(EventSimulator, ConcurrentCollectivesCountOncePerRank) {
  SimProblem p;
  p.tasks = {{10, {}}, {40, {}}, {30, {}}};
  p.streams = {{false, 0, {0}}, {true, 0, {1}}, {true, 0, {2}}};
  Timeline t = run(p);
  EXPECT_EQ(t.exposedNs, (std::vector<int64_t>{0, 30, 20}));
  EXPECT_EQ(t.exposedOfRankNs, (std::vector<int64_t>{30}));
}

/// A collective starts when its last rank has come to it.
TEST(EventSimulator, CollectiveOfTwoRanksMeets) {
  SimProblem p;
  p.tasks = {{10, {}}, {25, {}}, {5, {{0, 0}, {1, 0}}}, {1, {{2, 0}}}};
  p.streams = {{false, 0, {0, 3}}, {true, 0, {2}}, {false, 1, {1}}, {true, 1, {2}}};
  Timeline t = run(p);
  EXPECT_EQ(t.startNs[2], 25);
  EXPECT_EQ(t.makespanNs, 31);
  EXPECT_EQ(t.exposedOfRankNs, (std::vector<int64_t>{5, 5}));
}

TEST(EventSimulator, DelayIsLatencyOfTheWay) {
  SimProblem p;
  p.tasks = {{10, {}}, {1, {{0, 7}}}};
  p.streams = {{false, 0, {0}}, {false, 1, {1}}};
  EXPECT_EQ(run(p).startNs[1], 17);
}

/// One forward and one (full) backward task per stage and microbatch.
enum class Pipeline { GPipe, OneFOneB };

SimProblem pipeline(Pipeline kind, int64_t stages, int64_t microbatches, int64_t forwardNs,
                    int64_t backwardNs, int64_t hopNs) {
  SimProblem p;
  int64_t half = stages * microbatches;
  auto forward = [&](int64_t s, int64_t m) { return s * microbatches + m; };
  auto backward = [&](int64_t s, int64_t m) { return half + forward(s, m); };
  p.tasks.resize(2 * half);
  for (int64_t s = 0; s < stages; ++s) {
    SimStream stream;
    stream.rank = s;
    for (int64_t m = 0; m < microbatches; ++m) {
      p.tasks[forward(s, m)].durationNs = forwardNs;
      p.tasks[backward(s, m)].durationNs = backwardNs;
      p.tasks[backward(s, m)].dependencies = {{forward(s, m), 0}};
      if (s > 0)
        p.tasks[forward(s, m)].dependencies = {{forward(s - 1, m), hopNs}};
      if (s + 1 < stages)
        p.tasks[backward(s, m)].dependencies.push_back({backward(s + 1, m), hopNs});
    }
    int64_t ahead = kind == Pipeline::GPipe ? microbatches : std::min(stages - s, microbatches);
    for (int64_t m = 0; m < microbatches + ahead; ++m) {
      if (m >= ahead)
        stream.order.push_back(backward(s, m - ahead));
      if (m < microbatches)
        stream.order.push_back(forward(s, m));
    }
    p.streams.push_back(std::move(stream));
  }
  return p;
}

/// GPipe and 1F1B at F = B idle for (p - 1) / (m + p - 1) of the makespan.
TEST(EventSimulator, PipelineBubble) {
  for (Pipeline kind : {Pipeline::GPipe, Pipeline::OneFOneB})
    for (int64_t stages : {1, 2, 4, 7})
      for (int64_t microbatches : {1, 2, 4, 8, 33}) {
        SimProblem p = pipeline(kind, stages, microbatches, 10, 10, 0);
        EXPECT_EQ(run(p).makespanNs, 20 * (microbatches + stages - 1))
            << stages << " stages, " << microbatches << " microbatches";
      }
}

/// The published 1F1B bubbles of Qi et al., "Zero Bubble Pipeline Parallelism"
/// (arXiv 2401.10241, table of T_F, T_B, T_W, T_comm in ms).
TEST(EventSimulator, PublishedOneFOneBBubbles) {
  struct Model {
    int64_t stages;
    double forward, backward, weight, hop;
    std::vector<std::pair<int64_t, double>> bubbles;
  };
  std::vector<Model> models = {
      {8, 18.522, 18.086, 9.337, 0.601, {{24, .2431}, {32, .1978}, {64, .1187}}},
      {8, 29.718, 29.444, 19.927, 0.527, {{24, .2347}, {32, .1889}, {64, .1090}}},
      {16, 11.347, 11.248, 8.132, 0.377, {{48, .2552}, {64, .2081}, {128, .1250}}},
      {32, 10.419, 10.207, 7.715, 0.408, {{96, .2646}, {128, .2168}, {256, .1322}}},
  };
  auto ns = [](double ms) { return static_cast<int64_t>(std::llround(ms * 1e6)); };
  for (const Model &model : models)
    for (auto [microbatches, bubble] : model.bubbles) {
      int64_t f = ns(model.forward), b = ns(model.backward + model.weight);
      SimProblem p = pipeline(Pipeline::OneFOneB, model.stages, microbatches, f, b, ns(model.hop));
      double makespan = run(p).makespanNs;
      EXPECT_NEAR((makespan - microbatches * (f + b)) / makespan, bubble, 5e-5)
          << model.stages << " stages, " << microbatches << " microbatches";
    }
}

TEST(EventSimulator, RefusesUnsoundProblems) {
  auto refused = [](auto change) {
    SimProblem p = overlapExample();
    change(p);
    return text(simulate(p).takeError());
  };
  using P = SimProblem;
  EXPECT_EQ(refused([](P &p) { p.tasks[1].durationNs = -1; }), "task 1 takes -1 ns");
  EXPECT_EQ(refused([](P &p) { p.tasks[1].dependencies = {{5, 0}}; }),
            "task 1 depends on task 5 of 5");
  EXPECT_EQ(refused([](P &p) { p.tasks[1].dependencies = {{0, -2}}; }),
            "task 1 starts -2 ns after task 0");
  EXPECT_EQ(refused([](P &p) { p.tasks[1].durationNs = INT64_MAX; }),
            "5 tasks take more than 63 bits of ns");
  EXPECT_EQ(refused([](P &p) { p.tasks[1].dependencies = {{0, INT64_MAX}}; }),
            "5 tasks take more than 63 bits of ns");
  EXPECT_EQ(refused([](P &p) { p.streams[1].rank = 2; }), "stream 1 of 2 belongs to rank 2");
  EXPECT_EQ(refused([](P &p) { p.streams[1].order[0] = 9; }), "stream 1 runs task 9 of 5");
  EXPECT_EQ(refused([](P &p) { p.streams[1].order = {3, 4, 3}; }), "stream 1 runs task 3 twice");
  EXPECT_EQ(refused([](P &p) { p.streams[1].order = {3}; }), "task 4 is on no stream");
  // The stream wants C first, which needs X, which needs A after C.
  EXPECT_EQ(refused([](P &p) { p.streams[0].order = {2, 0, 1}; }),
            "tasks wait for each other: 0, 1, 2, 3, 4");
}

} // namespace
