// What tests of the emulated device share: a process of its own for each device,
// buffers, and launches of the kernels of kernels.mlir.
#ifndef DPC_TEST_CUDA_EMULATOR_TESTS_EMULATED_H
#define DPC_TEST_CUDA_EMULATOR_TESTS_EMULATED_H

#include "runtime/src/cuda/Libraries.h"
#include "test/runtime/ForkRanks.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace dpc::test {

using Variables = std::map<std::string, std::string>;

/// How a process ended, and what it printed.
struct Ending {
  int status = -1; // exit status, 128 + signal
  std::string printed;
};

/// Runs `body` in a process of its own, in which the device is emulated with
/// these variables (without "DPC_EMU_"), and which has 60 s.
inline Ending onDevice(const Variables &variables, const std::function<int()> &body) {
  int ends[2];
  if (pipe(ends))
    return {};
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    alarm(60);
    setenv("DPC_CUDA_LIBRARIES", EMULATOR, 1);
    for (const auto &[name, value] : variables)
      setenv(("DPC_EMU_" + name).c_str(), value.c_str(), 1);
    const int status = body();
    std::fflush(nullptr);
    _exit(status);
  }
  close(ends[1]);
  Ending ending;
  char buffer[4096];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    ending.printed.append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  ending.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ending;
}

/// A device in this process; calls that must succeed end it if they do not.
class TestDevice {
public:
  cuda::Driver driver;
  cuda::Stream stream = nullptr;

  explicit TestDevice(int ordinal = 0) {
    if (cuda::openDriver(driver))
      stop(dpc_last_error());
    cuda::Context context = nullptr;
    must(driver.cuInit(0));
    must(driver.cuDevicePrimaryCtxRetain(&context, ordinal));
    must(driver.cuCtxSetCurrent(context));
    stream = makeStream();
  }

  [[noreturn]] static void stop(const char *why) {
    std::printf("%s\n", why);
    std::fflush(nullptr);
    _exit(1);
  }
  void must(cuda::Result result) const {
    const char *name = "";
    if (result == cuda::Result::success)
      return;
    driver.cuGetErrorName(result, &name);
    stop(name);
  }
  cuda::Stream makeStream() const {
    cuda::Stream made = nullptr;
    must(driver.cuStreamCreateWithPriority(&made, cuda::kStreamNonBlocking, 0));
    return made;
  }
  cuda::Event makeEvent() const {
    cuda::Event made = nullptr;
    must(driver.cuEventCreate(&made, cuda::kEventDisableTiming));
    return made;
  }
  void synchronize() const { must(driver.cuStreamSynchronize(stream)); }

  /// Kernels of the PTX file `name`.
  void load(const std::string &name) {
    std::ifstream file(std::string(PTX) + "/" + name + ".ptx");
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    loadText(text);
  }
  void loadText(const std::string &ptx) {
    must(driver.cuModuleLoadDataEx(&module, ptx.c_str(), 0, nullptr, nullptr));
  }
  cuda::Function kernel(const char *name) const {
    cuda::Function function = nullptr;
    must(driver.cuModuleGetFunction(&function, module, name));
    return function;
  }
  template <typename... Values>
  void launch(const char *name, std::array<unsigned, 2> grid, std::array<unsigned, 2> block,
              cuda::Stream on, Values... values) const {
    void *parameters[] = {&values...};
    must(driver.cuLaunchKernel(kernel(name), grid[0], grid[1], 1, block[0], block[1], 1,
                               dynamicShared, on, parameters, nullptr));
  }

  cuda::Module module = nullptr;
  unsigned dynamicShared = 0; // bytes that launches ask for
};

/// An array on the device.
template <typename T> class Buffer {
public:
  Buffer(const TestDevice &device, const std::vector<T> &values) : Buffer(device, values.size()) {
    device.must(device.driver.cuMemcpyHtoDAsync_v2(pointer, values.data(), size * sizeof(T),
                                                   device.stream));
  }
  Buffer(const TestDevice &device, size_t size) : device(device), size(size) {
    device.must(device.driver.cuMemAlloc_v2(&pointer, size * sizeof(T)));
  }
  std::vector<T> get() const {
    std::vector<T> values(size);
    device.must(device.driver.cuMemcpyDtoHAsync_v2(values.data(), pointer, size * sizeof(T),
                                                   device.stream));
    device.synchronize();
    return values;
  }

  cuda::DevicePointer pointer = 0;

private:
  const TestDevice &device;
  size_t size;
};

inline std::vector<float> randomFloats(size_t count) {
  static std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float &value : values)
    value = uniform(random);
  return values;
}

/// 0 if all values are within `tolerance` of the expected ones; else says which
/// is not and is 1.
template <typename T>
int compare(const char *what, const std::vector<T> &got, const std::vector<T> &expected,
            double tolerance) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(double(got[i]) - double(expected[i]));
    if (!(difference <= tolerance * (1 + std::abs(double(expected[i]))))) {
      std::printf("%s: element %zu is %g, not %g\n", what, i, double(got[i]), double(expected[i]));
      return 1;
    }
  }
  return 0;
}

/// That NVIDIA's assembler takes a text which tests run; nothing where it is not
/// installed.
inline void expectAssembles(const std::string &ptx) {
  static const bool isThere = std::system("command -v ptxas >/dev/null") == 0;
  if (!isThere)
    return;
  const TemporaryDirectory folder;
  const std::string file = folder.path + "/kernel.ptx";
  std::ofstream(file) << ptx;
  EXPECT_EQ(std::system(("ptxas -arch=sm_90 -o /dev/null " + file).c_str()), 0) << ptx;
}

} // namespace dpc::test

#endif // DPC_TEST_CUDA_EMULATOR_TESTS_EMULATED_H
