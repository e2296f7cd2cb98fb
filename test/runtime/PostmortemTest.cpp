// What dpc-run --read-postmortem concludes from the records of ranks, and what it does with files
// that are damaged or do not belong together.
#include "runtime/src/base/Fingerprint.h"
#include "test/runtime/RecordedRun.h"

#include <random>

using namespace dpc;
using namespace dpc::test;

namespace {

class Postmortem : public RecordedRun {
protected:
  void expectLine(const std::string &line) {
    const std::string text = explained();
    EXPECT_NE(("\n" + text).find("\n" + line), std::string::npos) << line << "\nnot in\n" << text;
  }
  void endAll(dpc_status_t status = DPC_OK) {
    for (auto &recorder : recorders)
      if (recorder)
        recorder->end(status);
  }
  /// Reads a file that was changed. Whatever the bytes, this must return.
  void readChanged(const std::string &bytes) {
    RankRecord record;
    if (readImage(bytes.data(), bytes.size(), &record) == DPC_OK) {
      EXPECT_FALSE(explainRun({record}).empty());
    }
  }
};

TEST_F(Postmortem, AllEndWell) {
  keepAll();
  for (uint32_t rank = 0; rank < 4; ++rank)
    record(rank, allReduce(1));
  endAll();
  expectLine("first divergent operation: none");
  expectLine("missing ranks: none");
  expectLine("stragglers: none");
  expectLine("conclusion: all ranks ended well");
}

TEST_F(Postmortem, NamesTheFirstDivergentOperation) {
  keepAll();
  for (uint32_t rank = 0; rank < 4; ++rank)
    record(rank, allReduce(1));
  for (uint32_t rank = 0; rank < 4; ++rank)
    record(rank, allReduce(rank == 2 ? 3 : 2), false);
  for (uint32_t rank = 0; rank < 4; ++rank)
    record(rank, allReduce(rank == 2 ? 2 : 3), false);
  endAll(DPC_PEER);
  const std::string text = "rank 2 does not follow the plan: it starts all-reduce sum of 10 x f32, "
                           "buffer 3, peer 0 where "
                           "rank 0 starts all-reduce sum of 10 x f32, buffer 2, peer 0 (operation "
                           "1) in group world (ranks "
                           "0, 1, 2, 3)\n";
  expectLine("first divergent operation: " + text);
  expectLine("conclusion: " + text);
}

TEST_F(Postmortem, FollowsWaitsToTheRankThatDoesNotWait) {
  keepAll();
  // Rank 0 waits for rank 1 in group data, and rank 1 waits for rank 3 in the world.
  record(0, allReduce(1), true);
  record(1, allReduce(1), true);
  record(1, allReduce(2, 0), false);
  record(2, allReduce(1), true);
  record(3, allReduce(1), true);
  record(2, allReduce(2, 0), false);
  record(0, allReduce(2, 0), false);
  endAll(DPC_PEER);
  expectLine(
      "missing: rank 3 in all-reduce of buffer 2 (node_linear), step 1, operation 1 of group "
      "world (ranks 0, 1, 2, 3), which ranks 0, 1, 2 began");
  expectLine("conclusion: rank 3 did not begin all-reduce of buffer 2 (node_linear), step 1");
}

TEST_F(Postmortem, FollowsAChain) {
  keepAll();
  dpc_comm_op_t receive = allReduce(7);
  receive.op = DPC_OP_RECV;
  for (const uint32_t rank : {0, 1, 2}) {
    receive.peer = rank + 1;
    record(rank, receive, false);
  }
  endAll(DPC_PEER);
  expectLine(
      "conclusion: rank 3 did not begin recv of buffer 7 (node_linear), step 1, operation 0 of "
      "messages from rank 3 to rank 2, and rank 2 waited for it");
}

TEST_F(Postmortem, NamesTheRankThatDidNotEnd) {
  keepAll();
  for (uint32_t rank = 0; rank < 4; ++rank) {
    record(rank, allReduce(1), false);
    if (rank != 1)
      recorders[rank]->end(DPC_PEER);
  }
  expectLine(
      "conclusion: rank 1 did not end by itself; its last operation, all-reduce of buffer 1");
}

TEST_F(Postmortem, NamesRanksWithoutARecord) {
  for (const uint32_t rank : {0, 3}) {
    keep(rank);
    record(rank, allReduce(1), false);
  }
  expectLine("  rank 2: no record");
  expectLine("missing: ranks 1, 2 in all-reduce of buffer 1");
  expectLine("conclusion: no record of ranks 1, 2");
}

// If the operations of a group are overwritten, nothing is known about them.
TEST_F(Postmortem, DoesNotGuessWhatWasOverwritten) {
  keepAll();
  for (const uint32_t rank : {0, 1})
    record(rank, allReduce(1, 1), true);
  for (uint64_t i = 0; i <= kRecordCount; ++i)
    record(1, allReduce(2), true);
  record(0, allReduce(3, 1), false);
  endAll(DPC_PEER);
  expectLine("missing ranks: none");
}

TEST_F(Postmortem, NamesAStraggler) {
  keepAll();
  for (int round = 0; round < 5; ++round)
    for (const uint32_t rank : {0, 1, 2, 3}) {
      if (round == 3 && rank == 3)
        ::usleep(400000);
      record(rank, allReduce(round));
    }
  endAll();
  expectLine("straggler: rank 3 came 0.4");
  expectLine("conclusion: all ranks ended well, but rank 3 came 0.4");
}

// A rank that waits for a straggler comes late to its next operation, but is none itself.
TEST_F(Postmortem, DoesNotBlameARankThatWaited) {
  keepAll();
  for (int round = 0; round < 5; ++round) {
    const uint64_t waits = recorders[1]->schedule(allReduce(9, 1));
    recorders[1]->start(waits);
    recorders[1]->await(waits);
    if (round == 3)
      ::usleep(400000);
    record(0, allReduce(9, 1));
    recorders[1]->finish(waits);
    record(2, allReduce(round));
    record(3, allReduce(round));
    record(0, allReduce(round));
    record(1, allReduce(round));
  }
  endAll();
  const std::string text = explained();
  EXPECT_NE(text.find("straggler: rank 0 came 0.4"), std::string::npos) << text;
  EXPECT_EQ(text.find("straggler: rank 1"), std::string::npos) << text;
}

TEST_F(Postmortem, RefusesWhatIsNoRecord) {
  EXPECT_EQ(explained(), "failed: " + folder.path + ": has no record of a rank (rank-N.ops)");
  writeFile(file(0), "");
  EXPECT_NE(explained().find("rank-0.ops: it is no record"), std::string::npos) << explained();
  keep(0);
  const std::string whole = readFile(file(0));
  recorders[0].reset();
  writeFile(file(0), whole.substr(0, whole.size() - 1));
  EXPECT_NE(explained().find("rank-0.ops: it has 524287 bytes"), std::string::npos) << explained();
  writeFile(file(0), whole + "x");
  EXPECT_NE(explained().find("rank-0.ops: it has 524289 bytes"), std::string::npos) << explained();
  std::string changed = whole;
  changed[8] = 9;
  writeFile(file(0), changed);
  EXPECT_NE(explained().find("rank-0.ops: it has version 9"), std::string::npos) << explained();
  changed = whole;
  changed[offsetof(RecorderHeader, rank)] ^= 1;
  writeFile(file(0), changed);
  EXPECT_NE(explained().find("rank-0.ops: its header is damaged"), std::string::npos)
      << explained();
}

TEST_F(Postmortem, RefusesRecordsThatDoNotBelongTogether) {
  keep(0);
  keep(1, /*runId=*/78);
  EXPECT_NE(explained().find("rank-1.ops: is of another run than"), std::string::npos)
      << explained();
  keep(1);
  writeFile(file(2), readFile(file(1)));
  EXPECT_NE(explained().find("rank-2.ops: is of rank 1, as "), std::string::npos) << explained();
  std::vector<RankRecord> records;
  EXPECT_EQ(readRecords({folder.path + "/none"}, &records), DPC_IO);
}

TEST_F(Postmortem, NoBytesBreakIt) {
  keepAll();
  for (int round = 0; round < 50; ++round)
    for (uint32_t rank = 0; rank < 4; ++rank)
      record(rank, allReduce(round, round % 2));
  const std::string whole = readFile(file(1));
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::string changed = whole;
    // A few bytes anywhere; in the records; in the groups, with a checksum that fits.
    const size_t begin = round % 3 == 0 ? 0 : round % 3 == 1 ? kRecordsAt : kTextAt;
    const size_t size = round % 3 == 0 ? whole.size() : round % 3 == 1 ? 9000 : 64;
    for (int flips = 1 + int(random() % 20); flips > 0; --flips)
      changed[begin + random() % size] = char(random());
    auto *header = reinterpret_cast<RecorderHeader *>(changed.data());
    if (round % 3 == 2) {
      Fingerprint sum;
      sum.add(changed.data(), offsetof(RecorderHeader, checksum));
      sum.add(changed.data() + kTextAt, header->textBytes);
      header->checksum = sum.value();
    }
    readChanged(changed);
  }
  for (int round = 0; round < 20; ++round) {
    std::string noise(kRecorderBytes, 0);
    for (char &byte : noise)
      byte = char(random());
    std::memcpy(noise.data(), whole.data(), round % 2 ? 32 : 8);
    readChanged(noise);
    readChanged(noise.substr(0, random() % noise.size()));
  }
}

} // namespace
