// A produced program under dpc-run, end to end: results, resume, files, faults,
// exit codes.
#include "dpc/safetensors.h"
#include "test/runtime/ForkRanks.h"
#include "test/runtime/TestFiles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fcntl.h>
#include <filesystem>
#include <random>

using namespace dpc::test;

namespace {

struct Outcome {
  int code;
  std::string text; ///< stdout and stderr
  double seconds;
};

/// Runs a command without a shell.
Outcome run(const std::vector<std::string> &command,
            const std::vector<std::string> &environment = {},
            const std::function<void(pid_t)> &meanwhile = {}) {
  TemporaryDirectory directory;
  const std::string output = directory.path + "/output";
  auto begin = std::chrono::steady_clock::now();
  pid_t pid = fork();
  if (pid == 0) {
    int fd = open(output.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
    dup2(fd, 1);
    dup2(fd, 2);
    for (const std::string &setting : environment)
      putenv(const_cast<char *>(setting.c_str()));
    std::vector<char *> argv;
    for (const std::string &argument : command)
      argv.push_back(const_cast<char *>(argument.c_str()));
    argv.push_back(nullptr);
    alarm(50);
    execv(argv[0], argv.data());
    _exit(127);
  }
  if (meanwhile)
    meanwhile(pid);
  int status;
  waitpid(pid, &status, 0);
  return {
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
      readFile(output),
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count()};
}

constexpr int kSamples = 20; // two batches of 8, 4 dropped

class ProducedProgram : public testing::Test {
protected:
  ProducedProgram() {
    std::mt19937 random(7);
    for (int i = 0; i < kSamples; ++i) {
      double y = 0;
      for (int k = 0; k < 3; ++k) {
        x.push_back(float(int(random() % 2001) - 1000) / 1000);
        y += x.back() * (k + 1);
      }
      label.push_back(float(y) + float(random() % 100) / 1000);
    }
    writeData(data, x, label);
  }
  void writeData(const std::string &path, const std::vector<float> &xs,
                 const std::vector<float> &ys) {
    const std::string n = std::to_string(ys.size());
    writeFile(path, zipOf({{"x.npy", npyOf("<f4", n + ", 3", xs), true},
                           {"label.npy", npyOf("<f4", n + ",", ys)}}));
  }
  std::string path(const char *name) { return directory.path + "/" + name; }
  std::vector<std::string> command(int ranks,
                                   const std::vector<std::string> &arguments) {
    std::vector<std::string> out = {DPC_RUN, "-n", std::to_string(ranks),
                                    ranks == 1 ? LINEAR_1 : LINEAR_2};
    out.insert(out.end(), arguments.begin(), arguments.end());
    return out;
  }
  Outcome train(int ranks, std::vector<std::string> arguments,
                const std::vector<std::string> &environment = {}) {
    arguments.insert(arguments.begin(), {"--data=" + data, "--no-shuffle"});
    return run(command(ranks, arguments), environment);
  }
  /// Losses in a log; checks that the steps are `first`, first + 1, ...
  std::vector<double> losses(const std::string &file, int first = 1) {
    std::vector<double> out;
    std::ifstream log(file);
    for (std::string line; std::getline(log, line);) {
      int step = 0, end = 0;
      double loss = 0, seconds = 0, rate = 0;
      EXPECT_EQ(std::sscanf(line.c_str(),
                            "{\"step\": %d, \"loss\": %lf, \"seconds\": %lf, "
                            "\"samples_per_second\": %lf%n",
                            &step, &loss, &seconds, &rate, &end),
                4)
          << line;
      EXPECT_EQ(step, first + int(out.size()));
      EXPECT_NEAR(seconds * rate, 8, 1e-6);
      out.push_back(loss);
    }
    return out;
  }
  std::vector<double> weights(const std::string &file) {
    dpc_array_file_t *opened = nullptr;
    EXPECT_EQ(dpc_safetensors_open(file.c_str(), &opened), DPC_OK)
        << dpc_last_error();
    const dpc_array_t *array =
        opened ? dpc_array_file_find(opened, "fc.weight") : nullptr;
    EXPECT_TRUE(array && array->dtype == DPC_F64 && array->shape[0] == 3);
    const double *values =
        array ? static_cast<const double *>(array->data) : nullptr;
    std::vector<double> out = values ? std::vector<double>(values, values + 3)
                                     : std::vector<double>(3);
    dpc_array_file_close(opened);
    return out;
  }
  /// The same training, computed plainly.
  std::vector<double> expected(int steps, std::vector<double> *outWeights) {
    std::vector<double> w = {0.5, -0.25, 0}, m(3), out;
    for (int s = 0; s < steps; ++s) {
      double loss = 0, grad[3] = {};
      for (int b = 0; b < 8; ++b) {
        const int row = s % 2 * 8 + b;
        double e = -label[row];
        for (int k = 0; k < 3; ++k)
          e += x[row * 3 + k] * w[k];
        loss += e * e / 8;
        for (int k = 0; k < 3; ++k)
          grad[k] += 2 * e * x[row * 3 + k] / 8;
      }
      out.push_back(loss);
      for (int k = 0; k < 3; ++k) {
        m[k] = 0.9 * m[k] + grad[k];
        w[k] -= 0.05 * m[k];
      }
    }
    *outWeights = w;
    return out;
  }
  static void expectClose(const std::vector<double> &got,
                          const std::vector<double> &want) {
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], want[i], 1e-12 * (1 + std::fabs(want[i]))) << i;
  }

  TemporaryDirectory directory;
  std::string data = directory.path + "/data.npz";
  std::vector<float> x, label;
};

TEST_F(ProducedProgram, TrainsLikeThePlainComputation) {
  for (int ranks : {1, 2}) {
    Outcome outcome = train(ranks, {"--steps=10", "--log=" + path("log"),
                                    "--save-params=" + path("p")});
    ASSERT_EQ(outcome.code, 0) << outcome.text;
    std::vector<double> w;
    expectClose(losses(path("log")), expected(10, &w));
    expectClose(weights(path("p")), w);
    EXPECT_NE(outcome.text.find("step 10/10"), std::string::npos)
        << outcome.text;
    EXPECT_NE(outcome.text.find("planned memory 1.0 KiB a rank"),
              std::string::npos)
        << outcome.text;
    EXPECT_NE(outcome.text.find("last 4 samples"), std::string::npos)
        << outcome.text;
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
  ASSERT_EQ(run(command(1, {"--data=" + data, "--epochs=4", "--seed=3",
                            "--log=" + path("c")}))
                .code,
            0);
  expectClose(losses(path("a")),
              losses(path("c"))); // the shuffle does not depend on the ranks
  ASSERT_EQ(run(command(2, {"--data=" + data, "--epochs=4", "--seed=4",
                            "--log=" + path("d")}))
                .code,
            0);
  EXPECT_NE(losses(path("a")), losses(path("d")));
}

TEST_F(ProducedProgram, ResumesExactlyAlsoOnAnotherLayout) {
  ASSERT_EQ(train(2, {"--steps=10", "--log=" + path("whole"),
                      "--save-params=" + path("p0")})
                .code,
            0);
  ASSERT_EQ(train(2, {"--steps=5", "--checkpoint=" + path("ck"),
                      "--checkpoint-every=2", "--log=" + path("first")})
                .code,
            0);
  EXPECT_FALSE(std::filesystem::exists(path("ck") +
                                       "/.making")); // and only steps 2, 4, 5
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path("ck")), {}),
            3);
  std::filesystem::copy(path("ck"), path("ck1"),
                        std::filesystem::copy_options::recursive);
  Outcome outcome =
      train(2, {"--steps=10", "--resume", "--checkpoint=" + path("ck"),
                "--log=" + path("second"), "--save-params=" + path("p1")});
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  std::vector<double> joined = losses(path("first")),
                      rest = losses(path("second"), 6);
  joined.insert(joined.end(), rest.begin(), rest.end());
  EXPECT_EQ(joined, losses(path("whole")));
  EXPECT_EQ(readFile(path("p0")), readFile(path("p1")));
  ASSERT_EQ(train(1, {"--steps=10", "--resume", "--checkpoint=" + path("ck1"),
                      "--save-params=" + path("p2")})
                .code,
            0);
  expectClose(weights(path("p2")), weights(path("p0")));
}

TEST_F(ProducedProgram, DamagedCheckpointFallsBackToTheOneBefore) {
  ASSERT_EQ(train(1, {"--steps=4", "--checkpoint=" + path("ck"),
                      "--checkpoint-every=2"})
                .code,
            0);
  std::string state = readFile(path("ck") + "/step-4/state.safetensors");
  state[state.size() - 3] ^= 1;
  writeFile(path("ck") + "/step-4/state.safetensors", state);
  Outcome outcome =
      train(1, {"--steps=5", "--resume", "--checkpoint=" + path("ck"),
                "--log=" + path("log")});
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("damaged checkpoint"), std::string::npos)
      << outcome.text;
  EXPECT_EQ(losses(path("log"), 3).size(), 3u);
  for (const char *step : {"/step-2", "/step-4", "/step-5"})
    writeFile(path("ck") + step + "/manifest.json", "{");
  outcome = train(2, {"--steps=6", "--resume", "--checkpoint=" + path("ck")});
  EXPECT_EQ(outcome.code, 1) << outcome.text;
}

TEST_F(ProducedProgram, CheckpointDirectoryOfAnotherRun) {
  ASSERT_EQ(train(1, {"--steps=1", "--checkpoint=" + path("ck")}).code, 0);
  Outcome outcome = train(1, {"--steps=1", "--checkpoint=" + path("ck")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.text.find("--resume"), std::string::npos) << outcome.text;
  outcome = train(
      1, {"--steps=2", "--resume", "--seed=5", "--checkpoint=" + path("ck")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.text.find("--seed=0"), std::string::npos) << outcome.text;
}

TEST_F(ProducedProgram, InitParamsEvalOnnxTrace) {
  const float w[] = {1, 2, 3};
  const dpc_array_t array = {"fc.weight", DPC_F32, 1, {3}, w};
  ASSERT_EQ(dpc_safetensors_write(path("init").c_str(), &array, 1, nullptr, 0),
            DPC_OK);
  Outcome outcome = train(
      2, {"--steps=1", "--init-params=" + path("init"), "--eval-data=" + data,
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
    EXPECT_NE(trace.find("\"Collective name\":\"reduce-scatter\""),
              std::string::npos)
        << trace;
    EXPECT_NE(trace.find("\"node\":\"bucket 0: fc.weight\""),
              std::string::npos);
  }
}

TEST_F(ProducedProgram, BadInputIsOneLineAndExit1) {
  writeData(path("short.npz"), std::vector<float>(21), std::vector<float>(7));
  writeData(path("range.npz"), std::vector<float>(24),
            {0, 0, 0, 0, 0, 0, 0, 2000});
  writeFile(path("nolabel.npz"), zipOf({{"x.npy", npyOf("<f4", "20, 3", x)}}));
  writeFile(path("shape.npz"),
            zipOf({{"x.npy", npyOf("<f4", "30, 2", x)},
                   {"label.npy", npyOf("<f4", "20,", label)}}));
  writeFile(
      path("rows.npz"),
      zipOf({{"x.npy", npyOf("<f4", "20, 3", x)},
             {"label.npy", npyOf("<f4", "19,", std::vector<float>(19))}}));
  const struct {
    const char *file, *words;
  } cases[] = {{"short.npz", "7 samples, fewer than one batch of 8"},
               {"range.npz", "value 2000 in sample 7 is outside [-1000, 1000]"},
               {"nolabel.npz", "no data for input \"label\""},
               {"shape.npz", "samples have shape [2]"},
               {"rows.npz", "has 19 samples"}};
  for (const auto &bad : cases) {
    Outcome outcome = run(
        command(2, {"--data=" + path(bad.file), "--steps=2", "--no-shuffle"}));
    EXPECT_EQ(outcome.code, 1) << outcome.text;
    EXPECT_NE(outcome.text.find(bad.words), std::string::npos) << outcome.text;
    size_t errors = 0;
    for (size_t at = 0;
         (at = outcome.text.find("error:", at)) != std::string::npos; ++at)
      ++errors;
    EXPECT_EQ(errors, 1u) << outcome.text;
    EXPECT_LT(outcome.seconds, 5);
  }
  EXPECT_EQ(run(command(2, {"--data=" + path("absent.npz")})).code, 5);
}

TEST_F(ProducedProgram, Usage) {
  for (const char *bad :
       {"--frobnicate", "--steps", "--steps=abc", "--steps=-1", "--steps=0",
        "--steps=99999999999999999999", "--comm=gloo",
        "--comm=local,bandwidth=x", "--timeout=-1", "--nan=maybe", "stray",
        "--resume", "--eval-every=2", "--input=x"}) {
    Outcome outcome = train(2, {bad});
    EXPECT_EQ(outcome.code, 2) << bad << outcome.text;
    EXPECT_EQ(std::count(outcome.text.begin(), outcome.text.end(), '\n'), 1)
        << outcome.text;
  }
  EXPECT_NE(train(1, {"--comm=nccl"}).text.find("not available yet"),
            std::string::npos);
  EXPECT_NE(run({LINEAR_2, "--help"}).text.find("--checkpoint-every=N"),
            std::string::npos);
  EXPECT_EQ(run({DPC_RUN}).code, 2);
  EXPECT_EQ(run({DPC_RUN, "-n", "0", LINEAR_1}).code, 2);
  EXPECT_EQ(run({DPC_RUN, "-n", "2", "/no/such/program"}).code, 1);
  EXPECT_EQ(run({DPC_RUN, "--nodes=2", LINEAR_1}).code, 2);
  EXPECT_EQ(run({DPC_RUN, LINEAR_2, "--data=" + data, "--steps=1"}).code,
            0); // the program's own number of ranks
  Outcome outcome = run({DPC_RUN, "-n", "3", LINEAR_2, "--data=" + data});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.text.find("compiled for 2 ranks, this run has 3"),
            std::string::npos)
      << outcome.text;
}

TEST_F(ProducedProgram, NonFiniteLossNamesStepAndTensor) {
  std::vector<float> bad = x;
  bad[8 * 3] = NAN;
  writeData(data, bad, label);
  Outcome outcome = train(2, {"--steps=5", "--log=" + path("log")});
  EXPECT_EQ(outcome.code, 4) << outcome.text;
  EXPECT_NE(outcome.text.find("step 2: loss (tensor \"mse_loss\") is NaN"),
            std::string::npos)
      << outcome.text;
  EXPECT_NE(readFile(path("log")).find("\"step\": 2, \"loss\": null"),
            std::string::npos);
  outcome = train(2, {"--steps=5", "--nan=warn"});
  EXPECT_EQ(outcome.code, 0) << outcome.text;
}

// What can be known before the first step is said before it.
TEST_F(ProducedProgram, UnwritableOutputIsExit5) {
  for (const char *output :
       {"--save-params=/no/such/dir/p", "--log=/no/such/dir/log"}) {
    Outcome outcome = train(2, {"--steps=1", output});
    EXPECT_EQ(outcome.code, 5) << outcome.text;
    EXPECT_EQ(outcome.text.find("step"), std::string::npos) << outcome.text;
  }
  EXPECT_EQ(train(2, {"--steps=1", "--save-params=/dev/full"}).code, 5);
  EXPECT_EQ(train(2, {"--steps=1", "--log=/dev/full"}).code, 5);
}

TEST_F(ProducedProgram, DeadRank) {
  Outcome outcome = train(2, {"--steps=1000"}, {"DPC_TEST_FAULT=kill:1:3"});
  EXPECT_EQ(outcome.code, 3) << outcome.text;
  EXPECT_NE(outcome.text.find("rank 1 died"), std::string::npos)
      << outcome.text;
  EXPECT_LT(outcome.seconds, 3);
}

TEST_F(ProducedProgram, FailingFunctionIsTheCauseNotTheSymptom) {
  Outcome outcome = train(2, {"--steps=1000"}, {"DPC_TEST_FAULT=throw:1:3"});
  EXPECT_EQ(outcome.code, 4) << outcome.text;
}

TEST_F(ProducedProgram, RestartGoesOnFromTheCheckpoint) {
  ASSERT_EQ(train(2, {"--steps=20", "--save-params=" + path("whole")}).code, 0);
  Outcome outcome =
      run({DPC_RUN, "-n", "2", "--max-restarts=2", LINEAR_2, "--data=" + data,
           "--no-shuffle", "--steps=20", "--checkpoint=" + path("ck"),
           "--checkpoint-every=4", "--log=" + path("log"),
           "--save-params=" + path("p")},
          {"DPC_TEST_FAULT=kill:0:10", "DPC_TEST_FAULT_ONCE=" + path("once")});
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("resumed at step 8"), std::string::npos)
      << outcome.text;
  EXPECT_EQ(losses(path("log")).size(), 20u); // once each
  EXPECT_EQ(readFile(path("p")), readFile(path("whole")));
}

TEST_F(ProducedProgram, InterruptWritesACheckpoint) {
  Outcome outcome = run(command(2, {"--data=" + data, "--steps=100000000",
                                    "--checkpoint=" + path("ck")}),
                        {}, [](pid_t pid) {
                          usleep(500000);
                          kill(pid, SIGINT);
                        });
  EXPECT_EQ(outcome.code, 130) << outcome.text;
  EXPECT_NE(outcome.text.find("checkpoint written"), std::string::npos)
      << outcome.text;
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path("ck")), {}),
            1);
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
    const std::string port =
        "MASTER_PORT=" + std::to_string(20000 + getppid() % 20000);
    Outcome outcome = run({LINEAR_2, "--data=" + data, "--steps=3"},
                          {"RANK=" + std::to_string(rank), "WORLD_SIZE=2",
                           "MASTER_ADDR=localhost", port});
    std::snprintf(report.message, sizeof report.message, "%s",
                  outcome.text.c_str());
    return outcome.code;
  });
  for (const RankResult &result : results)
    EXPECT_EQ(result.exitCode, 0) << result.message;
}

} // namespace
