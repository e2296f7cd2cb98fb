// Modules, kernels and their launches.
#include "test/cuda_emulator/base/Options.h"
#include "test/cuda_emulator/driver/Calls.h"
#include "test/cuda_emulator/driver/DeviceMemory.h"
#include "test/cuda_emulator/driver/LaunchReport.h"
#include "test/cuda_emulator/ptx/Compile.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

using namespace dpc::cuda;
using namespace dpc::emulator;

namespace {
/// Sleeps for `micros`. The host wakes up a little late, so the last part is a loop.
void sleepMicros(unsigned micros) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(micros);
  std::this_thread::sleep_until(end - std::chrono::microseconds(200));
  while (std::chrono::steady_clock::now() < end)
    ;
}

/// What a Function stands for: a kernel, and what was set of it.
struct FunctionState {
  const Kernel *kernel;
  uint32_t dynamicLimit; // bytes of dynamic shared memory that a launch may ask for
};
struct ModuleState {
  std::unique_ptr<CompiledModule> compiled;
  std::map<std::string, std::unique_ptr<FunctionState>> functions;
};
} // namespace

static constexpr uint32_t kSharedWithoutAsking = 48 << 10;

static ModuleState *stateOf(Module module) { return reinterpret_cast<ModuleState *>(module); }
static FunctionState *stateOf(Function function) {
  return reinterpret_cast<FunctionState *>(function);
}

static uint64_t allocateVariable(const Variable &variable) {
  DeviceMemory &memory = DeviceMemory::get();
  const uint64_t address = memory.allocate(std::max<uint64_t>(variable.bytes, 1));
  if (!address)
    fail("no memory for the variable %s", variable.name.c_str());
  char *host = memory.reach(address, variable.bytes, "a variable");
  std::memset(host, 0, variable.bytes);
  std::memcpy(host, variable.initial.data(), variable.initial.size());
  return address;
}

static uint32_t sharedLimit() {
  int bytes = 0;
  cuDeviceGetAttribute(&bytes, DeviceAttribute::maxSharedMemoryPerBlockOptin, 0);
  return static_cast<uint32_t>(bytes);
}

/// Writes to the error log that the caller gave, as the driver does, and to stderr.
static void logError(const std::string &message, unsigned options, JitOption *names,
                     void **values) {
  char *log = nullptr;
  size_t bytes = 0;
  for (unsigned i = 0; i < options; ++i) {
    if (names[i] == JitOption::errorLog)
      log = static_cast<char *>(values[i]);
    if (names[i] == JitOption::errorLogBytes)
      bytes = reinterpret_cast<size_t>(values[i]);
  }
  if (log && bytes)
    std::snprintf(log, bytes, "%s", message.c_str());
  else
    std::fprintf(stderr, "cuda emulator: %s\n", message.c_str());
}

/// Whether the next kernel is the one that DPC_EMU_KERNEL_FAIL names.
static bool isFailing() {
  static std::atomic<uint64_t> kernels{0};
  const Options &options = Options::get();
  return options.kernelFailDevice == dpcEmulatorDevice() && ++kernels == options.kernelFailAt;
}

namespace dpc::cuda {
extern "C" {

Result cuModuleLoadDataEx(Module *module, const void *image, unsigned options, JitOption *names,
                          void **values) {
  const Result result = enterOutsideCapture();
  if (result != Result::success)
    return result;
  dpcEmulatorCount("cuModuleLoadData");
  const auto *text = static_cast<const char *>(image);
  if (!std::memcmp(text, "\177ELF", 4))
    return Result::noBinaryForGpu; // a cubin: this device has no machine code of its own
  try {
    auto state = std::make_unique<ModuleState>();
    state->compiled = std::make_unique<CompiledModule>(text, allocateVariable);
    *module = reinterpret_cast<Module>(state.release());
    return Result::success;
  } catch (const PtxError &error) {
    logError(error.what(), options, names, values);
    return Result::invalidPtx;
  }
}

Result cuModuleUnload(Module module) {
  const Result result = enterOutsideCapture();
  if (result != Result::success)
    return result;
  Streams::get().waitAll();
  for (uint64_t address : stateOf(module)->compiled->variableAddresses())
    DeviceMemory::get().release(address);
  delete stateOf(module);
  return Result::success;
}

Result cuModuleGetFunction(Function *function, Module module, const char *name) {
  const Result result = enter();
  if (result != Result::success)
    return result;
  std::unique_ptr<FunctionState> &state = stateOf(module)->functions[name];
  if (!state) {
    const Kernel *kernel = nullptr;
    try {
      kernel = stateOf(module)->compiled->find(name);
    } catch (const PtxError &error) {
      // A real driver finds this when the module is loaded; here kernels are
      // compiled when they are asked for.
      fail("kernel %s: %s", name, error.what());
    }
    if (!kernel) {
      stateOf(module)->functions.erase(name);
      return Result::notFound;
    }
    state.reset(new FunctionState{
        kernel, kSharedWithoutAsking - std::min(kSharedWithoutAsking, kernel->staticShared)});
  }
  *function = reinterpret_cast<Function>(state.get());
  return Result::success;
}

Result cuFuncGetAttribute(int *value, FunctionAttribute attribute, Function function) {
  const Kernel &kernel = *stateOf(function)->kernel;
  switch (attribute) {
  case FunctionAttribute::maxThreadsPerBlock:
    *value = static_cast<int>(kernel.maxThreads);
    break;
  case FunctionAttribute::staticSharedBytes:
    *value = static_cast<int>(kernel.staticShared);
    break;
  case FunctionAttribute::localBytes:
    *value = 0;
    break;
  case FunctionAttribute::registers:
    *value = 32;
    break;
  case FunctionAttribute::maxDynamicSharedBytes:
    *value = static_cast<int>(stateOf(function)->dynamicLimit);
    break;
  }
  return enter();
}

Result cuFuncSetAttribute(Function function, FunctionAttribute attribute, int value) {
  const Result result = enter();
  if (result != Result::success)
    return result;
  if (attribute != FunctionAttribute::maxDynamicSharedBytes || value < 0 ||
      static_cast<uint32_t>(value) + stateOf(function)->kernel->staticShared > sharedLimit())
    return Result::invalidValue;
  stateOf(function)->dynamicLimit = static_cast<uint32_t>(value);
  return Result::success;
}

Result cuLaunchKernel(Function function, unsigned gridX, unsigned gridY, unsigned gridZ,
                      unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                      Stream stream, void **parameters, void **extra) {
  const Result result = checkStream(stream);
  if (result != Result::success)
    return result;
  const Kernel &kernel = *stateOf(function)->kernel;
  const uint64_t threads = uint64_t(blockX) * blockY * blockZ;
  if (!gridX || !gridY || !gridZ || !threads || gridX > 0x7fffffff || gridY > 65535 ||
      gridZ > 65535 || blockX > 1024 || blockY > 1024 || blockZ > 64 || threads > 1024 || extra ||
      sharedBytes > stateOf(function)->dynamicLimit)
    return Result::invalidValue;
  if (threads > kernel.maxThreads || (kernel.requiredThreads && threads != kernel.requiredThreads))
    return Result::launchOutOfResources;
  std::vector<char> values(kernel.parameterBytes);
  for (size_t i = 0; i < kernel.parameters.size(); ++i)
    std::memcpy(values.data() + kernel.parameters[i].first, parameters[i],
                kernel.parameters[i].second);
  dpcEmulatorCount("cuLaunchKernel");
  Operation operation;
  operation.type = NodeType::kernel;
  operation.run = [=, &kernel] {
    const uint32_t grid[3] = {gridX, gridY, gridZ}, block[3] = {blockX, blockY, blockZ};
    if (isContextLost() || isFailing()) {
      loseContext();
      return;
    }
    dpcEmulatorCount("kernel");
    if (const unsigned micros = Options::get().kernelMicros) {
      sleepMicros(micros);
      return;
    }
    static std::atomic<uint64_t> launches{0};
    const uint64_t number = ++launches;
    if (const auto counts = launch(kernel, grid, block, sharedBytes, values))
      reportLaunch(kernel, number, uint64_t(gridX) * gridY * gridZ, threads, *counts);
  };
  Streams::get().enqueue(dpc::emulator::stateOf(stream), std::move(operation));
  return Result::success;
}
}
} // namespace dpc::cuda
