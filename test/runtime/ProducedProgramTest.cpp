// A produced program under dpc-run, end to end: results, faults, exit codes.
#include "test/runtime/ProducedProgram.h"

#include <filesystem>

using namespace dpc::test;

namespace {

TEST_F(ProducedProgram, TrainsLikeThePlainComputation) {
  for (int ranks : {1, 2}) {
    Outcome outcome =
        train(ranks, {"--steps=10", "--log=" + path("log"), "--save-params=" + path("p")});
    ASSERT_EQ(outcome.code, 0) << outcome.text;
    std::vector<double> w;
    expectClose(losses(path("log")), expected(10, &w));
    expectClose(weights(path("p")), w);
    EXPECT_NE(outcome.text.find("step 10/10"), std::string::npos) << outcome.text;
    EXPECT_NE(outcome.text.find("planned memory 1.0 KiB a rank"), std::string::npos)
        << outcome.text;
    EXPECT_NE(outcome.text.find("last 4 samples"), std::string::npos) << outcome.text;
  }
}

TEST_F(ProducedProgram, SameSeedSameBits) {
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(run(command(2, {"--data=" + data, "--epochs=4", "--seed=3",
                              "--log=" + path(i ? "b" : "a")}))
                  .code,
              0);
  EXPECT_EQ(losses(path("a")), losses(path("b")));
  EXPECT_EQ(losses(path("a")).size(), 8u);
  ASSERT_EQ(
      run(command(1, {"--data=" + data, "--epochs=4", "--seed=3", "--log=" + path("c")})).code, 0);
  expectClose(losses(path("a")),
              losses(path("c"))); // the shuffle does not depend on the ranks
  ASSERT_EQ(
      run(command(2, {"--data=" + data, "--epochs=4", "--seed=4", "--log=" + path("d")})).code, 0);
  EXPECT_NE(losses(path("a")), losses(path("d")));
}

TEST_F(ProducedProgram, InitParamsEvalOnnxTrace) {
  const float w[] = {1, 2, 3};
  const dpc_array_t array = {"fc.weight", DPC_F32, 1, {3}, w};
  ASSERT_EQ(dpc_safetensors_write(path("init").c_str(), &array, 1, nullptr, 0), DPC_OK);
  Outcome outcome = train(2, {"--steps=1", "--init-params=" + path("init"), "--eval-data=" + data,
                              "--save-onnx=" + path("m.onnx"), "--save-params=" + path("p"),
                              "--trace=" + path("t.json"), "--log=" + path("log")});
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  const std::vector<double> after = weights(path("p"));
  double loss = 0;
  for (int i = 0; i < kSamples; ++i) { // the short last batch counts its 4 rows
    double e = -label[i];
    for (int k = 0; k < 3; ++k)
      e += x[i * 3 + k] * after[k];
    loss += e * e / kSamples;
  }
  char text[64];
  std::snprintf(text, sizeof text, "eval at step 1: loss %.6g", loss);
  EXPECT_NE(outcome.text.find(text), std::string::npos) << outcome.text;
  const std::string onnx = readFile(path("m.onnx"));
  ASSERT_EQ(onnx.size(), 25u);
  float first;
  std::memcpy(&first, onnx.data() + 8, 4);
  EXPECT_EQ(first, float(after[0]));
  EXPECT_EQ(onnx.substr(20), " onnx");
  for (const char *file : {"t.json", "t.rank1.json"}) {
    const std::string trace = readFile(path(file));
    EXPECT_NE(trace.find("\"Collective name\":\"reduce-scatter\""), std::string::npos) << trace;
    EXPECT_NE(trace.find("\"node\":\"bucket 0: fc.weight\""), std::string::npos);
  }
}

TEST_F(ProducedProgram, BadInputIsOneLineAndExit1) {
  writeData(path("short.npz"), std::vector<float>(21), std::vector<float>(7));
  writeData(path("range.npz"), std::vector<float>(24), {0, 0, 0, 0, 0, 0, 0, 2000});
  writeFile(path("nolabel.npz"), zipOf({{"x.npy", npyOf("<f4", "20, 3", x)}}));
  writeFile(path("shape.npz"), zipOf({{"x.npy", npyOf("<f4", "30, 2", x)},
                                      {"label.npy", npyOf("<f4", "20,", label)}}));
  writeFile(path("rows.npz"), zipOf({{"x.npy", npyOf("<f4", "20, 3", x)},
                                     {"label.npy", npyOf("<f4", "19,", std::vector<float>(19))}}));
  const struct {
    const char *file, *words;
  } cases[] = {{"short.npz", "7 samples, fewer than one batch of 8"},
               {"range.npz", "value 2000 in sample 7 is outside [-1000, 1000]"},
               {"nolabel.npz", "no data for input \"label\""},
               {"shape.npz", "samples have shape [2]"},
               {"rows.npz", "has 19 samples"}};
  for (const auto &bad : cases) {
    Outcome outcome = run(command(2, {"--data=" + path(bad.file), "--steps=2", "--no-shuffle"}));
    EXPECT_EQ(outcome.code, 1) << outcome.text;
    EXPECT_NE(outcome.text.find(bad.words), std::string::npos) << outcome.text;
    size_t errors = 0;
    for (size_t at = 0; (at = outcome.text.find("error:", at)) != std::string::npos; ++at)
      ++errors;
    EXPECT_EQ(errors, 1u) << outcome.text;
    EXPECT_LT(outcome.seconds, 20);
  }
  EXPECT_EQ(run(command(2, {"--data=" + path("absent.npz")})).code, 5);
}

/// Whether `outcome` is one line with these words, and exit code 1.
void expectRefusal(const Outcome &outcome, const std::string &words) {
  EXPECT_EQ(outcome.code, 1) << outcome.text;
  EXPECT_NE(outcome.text.find(words), std::string::npos) << outcome.text;
  EXPECT_EQ(std::count(outcome.text.begin(), outcome.text.end(), '\n'), 1) << outcome.text;
}

TEST_F(ProducedProgram, LooksForGlooBesideItselfAndDpcRun) {
  // A program and a dpc-run in two folders, without any library.
  for (const char *folder : {"a", "b", "b/bin", "b/lib"})
    std::filesystem::create_directory(path(folder));
  const std::string program = path("a/train"), launcher = path("b/bin/dpc-run");
  std::filesystem::copy(LINEAR_2, program);
  std::filesystem::copy(DPC_RUN, launcher);
  const auto start = [&](const std::vector<std::string> &environment) {
    return run({launcher, "-n", "2", program, "--data=" + data, "--steps=1", "--comm=gloo"},
               environment);
  };
  expectRefusal(start({}), "--comm=gloo: libdpc_gloo.so is not found beside " + path("a") + " or " +
                               path("b/bin") + " (");
  std::filesystem::copy(LINEAR_1, path("a/alone"));
  expectRefusal(run({path("a/alone"), "--data=" + data, "--comm=gloo"}),
                "is not found beside " + path("a") + " (");
  expectRefusal(start({"DPC_GLOO_LIBRARY=/nowhere/gloo.so"}),
                "--comm=gloo: DPC_GLOO_LIBRARY: /nowhere/gloo.so: cannot open");
  expectRefusal(start({"DPC_GLOO_LIBRARY=libz.so.1"}),
                "--comm=gloo: DPC_GLOO_LIBRARY: libz.so.1 has no function dpc_gloo_table");
  expectRefusal(start({"DPC_GLOO_LIBRARY=" OTHER_GLOO}),
                "other-gloo.so has version 0 of its functions, and this program needs version 1");
  writeFile(path("b/lib/libdpc_gloo.so"), "no library");
  expectRefusal(start({}), path("b/bin/../lib/libdpc_gloo.so") + ": file too short");
#ifdef GLOO_LIBRARY
  std::filesystem::remove(path("b/lib/libdpc_gloo.so"));
  for (const char *place : {"b/lib/libdpc_gloo.so", "b/bin/libdpc_gloo.so", "a/libdpc_gloo.so"}) {
    std::filesystem::copy(GLOO_LIBRARY, path(place));
    const Outcome outcome = start({});
    EXPECT_EQ(outcome.code, 0) << outcome.text;
    EXPECT_NE(outcome.text.find("note: Gloo listens on ports of its own, which do not know the "
                                "run's secret\n"),
              std::string::npos)
        << outcome.text;
    std::filesystem::remove(path(place));
  }
#else
  GTEST_SKIP() << "libdpc_gloo.so is not built: libgloo-dev is not installed";
#endif
}

TEST_F(ProducedProgram, Usage) {
  for (const char *bad :
       {"--frobnicate", "--steps", "--steps=abc", "--steps=-1", "--steps=0",
        "--steps=99999999999999999999", "--comm=pigeon", "--comm=local,bandwidth=x", "--timeout=-1",
        "--nan=maybe", "stray", "--resume", "--eval-every=2", "--input=x"}) {
    Outcome outcome = train(2, {bad});
    EXPECT_EQ(outcome.code, 2) << bad << outcome.text;
    EXPECT_EQ(std::count(outcome.text.begin(), outcome.text.end(), '\n'), 1) << outcome.text;
  }
  Outcome alone = train(2, {"--comm=mpi"});
  EXPECT_EQ(alone.code, 2) << alone.text;
  EXPECT_NE(alone.text.find("--comm=mpi: no mpirun has started this process"), std::string::npos)
      << alone.text;
  ::setenv("PMI_SIZE", "2", 1);
  ::setenv("DPC_MPI_LIBRARY", "/nowhere/libmpi.so", 1);
  Outcome missing = train(2, {"--comm=mpi"});
  ::unsetenv("PMI_SIZE");
  ::unsetenv("DPC_MPI_LIBRARY");
  EXPECT_EQ(missing.code, 1) << missing.text;
  EXPECT_NE(missing.text.find("--comm=mpi: DPC_MPI_LIBRARY: /nowhere/libmpi.so: cannot open"),
            std::string::npos)
      << missing.text;
  EXPECT_NE(train(1, {"--comm=nccl"}).text.find("not for CUDA devices"), std::string::npos);
  EXPECT_NE(run({LINEAR_2, "--help"}).text.find("--checkpoint-every=N"), std::string::npos);
  EXPECT_EQ(run({DPC_RUN}).code, 2);
  EXPECT_EQ(run({DPC_RUN, "-n", "0", LINEAR_1}).code, 2);
  EXPECT_EQ(run({DPC_RUN, "-n", "2", "/no/such/program"}).code, 1);
  EXPECT_EQ(run({DPC_RUN, "--nodes=2", LINEAR_1}).code, 2);
  EXPECT_EQ(run({DPC_RUN, LINEAR_2, "--data=" + data, "--steps=1"}).code,
            0); // the program's own number of ranks
  Outcome outcome = run({DPC_RUN, "-n", "3", LINEAR_2, "--data=" + data});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.text.find("compiled for 2 ranks, this run has 3"), std::string::npos)
      << outcome.text;
}

TEST_F(ProducedProgram, NonFiniteLossNamesStepAndTensor) {
  std::vector<float> bad = x;
  bad[8 * 3] = NAN;
  writeData(data, bad, label);
  Outcome outcome = train(2, {"--steps=5", "--log=" + path("log")});
  EXPECT_EQ(outcome.code, 4) << outcome.text;
  EXPECT_NE(outcome.text.find("step 2: loss (tensor \"mse_loss\") is NaN"), std::string::npos)
      << outcome.text;
  EXPECT_NE(readFile(path("log")).find("\"step\": 2, \"loss\": null"), std::string::npos);
  outcome = train(2, {"--steps=5", "--nan=warn"});
  EXPECT_EQ(outcome.code, 0) << outcome.text;
}

TEST_F(ProducedProgram, DeadRank) {
  Outcome outcome = train(2, {"--steps=1000"}, {"DPC_TEST_FAULT=kill:1:3"});
  EXPECT_EQ(outcome.code, 3) << outcome.text;
  EXPECT_NE(outcome.text.find("rank 1 died"), std::string::npos) << outcome.text;
  EXPECT_LT(outcome.seconds, 20); // not the timeout of its peers
}

TEST_F(ProducedProgram, FailingFunctionIsTheCauseNotTheSymptom) {
  Outcome outcome = train(2, {"--steps=1000"}, {"DPC_TEST_FAULT=throw:1:3"});
  EXPECT_EQ(outcome.code, 4) << outcome.text;
  // Three steps were done before.
  EXPECT_NE(outcome.text.find("in step 4: failed with status 4"), std::string::npos)
      << outcome.text;
}

TEST_F(ProducedProgram, SeveralJobsAtOnce) {
  std::vector<pid_t> jobs;
  for (int i = 0; i < 4; ++i) {
    pid_t pid = fork();
    if (pid == 0)
      _exit(train(2, {"--steps=50"}).code);
    jobs.push_back(pid);
  }
  for (pid_t pid : jobs) {
    int status;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

// Ranks started by hand as torchrun does: no token, they meet in a directory of
// this user.
TEST_F(ProducedProgram, TorchrunStyleEnvironment) {
  auto results = forkRanks(2, [&](uint32_t rank, RankReport &report) {
    const std::string port = "MASTER_PORT=" + std::to_string(20000 + getppid() % 20000);
    Outcome outcome =
        run({LINEAR_2, "--data=" + data, "--steps=3"},
            {"RANK=" + std::to_string(rank), "WORLD_SIZE=2", "MASTER_ADDR=localhost", port});
    std::snprintf(report.message, sizeof report.message, "%s", outcome.text.c_str());
    return outcome.code;
  });
  for (const RankResult &result : results)
    EXPECT_EQ(result.exitCode, 0) << result.message;
}

// The plan of a program is proved without a run, and without ranks.
TEST_F(ProducedProgram, VerifyProvesThePlan) {
  const struct {
    const char *program;
    int code;
    const char *text;
  } cases[] = {
      {LINEAR_1, 0, "plan of 1 rank: OK, 15 actions, 4 communications, 10 buffers\n"},
      {LINEAR_2, 0, "plan of 2 ranks: OK, 30 actions, 8 communications, 20 buffers\n"},
      {LINEAR_BROKEN, 1,
       "error: plan of 2 ranks: rank 1, end of step: all-reduce 10 of action 4 is never waited "
       "for\n"},
  };
  for (const auto &one : cases) {
    for (const std::vector<std::string> &command :
         {std::vector<std::string>{DPC_RUN, "--verify", one.program}, {one.program, "--verify"}}) {
      const Outcome outcome = run(command);
      EXPECT_EQ(outcome.code, one.code) << outcome.text;
      EXPECT_EQ(outcome.text, one.text);
    }
  }
  // It says so as part of a run, too; then one rank is enough.
  EXPECT_EQ(run({DPC_RUN, "-n", "2", LINEAR_2, "--verify"}).text, cases[1].text);
  EXPECT_EQ(run({DPC_RUN, "--verify", LINEAR_2}, {"RANK=1", "WORLD_SIZE=2"}).text, cases[1].text);
}

TEST_F(ProducedProgram, VerifyTakesAProgramAndNoMore) {
  const struct {
    std::vector<std::string> arguments;
    int code;
    const char *words;
  } cases[] = {
      {{"--verify"}, 2, "no program to run"},
      {{"--verify", "-n", "2", LINEAR_2}, 2, "no other options (not -n)"},
      {{"--verify", "--max-restarts=2", LINEAR_2}, 2, "no other options (not --max-restarts)"},
      {{"--verify", LINEAR_2, "--steps=2"}, 2, "no other options (not --steps=2)"},
      {{"--verify", "/bin/false"}, 1, "is no program made by dpc-compile"},
      {{"--verify", "./absent"}, 1, "./absent: no such file"},
  };
  for (const auto &one : cases) {
    std::vector<std::string> command = {DPC_RUN};
    command.insert(command.end(), one.arguments.begin(), one.arguments.end());
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, one.code) << outcome.text;
    EXPECT_NE(outcome.text.find(one.words), std::string::npos) << outcome.text;
  }
}

} // namespace
