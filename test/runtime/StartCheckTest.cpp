// What --check says about ranks that do not fit, and how it shows what it has found.
#include "runtime/src/base/Phrases.h"
#include "runtime/src/check/Causes.h"
#include "runtime/src/check/SharedFolder.h"
#include "runtime/src/check/Table.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>

using namespace dpc;

namespace {

/// Four ranks on two hosts that fit together.
Gathered fourRanks() {
  Gathered all;
  all.arrivals.resize(4);
  all.findings.resize(4);
  all.hosts = {0, 0, 2, 2};
  all.seconds = 3;
  all.transport = "sockets";
  for (uint32_t r = 0; r < 4; ++r) {
    all.arrivals[r].isHere = 1;
    copyText(all.arrivals[r].host, r < 2 ? "one" : "two");
    copyText(all.arrivals[r].runtime, "dpc 1.0");
    copyText(all.findings[r].comm, "auto");
    copyText(all.findings[r].address, r == 0 ? "" : r < 2 ? "10.0.0.1" : "10.0.0.2");
    all.findings[r].needed = 3 << 20;
    all.findings[r].available = 7 << 20;
    all.findings[r].files = 2;
  }
  return all;
}

/// The only rank with a cause is `rank`, and its cause is `text`.
void expectCause(const Gathered &all, uint32_t rank, const std::string &text) {
  const std::vector<std::string> causes = findCauses(all);
  for (uint32_t r = 0; r < causes.size(); ++r)
    EXPECT_EQ(causes[r], r == rank ? text : "") << r;
}

TEST(CheckCauses, RanksThatFitHaveNone) { expectCause(fourRanks(), DPC_NONE, ""); }

TEST(CheckCauses, AnAbsentRankHasNoOtherCause) {
  Gathered all = fourRanks();
  all.arrivals[3] = {};
  all.findings[3] = {};
  expectCause(all, 3, "did not join within 3 s");
}

TEST(CheckCauses, TheRankThatDiffersFromMostIsNamed) {
  Gathered all = fourRanks();
  copyText(all.arrivals[0].runtime, "dpc 2.0"); // and not the three others
  expectCause(all, 0, "has dpc 2.0, rank 1 (one) has dpc 1.0");
  all = fourRanks();
  all.findings[2].plan[0] = 0xab;
  expectCause(all, 2,
              "has the program ab0000000000, rank 0 (one) has 000000000000 (the beginnings of "
              "their plan hashes): copy one file to all hosts");
  all = fourRanks();
  copyText(all.findings[1].comm, "mpi");
  expectCause(all, 1, "has --comm=mpi, rank 0 (one) has auto");
  all = fourRanks();
  for (Findings &each : all.findings)
    copyText(each.engine, "Open MPI v4.1.4");
  copyText(all.findings[3].engine, "MPICH 4.0.2");
  expectCause(all, 3, "has MPICH 4.0.2, rank 0 (one) has Open MPI v4.1.4");
}

TEST(CheckCauses, OtherVersionsAreComparedWithoutFindings) {
  Gathered all = fourRanks();
  all.findings.clear();
  copyText(all.arrivals[3].runtime, "dpc 2.0");
  expectCause(all, 3, "has dpc 2.0, rank 0 (one) has dpc 1.0");
}

TEST(CheckCauses, AFileThatARankLacksIsOnAnotherHost) {
  Gathered all = fourRanks();
  all.findings[2].status = DPC_IO;
  copyText(all.findings[2].text, "--data: x.npz: No such file or directory");
  expectCause(all, 2, "--data: x.npz: No such file or directory; rank 0 (one) has it");
  for (Findings &each : all.findings)
    each = all.findings[2];
  EXPECT_EQ(findCauses(all)[0], "--data: x.npz: No such file or directory");
}

TEST(CheckCauses, TheUnreachedRankIsNamed) {
  Gathered all = fourRanks();
  all.findings[3].unreached[3 - 1 - 1] = ECONNREFUSED; // rank 3 cannot reach rank 1
  expectCause(all, 1,
              std::string("rank 3 (two) cannot reach its address 10.0.0.1: ") +
                  std::strerror(ECONNREFUSED));
}

TEST(CheckCauses, RanksShareTheMemoryOfTheirHost) {
  Gathered all = fourRanks();
  all.findings[0].available = all.findings[1].available = 5 << 20;
  const std::vector<std::string> causes = findCauses(all);
  EXPECT_EQ(causes[0], "its host has 5.0 MiB of free memory, and the 2 ranks there need 6.0 MiB");
  EXPECT_EQ(causes[1], causes[0]);
  EXPECT_EQ(causes[2], "");
  for (uint32_t r = 0; r < 2; ++r) { // each rank has a device of its own, with its own memory
    copyText(all.findings[r].device, "GPU");
    all.findings[r].deviceId[0] = static_cast<uint8_t>(r);
  }
  EXPECT_EQ(findCauses(all)[0], "");
}

TEST(CheckCauses, NcclWantsADeviceForEachRank) {
  Gathered all = fourRanks();
  for (Findings &each : all.findings) {
    copyText(each.device, "GPU");
    each.available = 100 << 20;
  }
  for (uint32_t r : {1, 3})
    all.findings[r].deviceId[0] = 1;
  all.hasDevicePerRank = true;
  expectCause(all, DPC_NONE, ""); // devices of two hosts are different ones
  all.findings[3].deviceId[0] = 0;
  expectCause(all, 3, "has the same device (GPU) as rank 2 (two), and NCCL wants one for each");
  all.hasDevicePerRank = false;
  expectCause(all, DPC_NONE, "");
}

TEST(CheckCauses, RanksOfAHostShareALine) {
  Gathered all = fourRanks();
  all.arrivals[0] = {};
  EXPECT_EQ(causeLines(all, {"absent", "bad", "bad", "bad"}),
            "rank 0: absent\nrank 1 (one): bad\nranks 2, 3 (two): bad\n");
}

TEST(CheckTable, ShowsRanksAndPairs) {
  const Gathered all = fourRanks();
  std::vector<PairSpeed> pairs(16);
  for (uint32_t a = 0; a < 4; ++a)
    for (uint32_t b = a + 1; b < 4; ++b)
      pairs[a * 4 + b] = {float(a * 10 + b) * 1e-6f, float(a * 10 + b) * 1e8f};
  EXPECT_EQ(checkTable(all, findCauses(all), pairs),
            "rank  host  address   files   memory     free\n"
            "   0  one                 2  3.0 MiB  7.0 MiB  ok\n"
            "   1  one   10.0.0.1      2  3.0 MiB  7.0 MiB  ok\n"
            "   2  two   10.0.0.2      2  3.0 MiB  7.0 MiB  ok\n"
            "   3  two   10.0.0.2      2  3.0 MiB  7.0 MiB  ok\n"
            "over sockets, upper right: us until a message of 8 bytes is there; lower left: MB/s "
            "of large messages\n"
            "rank    0     1     2     3\n"
            "   0    -   1.0   2.0   3.0\n"
            "   1  100     -  12.0  13.0\n"
            "   2  200  1200     -  23.0\n"
            "   3  300  1300  2300     -\n"
            "a run can start: 4 ranks on 2 hosts\n");
}

TEST(CheckTable, ShowsCauses) {
  Gathered all = fourRanks();
  all.arrivals[1] = {};
  all.findings[1] = {};
  all.findings[2].status = DPC_INVALID;
  copyText(all.findings[2].text, "it is bad");
  EXPECT_EQ(checkTable(all, findCauses(all), {}),
            "rank  host  address   files   memory     free\n"
            "   0  one                 2  3.0 MiB  7.0 MiB  ok\n"
            "   1                                           absent\n"
            "   2  two   10.0.0.2      2  3.0 MiB  7.0 MiB  FAILS\n"
            "   3  two   10.0.0.2      2  3.0 MiB  7.0 MiB  ok\n"
            "rank 1: did not join within 3 s\n"
            "rank 2 (two): it is bad\n");
}

TEST(CheckTable, ManyRanksHaveALineForEachTwoHosts) {
  constexpr uint32_t ranks = 14;
  Gathered all;
  all.transport = "sockets";
  all.arrivals.resize(ranks);
  for (uint32_t r = 0; r < ranks; ++r) {
    all.arrivals[r].isHere = 1;
    all.hosts.push_back(r < 7 ? 0 : 7);
    copyText(all.arrivals[r].host, r < 7 ? "one" : "two");
  }
  std::vector<PairSpeed> pairs(ranks * ranks, {10e-6f, 1e9f});
  pairs[2 * ranks + 9] = {30e-6f, 2e8f};
  const std::string text = checkTable(all, std::vector<std::string>(ranks), pairs);
  EXPECT_NE(text.find("one, two     49  10.0..30.0   200..1000  ranks 2 and 9\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("one, one     21  10.0..10.0  1000..1000  ranks 0 and 1\n"),
            std::string::npos)
      << text;
}

TEST(CheckPairs, EveryPairComesOnce) {
  for (uint32_t ranks : {1, 2, 3, 6, 8, 9, 16, 33}) {
    std::set<std::pair<uint32_t, uint32_t>> seen;
    for (const auto &round : planPairs(ranks)) {
      std::set<uint32_t> busy;
      EXPECT_TRUE(ranks > 8 || round.size() == 1); // of few ranks, one pair at a time
      for (const auto &[a, b] : round) {
        EXPECT_LT(a, b);
        EXPECT_LT(b, ranks);
        EXPECT_TRUE(seen.insert({a, b}).second);
        EXPECT_TRUE(busy.insert(a).second && busy.insert(b).second);
      }
    }
    EXPECT_EQ(seen.size(), ranks * (ranks - 1) / 2) << ranks;
  }
}

struct Scratch {
  Scratch() : path(std::filesystem::temp_directory_path() / ("check-" + std::to_string(getpid()))) {
    std::filesystem::create_directory(path);
  }
  ~Scratch() { std::filesystem::remove_all(path); }
  bool isEmpty() const { return std::filesystem::is_empty(path); }
  std::filesystem::path path;
};

TEST(CheckFolder, IsFoundAndLeftAsItWas) {
  const Scratch scratch;
  const std::string path = scratch.path / "run";
  Digest contents;
  {
    SharedFolder first(path);
    ASSERT_EQ(first.prepare(&contents), DPC_OK) << dpc_last_error();
    EXPECT_EQ(SharedFolder(path).look(1, contents), DPC_OK) << dpc_last_error();
  }
  EXPECT_TRUE(scratch.isEmpty());
}

TEST(CheckFolder, WithOtherContentsIsAnother) {
  const Scratch scratch;
  Digest contents;
  SharedFolder first(scratch.path);
  ASSERT_EQ(first.prepare(&contents), DPC_OK);
  Digest other = contents;
  other[31] ^= 1; // the name of the file has only the first digits
  EXPECT_EQ(SharedFolder(scratch.path).look(1, other), DPC_INVALID);
  EXPECT_NE(std::string(dpc_last_error()).find("is another folder"), std::string::npos);
  EXPECT_EQ(SharedFolder(scratch.path / "no").look(1, contents), DPC_INVALID);
  EXPECT_NE(std::string(dpc_last_error()).find("No such file or directory"), std::string::npos);
}

} // namespace
