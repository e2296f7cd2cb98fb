// A fixture that runs a produced program under dpc-run on data of its own.
#ifndef DPC_TEST_RUNTIME_PRODUCEDPROGRAM_H
#define DPC_TEST_RUNTIME_PRODUCEDPROGRAM_H

#include "dpc/safetensors.h"
#include "test/runtime/RunCommand.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace dpc::test {

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
  std::vector<std::string> command(int ranks, const std::vector<std::string> &arguments) {
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
  /// How a rank is started without a launcher.
  struct HandStarted {
    std::vector<std::string> arguments, environment = {};
    std::string folder = "."; ///< in which the rank runs
  };
  /// Runs the two ranks without a launcher.
  std::vector<RankResult> byHand(const std::function<HandStarted(uint32_t)> &of) {
    return forkRanks(2, [&](uint32_t rank, RankReport &report) {
      HandStarted how = of(rank);
      if (chdir(how.folder.c_str()) != 0)
        return 99;
      how.arguments.insert(how.arguments.begin(), LINEAR_2);
      for (const std::string &each : {"RANK=" + std::to_string(rank), std::string("WORLD_SIZE=2"),
                                      std::string("MASTER_ADDR=localhost"),
                                      "MASTER_PORT=" + std::to_string(20000 + getppid() % 20000)})
        how.environment.push_back(each);
      const Outcome outcome = run(how.arguments, how.environment);
      std::snprintf(report.message, sizeof report.message, "%s", outcome.text.c_str());
      return outcome.code;
    });
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
    EXPECT_EQ(dpc_safetensors_open(file.c_str(), &opened), DPC_OK) << dpc_last_error();
    const dpc_array_t *array = opened ? dpc_array_file_find(opened, "fc.weight") : nullptr;
    EXPECT_TRUE(array && array->dtype == DPC_F64 && array->shape[0] == 3);
    const double *values = array ? static_cast<const double *>(array->data) : nullptr;
    std::vector<double> out =
        values ? std::vector<double>(values, values + 3) : std::vector<double>(3);
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
  static void expectClose(const std::vector<double> &got, const std::vector<double> &want) {
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], want[i], 1e-12 * (1 + std::fabs(want[i]))) << i;
  }

  TemporaryDirectory directory;
  std::string data = directory.path + "/data.npz";
  std::vector<float> x, label;
};

} // namespace dpc::test

#endif // DPC_TEST_RUNTIME_PRODUCEDPROGRAM_H
