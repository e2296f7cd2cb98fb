// A launcher that starts a run again after a failure: the run goes on from its newest checkpoint,
// although nobody has given --resume.
#include "test/runtime/ProducedProgram.h"

#include <filesystem>

using namespace dpc::test;

namespace {

class Restarts : public ProducedProgram {
protected:
  std::vector<std::string> torchrun(const std::string &attempt, const std::string &run = "a") {
    return {"TORCHELASTIC_RESTART_COUNT=" + attempt,
            "TORCHELASTIC_ERROR_FILE=/tmp/logs_" + run + "/attempt_" + attempt + "/0/error.json"};
  }
  /// A run of ten steps that saves after every second one.
  Outcome start(const std::vector<std::string> &environment,
                const std::vector<std::string> &more = {}) {
    std::vector<std::string> arguments = {"--steps=10", "--checkpoint=" + path("ck"),
                                          "--checkpoint-every=2", "--log=" + path("log"),
                                          "--save-params=" + path("p")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return train(2, arguments, environment);
  }
  void die(std::vector<std::string> environment, const std::vector<std::string> &more = {}) {
    environment.emplace_back("DPC_TEST_DIE_AFTER_RENAME=step-4");
    ASSERT_EQ(start(environment, more).code, 3);
    ASSERT_TRUE(std::filesystem::exists(path("ck/step-4")));
  }
  /// Expects that the run is the one that nothing has interrupted.
  void expectWhole(const Outcome &outcome) {
    ASSERT_EQ(outcome.code, 0) << outcome.text;
    EXPECT_NE(outcome.text.find("resumed at step 4"), std::string::npos) << outcome.text;
    ASSERT_EQ(train(2, {"--steps=10", "--save-params=" + path("whole")}).code, 0);
    EXPECT_EQ(readFile(path("p")), readFile(path("whole")));
    EXPECT_EQ(losses(path("log")).size(), 10u);
  }
};

TEST_F(Restarts, OfTorchrun) {
  die(torchrun("0"));
  expectWhole(start(torchrun("1")));
}

// torchrun does not count the restarts that follow when a host is replaced.
TEST_F(Restarts, OfTorchrunWithAnotherHost) {
  die(torchrun("0"));
  expectWhole(start(torchrun("0")));
}

TEST_F(Restarts, OfSlurm) {
  die({});
  expectWhole(start({"SLURM_RESTART_COUNT=1"}));
}

TEST_F(Restarts, WithoutACheckpointBeginAnew) {
  const Outcome outcome = start({"SLURM_RESTART_COUNT=1"});
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("starting from the beginning"), std::string::npos) << outcome.text;
  // A run that keeps nothing is not concerned.
  EXPECT_EQ(train(2, {"--steps=2"}, {"SLURM_RESTART_COUNT=1"}).code, 0);
}

TEST_F(Restarts, KeepTheParametersOfTheFirstStart) {
  const float w[] = {1, 2, 3};
  const dpc_array_t array = {"fc.weight", DPC_F32, 1, {3}, w};
  ASSERT_EQ(dpc_safetensors_write(path("init").c_str(), &array, 1, nullptr, 0), DPC_OK);
  die(torchrun("0"), {"--init-params=" + path("init")});
  const Outcome outcome = start(torchrun("1"), {"--init-params=" + path("init")});
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("resumed at step 4"), std::string::npos) << outcome.text;
}

// torchrun starts a run again also if the run has refused a folder with checkpoints of another run.
TEST_F(Restarts, DoNotGoOnWithAnotherRun) {
  die(torchrun("0"));
  for (const auto &environment : {torchrun("0", "b"), torchrun("1", "b")}) {
    const Outcome outcome = start(environment);
    EXPECT_EQ(outcome.code, 1) << outcome.text;
    EXPECT_NE(outcome.text.find("already holds checkpoints (step 4)"), std::string::npos)
        << outcome.text;
  }
  // If the user has given --resume, it may be any run.
  EXPECT_EQ(start(torchrun("1", "b"), {"--resume"}).code, 0);
}

// torchrun counts the restart only on the host on which a rank has failed.
TEST_F(Restarts, OneRankKnows) {
  die(torchrun("0"));
  std::filesystem::create_directory(path("meet"));
  std::filesystem::permissions(path("meet"), std::filesystem::perms::owner_all);
  const auto results = byHand([&](uint32_t rank) {
    std::vector<std::string> environment = {std::string("TORCHELASTIC_RESTART_COUNT=") +
                                            (rank ? "1" : "0")};
    environment.push_back("DPC_RENDEZVOUS=file://" + path("meet"));
    return HandStarted{{"--data=" + data, "--no-shuffle", "--steps=10",
                        "--checkpoint=" + path("ck"), "--comm=sockets"},
                       environment};
  });
  EXPECT_EQ(results[0].exitCode, 0) << results[0].message;
  EXPECT_NE(results[0].message.find("resumed at step 4"), std::string::npos) << results[0].message;
}

} // namespace
