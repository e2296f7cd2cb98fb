// Every kernel gives the right numbers, in every order of threads and streams,
// with accesses checked, counted or neither, for both devices.
#include "test/cuda_emulator/tests/KernelRuns.h"

using namespace dpc::test;

namespace {

int runEveryKernel(TestDevice &device) {
  return runAxpy(device) + runLayerNorm(device) + runMatmul(device) + runHistogram(device) +
         runSoftmax(device) + runBfloat(device) + runMma(device) + runRedux(device);
}

struct Way {
  const char *ptx, *order, *stream, *check;
};

class EmulatedKernels : public testing::TestWithParam<Way> {};

TEST_P(EmulatedKernels, AreRight) {
  const Way way = GetParam();
  const Ending ending = onDevice({{"ORDER", way.order},
                                  {"STREAM", way.stream},
                                  {"CHECK", way.check},
                                  {"SM", std::string(way.ptx).substr(3)}},
                                 [&] {
                                   TestDevice device;
                                   device.load(way.ptx);
                                   return runEveryKernel(device);
                                 });
  EXPECT_EQ(ending.status, 0) << ending.printed;
}

TEST(CountedKernels, AreRight) {
  for (const char *order : {"forward", "reverse", "random"})
    for (const char *check : {"0", "1"}) {
      const TemporaryDirectory folder;
      const Ending ending =
          onDevice({{"ORDER", order}, {"CHECK", check}, {"COUNT", folder.path + "/count"}}, [] {
            TestDevice device;
            device.load("sm_80");
            return runEveryKernel(device);
          });
      EXPECT_EQ(ending.status, 0) << ending.printed;
    }
}

std::vector<Way> everyWay() {
  std::vector<Way> ways;
  for (const char *stream : {"async", "eager", "lazy", "lazy-newest"})
    for (const char *check : {"0", "1"}) {
      for (const char *order : {"forward", "reverse", "random"})
        ways.push_back({"sm_80", order, stream, check});
      ways.push_back({"sm_90", "random", stream, check});
    }
  return ways;
}

INSTANTIATE_TEST_SUITE_P(All, EmulatedKernels, testing::ValuesIn(everyWay()), [](const auto &info) {
  std::string name = std::string(info.param.ptx) + info.param.order + info.param.stream +
                     (*info.param.check == '1' ? "Checked" : "");
  for (char &c : name)
    if (c == '-')
      c = '_';
  return name;
});

} // namespace
