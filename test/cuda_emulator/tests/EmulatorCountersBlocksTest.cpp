// DPC_EMU_BLOCKS: some blocks of each launch run, and memory that nobody touches is never filled.
#include "test/cuda_emulator/tests/CountedKernel.h"

#include <numeric>
#include <sys/resource.h>

using namespace dpc::test;

namespace {

/// The blocks of a grid of 5 x 2 that run, by their numbers.
std::vector<int> blocksThatRun(Variables variables) {
  const TemporaryDirectory folder;
  variables["COUNT"] = folder.path + "/count";
  variables["SM"] = "90";
  std::string printed;
  const Ending ending = onDevice(variables, [&] {
    TestDevice device;
    device.loadText(textOf("mov.u32 %r0, %ctaid.x;\n\tmov.u32 %r1, %ctaid.y;\n\t"
                           "mad.lo.u32 %r0, %r1, 5, %r0;\n\tmul.wide.u32 %l0, %r0, 4;\n\t"
                           "add.s64 %l0, %l0, %p;\n\tst.global.u32 [%l0], 1;"));
    const Buffer<int> ran(device, std::vector<int>(10));
    device.launch("k", {5, 2}, {1, 1}, device.stream, ran.pointer);
    const std::vector<int> all = ran.get();
    for (size_t i = 0; i < all.size(); ++i)
      if (all[i])
        std::printf("%zu ", i);
    return 0;
  });
  EXPECT_EQ(ending.status, 0);
  std::vector<int> blocks;
  const char *at = ending.printed.c_str();
  char *next = nullptr;
  for (long block; block = std::strtol(at, &next, 10), next != at; at = next)
    blocks.push_back(static_cast<int>(block));
  const std::vector<std::string> lines = launchesIn(variables["COUNT"]);
  EXPECT_EQ(lines.size(), 1u);
  if (!lines.empty()) {
    EXPECT_EQ(fieldOf(lines[0], "blocks"), 10);
    EXPECT_EQ(fieldOf(lines[0], "counted"), static_cast<long long>(blocks.size()));
  }
  return blocks;
}

TEST(EmulatorCounters, BlocksAreSpreadOverTheGrid) {
  std::vector<int> all(10);
  std::iota(all.begin(), all.end(), 0);
  for (const char *order : {"forward", "reverse", "random"}) {
    auto run = [&](const char *blocks) {
      return blocksThatRun({{"BLOCKS", blocks}, {"ORDER", order}});
    };
    EXPECT_EQ(run("1"), std::vector<int>({0}));
    EXPECT_EQ(run("2"), std::vector<int>({0, 9}));
    EXPECT_EQ(run("4"), std::vector<int>({0, 3, 6, 9}));
    EXPECT_EQ(run("10"), all);
    EXPECT_EQ(run("11"), all);
  }
  EXPECT_EQ(blocksThatRun({}), all);
}

/// Device memory is written by a copy, a fill and a copy on the device, each of `bytes`. The last
/// byte of each, 1 or 0, and that of a copy of the first to host memory, which held 3.
std::string valuesOfCopies(const Variables &variables, size_t bytes) {
  const Ending ending = onDevice(variables, [&] {
    TestDevice device;
    const Buffer<char> from(device, std::vector<char>(bytes, 1)), filled(device, bytes),
        copy(device, bytes);
    device.must(device.driver.cuMemsetD8Async(filled.pointer, 1, bytes, device.stream));
    device.must(
        device.driver.cuMemcpyDtoDAsync_v2(copy.pointer, from.pointer, bytes, device.stream));
    for (const Buffer<char> *buffer : {&from, &filled, &copy}) {
      char last = 2;
      device.must(
          device.driver.cuMemcpyDtoHAsync_v2(&last, buffer->pointer + bytes - 1, 1, device.stream));
      device.synchronize();
      std::printf("%d", last);
    }
    std::vector<char> all(bytes, 3);
    device.must(device.driver.cuMemcpyDtoHAsync_v2(all.data(), from.pointer, bytes, device.stream));
    device.synchronize();
    std::printf("%d", all.back());
    return 0;
  });
  EXPECT_EQ(ending.status, 0);
  return ending.printed;
}

TEST(EmulatorCounters, SomeBlocksNeedNoLargeCopies) {
  const size_t most = 1 << 20;
  EXPECT_EQ(valuesOfCopies({}, most + 1), "1111");
  EXPECT_EQ(valuesOfCopies({{"BLOCKS", "1"}}, most), "1111");
  EXPECT_EQ(valuesOfCopies({{"BLOCKS", "1"}}, most + 1), "0003");
}

TEST(EmulatorCounters, SomeBlocksNeedLittleMemory) {
  const TemporaryDirectory folder;
  const Ending ending = onDevice(
      {{"BLOCKS", "4"}, {"MEMORY_MB", "40000"}, {"SM", "90"}, {"COUNT", folder.path + "/count"}},
      [] {
        TestDevice device;
        device.loadText(textOf("mov.u32 %r0, %ctaid.x;\n\tmul.wide.u32 %l0, %r0, 1048576;\n\t"
                               "add.s64 %l0, %l0, %a;\n\tst.global.f32 [%l0], %f0;"));
        const size_t gigabytes = 20;
        const Buffer<char> array(device, gigabytes << 30);
        device.launch("k", {gigabytes << 10, 1}, {256, 1}, device.stream, array.pointer);
        device.synchronize();
        rusage used = {};
        getrusage(RUSAGE_SELF, &used);
        std::printf("%ld KiB", used.ru_maxrss);
        return used.ru_maxrss > 512 << 10;
      });
  EXPECT_EQ(ending.status, 0) << ending.printed;
}

} // namespace
