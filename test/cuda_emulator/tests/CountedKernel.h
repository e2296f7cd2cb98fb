// Runs small kernels on the emulated device with DPC_EMU_COUNT, and reads what was counted.
#ifndef DPC_TEST_CUDA_EMULATOR_TESTS_COUNTEDKERNEL_H
#define DPC_TEST_CUDA_EMULATOR_TESTS_COUNTEDKERNEL_H

#include "test/cuda_emulator/tests/Emulated.h"

namespace dpc::test {

/// A kernel with one parameter, an array: %p is its address, %t the thread, %s the address of 16
/// KiB of shared memory, and %a is %p + 4 %t.
struct CountedKernel {
  std::string code;
  unsigned threads = 32, blocks = 1;
};

inline std::string textOf(const std::string &code) {
  return R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 array)
{
	.reg .pred %q, %q2;
	.reg .b16 %h<4>;
	.reg .b32 %t, %s, %i, %r<8>;
	.reg .b64 %p, %a, %l<8>;
	.reg .f32 %f<8>;
	.shared .align 16 .b8 words[16384];
	.local .align 16 .b8 own[64];
	ld.param.u64 %p, [array];
	cvta.to.global.u64 %p, %p;
	mov.u32 %t, %tid.x;
	mov.u32 %s, words;
	mul.wide.u32 %a, %t, 4;
	add.s64 %a, %p, %a;
	)" +
         code + "\n\tret;\n}\n";
}

/// The lines of launches in a file of DPC_EMU_COUNT.
inline std::vector<std::string> launchesIn(const std::string &path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (line.rfind("launch ", 0) == 0)
      lines.push_back(line);
  return lines;
}

/// The number that a field of a launch has; -1 if there is no such field.
inline long long fieldOf(const std::string &line, const std::string &name) {
  const size_t at = line.substr(0, line.find("\"sites\"")).find("\"" + name + "\":");
  return at == line.npos ? -1 : std::atoll(line.c_str() + at + name.size() + 3);
}

/// Runs a kernel on an array of 16 MiB; the line of its launch.
inline std::string count(const CountedKernel &kernel, Variables variables = {}) {
  const TemporaryDirectory folder;
  variables["COUNT"] = folder.path + "/count";
  variables["SM"] = "90";
  const Ending ending = onDevice(variables, [&] {
    TestDevice device;
    device.loadText(textOf(kernel.code));
    const Buffer<char> array(device, size_t(16) << 20);
    device.launch("k", {kernel.blocks, 1}, {kernel.threads, 1}, device.stream, array.pointer);
    device.synchronize();
    return 0;
  });
  EXPECT_EQ(ending.status, 0) << ending.printed;
  const std::vector<std::string> lines = launchesIn(variables["COUNT"]);
  EXPECT_EQ(lines.size(), 1u);
  return lines.empty() ? "" : lines[0];
}

/// Checks some fields of a kernel's launch.
inline void expectCounts(const CountedKernel &kernel,
                         const std::map<std::string, long long> &expected,
                         const std::string &order = "reverse") {
  const std::string line = count(kernel, {{"ORDER", order}});
  for (const auto &[name, value] : expected)
    EXPECT_EQ(fieldOf(line, name), value) << name << ", " << order << ": " << line;
  expectAssembles(textOf(kernel.code));
}

/// The same if it matters when threads run.
inline void expectCountsInEveryOrder(const CountedKernel &kernel,
                                     const std::map<std::string, long long> &expected) {
  for (const char *order : {"forward", "reverse", "random"})
    expectCounts(kernel, expected, order);
}

} // namespace dpc::test

#endif // DPC_TEST_CUDA_EMULATOR_TESTS_COUNTEDKERNEL_H
