// Calls NCCL as programs do, with the one rank that a machine with one device can have: NCCL is
// opened, a communicator is made without blocking, memory is registered, a sum is captured in a
// graph and repeated, and the communicator is aborted. A line per step says how long it took.
#include "bench/gpu/DeviceDriver.h"

#include <chrono>
#include <cstring>
#include <unistd.h>
#include <vector>

namespace dpc::bench {

namespace {

constexpr size_t kCount = 1 << 20;
constexpr int kReplays = 10;

/// Prints the step, and the time since the step before it.
class Steps {
public:
  void done(const char *step) {
    const auto now = std::chrono::steady_clock::now();
    printLine("{\"step\": \"%s\", \"ms\": %.3f}", step,
              std::chrono::duration<double, std::milli>(now - last).count());
    last = now;
  }

private:
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

class OneRank {
public:
  explicit OneRank(BenchDevice &bench) : bench(bench) { require(cuda::openNccl(nccl)); }

  void check(cuda::NcclResult result, const char *what) {
    while (result == cuda::NcclResult::inProgress) {
      ::usleep(100);
      if (cuda::NcclResult asked = nccl.ncclCommGetAsyncError(comm, &result);
          asked != cuda::NcclResult::success)
        result = asked;
    }
    if (result != cuda::NcclResult::success)
      throw Failure{std::string("NCCL: ") + what + ": " + nccl.ncclGetErrorString(result)};
  }

  void sum() {
    check(nccl.ncclAllReduce(reinterpret_cast<void *>(memory), reinterpret_cast<void *>(memory),
                             kCount, cuda::NcclType::f32, cuda::NcclReduction::sum, comm,
                             bench.stream()),
          "a sum");
  }

  /// The sum over one rank is the value itself.
  void compare(const char *when) {
    std::vector<float> got(kCount);
    bench.check(bench.driver().cuMemcpyDtoHAsync_v2(got.data(), memory, kCount * sizeof(float),
                                                    bench.stream()),
                "a copy from the device");
    bench.wait();
    if (got != values)
      throw Failure{std::string("NCCL: another result ") + when};
  }

  /// Programs destroy graphs before an abort, because it may wait for ever for those with
  /// operations of the communicator. `keepsGraph` tries it.
  void run(bool keepsGraph) {
    const cuda::Driver &driver = bench.driver();
    Steps steps;
    cuda::NcclId id = {};
    cuda::NcclConfig config;
    config.blocking = 0;
    int version = 0;
    check(nccl.ncclGetVersion(&version), "the version");
    printLine("{\"library\": \"NCCL\", \"version\": %d}", version);
    check(nccl.ncclGetUniqueId(&id), "the number of the run");
    check(nccl.ncclCommInitRankConfig(&comm, 1, id, 0, &config), "init");
    steps.done("init");
    memory = bench.allocate(kCount * sizeof(float));
    check(nccl.ncclCommRegister(comm, reinterpret_cast<void *>(memory), kCount * sizeof(float),
                                &registration),
          "registering memory");
    steps.done("registration");
    for (size_t i = 0; i < kCount; ++i)
      values[i] = static_cast<float>(i % 1000);
    bench.check(
        driver.cuMemcpyHtoDAsync_v2(memory, values.data(), kCount * sizeof(float), bench.stream()),
        "a copy to the device");
    sum();
    compare("in the stream");
    steps.done("sum");
    cuda::Graph graph = nullptr;
    bench.check(driver.cuStreamBeginCapture_v2(bench.stream(), cuda::CaptureMode::threadLocal),
                "capture");
    sum();
    bench.check(driver.cuStreamEndCapture(bench.stream(), &graph), "capture");
    bench.check(driver.cuGraphInstantiateWithFlags(&exec, graph, cuda::kGraphUseNodePriority),
                "a graph");
    driver.cuGraphDestroy(graph);
    steps.done("capture");
    for (int replay = 0; replay < kReplays; ++replay)
      bench.check(driver.cuGraphLaunch(exec, bench.stream()), "a graph");
    compare("of a graph");
    steps.done("replay");
    if (!keepsGraph)
      bench.check(driver.cuGraphExecDestroy(exec), "the graph");
    check(nccl.ncclCommAbort(comm), "abort");
    if (keepsGraph)
      bench.check(driver.cuGraphExecDestroy(exec), "the graph after the abort");
    bench.wait();
    steps.done(keepsGraph ? "abort with a live graph" : "abort");
  }

private:
  BenchDevice &bench;
  cuda::Nccl nccl;
  cuda::NcclComm comm = nullptr;
  cuda::GraphExec exec = nullptr;
  void *registration = nullptr;
  cuda::DevicePointer memory = 0;
  std::vector<float> values = std::vector<float>(kCount);
};

} // namespace

void tryNccl(BenchDevice &device, bool keepsGraph) { OneRank(device).run(keepsGraph); }

} // namespace dpc::bench
