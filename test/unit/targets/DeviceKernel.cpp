// Compiles a kernel for the target `cuda`, and runs its launches.

#include "test/unit/targets/DeviceKernel.h"

#include "dpc/types.h"
#include "runtime/src/cuda/Libraries.h"
#include "targets/CUDA/CUDATarget.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <fstream>
#include <map>

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

void dpc::test::registerTargets(DialectRegistry &registry) {
  static const bool registered = [] {
    registerCUDATarget();
    return true;
  }();
  (void)registered;
  registerTargetDialects(registry);
}

namespace {

/// The device of this process. If a call of the driver fails, the process exits, because
/// the results of later calls would mean nothing.
struct TestedDevice {
  cuda::Driver driver;
  cuda::Stream stream = nullptr;

  TestedDevice() {
    setenv("DPC_CUDA_LIBRARIES", EMULATOR, /*overwrite=*/0);
    setenv("DPC_EMU_CHECK", "1", /*overwrite=*/0);
    if (cuda::openDriver(driver)) {
      std::fprintf(stderr, "%s\n", dpc_last_error());
      std::exit(1);
    }
    cuda::Context context = nullptr;
    must(driver.cuInit(0));
    must(driver.cuDevicePrimaryCtxRetain(&context, 0));
    must(driver.cuCtxSetCurrent(context));
    must(driver.cuStreamCreateWithPriority(&stream, cuda::kStreamNonBlocking, 0));
  }

  void must(cuda::Result result) const {
    const char *name = "";
    if (result == cuda::Result::success)
      return;
    driver.cuGetErrorName(result, &name);
    std::fprintf(stderr, "a call of the driver fails: %s\n", name);
    std::exit(1);
  }

  static const TestedDevice &get() {
    static const TestedDevice device;
    return device;
  }
};

} // namespace

/// The path of the file to which runs are appended; null if runs are not recorded.
static const char *recordFile() { return std::getenv("DPC_RECORD_KERNELS"); }

/// The element type in which a replay compares the recorded elements of a tensor.
static uint32_t comparedType(RankedTensorType type) {
  const Type element = type.getElementType();
  return element.isF64()    ? DPC_F64
         : element.isF32()  ? DPC_F32
         : element.isBF16() ? DPC_BF16
         : element.isF16()  ? DPC_F16
                            : DPC_U8;
}

std::unique_ptr<DeviceKernel> DeviceKernel::create(Operation *op, const CodeOptions &options) {
  const Target &target = *findTarget("cuda");
  std::unique_ptr<DeviceKernel> kernel(new DeviceKernel(op->getResultTypes()));
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(op->getLoc());
  auto own = OpBuilder::atBlockEnd(kernels->getBody()).create<ModuleOp>(op->getLoc(), "kernel");
  FailureOr<KernelCode> code = target.emitKernel(op, "kernel", own, options);
  EXPECT_TRUE(succeeded(code));
  if (failed(code))
    return nullptr;
  kernel->code = *code;
  if (failed(verify(*kernels))) {
    kernels->print(llvm::errs());
    ADD_FAILURE() << "the code is not valid";
    return nullptr;
  }
  auto objects = target.compileKernels(*kernels, options, nullptr);
  if (failed(objects) || objects->size() != 1) {
    ADD_FAILURE() << "no PTX";
    return nullptr;
  }
  const KernelObject &object = objects->front();
  kernel->ptx = object.object;
  kernel->symbol = object.symbol;
  const TestedDevice &device = TestedDevice::get();
  device.must(
      device.driver.cuModuleLoadDataEx(&kernel->module, kernel->ptx.c_str(), 0, nullptr, nullptr));
  for (const KernelLaunch &launch : kernel->code.launches) {
    kernel->calls.push_back(launch.call ? kernel->addCall(*launch.call) : Call());
    if (testing::Test::HasFailure())
      return nullptr;
  }
  for (auto &[kind, calls] : kernel->libraries)
    if (calls->choose())
      return ADD_FAILURE() << dpc_last_error(), nullptr;
  for (const KernelLaunch &launch : kernel->code.launches) {
    device.must(device.driver.cuModuleGetFunction(&kernel->functions.emplace_back(), kernel->module,
                                                  (object.symbol + launch.suffix).c_str()));
    if (launch.sharedBytes)
      device.must(device.driver.cuFuncSetAttribute(kernel->functions.back(),
                                                   cuda::FunctionAttribute::maxDynamicSharedBytes,
                                                   static_cast<int>(launch.sharedBytes)));
  }
  return kernel;
}

//===----------------------------------------------------------------------===//
// Library calls
//===----------------------------------------------------------------------===//

size_t DeviceKernel::countCalls() const {
  return llvm::count_if(code.launches,
                        [](const KernelLaunch &launch) { return launch.call.has_value(); });
}

DeviceKernel::Call DeviceKernel::addCall(const LibraryCall &call) {
  std::unique_ptr<LibraryCalls> &calls = libraries[call.kind];
  if (!calls) {
    calls = findCallKind(call.kind)->make();
    if (calls->open())
      ADD_FAILURE() << dpc_last_error();
  }
  WantedCall wanted{call.description.data(), {}};
  // All buffers, and all offsets in scratch memory, have this alignment.
  for (const LibraryCall::Buffer &buffer : call.buffers)
    wanted.buffers.push_back({DPC_ALIGNMENT, static_cast<uint64_t>(buffer.bytes.value_or(0))});
  return {calls.get(), calls->add(wanted)};
}

void DeviceKernel::runCall(const LibraryCall &call, const Call &known,
                           function_ref<cuda::DevicePointer(unsigned)> place) {
  SmallVector<cuda::DevicePointer> buffers;
  for (const LibraryCall::Buffer &buffer : call.buffers)
    buffers.push_back(place(buffer.buffer) + static_cast<uint64_t>(buffer.offset));
  ASSERT_TRUE(known.calls->isMade(known.number));
  ASSERT_EQ(known.calls->run(known.number, buffers.data(), TestedDevice::get().stream), DPC_OK)
      << dpc_last_error();
}

DeviceKernel::~DeviceKernel() {
  // Kernels with library calls are not recorded, because a replay has no library.
  if (recordFile() && !recorded.runs.empty() && countCalls() == 0) {
    const testing::TestInfo &test = *testing::UnitTest::GetInstance()->current_test_info();
    recorded.name = std::string(test.test_suite_name()) + "." + test.name();
    recorded.ptx = ptx;
    for (const KernelLaunch &launch : code.launches)
      recorded.launches.push_back({symbol + launch.suffix,
                                   static_cast<uint32_t>(launch.blocks),
                                   static_cast<uint32_t>(launch.threads),
                                   static_cast<uint32_t>(launch.sharedBytes),
                                   {launch.buffers.begin(), launch.buffers.end()}});
    std::ofstream file(recordFile(), std::ios::binary | std::ios::app);
    writeKernel(file, recorded);
  }
  const TestedDevice &device = TestedDevice::get();
  if (module)
    device.must(device.driver.cuModuleUnload(module));
}

void DeviceKernel::call(ArrayRef<TensorBuffer *> buffers) {
  const TestedDevice &device = TestedDevice::get();
  RecordedRun run;
  std::vector<TensorBuffer *> different;
  auto contentOf = [](TensorBuffer *buffer) {
    return std::string(buffer->data(), buffer->getSize());
  };
  for (TensorBuffer *buffer : buffers) {
    const auto known = llvm::find(different, buffer);
    run.places.push_back(static_cast<uint32_t>(known - different.begin()));
    if (known != different.end())
      continue;
    different.push_back(buffer);
    const bool isScratch = buffer == buffers.back();
    run.buffers.push_back({comparedType(buffer->getType()), isScratch, buffer->getSize(),
                           recordFile() && !isScratch ? contentOf(buffer) : "", ""});
  }
  std::map<TensorBuffer *, cuda::DevicePointer> copies;
  for (TensorBuffer *buffer : buffers) {
    auto [copy, isNew] = copies.try_emplace(buffer, 0);
    if (!isNew)
      continue;
    device.must(device.driver.cuMemAlloc_v2(&copy->second, std::max<size_t>(1, buffer->getSize())));
    device.must(device.driver.cuMemcpyHtoDAsync_v2(copy->second, buffer->data(), buffer->getSize(),
                                                   device.stream));
  }
  for (auto [launch, function, call] : llvm::zip_equal(code.launches, functions, calls)) {
    if (launch.call) {
      runCall(*launch.call, call, [&](unsigned number) { return copies[buffers[number]]; });
      continue;
    }
    SmallVector<void *> parameters;
    for (unsigned number : launch.buffers)
      parameters.push_back(&copies[buffers[number]]);
    device.must(device.driver.cuLaunchKernel(function, static_cast<unsigned>(launch.blocks), 1, 1,
                                             static_cast<unsigned>(launch.threads), 1, 1,
                                             static_cast<unsigned>(launch.sharedBytes),
                                             device.stream, parameters.data(), nullptr));
  }
  for (auto [buffer, copy] : copies)
    device.must(
        device.driver.cuMemcpyDtoHAsync_v2(buffer->data(), copy, buffer->getSize(), device.stream));
  device.must(device.driver.cuStreamSynchronize(device.stream));
  for (auto [buffer, copy] : copies)
    device.must(device.driver.cuMemFree_v2(copy));
  // Record only the first run of a large kernel: further runs differ only in the places of
  // the results. Do not record very large kernels of other types than f32.
  const size_t most = 100'000, mostOfOtherTypes = 1'000'000;
  size_t size = 0;
  bool isF32 = false;
  for (const RecordedBuffer &buffer : run.buffers) {
    size += buffer.isScratch ? 0 : buffer.bytes;
    isF32 |= buffer.dtype == DPC_F32;
  }
  if (!recordFile() || (size > most && !recorded.runs.empty()) ||
      (size > mostOfOtherTypes && !isF32))
    return;
  for (auto [buffer, own] : llvm::zip_equal(run.buffers, different))
    if (std::string after = contentOf(own); !buffer.isScratch && after != buffer.before)
      buffer.after = std::move(after);
  recorded.runs.push_back(std::move(run));
}
