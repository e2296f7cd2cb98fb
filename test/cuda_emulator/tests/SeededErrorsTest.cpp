// Errors that a device would let pass, or answer with wrong numbers once in a
// while, are found, and named.
#include "test/cuda_emulator/tests/KernelRuns.h"

using namespace dpc::test;

namespace {

/// A kernel of a file with an error; it must fail, and print `message`.
void expectCaught(const char *ptx, int (*run)(TestDevice &), const Variables &variables,
                  const std::string &message) {
  const Ending ending = onDevice(variables, [&] {
    TestDevice device;
    device.load(ptx);
    return run(device);
  });
  EXPECT_NE(ending.status, 0) << "nobody noticed";
  EXPECT_NE(ending.printed.find(message), std::string::npos) << ending.printed;
}

const Variables kPlain = {}, kChecked = {{"CHECK", "1"}};

TEST(SeededErrors, MissingBarrierBeforeReading) {
  expectCaught("barrier", runLayerNorm, kPlain, "layernorm: element");
  expectCaught("barrier", runLayerNorm, kChecked, "which this block never wrote");
}

TEST(SeededErrors, MissingBarrierBeforeOverwriting) {
  expectCaught("war", runMatmul, kPlain, "matmul: element");
  expectCaught("war", runMatmul, kChecked, "data race on shared byte");
}

TEST(SeededErrors, IndexOutOfBounds) {
  expectCaught("oob", runAxpy, kPlain, "hit a page that nobody may touch");
  expectCaught("oob", runAxpy, kChecked, "out-of-bounds");
}

TEST(SeededErrors, CopyThatNobodyWaitsFor) {
  expectCaught("cpasync", runMma, kPlain, "cp.async");
  expectCaught("cpasync", runMma, kChecked, "cp.async");
}

TEST(SeededErrors, AlignmentThatIsNotDeclared) {
  expectCaught("align", runLayerNorm, kChecked, "misaligned");
}

int runDiverging(TestDevice &device) {
  Buffer<float> x(device, size_t(32)), y(device, size_t(32));
  device.launch("diverge", {1, 1}, {32, 1}, device.stream, x.pointer, y.pointer);
  device.synchronize();
  return 0;
}

TEST(SeededErrors, ShuffleThatNotAllReach) {
  expectCaught("sm_80", runDiverging, kPlain, "deadlock: 3 of 32 threads wait");
}

int touchFromHost(TestDevice &device) {
  Buffer<float> x(device, size_t(32));
  *reinterpret_cast<volatile float *>(x.pointer) = 1;
  return 0;
}

TEST(SeededErrors, HostThatFollowsADevicePointer) {
  expectCaught("sm_80", touchFromHost, kPlain, "host code touched the device address");
}

int useAfterFree(TestDevice &device) {
  Buffer<float> x(device, size_t(100003)), y(device, size_t(100003));
  device.must(device.driver.cuMemFree_v2(x.pointer));
  device.launch("axpy", {391, 1}, {256, 1}, device.stream, 2.0f, 100003, x.pointer, y.pointer);
  device.synchronize();
  return 0;
}

TEST(SeededErrors, UseAfterFree) {
  expectCaught("sm_80", useAfterFree, kChecked, "in an allocation that was freed");
  expectCaught("sm_80", useAfterFree, kPlain, "in an allocation that was freed");
}

/// A copy on one stream, its reader on another; `ordered` puts an event between.
template <bool ordered> int readAcrossStreams(TestDevice &device) {
  const auto x = randomFloats(100003), y = randomFloats(100003);
  std::vector<float> expected = y;
  for (size_t i = 0; i < x.size(); ++i)
    expected[i] = std::fma(2.0f, x[i], y[i]);
  Buffer<float> dx(device, x), dy(device, x.size());
  void *locked = nullptr;
  device.must(device.driver.cuMemHostAlloc(&locked, y.size() * 4, 0));
  std::copy(y.begin(), y.end(), static_cast<float *>(locked));
  device.synchronize();
  const auto other = device.makeStream();
  const auto ready = device.makeEvent();
  device.must(device.driver.cuMemcpyHtoDAsync_v2(dy.pointer, locked, y.size() * 4, other));
  device.must(device.driver.cuEventRecord(ready, other));
  if (ordered)
    device.must(device.driver.cuStreamWaitEvent(device.stream, ready, 0));
  device.launch("axpy", {391, 1}, {256, 1}, device.stream, 2.0f, 100003, dx.pointer, dy.pointer);
  return compare("across streams", dy.get(), expected, 0);
}

TEST(SeededErrors, MissingEvent) {
  for (const char *stream : {"lazy", "lazy-newest"})
    expectCaught("sm_80", readAcrossStreams<false>, {{"STREAM", stream}}, "across streams");
  for (const char *stream : {"async", "eager", "lazy", "lazy-newest"}) {
    const Ending ending = onDevice({{"STREAM", stream}}, [] {
      TestDevice device;
      device.load("sm_80");
      return readAcrossStreams<true>(device);
    });
    EXPECT_EQ(ending.status, 0) << stream << ": " << ending.printed;
  }
}

TEST(SeededErrors, UnknownInstructionIsNamed) {
  const Ending ending = onDevice({}, [] {
    TestDevice device;
    const char *text = ".version 7.5\n.target sm_80\n.address_size 64\n"
                       ".visible .entry k()\n{\n\t.reg .b32 %r<2>;\n"
                       "\tsad.u32 %r0, %r1, %r1, %r1;\n\tret;\n}\n";
    device.loadText(text);
    device.kernel("k");
    return 0;
  });
  EXPECT_EQ(ending.status, 97);
  EXPECT_NE(ending.printed.find("PTX line 7: the instruction sad.u32 is not known"),
            std::string::npos)
      << ending.printed;
}

} // namespace
