// Tests which operations connect the ranks of a program, and that NCCL runs them before anything is
// captured.
#include "runtime/src/device/Operations.h"
#include "test/runtime/EveryQueue.h"

using namespace dpc;
using namespace dpc::test;

namespace {

dpc_action_t startOf(uint32_t op, uint64_t count, uint32_t peer = 0, uint32_t family = 0) {
  dpc_action_t action = {};
  action.kind = DPC_ACTION_START;
  action.op = op;
  action.group = family;
  action.peer = peer;
  action.dtype = DPC_F64;
  action.reduction = DPC_SUM;
  action.location = DPC_NONE;
  action.count = count;
  action.buffer_id = count;
  action.in = {QueueProgram::kSent.space, 0, QueueProgram::kSent.offset, 0};
  action.out = {QueueProgram::kReceived.space, 0, QueueProgram::kReceived.offset, 0};
  return action;
}

using Rows = std::vector<std::tuple<uint32_t, uint64_t, uint32_t>>; // op, count, peer

Rows found(const dpc_program_t &program, uint32_t rank) {
  Rows rows;
  for (const PlacedOperation &each : findFirstOperations(program, rank))
    rows.emplace_back(each.op.op, each.op.count, each.op.peer);
  return rows;
}

// Of each kind the smallest and the largest; of each root only where messages make the operation.
TEST(FirstOperations, AreTheEndsOfEachKind) {
  TinyProgram tiny;
  uint32_t members[2] = {0, 1};
  dpc_group_family_t families[2] = {{"world", 1, 2, members}, {"alone", 2, 1, members}};
  std::vector<dpc_action_t> step = {startOf(DPC_OP_ALL_REDUCE, 8),
                                    startOf(DPC_OP_BROADCAST, 4, 1),
                                    startOf(DPC_OP_ALL_REDUCE, 2),
                                    startOf(DPC_OP_ALL_REDUCE, 5),
                                    startOf(DPC_OP_BROADCAST, 4, 0),
                                    startOf(DPC_OP_GATHER, 3, 1),
                                    startOf(DPC_OP_GATHER, 3, 0),
                                    startOf(DPC_OP_ALL_REDUCE, 1, 0, /*family=*/1)},
                            eval = {startOf(DPC_OP_ALL_REDUCE, 9)};
  tiny.program.families = families;
  tiny.program.family_count = 2;
  tiny.rank.entries[DPC_ENTRY_STEP] = {step.data(), step.size()};
  tiny.rank.entries[DPC_ENTRY_EVAL] = {eval.data(), eval.size()};
  EXPECT_EQ(found(tiny.program, 0), Rows({{DPC_OP_ALL_REDUCE, 2, 0},
                                          {DPC_OP_ALL_REDUCE, 9, 0},
                                          {DPC_OP_BROADCAST, 4, 0},
                                          {DPC_OP_BROADCAST, 4, 1},
                                          {DPC_OP_GATHER, 3, 0},
                                          {DPC_OP_GATHER, 3, 1}}));
}

// Each rank may wait for each of its messages, because all ranks have the same order of pairs.
TEST(FirstOperations, MessagesHaveOneOrder) {
  TinyProgram tiny;
  uint32_t members[3] = {0, 1, 2};
  dpc_group_family_t family = {"world", 1, 3, members};
  // Every rank sends to every other rank, and begins with the highest.
  std::vector<dpc_action_t> tables[3];
  dpc_rank_t ranks[3];
  for (uint32_t rank = 0; rank < 3; ++rank) {
    for (uint32_t peer = 3; peer-- > 0;)
      if (peer != rank)
        for (uint32_t op : {DPC_OP_SEND, DPC_OP_RECV})
          tables[rank].push_back(startOf(op, 1, peer));
    ranks[rank] = tiny.rank;
    ranks[rank].entries[DPC_ENTRY_STEP] = {tables[rank].data(), tables[rank].size()};
  }
  tiny.program.families = &family;
  tiny.program.ranks = ranks;
  tiny.program.world_size = 3;
  const uint32_t send = DPC_OP_SEND, receive = DPC_OP_RECV;
  EXPECT_EQ(found(tiny.program, 0),
            Rows({{receive, 1, 1}, {send, 1, 1}, {receive, 1, 2}, {send, 1, 2}}));
  EXPECT_EQ(found(tiny.program, 1),
            Rows({{send, 1, 0}, {receive, 1, 0}, {receive, 1, 2}, {send, 1, 2}}));
  EXPECT_EQ(found(tiny.program, 2),
            Rows({{send, 1, 0}, {receive, 1, 0}, {send, 1, 1}, {receive, 1, 1}}));
}

/// Opens the queues of two ranks, whose tables are `tables`, and captures an all-reduce.
std::vector<RankResult> captureOn(const std::vector<dpc_action_t> (&tables)[2]) {
  TemporaryDirectory directory;
  return forkRanks(2, [&](uint32_t index, RankReport &report) {
    setenv("DPC_EMU_NCCL_KNOWN", "1", /*overwrite=*/1);
    QueueRank rank({"Cuda", QueueKind::cuda}, index, 2, directory.path, /*timeoutSeconds=*/2,
                   [&](dpc_rank_t &own) {
                     own.entries[DPC_ENTRY_STEP] = {tables[index].data(), tables[index].size()};
                   });
    bool isDone = false;
    if (!rank.queue) {
      std::snprintf(report.message, sizeof report.message, "%s", rank.failure.c_str());
      return 2;
    }
    if (tables[index].empty()) {
      ::usleep(4'000'000);
      return 0;
    }
    const double given[2] = {double(1 + index), 10};
    double back[2] = {};
    dpc_comm_op_t sum = operationOf(startOf(DPC_OP_ALL_REDUCE, 2));
    if (rank.queue->upload(QueueProgram::kSent, given, sizeof given) ||
        rank.queue->begin(DPC_ENTRY_STEP, &isDone) ||
        rank.queue->start(sum, QueueProgram::kSent, QueueProgram::kReceived, 0) ||
        rank.queue->wait(0) || rank.queue->finish() ||
        rank.queue->download(back, QueueProgram::kReceived, sizeof back))
      return 3;
    return back[0] == 3 && back[1] == 20 ? 0 : 4;
  });
}

TEST(FirstOperations, RunBeforeACapture) {
  const std::vector<dpc_action_t> known = {startOf(DPC_OP_ALL_REDUCE, 1)},
                                  other = {startOf(DPC_OP_ALL_GATHER, 1)};
  for (const RankResult &result : captureOn({known, known}))
    EXPECT_EQ(result.exitCode, 0) << result.message;
  // The emulated NCCL ends the process, because it would connect during the capture.
  for (const RankResult &result : captureOn({other, other}))
    EXPECT_EQ(result.exitCode, 97);
}

// The message says which rank does not come, as messages about operations of steps do.
TEST(FirstOperations, NameTheRankThatDoesNotCome) {
  const std::vector<RankResult> results = captureOn({{startOf(DPC_OP_ALL_REDUCE, 1)}, {}});
  EXPECT_EQ(results[0].exitCode, 2);
  EXPECT_NE(results[0].message.find("rank 1"), std::string::npos) << results[0].message;
}

} // namespace
