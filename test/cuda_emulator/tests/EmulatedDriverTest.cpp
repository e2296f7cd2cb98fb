// The functions of the emulated driver: what they answer, what they refuse, and
// graphs that are captured from streams and run again.
#include "test/cuda_emulator/tests/Emulated.h"

#include <cmath>
#include <cstring>
#include <sstream>
#include <thread>

using namespace dpc::cuda;
using namespace dpc::test;

namespace {

/// Counts expectations that do not hold, with their line, in a process that has no GoogleTest.
class Expect {
public:
  template <typename T> void equal(int line, T got, T want) {
    if (got == want)
      return;
    std::printf("line %d: %lld, not %lld\n", line, static_cast<long long>(got),
                static_cast<long long>(want));
    ++wrong;
  }
  int wrong = 0;
};

#define EQUAL(got, want) expect.equal(__LINE__, got, want)

void expectWell(const Variables &variables,
                const std::function<void(TestDevice &, Expect &)> &body) {
  const Ending ending = onDevice(variables, [&] {
    TestDevice device;
    Expect expect;
    body(device, expect);
    return expect.wrong;
  });
  EXPECT_EQ(ending.status, 0) << ending.printed;
}

TEST(EmulatedDriver, NeedsInitialisationAndAContext) {
  const Ending ending = onDevice({{"DEVICES", "2"}}, [] {
    Driver driver;
    Expect expect;
    Context context = nullptr;
    DevicePointer pointer = 0;
    int count = 0;
    EQUAL(openDriver(driver), dpc_status_t(DPC_OK));
    EQUAL(driver.cuDeviceGetCount(&count), Result::notInitialized);
    EQUAL(driver.cuMemAlloc_v2(&pointer, 4), Result::notInitialized);
    EQUAL(driver.cuInit(1), Result::invalidValue);
    EQUAL(driver.cuInit(0), Result::success);
    EQUAL(driver.cuDeviceGetCount(&count), Result::success);
    EQUAL(count, 2);
    EQUAL(driver.cuMemAlloc_v2(&pointer, 4), Result::invalidContext);
    Device device = -1;
    EQUAL(driver.cuDeviceGet(&device, 2), Result::invalidDevice);
    EQUAL(driver.cuDeviceGet(&device, 1), Result::success);
    EQUAL(driver.cuDevicePrimaryCtxRetain(&context, 2), Result::invalidDevice);
    EQUAL(driver.cuDevicePrimaryCtxRetain(&context, device), Result::success);
    EQUAL(driver.cuCtxSetCurrent(context), Result::success);
    EQUAL(driver.cuMemAlloc_v2(&pointer, 4), Result::success);
    EQUAL(driver.cuDevicePrimaryCtxRelease_v2(device), Result::success);
    return expect.wrong;
  });
  EXPECT_EQ(ending.status, 0) << ending.printed;
}

TEST(EmulatedDriver, HasNoDeviceWhereThereIsNone) {
  const Ending ending = onDevice({{"DEVICES", "0"}}, [] {
    Driver driver;
    Expect expect;
    EQUAL(openDriver(driver), dpc_status_t(DPC_OK));
    EQUAL(driver.cuInit(0), Result::noDevice);
    return expect.wrong;
  });
  EXPECT_EQ(ending.status, 0) << ending.printed;
}

TEST(EmulatedDriver, NamesAMissingLibrary) {
  const Ending ending = onDevice({}, [] {
    setenv("DPC_CUDA_LIBRARIES", "/nowhere", 1);
    Driver driver;
    const dpc_status_t status = openDriver(driver);
    std::printf("%s\n", dpc_last_error());
    return status;
  });
  EXPECT_EQ(ending.status, DPC_INVALID);
  EXPECT_NE(ending.printed.find("the CUDA driver is not there: /nowhere/libcuda.so.1"),
            std::string::npos)
      << ending.printed;
}

TEST(EmulatedDriver, SaysWhatTheDeviceIs) {
  expectWell({{"SM", "90"}, {"MEMORY_MB", "100"}}, [](TestDevice &device, Expect &expect) {
    const Driver &driver = device.driver;
    char name[64];
    int value = 0, least = 0, greatest = 0;
    size_t total = 0, left = 0, all = 0;
    Uuid uuid, other;
    const char *text = nullptr;
    EQUAL(driver.cuDriverGetVersion(&value), Result::success);
    EQUAL(value, 13000);
    EQUAL(driver.cuDeviceGetName(name, sizeof name, 0), Result::success);
    EQUAL(std::strcmp(name, "emulated sm_90"), 0);
    EQUAL(driver.cuDeviceGetUuid_v2(&uuid, 0), Result::success);
    EQUAL(driver.cuDeviceGetUuid_v2(&other, 8), Result::invalidDevice);
    EQUAL(driver.cuDeviceGetAttribute(&value, DeviceAttribute::computeCapabilityMajor, 0),
          Result::success);
    EQUAL(value, 9);
    EQUAL(driver.cuDeviceTotalMem_v2(&total, 0), Result::success);
    EQUAL(total, size_t(100) << 20);
    DevicePointer pointer = 0;
    EQUAL(driver.cuMemAlloc_v2(&pointer, 60 << 20), Result::success);
    EQUAL(driver.cuMemGetInfo_v2(&left, &all), Result::success);
    EQUAL(left, size_t(40) << 20);
    DevicePointer more = 0;
    EQUAL(driver.cuMemAlloc_v2(&more, 60 << 20), Result::outOfMemory);
    EQUAL(driver.cuMemAlloc_v2(&more, 0), Result::invalidValue);
    EQUAL(driver.cuMemFree_v2(pointer + 1), Result::invalidValue);
    EQUAL(driver.cuMemFree_v2(pointer), Result::success);
    EQUAL(driver.cuMemAlloc_v2(&more, 60 << 20), Result::success);
    EQUAL(driver.cuCtxGetStreamPriorityRange(&least, &greatest), Result::success);
    EQUAL(greatest < least, true);
    EQUAL(driver.cuGetErrorName(Result::outOfMemory, &text), Result::success);
    EQUAL(std::strcmp(text, "CUDA_ERROR_OUT_OF_MEMORY"), 0);
    EQUAL(driver.cuGetErrorString(Result::notReady, &text), Result::success);
    EQUAL(std::strcmp(text, "device not ready"), 0);
    EQUAL(driver.cuGetErrorName(Result(12345), &text), Result::invalidValue);
  });
}

TEST(EmulatedDriver, CopiesAndFills) {
  for (const char *stream : {"async", "eager", "lazy"})
    expectWell({{"STREAM", stream}}, [](TestDevice &device, Expect &expect) {
      const Driver &driver = device.driver;
      const std::vector<float> values = randomFloats(1000);
      Buffer<float> a(device, values), b(device, size_t(1000));
      EQUAL(driver.cuMemcpyDtoDAsync_v2(b.pointer, a.pointer, 4000, device.stream),
            Result::success);
      EQUAL(compare("copy", b.get(), values, 0), 0);
      EQUAL(driver.cuMemsetD8Async(b.pointer, 0, 4000, device.stream), Result::success);
      EQUAL(compare("zero", b.get(), std::vector<float>(1000), 0), 0);
      EQUAL(driver.cuMemsetD32Async(b.pointer, 0x3f800000, 1000, device.stream), Result::success);
      EQUAL(compare("one", b.get(), std::vector<float>(1000, 1.0f), 0), 0);
      EQUAL(driver.cuMemsetD32Async(b.pointer + 1, 0, 1, device.stream), Result::invalidValue);
      // A pointer of the host where one of the device belongs, and the other way.
      float host = 0;
      EQUAL(driver.cuMemcpyHtoDAsync_v2(reinterpret_cast<DevicePointer>(&host), &host, 4,
                                        device.stream),
            Result::invalidValue);
      EQUAL(driver.cuMemcpyHtoDAsync_v2(a.pointer, reinterpret_cast<void *>(b.pointer), 4,
                                        device.stream),
            Result::invalidValue);
      void *locked = nullptr;
      std::vector<char> own(1 << 16);
      EQUAL(driver.cuMemHostAlloc(&locked, 4096, 0), Result::success);
      EQUAL(driver.cuMemHostRegister_v2(own.data(), own.size(), 0), Result::success);
      EQUAL(driver.cuMemHostRegister_v2(own.data() + 100, 8, 0),
            Result::hostMemoryAlreadyRegistered);
      EQUAL(driver.cuMemHostUnregister(own.data()), Result::success);
      EQUAL(driver.cuMemHostUnregister(own.data()), Result::hostMemoryNotRegistered);
      EQUAL(driver.cuMemFreeHost(locked), Result::success);
      EQUAL(driver.cuCtxSynchronize(), Result::success);
    });
}

TEST(EmulatedDriver, RefusesLaunchesThatADeviceRefuses) {
  expectWell({}, [](TestDevice &device, Expect &expect) {
    device.load("sm_80");
    const Driver &driver = device.driver;
    Function axpy = device.kernel("axpy"), none = nullptr;
    EQUAL(driver.cuModuleGetFunction(&none, device.module, "nothing"), Result::notFound);
    float a = 1;
    int n = 0;
    DevicePointer x = 0;
    void *parameters[] = {&a, &n, &x, &x};
    auto launch = [&](unsigned grid, unsigned gridY, unsigned block, unsigned blockZ,
                      unsigned shared) {
      return driver.cuLaunchKernel(axpy, grid, gridY, 1, block, 1, blockZ, shared, device.stream,
                                   parameters, nullptr);
    };
    EQUAL(launch(1, 1, 32, 1, 0), Result::success);
    EQUAL(launch(0, 1, 32, 1, 0), Result::invalidValue);
    EQUAL(launch(1, 65536, 32, 1, 0), Result::invalidValue);
    EQUAL(launch(1, 1, 1025, 1, 0), Result::invalidValue);
    EQUAL(launch(1, 1, 1, 65, 0), Result::invalidValue);
    EQUAL(launch(1, 1, 32, 1, 50 << 10), Result::invalidValue);
    EQUAL(driver.cuFuncSetAttribute(axpy, FunctionAttribute::maxDynamicSharedBytes, 64 << 10),
          Result::success);
    EQUAL(launch(1, 1, 32, 1, 50 << 10), Result::success);
    EQUAL(driver.cuFuncSetAttribute(axpy, FunctionAttribute::maxDynamicSharedBytes, 200 << 10),
          Result::invalidValue);
    int value = 0;
    EQUAL(driver.cuFuncGetAttribute(&value, FunctionAttribute::maxDynamicSharedBytes, axpy),
          Result::success);
    EQUAL(value, 64 << 10);
    EQUAL(driver.cuModuleUnload(device.module), Result::success);
  });
}

TEST(EmulatedDriver, RefusesImagesThatItCannotRun) {
  expectWell({}, [](TestDevice &device, Expect &expect) {
    Module module = nullptr;
    char log[256] = "";
    JitOption names[] = {JitOption::errorLog, JitOption::errorLogBytes};
    void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
    EQUAL(device.driver.cuModuleLoadDataEx(&module, "\177ELF", 0, nullptr, nullptr),
          Result::noBinaryForGpu);
    EQUAL(device.driver.cuModuleLoadDataEx(&module, ".version 7.5\n.func f {}", 2, names, values),
          Result::invalidPtx);
    EQUAL(std::strcmp(log, "PTX line 2: functions other than .entry are not known"), 0);
  });
}

TEST(EmulatedDriver, EventsTellWhatIsDone) {
  for (const char *stream : {"async", "eager", "lazy", "lazy-newest"})
    expectWell({{"STREAM", stream}}, [](TestDevice &device, Expect &expect) {
      const Driver &driver = device.driver;
      Event first = nullptr, last = nullptr;
      EQUAL(driver.cuEventCreate(&first, 0), Result::success);
      EQUAL(driver.cuEventCreate(&last, 0), Result::success);
      EQUAL(driver.cuEventQuery(first), Result::success); // never recorded
      static int calls = 0;
      EQUAL(driver.cuEventRecord(first, device.stream), Result::success);
      EQUAL(driver.cuLaunchHostFunc(
                device.stream,
                [](void *number) {
                  usleep(2000);
                  ++*static_cast<int *>(number);
                },
                &calls),
            Result::success);
      EQUAL(driver.cuEventRecord(last, device.stream), Result::success);
      EQUAL(driver.cuEventSynchronize(last), Result::success);
      EQUAL(calls, 1);
      float milliseconds = 0;
      EQUAL(driver.cuEventElapsedTime(&milliseconds, first, last), Result::success);
      EQUAL(milliseconds >= 1, true);
      EQUAL(driver.cuStreamQuery(device.stream), Result::success);
      EQUAL(driver.cuEventDestroy_v2(first), Result::success);
      EQUAL(driver.cuStreamDestroy_v2(device.stream), Result::success);
      EQUAL(driver.cuStreamSynchronize(device.stream), Result::invalidHandle);
    });
}

/// y += 2 x on a second stream between two copies on the first, as a graph.
struct Captured {
  Graph graph = nullptr;
  GraphExec exec = nullptr;
};

Captured capture(TestDevice &device, const Buffer<float> &x, const Buffer<float> &y,
                 const Buffer<float> &copy, Stream other, Expect &expect,
                 unsigned long long flags = 0) {
  const Driver &driver = device.driver;
  const Event fork = device.makeEvent(), join = device.makeEvent();
  Captured result;
  CaptureStatus status = CaptureStatus::none;
  (void)device.kernel("axpy");
  EQUAL(driver.cuStreamBeginCapture_v2(device.stream, CaptureMode::threadLocal), Result::success);
  EQUAL(driver.cuMemsetD8Async(y.pointer, 0, 400012, device.stream), Result::success);
  EQUAL(driver.cuEventRecord(fork, device.stream), Result::success);
  EQUAL(driver.cuStreamWaitEvent(other, fork, 0), Result::success);
  EQUAL(driver.cuStreamIsCapturing(other, &status), Result::success);
  EQUAL(status, CaptureStatus::active);
  device.launch("axpy", {391, 1}, {256, 1}, other, 2.0f, 100003, x.pointer, y.pointer);
  EQUAL(driver.cuEventRecord(join, other), Result::success);
  EQUAL(driver.cuStreamWaitEvent(device.stream, join, 0), Result::success);
  EQUAL(driver.cuMemcpyDtoDAsync_v2(copy.pointer, y.pointer, 400012, device.stream),
        Result::success);
  EQUAL(driver.cuStreamEndCapture(device.stream, &result.graph), Result::success);
  EQUAL(driver.cuStreamIsCapturing(device.stream, &status), Result::success);
  EQUAL(status, CaptureStatus::none);
  EQUAL(driver.cuGraphInstantiateWithFlags(&result.exec, result.graph, flags), Result::success);
  return result;
}

TEST(EmulatedDriver, GraphsRunAgainOnNewValues) {
  for (const char *stream : {"async", "eager", "lazy", "lazy-newest"})
    expectWell({{"STREAM", stream}}, [](TestDevice &device, Expect &expect) {
      const Driver &driver = device.driver;
      device.load("sm_80");
      Buffer<float> x(device, size_t(100003)), y(device, size_t(100003)),
          copy(device, size_t(100003));
      const Stream other = device.makeStream();
      const Captured captured = capture(device, x, y, copy, other, expect);
      size_t count = 0;
      EQUAL(driver.cuGraphGetNodes(captured.graph, nullptr, &count), Result::success);
      EQUAL(count, size_t(3));
      std::vector<GraphNode> nodes(count);
      EQUAL(driver.cuGraphGetNodes(captured.graph, nodes.data(), &count), Result::success);
      NodeType type = NodeType::empty;
      EQUAL(driver.cuGraphNodeGetType(nodes[1], &type), Result::success);
      EQUAL(type, NodeType::kernel);
      EQUAL(driver.cuGraphDestroy(captured.graph), Result::success);
      for (int run = 0; run < 3; ++run) {
        const std::vector<float> values = randomFloats(100003);
        std::vector<float> expected = values;
        for (float &value : expected)
          value *= 2;
        EQUAL(driver.cuMemcpyHtoDAsync_v2(x.pointer, values.data(), 400012, device.stream),
              Result::success);
        EQUAL(driver.cuGraphLaunch(captured.exec, device.stream), Result::success);
        EQUAL(compare("graph", copy.get(), expected, 0), 0);
      }
      EQUAL(driver.cuGraphExecDestroy(captured.exec), Result::success);
    });
}

// With the flag, the kernel keeps the priority of its stream; else all nodes have that of the
// stream which launches them. Priorities out of range become the nearest one.
TEST(EmulatedDriver, NodesHaveThePriorityOfTheirStream) {
  const TemporaryDirectory folder;
  for (const auto &[flags, counted] : {std::pair(kGraphUseNodePriority, "nodes-of-priority:-5 1\n"),
                                       std::pair(0ull, "nodes-of-priority:0 3\n")}) {
    const std::string file = folder.path + "/counts" + std::to_string(flags);
    const Ending ending = onDevice({{"COUNT", file}}, [flags = flags] {
      TestDevice device;
      Expect expect;
      device.load("sm_80");
      Buffer<float> x(device, size_t(100003)), y(device, size_t(100003)),
          copy(device, size_t(100003));
      Stream other = nullptr;
      device.must(device.driver.cuStreamCreateWithPriority(&other, kStreamNonBlocking, -99));
      Captured captured = capture(device, x, y, copy, other, expect, flags);
      EQUAL(device.driver.cuGraphLaunch(captured.exec, device.stream), Result::success);
      device.synchronize();
      EQUAL(device.driver.cuGraphInstantiateWithFlags(&captured.exec, captured.graph, 16),
            Result::invalidValue);
      std::exit(expect.wrong); // writes the counts
      return 0;
    });
    std::ifstream counts(file);
    const std::string text((std::istreambuf_iterator<char>(counts)), {});
    EXPECT_EQ(ending.status, 0) << ending.printed;
    EXPECT_NE(text.find(counted), std::string::npos) << text;
  }
}

TEST(EmulatedDriver, RefusesWhatACaptureForbids) {
  expectWell({}, [](TestDevice &device, Expect &expect) {
    const Driver &driver = device.driver;
    const Stream other = device.makeStream();
    const Event event = device.makeEvent();
    Graph graph = nullptr;
    DevicePointer pointer = 0;
    auto begin = [&](CaptureMode mode) {
      EQUAL(driver.cuStreamBeginCapture_v2(device.stream, mode), Result::success);
    };
    auto end = [&](Result result) {
      EQUAL(driver.cuStreamEndCapture(device.stream, &graph), result);
      EQUAL(graph == nullptr, result != Result::success);
    };
    begin(CaptureMode::threadLocal);
    EQUAL(driver.cuMemAlloc_v2(&pointer, 4), Result::streamCaptureUnsupported);
    EQUAL(driver.cuMemsetD8Async(pointer, 0, 4, device.stream), Result::streamCaptureInvalidated);
    end(Result::streamCaptureInvalidated);
    begin(CaptureMode::relaxed);
    EQUAL(driver.cuMemAlloc_v2(&pointer, 4), Result::success);
    end(Result::success);
    begin(CaptureMode::threadLocal);
    EQUAL(driver.cuStreamSynchronize(device.stream), Result::streamCaptureUnsupported);
    end(Result::streamCaptureInvalidated);
    begin(CaptureMode::threadLocal);
    EQUAL(driver.cuEventRecord(event, other), Result::success); // of work that is not captured
    EQUAL(driver.cuStreamWaitEvent(device.stream, event, 0), Result::streamCaptureUnsupported);
    end(Result::streamCaptureInvalidated);
    begin(CaptureMode::threadLocal); // a stream that joins and is left
    EQUAL(driver.cuEventRecord(event, device.stream), Result::success);
    EQUAL(driver.cuStreamWaitEvent(other, event, 0), Result::success);
    EQUAL(driver.cuMemsetD8Async(pointer, 0, 4, other), Result::success);
    end(Result::streamCaptureUnjoined);
    EQUAL(driver.cuStreamEndCapture(other, &graph), Result::streamCaptureUnmatched);
    begin(CaptureMode::threadLocal);
    std::thread([&] {
      Context context = nullptr;
      driver.cuDevicePrimaryCtxRetain(&context, 0);
      driver.cuCtxSetCurrent(context);
      EQUAL(driver.cuStreamEndCapture(device.stream, &graph), Result::streamCaptureWrongThread);
    }).join();
    end(Result::success);
  });
}

TEST(EmulatedDriver, CountsWhatHappens) {
  const TemporaryDirectory folder;
  const std::string file = folder.path + "/count";
  const Ending ending = onDevice({{"COUNT", file}}, []() -> int {
    TestDevice device;
    device.load("sm_80");
    Buffer<float> x(device, size_t(100003)), y(device, size_t(100003));
    for (int i = 0; i < 3; ++i)
      device.launch("axpy", {391, 1}, {256, 1}, device.stream, 2.0f, 100003, x.pointer, y.pointer);
    device.synchronize();
    std::exit(0); // the numbers are written as the process ends
  });
  EXPECT_EQ(ending.status, 0) << ending.printed;
  std::ifstream written(file);
  std::map<std::string, int> numbers;
  for (std::string line; std::getline(written, line);) {
    int process = 0, number = 0;
    std::string name;
    if (std::istringstream(line) >> process >> name >> number) // else the line of a launch
      numbers[name] = number;
  }
  EXPECT_EQ(numbers["cuMemAlloc"], 2);
  EXPECT_EQ(numbers["cuModuleLoadData"], 1);
  EXPECT_EQ(numbers["cuLaunchKernel"], 3);
  EXPECT_EQ(numbers["kernel"], 3);
}

TEST(EmulatedDriver, KeepsCompiledKernels) {
  const TemporaryDirectory folder;
  auto run = [&](const std::string &counts) {
    const Ending ending = onDevice({{"CACHE", folder.path}, {"COUNT", counts}}, [] {
      TestDevice device;
      device.load("sm_80");
      (void)device.kernel("axpy");
      return 0;
    });
    EXPECT_EQ(ending.status, 0) << ending.printed;
    const std::string count = "exit $(ls " + folder.path + " | wc -l)";
    return WEXITSTATUS(std::system(count.c_str()));
  };
  const TemporaryDirectory counts;
  EXPECT_EQ(run(""), 1);
  EXPECT_EQ(run(""), 1);                 // the second one found it
  EXPECT_EQ(run(counts.path + "/a"), 2); // code that counts is another
  EXPECT_EQ(run(counts.path + "/b"), 2);
}

} // namespace
