// Measures a CUDA device by itself, without a program. It needs a driver, and for some commands a
// library, but no compiler.
//
//   dpc-bench-device facts              name, architecture, memory, multiprocessors, driver
//   dpc-bench-device copies [MOST_MIB]  copies and fills of 1 MiB to MOST_MIB (default 1024)
//   dpc-bench-device launches           empty kernels, in a stream and in a graph
//   dpc-bench-device products           cuBLASLt: DeviceProducts.cpp
//   dpc-bench-device nccl | nccl-live   NCCL with one rank: DeviceNccl.cpp
//
// Each result is a line of JSON. DPC_BENCH_LEAST_S is the time of a measurement in seconds (default
// 0.02). Exit status 1 after a failure, with one line on stderr.
#include "bench/gpu/DeviceDriver.h"

#include "dpc/status.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace dpc;
using namespace dpc::bench;

void dpc::bench::require(dpc_status_t status) {
  if (status)
    throw Failure{dpc_last_error()};
}

void dpc::bench::printLine(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vprintf(format, arguments);
  va_end(arguments);
  std::fputs("\n", stdout);
  std::fflush(stdout);
}

BenchDevice::BenchDevice() {
  require(device.open(0));
  for (cuda::Event *event : {&begin, &end})
    check(driver().cuEventCreate(event, 0), "an event");
}

BenchDevice::~BenchDevice() {
  driver().cuStreamSynchronize(stream());
  for (cuda::DevicePointer each : memory)
    driver().cuMemFree_v2(each);
  for (cuda::Event event : {begin, end})
    driver().cuEventDestroy_v2(event);
}

int BenchDevice::attribute(cuda::DeviceAttribute which) const {
  int value = 0;
  check(driver().cuDeviceGetAttribute(&value, which, 0), "an attribute");
  return value;
}

cuda::DevicePointer BenchDevice::allocate(uint64_t bytes) {
  cuda::DevicePointer made = 0;
  check(driver().cuMemAlloc_v2(&made, bytes), "allocating memory");
  memory.push_back(made);
  return made;
}

void BenchDevice::free(cuda::DevicePointer each) {
  memory.erase(std::remove(memory.begin(), memory.end(), each), memory.end());
  check(driver().cuMemFree_v2(each), "freeing memory");
}

double BenchDevice::measureRuns(const std::function<void()> &work, int runs) {
  float milliseconds = 0;
  check(driver().cuEventRecord(begin, stream()), "an event");
  for (int run = 0; run < runs; ++run)
    work();
  check(driver().cuEventRecord(end, stream()), "an event");
  wait();
  check(driver().cuEventElapsedTime(&milliseconds, begin, end), "measuring");
  return 1e-3 * static_cast<double>(milliseconds);
}

double BenchDevice::measure(const std::function<void()> &work, double least) {
  work(); // loads code
  wait();
  int runs = 1;
  while (measureRuns(work, runs) < least / 4 && runs < 1 << 16)
    runs *= 2;
  double seconds = 1e9;
  for (int round = 0; round < 5; ++round)
    seconds = std::min(seconds, measureRuns(work, runs) / runs);
  return 1e6 * seconds;
}

namespace {

void printFacts(BenchDevice &bench) {
  using Attribute = cuda::DeviceAttribute;
  std::string name;
  require(bench.device.readName(&name));
  int version = 0;
  bench.check(bench.driver().cuDriverGetVersion(&version), "the driver's version");
  size_t freeBytes = 0, totalBytes = 0;
  bench.check(bench.driver().cuMemGetInfo_v2(&freeBytes, &totalBytes), "the device's memory");
  printLine("{\"name\": \"%s\", \"arch\": \"sm_%d%d\", \"multiprocessors\": %d, \"l2_bytes\": %d, "
            "\"memory_bytes\": %zu, \"free_bytes\": %zu, \"driver\": %d}",
            name.c_str(), bench.attribute(Attribute::computeCapabilityMajor),
            bench.attribute(Attribute::computeCapabilityMinor),
            bench.attribute(Attribute::multiprocessorCount),
            bench.attribute(Attribute::l2CacheBytes), totalBytes, freeBytes, version);
}

/// A copy reads and writes its bytes, a fill writes them.
void measureCopies(BenchDevice &bench, uint64_t mostMiB, double least) {
  const uint64_t most = mostMiB << 20;
  const cuda::DevicePointer from = bench.allocate(most), to = bench.allocate(most);
  bench.check(bench.driver().cuMemsetD8Async(from, 1, most, bench.stream()), "a fill");
  for (uint64_t bytes = 1 << 20; bytes <= most; bytes *= 4) {
    const double copy = bench.measure(
        [&] {
          bench.check(bench.driver().cuMemcpyDtoDAsync_v2(to, from, bytes, bench.stream()),
                      "a copy");
        },
        least);
    const double fill = bench.measure(
        [&] {
          bench.check(bench.driver().cuMemsetD8Async(to, 0, bytes, bench.stream()), "a fill");
        },
        least);
    const double size = static_cast<double>(bytes);
    printLine("{\"bytes\": %llu, \"copy_us\": %.3f, \"copy_GB_per_s\": %.1f, \"fill_us\": %.3f, "
              "\"fill_GB_per_s\": %.1f}",
              static_cast<unsigned long long>(bytes), copy, 2e-3 * size / copy, fill,
              1e-3 * size / fill);
  }
}

const char *const kEmptyKernel = ".version 7.0\n.target sm_80\n.address_size 64\n"
                                 ".visible .entry empty()\n{\nret;\n}\n";

void measureLaunches(BenchDevice &bench, double least) {
  constexpr int kNodes = 200;
  const cuda::Driver &driver = bench.driver();
  cuda::Module module = nullptr;
  cuda::Function function = nullptr;
  bench.check(driver.cuModuleLoadDataEx(&module, kEmptyKernel, 0, nullptr, nullptr), "a kernel");
  bench.check(driver.cuModuleGetFunction(&function, module, "empty"), "a kernel");
  const auto launch = [&] {
    bench.check(
        driver.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, bench.stream(), nullptr, nullptr),
        "a launch");
  };
  const double inStream = bench.measure(launch, least);
  cuda::Graph graph = nullptr;
  cuda::GraphExec exec = nullptr;
  bench.check(driver.cuStreamBeginCapture_v2(bench.stream(), cuda::CaptureMode::threadLocal),
              "a graph");
  for (int node = 0; node < kNodes; ++node)
    launch();
  bench.check(driver.cuStreamEndCapture(bench.stream(), &graph), "a graph");
  bench.check(driver.cuGraphInstantiateWithFlags(&exec, graph, 0), "a graph");
  const double inGraph =
      bench.measure([&] { bench.check(driver.cuGraphLaunch(exec, bench.stream()), "a graph"); },
                    least) /
      kNodes;
  driver.cuGraphExecDestroy(exec);
  driver.cuGraphDestroy(graph);
  driver.cuModuleUnload(module);
  printLine("{\"stream_us\": %.3f, \"graph_us\": %.3f}", inStream, inGraph);
}

} // namespace

int main(int argc, char **argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  const char *given = std::getenv("DPC_BENCH_LEAST_S");
  const double least = given ? std::atof(given) : 0.02;
  try {
    BenchDevice device;
    if (command == "facts")
      printFacts(device);
    else if (command == "copies")
      measureCopies(device, argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1024, least);
    else if (command == "launches")
      measureLaunches(device, least);
    else if (command == "products")
      measureProducts(device, least);
    else if (command == "nccl" || command == "nccl-live")
      tryNccl(device, /*keepsGraph=*/command == "nccl-live");
    else
      throw Failure{"usage: dpc-bench-device facts | copies [MOST_MIB] | launches | products | "
                    "nccl | nccl-live"};
  } catch (const Failure &failure) {
    std::fprintf(stderr, "dpc-bench-device: %s\n", failure.text.c_str());
    return 1;
  }
  return 0;
}
