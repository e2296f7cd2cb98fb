// How long a run lasts after SIGTERM, and how long its ranks wait for one that is frozen.
#include "test/runtime/ProducedProgram.h"

using namespace dpc::test;

namespace {

class Limits : public ProducedProgram {};

// Rank 1 hangs in step 3, so no checkpoint can be written: dpc-run, or without it the rank that got
// the signal, ends the run. Without --checkpoint, nothing limits the time.
TEST_F(Limits, SigtermEndsARunThatCannotSave) {
  enum { kLaunched, kByHand, kKeepsNothing };
  const std::vector<std::string> hang = {"DPC_TEST_FAULT=hang:1:3"};
  const auto results = forkRanks(3, [&](uint32_t kind, RankReport &report) {
    const auto terminate = [&](pid_t pid) {
      usleep(1000000);
      kill(pid, SIGTERM);
      if (kind != kKeepsNothing)
        return;
      usleep(25000000);
      kill(pid, SIGTERM); // the second one ends a run without a checkpoint
    };
    std::vector<std::string> arguments = {"--data=" + data, "--steps=100000000"};
    if (kind != kKeepsNothing)
      arguments.push_back("--checkpoint=" + path(kind == kLaunched ? "ck" : "hand"));
    std::vector<std::string> command = this->command(2, arguments);
    if (kind == kByHand) {
      // Rank 1 hangs for ever, so it needs somebody who ends it.
      command = {"/bin/sh", "-c",
                 "export WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT=" +
                     std::to_string(20000 + getpid() % 20000) +
                     "; RANK=1 timeout -s KILL 22 \"$@\" & RANK=0 exec \"$@\"",
                 "sh", LINEAR_2};
      command.insert(command.end(), arguments.begin(), arguments.end());
    }
    const Outcome outcome = run(command, hang, terminate);
    std::snprintf(report.message, sizeof report.message, "%.1f s: %s", outcome.seconds,
                  outcome.text.c_str());
    return outcome.code;
  });
  for (const int kind : {kLaunched, kByHand}) {
    EXPECT_EQ(results[kind].exitCode, 130) << results[kind].message;
    EXPECT_NE(results[kind].message.find("did not end within 19 s, and was ended"),
              std::string::npos)
        << results[kind].message;
    EXPECT_GE(results[kind].seconds, 19) << results[kind].message;
  }
  EXPECT_EQ(results[kKeepsNothing].exitCode, 130) << results[kKeepsNothing].message;
  EXPECT_NE(results[kKeepsNothing].message.find("interrupted twice"), std::string::npos)
      << results[kKeepsNothing].message;
}

TEST_F(Limits, FrozenRank) {
  for (const char *comm : {"--comm=local", "--comm=sockets"}) {
    const Outcome outcome =
        train(2, {"--steps=100", "--frozen=5", comm}, {"DPC_TEST_FAULT=stop:1:3"});
    EXPECT_EQ(outcome.code, 3) << outcome.text;
    EXPECT_NE(outcome.text.find("rank 1 is frozen"), std::string::npos) << outcome.text;
    EXPECT_NE(outcome.text.find("5.0 s"), std::string::npos) << outcome.text;
  }
}

TEST_F(Limits, FrozenIsEqualOnAllRanks) {
  for (const char *first : {"--frozen=20", "--seed=0"}) {
    const auto results = byHand([&](uint32_t rank) {
      return HandStarted{{"--data=" + data, "--steps=1", rank ? "--frozen=6" : first}};
    });
    const std::string its = first[2] == 'f' ? "--frozen=20" : "no --frozen";
    EXPECT_EQ(results[1].exitCode, 1) << results[1].message;
    EXPECT_NE(results[1].message.find("rank 1 has --frozen=6, but rank 0 has " + its),
              std::string::npos)
        << results[1].message;
    EXPECT_EQ(results[0].exitCode, 3) << results[0].message;
  }
}

TEST_F(Limits, FrozenNeedsALongerTimeout) {
  for (const auto &[arguments, text] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--frozen=151"}, "--frozen=151 is more than half of --timeout=300, the default"},
           {{"--frozen=6", "--timeout=11"}, "--frozen=6 is more than half of --timeout=11"},
           {{"--frozen=4"}, "\"4\" is not a whole number of seconds from 5 to 3600"},
           {{"--frozen=fc1.*"}, "dpc-compile --frozen=GLOB freezes parameters"}}) {
    const Outcome outcome = train(1, arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.text;
    EXPECT_NE(outcome.text.find(text), std::string::npos) << outcome.text;
  }
  EXPECT_EQ(train(2, {"--steps=1", "--frozen=150"}).code, 0);
  EXPECT_EQ(train(2, {"--steps=1", "--frozen=200", "--timeout=400"}).code, 0);
}

} // namespace
