// What a flight recorder keeps, and where.
#include "test/runtime/RecordedRun.h"

#include "runtime/src/base/RunPage.h"

#include <algorithm>

using namespace dpc;
using namespace dpc::test;

namespace {

RankRecord recordIn(const std::string &path) {
  const std::string bytes = readFile(path);
  RankRecord record;
  EXPECT_EQ(readImage(bytes.data(), bytes.size(), &record), DPC_OK) << dpc_last_error();
  return record;
}

class Recorder : public RecordedRun {};

TEST_F(Recorder, KeepsEveryField) {
  keep(2);
  dpc_comm_op_t op = allReduce(3, 1);
  op.reduction = DPC_MAX;
  recorders[2]->enter(DPC_ENTRY_STEP, 41);
  recorders[2]->schedule(allReduce(1));
  recorders[2]->finish(recorders[2]->schedule(op, 0, 6));
  const RankRecord record = recordIn(file(2));
  EXPECT_EQ(record.rank, 2u);
  EXPECT_EQ(record.worldSize, 4u);
  EXPECT_EQ(record.program, "recorded");
  EXPECT_EQ(record.runId, 77u);
  EXPECT_EQ(record.end, RankEnd::none);
  ASSERT_EQ(record.groups.size(), 2u);
  EXPECT_EQ(record.groups[1].family, "data");
  EXPECT_EQ(record.groups[1].members, (std::vector<uint32_t>{2, 3}));
  ASSERT_EQ(record.operations.size(), 2u);
  EXPECT_EQ(record.operations[0].action, DPC_NONE);
  EXPECT_EQ(record.operations[0].state, OperationState::scheduled);
  const RecordedOperation &got = record.operations[1];
  EXPECT_EQ(got.number, 1u);
  EXPECT_EQ(got.sequence, 0u) << "the first one of its group";
  EXPECT_EQ(got.count, 10u);
  EXPECT_EQ(got.bufferId, 3u);
  EXPECT_EQ(got.step, 41u);
  EXPECT_EQ(got.action, 0u);
  EXPECT_EQ(got.micro, 6u);
  EXPECT_EQ(got.family, 1u);
  EXPECT_EQ(got.op, uint32_t(DPC_OP_ALL_REDUCE));
  EXPECT_EQ(got.dtype, uint32_t(DPC_F32));
  EXPECT_EQ(got.reduction, uint32_t(DPC_MAX));
  EXPECT_EQ(got.name, "node_linear");
  EXPECT_EQ(got.state, OperationState::done);
  EXPECT_GE(got.doneNs, got.scheduledNs);
}

TEST_F(Recorder, CountsMessagesPerPeerAndDirection) {
  keep(0);
  dpc_comm_op_t send = allReduce(1), receive = allReduce(2);
  send.op = DPC_OP_SEND;
  receive.op = DPC_OP_RECV;
  for (const uint32_t peer : {1, 2, 1}) {
    send.peer = receive.peer = peer;
    record(0, send);
    record(0, receive);
  }
  const RankRecord record = recordIn(file(0));
  std::vector<uint64_t> sequences;
  for (const RecordedOperation &operation : record.operations)
    sequences.push_back(operation.sequence);
  EXPECT_EQ(sequences, (std::vector<uint64_t>{0, 0, 0, 0, 1, 1}));
}

TEST_F(Recorder, KeepsTheLastOperations) {
  keep(0);
  const uint64_t all = 3 * kRecordCount + 7;
  uint64_t first = 0;
  for (uint64_t i = 0; i < all; ++i) {
    const uint64_t number = recorders[0]->schedule(allReduce(i));
    first = i == 0 ? number : first;
  }
  recorders[0]->finish(first); // overwritten long ago: nothing must happen
  recorders[0]->finishFrom(all - 2);
  const RankRecord record = recordIn(file(0));
  ASSERT_EQ(record.operations.size(), kRecordCount);
  for (uint64_t i = 0; i < kRecordCount; ++i) {
    EXPECT_EQ(record.operations[i].bufferId, all - kRecordCount + i);
    EXPECT_EQ(record.operations[i].state == OperationState::done, i >= kRecordCount - 2);
  }
}

TEST_F(Recorder, OutlivesItsProcess) {
  forkRanks(1, [&](uint32_t, RankReport &) {
    keep(1);
    record(1, allReduce(5), /*isDone=*/false);
    ::kill(::getpid(), SIGKILL);
    return 0;
  });
  const RankRecord record = recordIn(file(1));
  ASSERT_EQ(record.operations.size(), 1u);
  EXPECT_EQ(record.operations[0].bufferId, 5u);
  EXPECT_EQ(record.operations[0].state, OperationState::started);
  EXPECT_EQ(record.end, RankEnd::none);
}

TEST_F(Recorder, NoticesThatTheProcessStoodStill) {
  const auto results = forkRanks(
      1,
      [&](uint32_t, RankReport &) {
        keep(0);
        record(0, allReduce(5), /*isDone=*/false);
        ::raise(SIGSTOP);
        ::usleep(300000); // the recorder's thread looks at the clock
        recorders[0]->end(DPC_PEER);
        return 0;
      },
      [](const std::vector<pid_t> &pids) {
        int status = 0;
        ::waitpid(pids[0], &status, WUNTRACED);
        ::usleep(700000);
        ::kill(pids[0], SIGCONT);
      });
  EXPECT_EQ(results[0].exitCode, 0);
  const RankRecord record = recordIn(file(0));
  EXPECT_EQ(record.end, RankEnd::failed);
  EXPECT_EQ(record.status, DPC_PEER);
  // On a busy machine, the process may also have had no processor at other times.
  EXPECT_TRUE(std::any_of(record.pauses.begin(), record.pauses.end(), [](const auto &pause) {
    return pause.endNs - pause.beginNs >= 600000000;
  }));
}

TEST_F(Recorder, NamesAFolderThatCannotBeMade) {
  dpc_recorder recorder(recorded.program, 0);
  EXPECT_EQ(recorder.keepIn("/proc/none/at/all", 1), DPC_IO);
  EXPECT_NE(std::string(dpc_last_error()).find("/proc/none/at/all: cannot be made"),
            std::string::npos)
      << dpc_last_error();
}

// The launcher reads the records of a rank that has died.
TEST_F(Recorder, RecordsIntoMemoryOfTheLauncher) {
  Fd memory;
  RunPage *page = createRunPage(0, 4, kRecorderBytes, &memory);
  ASSERT_NE(page, nullptr);
  EXPECT_EQ(page->memoryOf(4, kRecorderBytes), nullptr);
  EXPECT_EQ(page->memoryOf(0, kRecorderBytes + 1), nullptr);
  EXPECT_EQ(lastOperationText(page->memoryOf(3, kRecorderBytes)), "") << "no rank has used it";
  forkRanks(1, [&](uint32_t, RankReport &) {
    ::setenv("DPC_RUN_PAGE_FD", std::to_string(memory.get()).c_str(), 1);
    attachRunPage();
    dpc_recorder recorder(recorded.program, 3);
    recorder.start(recorder.schedule(allReduce(5)));
    ::kill(::getpid(), SIGKILL);
    return 0;
  });
  EXPECT_EQ(lastOperationText(page->memoryOf(3, kRecorderBytes)),
            "its last operation, all-reduce of buffer 5 (node_linear), step 1, had started");
  EXPECT_EQ(lastOperationText(page->memoryOf(2, kRecorderBytes)), "");
  releaseRunPage(page);
}

} // namespace
