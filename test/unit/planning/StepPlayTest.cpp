// Plays of steps against timelines made by hand.

#include "planning/StepPlay.h"

#include "gtest/gtest.h"

using namespace dpc;
using llvm::cantFail;

namespace {

using Kind = PlayAction::Kind;

/// Any number of devices that send 100 bytes in a second.
PlayProblem makeProblem(size_t ranks) {
  PlayProblem problem;
  Device device;
  device.memoryBytesPerSecond = 1;
  device.flopsPerSecond[size_t(NumberType::f32)] = 1;
  problem.topology = makeFlatTopology("flat", device, /*bytesPerSecond=*/100, /*startSeconds=*/0);
  problem.tables.resize(1);
  problem.tableOf.assign(ranks, 0);
  problem.families.resize(1);
  problem.families[0].groups.resize(1);
  for (size_t rank = 0; rank < ranks; ++rank)
    problem.families[0].groups[0].push_back(rank);
  return problem;
}

void compute(PlayTable &table, double seconds) {
  PlayAction action;
  action.seconds = seconds;
  table.actions.push_back(action);
}

/// Returns the number of the action, for wait().
size_t start(PlayTable &table, double bytes,
             PlayOperation::Kind kind = PlayOperation::Kind::collective, int64_t peer = -1,
             PlayCause cause = PlayCause::gradients) {
  PlayAction action;
  action.kind = Kind::start;
  action.operation.kind = kind;
  action.operation.bytes = bytes;
  action.operation.peer = peer;
  action.operation.cause = cause;
  table.actions.push_back(action);
  return table.actions.size() - 1;
}

void wait(PlayTable &table, size_t started) {
  PlayAction action;
  action.kind = Kind::wait;
  action.started = started;
  table.actions.push_back(action);
}

size_t send(PlayTable &table, double bytes, int64_t peer) {
  return start(table, bytes, PlayOperation::Kind::send, peer, PlayCause::stages);
}

void receive(PlayTable &table, double bytes, int64_t peer) {
  wait(table, start(table, bytes, PlayOperation::Kind::receive, peer, PlayCause::stages));
}

double exposed(const PlayedRank &rank, PlayCause cause) {
  return rank.exposedSeconds[size_t(cause)];
}

// 2 ranks: an all-reduce of 100 bytes takes 1 s. It runs beside 0.4 s of the second computation.
TEST(StepPlay, CommunicationIsHiddenBehindComputation) {
  PlayProblem problem = makeProblem(2);
  PlayTable &table = problem.tables[0];
  compute(table, 2);
  const size_t sum = start(table, 100);
  compute(table, 0.4);
  wait(table, sum);
  compute(table, 1);
  const StepTimeline timeline = cantFail(playStep(problem));
  EXPECT_DOUBLE_EQ(timeline.seconds, 4);
  ASSERT_EQ(timeline.played.size(), 1u); // both ranks share it
  EXPECT_EQ(timeline.played[0].ranks, (std::vector<int64_t>{0, 1}));
  EXPECT_DOUBLE_EQ(timeline.played[0].computeSeconds, 3.4);
  EXPECT_NEAR(exposed(timeline.played[0], PlayCause::gradients), 0.6, 1e-12);
  EXPECT_DOUBLE_EQ(timeline.played[0].waitedForRanks, 0);
}

// Rank 1 computes twice as long: the others wait for it.
TEST(StepPlay, OneSlowRankHoldsUpTheOthers) {
  PlayProblem problem = makeProblem(4);
  PlayTable &table = problem.tables[0];
  compute(table, 2);
  wait(table, start(table, 100)); // 2 * 3/4 s
  problem.slowness = {1, 2, 1, 1};
  const StepTimeline timeline = cantFail(playStep(problem));
  EXPECT_DOUBLE_EQ(timeline.seconds, 5.5);
  ASSERT_EQ(timeline.played.size(), 2u);
  EXPECT_EQ(timeline.played[0].ranks, (std::vector<int64_t>{0, 2, 3}));
  EXPECT_DOUBLE_EQ(timeline.played[0].waitedForRanks, 2);
  EXPECT_DOUBLE_EQ(timeline.played[1].waitedForRanks, 0);
  EXPECT_DOUBLE_EQ(exposed(timeline.played[1], PlayCause::gradients), 1.5);
}

/// The rows of 1F1B for `stages` stages and `micros` microbatches, with 1 s forward and 2 s
/// backward. A message takes bytes / 100 s.
PlayProblem makeOneForwardOneBackward(int64_t stages, int64_t micros, double bytes) {
  PlayProblem problem = makeProblem(stages);
  problem.tables.assign(stages, {});
  for (int64_t stage = 0; stage < stages; ++stage) {
    problem.tableOf[stage] = stage;
    PlayTable &table = problem.tables[stage];
    std::vector<size_t> sent;
    auto forward = [&] {
      if (stage > 0)
        receive(table, bytes, stage - 1);
      compute(table, 1);
      if (stage + 1 < stages)
        sent.push_back(send(table, bytes, stage + 1));
    };
    auto backward = [&] {
      if (stage + 1 < stages)
        receive(table, bytes, stage + 1);
      compute(table, 2);
      if (stage > 0)
        sent.push_back(send(table, bytes, stage - 1));
    };
    const int64_t ahead = std::min(stages - 1 - stage, micros);
    for (int64_t i = 0; i < ahead; ++i)
      forward();
    for (int64_t i = 0; i < micros - ahead; ++i) {
      forward();
      backward();
    }
    for (int64_t i = 0; i < ahead; ++i)
      backward();
    for (size_t each : sent)
      wait(table, each);
  }
  return problem;
}

// (p - 1) (F + B) of a step are a bubble (PipeDream-Flush).
TEST(StepPlay, OneForwardOneBackwardHasItsBubble) {
  const StepTimeline timeline = cantFail(playStep(makeOneForwardOneBackward(4, 8, 0)));
  EXPECT_DOUBLE_EQ(timeline.seconds, (8 + 3) * 3);
  ASSERT_EQ(timeline.played.size(), 4u);
  for (const PlayedRank &rank : timeline.played)
    EXPECT_DOUBLE_EQ(rank.computeSeconds, 8 * 3);
  EXPECT_DOUBLE_EQ(timeline.played[0].waitedForStages, 3 * 3);
}

TEST(StepPlay, MessagesLengthenAPipeline) {
  const double with = cantFail(playStep(makeOneForwardOneBackward(4, 8, 10))).seconds;
  EXPECT_GT(with, 33 + 2 * 3 * 0.1 - 1e-9); // at least once through all stages and back
  EXPECT_LT(with, 40);
}

// Parameters of layer i + 1 are gathered while layer i is computed: only the first gather shows.
TEST(StepPlay, AWindowOfGathersHidesAllButTheFirst) {
  PlayProblem problem = makeProblem(2);
  PlayTable &table = problem.tables[0];
  auto gather = [&] {
    const size_t action =
        start(table, 100, PlayOperation::Kind::collective, -1, PlayCause::parameters);
    table.actions[action].operation.collective = CollectiveKind::allGather;
    return action;
  };
  size_t next = gather(); // 0.5 s
  for (int layer = 0; layer < 4; ++layer) {
    const size_t own = next;
    if (layer < 3)
      next = gather();
    wait(table, own);
    compute(table, 1);
  }
  problem.hasOneStream = true;
  const StepTimeline timeline = cantFail(playStep(problem));
  EXPECT_DOUBLE_EQ(timeline.seconds, 4.5);
  EXPECT_DOUBLE_EQ(exposed(timeline.played[0], PlayCause::parameters), 0.5);
}

// On a device operations follow each other; on hosts two of them share the connection.
TEST(StepPlay, OperationsShareALevelOrFollowEachOther) {
  PlayProblem problem = makeProblem(2);
  PlayTable &table = problem.tables[0];
  const size_t small = start(table, 20), large = start(table, 100);
  wait(table, small);
  wait(table, large);
  const StepTimeline shared = cantFail(playStep(problem));
  EXPECT_NEAR(shared.played[0].actions[2].end, 0.4, 1e-12);
  EXPECT_NEAR(shared.seconds, 1.2, 1e-12);
  problem.hasOneStream = true;
  const StepTimeline single = cantFail(playStep(problem));
  EXPECT_NEAR(single.played[0].actions[2].end, 0.2, 1e-12);
  EXPECT_NEAR(single.seconds, 1.2, 1e-12);
}

TEST(StepPlay, ComputationIsSlowerDuringCommunication) {
  PlayProblem problem = makeProblem(2);
  problem.topology.device.slowdownOfCommunication = 1.25;
  PlayTable &table = problem.tables[0];
  const size_t sum = start(table, 100); // 1 s, in which 0.8 s of the computation are done
  compute(table, 2);
  wait(table, sum);
  EXPECT_NEAR(cantFail(playStep(problem)).seconds, 2.2, 1e-12);
}

TEST(StepPlay, AnOperationStartsBeforeItsBytesMove) {
  PlayProblem problem = makeProblem(2);
  problem.topology.levels[0].startSeconds = 3;
  wait(problem.tables[0], start(problem.tables[0], 100));
  EXPECT_DOUBLE_EQ(cantFail(playStep(problem)).seconds, 4);
}

// Two hosts of two: the hierarchical all-reduce of NCCL is faster than rings here.
TEST(StepPlay, AnAllReduceTakesTheTimeOfItsAlgorithm) {
  PlayProblem problem = makeProblem(4);
  problem.topology.levels = {{"host", 2, 100, 0, 0, 0}, {"network", 2, 10, 0, 5, 0}};
  problem.transport = Transport::nccl;
  wait(problem.tables[0], start(problem.tables[0], 100));
  // Rings: 2 * (3 * 5 + 3/4 * 100 / 20). Per level: 2 * (1/2 * 100 / 100 + 5 + 1/2 * 100 / 20).
  EXPECT_DOUBLE_EQ(cantFail(playStep(problem)).seconds, 2 * (0.5 + 5 + 2.5));
}

// 8,192 ranks in 16 stages are 16 timelines.
TEST(StepPlay, EqualRanksShareATimeline) {
  PlayProblem problem = makeOneForwardOneBackward(16, 64, 1);
  const int64_t copies = 512;
  problem.tableOf.clear();
  problem.families[0].groups.assign(copies, {});
  for (int64_t stage = 0; stage < 16; ++stage)
    for (int64_t copy = 0; copy < copies; ++copy) {
      problem.families[0].groups[copy].push_back(problem.tableOf.size());
      problem.tableOf.push_back(stage);
    }
  const StepTimeline timeline = cantFail(playStep(problem));
  ASSERT_EQ(timeline.played.size(), 16u);
  EXPECT_EQ(timeline.played[3].ranks.size(), size_t(copies));
}

TEST(StepPlay, RanksThatWaitForEachOtherAreNamed) {
  PlayProblem problem = makeProblem(2);
  problem.tables.resize(2);
  problem.tableOf = {0, 1};
  receive(problem.tables[0], 1, 1);
  receive(problem.tables[1], 1, 0);
  llvm::Expected<StepTimeline> timeline = playStep(problem);
  ASSERT_FALSE(bool(timeline));
  EXPECT_EQ(toString(timeline.takeError()), "rank 0 waits for ever in action 1");
}

TEST(StepPlay, ChangesSlowRanksAndLevels) {
  PlayProblem problem = makeProblem(2);
  compute(problem.tables[0], 2);
  wait(problem.tables[0], start(problem.tables[0], 100));
  PlayChanges changes;
  changes.slowRanks = {{1, 1.5}};
  changes.slowLevels = {{"flat", 0.5}};
  cantFail(changes.applyTo(problem));
  EXPECT_DOUBLE_EQ(cantFail(playStep(problem)).seconds, 2 * 1.5 + 1 / 0.5);
  changes.slowRanks = {{2, 1.5}};
  EXPECT_EQ(toString(changes.applyTo(problem)), "there is no rank 2, only ranks 0 to 1");
  changes.slowRanks = {};
  changes.slowLevels = {{"rack", 0.5}};
  EXPECT_EQ(toString(changes.applyTo(problem)),
            "the machine 'flat' has no level 'rack', only 'flat'");
}

TEST(StepPlay, BadProblemsAreRefused) {
  PlayProblem problem = makeProblem(2);
  compute(problem.tables[0], -1);
  EXPECT_EQ(toString(playStep(problem).takeError()), "action 0 takes -1.00 s");
  problem = makeProblem(2);
  wait(problem.tables[0], 0);
  EXPECT_EQ(toString(playStep(problem).takeError()),
            "action 0 waits for action 0, which starts nothing before");
}

} // namespace
