// A produced program over every transport: the same bits, wherever its ranks
// have no memory in common, and the same words when something fails.
#include "test/runtime/EveryTransport.h"
#include "test/runtime/ProducedProgram.h"

#include <filesystem>

using namespace dpc::test;

namespace {

class ProducedTransport : public ProducedProgram, public testing::WithParamInterface<std::string> {
protected:
  Outcome over(const std::string &transport, int ranks, std::vector<std::string> arguments,
               const std::vector<std::string> &environment = {}) {
    arguments.push_back("--comm=" + transport);
    return train(ranks, arguments, environment);
  }
  /// Trains for ten steps, evaluates, and saves everything there is to save.
  void trainAndSave(const std::string &transport, const std::string &into) {
    std::filesystem::create_directory(into);
    Outcome outcome =
        over(transport, 2,
             {"--steps=10", "--eval-data=" + data, "--eval-every=5", "--checkpoint=" + into + "/ck",
              "--checkpoint-every=5", "--save-params=" + into + "/p",
              "--save-onnx=" + into + "/m.onnx", "--log=" + into + "/log"});
    ASSERT_EQ(outcome.code, 0) << outcome.text;
  }
};

INSTANTIATE_TEST_SUITE_P(All, ProducedTransport, testing::ValuesIn(transportNames()),
                         [](const auto &info) { return info.param; });

TEST_P(ProducedTransport, SavesTheSameBytes) {
  const std::string here = path("here"), reference = path("reference");
  trainAndSave(GetParam(), here);
  trainAndSave(transportNames()[0], reference);
  for (const char *file : {"/p", "/m.onnx", "/ck/step-5/state-0.safetensors",
                           "/ck/step-10/state-0.safetensors", "/ck/step-10/state-1.safetensors"}) {
    EXPECT_FALSE(readFile(here + file).empty()) << file;
    EXPECT_EQ(readFile(here + file), readFile(reference + file)) << file;
  }
  EXPECT_EQ(losses(here + "/log"), losses(reference + "/log"));
}

// What one transport has written another one goes on from, in any layout.
TEST_P(ProducedTransport, ResumesWhatAnotherWrote) {
  const std::string first = transportNames()[0], whole = path("whole"), rest = path("rest"),
                    back = path("back");
  ASSERT_EQ(over(first, 2, {"--steps=10", "--save-params=" + whole}).code, 0);
  ASSERT_EQ(over(first, 2, {"--steps=5", "--checkpoint=" + path("ck")}).code, 0);
  ASSERT_EQ(over(first, 1, {"--steps=5", "--checkpoint=" + path("ck1")}).code, 0);
  Outcome outcome =
      over(GetParam(), 2,
           {"--steps=10", "--resume", "--checkpoint=" + path("ck"), "--save-params=" + rest});
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(readFile(whole), readFile(rest));
  outcome =
      over(GetParam(), 2,
           {"--steps=10", "--resume", "--checkpoint=" + path("ck1"), "--save-params=" + back});
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  expectClose(weights(back), weights(whole));
}

TEST_P(ProducedTransport, ReadsInflatedDataOnce) {
  const float w[] = {1, 2, 3};
  const dpc_array_t array = {"fc.weight", DPC_F32, 1, {3}, w};
  ASSERT_EQ(dpc_safetensors_write(path("init").c_str(), &array, 1, nullptr, 0), DPC_OK);
  Outcome outcome =
      over(GetParam(), 2, {"--steps=4", "--init-params=" + path("init"), "--log=" + path("log")});
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  writeData(path("range.npz"), std::vector<float>(24), {0, 0, 0, 0, 0, 0, 0, 2000});
  outcome = run(command(
      2, {"--data=" + path("range.npz"), "--steps=2", "--no-shuffle", "--comm=" + GetParam()}));
  EXPECT_EQ(outcome.code, 1) << outcome.text;
  EXPECT_NE(outcome.text.find("value 2000 in sample 7 is outside"), std::string::npos)
      << outcome.text;
  // Over some transports, a note comes before the error.
  EXPECT_EQ(outcome.text.find("error:"), outcome.text.rfind("error:")) << outcome.text;
}

TEST_P(ProducedTransport, OneCauseOfAFailure) {
  Outcome outcome = over(GetParam(), 2, {"--steps=100000"}, {"DPC_TEST_FAULT=kill:1:3"});
  EXPECT_EQ(outcome.code, 3) << outcome.text;
  EXPECT_NE(outcome.text.find("rank 1 died"), std::string::npos) << outcome.text;
  EXPECT_LT(outcome.seconds, 20);
  for (const char *fault : {"DPC_TEST_FAULT=throw:1:3", "DPC_TEST_FAULT=throw:0:3"}) {
    outcome = over(GetParam(), 2, {"--steps=100000"}, {fault});
    EXPECT_EQ(outcome.code, 4) << outcome.text;
    EXPECT_NE(outcome.text.find("in step 4: failed with status 4"), std::string::npos)
        << outcome.text;
    EXPECT_EQ(outcome.text.find("rank 1 has"), std::string::npos) << outcome.text;
  }
}

// An error that only one rank meets while all gather.
TEST_P(ProducedTransport, UnwritableCheckpointIsExit5) {
  Outcome outcome = over(GetParam(), 2, {"--steps=1", "--save-params=/dev/full"});
  EXPECT_EQ(outcome.code, 5) << outcome.text;
}

TEST_P(ProducedTransport, InterruptWritesACheckpoint) {
  Outcome outcome = run(command(2, {"--data=" + data, "--steps=100000000",
                                    "--checkpoint=" + path("ck"), "--comm=" + GetParam()}),
                        {}, [](pid_t pid) {
                          usleep(500000);
                          kill(pid, SIGINT);
                        });
  EXPECT_EQ(outcome.code, 130) << outcome.text;
  EXPECT_NE(outcome.text.find("checkpoint written"), std::string::npos) << outcome.text;
}

// Ranks that do not see each other's memory may read different files under one
// name: each checks its own, also what is not inflated. The files are so large that the
// comparison of samples does not notice the difference.
TEST_F(ProducedProgram, EachRankChecksItsOwnFile) {
  const std::vector<float> rest(6u << 20);
  const std::string many = npyOf("<f4", std::to_string(rest.size()) + ",", rest);
  const std::string large = zipOf({{"before.npy", many, false},
                                   {"x.npy", npyOf("<f4", "20, 3", x), true},
                                   {"label.npy", npyOf("<f4", "20,", label), false},
                                   {"after.npy", many, false}});
  const size_t at = large.find(std::string(reinterpret_cast<const char *>(label.data()), 16));
  ASSERT_NE(at, std::string::npos);
  const auto results = byHand([&](uint32_t rank) {
    const std::string folder = path(rank ? "b" : "a");
    std::filesystem::create_directory(folder);
    std::string content = large;
    content[at] ^= rank;
    writeFile(folder + "/data.npz", content);
    return HandStarted{{"--data=data.npz", "--steps=1", "--comm=sockets"}, {}, folder};
  });
  EXPECT_EQ(results[1].exitCode, 1) << results[1].message;
  EXPECT_NE(results[1].message.find("checksum"), std::string::npos) << results[1].message;
  EXPECT_EQ(results[0].exitCode, 3) << results[0].message;
}

TEST_F(ProducedProgram, TransportsAreListed) {
  const std::string help = run({LINEAR_2, "--help"}).text;
  Outcome outcome = train(1, {"--comm=pigeon"});
  EXPECT_EQ(outcome.code, 2) << outcome.text;
  for (const std::string &name : transportNames()) {
    EXPECT_NE(help.find("--comm=" + name), std::string::npos) << help;
    EXPECT_NE(outcome.text.find(name), std::string::npos) << outcome.text;
  }
  outcome = train(2, {"--comm=sockets,latency=20us"});
  EXPECT_EQ(outcome.code, 2) << outcome.text;
  EXPECT_NE(outcome.text.find("settings of the local one"), std::string::npos) << outcome.text;
}

} // namespace
