// Runs recorded kernels on the CUDA device there is and compares what they leave
// with what the emulated device gave. It needs a driver and nothing else.
//
//   replay-kernels FILE [FIRST [COUNT [STEP]]]    COUNT kernels: FIRST, FIRST + STEP, .., from 0
//
// A kernel that leaves something else is a line; the last line is `N passed, N
// failed, N equal in every bit`, which are fewer than asked for after a kernel
// that broke the device. Exit 1 where any failed, 2 where nothing could be run.
#include "dpc/data.h"
#include "runtime/src/cuda/Libraries.h"
#include "test/gpu/RecordedKernel.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>

using namespace dpc;
using namespace dpc::test;

namespace {

/// How far a float may be off, relative to the largest of its buffer.
double toleranceOf(uint32_t dtype) {
  return dtype == DPC_F64 ? 1e-12 : dtype == DPC_F32 ? 3e-5 : 2e-2;
}

class Device {
public:
  bool open() {
    cuda::Context context = nullptr;
    if (cuda::openDriver(driver)) {
      std::fprintf(stderr, "replay-kernels: %s\n", dpc_last_error());
      return false;
    }
    return works(driver.cuInit(0), "cuInit") &&
           works(driver.cuDevicePrimaryCtxRetain(&context, 0), "opening the device") &&
           works(driver.cuCtxSetCurrent(context), "opening the device") &&
           works(driver.cuStreamCreateWithPriority(&stream, cuda::kStreamNonBlocking, 0),
                 "making a stream");
  }

  /// False, with a line, where a call failed.
  bool works(cuda::Result result, const char *what) const {
    const char *name = "?";
    if (result == cuda::Result::success)
      return true;
    driver.cuGetErrorName(result, &name);
    std::printf("%s: %s\n", what, name);
    return false;
  }

  /// Runs one of the kernel's runs, and puts what its buffers hold into `left`.
  bool run(const RecordedKernel &kernel, const RecordedRun &recorded,
           std::vector<std::string> &left) {
    const std::vector<RecordedBuffer> &buffers = recorded.buffers;
    std::vector<cuda::DevicePointer> places;
    bool worked = true;
    for (const RecordedBuffer &buffer : buffers) {
      const size_t bytes = buffer.bytes;
      worked =
          worked && works(driver.cuMemAlloc_v2(&places.emplace_back(), std::max<size_t>(1, bytes)),
                          "cuMemAlloc");
      if (worked && !buffer.before.empty())
        worked =
            works(driver.cuMemcpyHtoDAsync_v2(places.back(), buffer.before.data(), bytes, stream),
                  "a copy to the device");
    }
    for (size_t i = 0; worked && i < kernel.launches.size(); ++i) {
      const RecordedLaunch &launch = kernel.launches[i];
      std::vector<void *> parameters;
      for (uint32_t number : launch.buffers)
        parameters.push_back(&places[recorded.places[number]]);
      worked = works(driver.cuLaunchKernel(functions[i], launch.blocks, 1, 1, launch.threads, 1, 1,
                                           launch.sharedBytes, stream, parameters.data(), nullptr),
                     launch.symbol.c_str());
    }
    left.clear();
    for (size_t i = 0; worked && i < buffers.size(); ++i) {
      left.emplace_back(buffers[i].isScratch ? 0 : buffers[i].bytes, '\0');
      if (!left.back().empty())
        worked = works(
            driver.cuMemcpyDtoHAsync_v2(left.back().data(), places[i], left.back().size(), stream),
            "a copy from the device");
    }
    worked = worked && works(driver.cuStreamSynchronize(stream), "the kernel");
    for (cuda::DevicePointer place : places)
      if (place)
        driver.cuMemFree_v2(place);
    return worked;
  }

  bool load(const RecordedKernel &kernel) {
    functions.clear();
    if (!works(driver.cuModuleLoadDataEx(&module, kernel.ptx.c_str(), 0, nullptr, nullptr),
               "loading"))
      return false;
    for (const RecordedLaunch &launch : kernel.launches) {
      if (!works(
              driver.cuModuleGetFunction(&functions.emplace_back(), module, launch.symbol.c_str()),
              "cuModuleGetFunction"))
        return false;
      if (launch.sharedBytes &&
          !works(driver.cuFuncSetAttribute(functions.back(),
                                           cuda::FunctionAttribute::maxDynamicSharedBytes,
                                           static_cast<int>(launch.sharedBytes)),
                 "cuFuncSetAttribute"))
        return false;
    }
    return true;
  }

  void unload() {
    if (module)
      driver.cuModuleUnload(module);
    module = nullptr;
  }

private:
  cuda::Driver driver;
  cuda::Stream stream = nullptr;
  cuda::Module module = nullptr;
  std::vector<cuda::Function> functions; // one a launch
};

/// The largest difference of a buffer relative to its largest element; infinite
/// where one is a NaN or an infinity and the other is not.
double differenceOf(const RecordedBuffer &want, const std::string &got) {
  const std::string &after = want.after.empty() ? want.before : want.after;
  if (got == after)
    return 0;
  if (want.dtype == DPC_U8)
    return INFINITY;
  const size_t count = got.size() / dpc_dtype_size(want.dtype);
  std::vector<double> expected(count), values(count);
  dpc_convert(DPC_F64, expected.data(), want.dtype, after.data(), count);
  dpc_convert(DPC_F64, values.data(), want.dtype, got.data(), count);
  double largest = 0, difference = 0;
  for (size_t i = 0; i < count; ++i) {
    if (expected[i] == values[i] || (std::isnan(expected[i]) && std::isnan(values[i])))
      continue;
    if (!std::isfinite(expected[i]) || !std::isfinite(values[i]))
      return INFINITY;
    difference = std::max(difference, std::fabs(values[i] - expected[i]));
  }
  for (double value : expected)
    if (std::isfinite(value))
      largest = std::max(largest, std::fabs(value));
  return difference / std::max(largest, 1.0);
}

enum class Verdict { broken, failed, close, equal };

Verdict replay(Device &device, const RecordedKernel &kernel) {
  Verdict verdict = Verdict::equal;
  if (!device.load(kernel)) {
    std::printf("%s: does not load\n", kernel.name.c_str());
    return Verdict::failed;
  }
  for (size_t run = 0; run < kernel.runs.size(); ++run) {
    const std::vector<RecordedBuffer> &buffers = kernel.runs[run].buffers;
    std::vector<std::string> left;
    if (!device.run(kernel, kernel.runs[run], left)) {
      std::printf("%s: does not run\n", kernel.name.c_str());
      return Verdict::broken;
    }
    for (size_t i = 0; i < buffers.size(); ++i) {
      const double difference = buffers[i].isScratch ? 0 : differenceOf(buffers[i], left[i]);
      if (difference > toleranceOf(buffers[i].dtype)) {
        std::printf("%s: run %zu leaves a difference of %.1e in buffer %zu\n", kernel.name.c_str(),
                    run, difference, i);
        return Verdict::failed;
      }
      if (difference != 0)
        verdict = Verdict::close;
    }
  }
  return verdict;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2 || argc > 5) {
    std::fprintf(stderr, "usage: replay-kernels FILE [FIRST [COUNT [STEP]]]\n");
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "replay-kernels: cannot read %s\n", argv[1]);
    return 2;
  }
  const uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0,
                 count = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : UINT64_MAX,
                 step = argc > 4 ? std::max(1ULL, std::strtoull(argv[4], nullptr, 10)) : 1;
  Device device;
  if (!device.open())
    return 2;
  std::map<Verdict, int> verdicts;
  RecordedKernel kernel;
  uint64_t number = 0;
  for (; number < first || (number - first) / step < count; ++number) {
    if (!readKernel(file, kernel))
      break;
    if (number < first || (number - first) % step != 0)
      continue;
    const Verdict verdict = replay(device, kernel);
    ++verdicts[verdict];
    device.unload();
    std::fflush(stdout);
    // A device that has failed runs nothing any more in this process.
    if (verdict == Verdict::broken)
      break;
  }
  if (verdicts.empty()) {
    std::fprintf(stderr, "replay-kernels: %s holds no kernel %llu\n", argv[1],
                 static_cast<unsigned long long>(number));
    return 2;
  }
  const int failed = verdicts[Verdict::failed] + verdicts[Verdict::broken];
  std::printf("%d passed, %d failed, %d equal in every bit\n",
              verdicts[Verdict::close] + verdicts[Verdict::equal], failed,
              verdicts[Verdict::equal]);
  return failed ? 1 : 0;
}
