// Compiles a kernel for the target `cuda`, and runs its launches.

#include "test/unit/targets/DeviceKernel.h"

#include "dpc/types.h"
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

/// The device of this process. A call that fails ends it: nothing could be
/// said of what follows.
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

/// The file that runs are recorded in, or null.
static const char *recordFile() { return std::getenv("DPC_RECORD_KERNELS"); }

/// The type that recorded elements are compared as.
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
  if (kernel->countProducts() && kernel->products.open())
    return ADD_FAILURE() << dpc_last_error(), nullptr;
  for (const KernelLaunch &launch : kernel->code.launches)
    kernel->productNumbers.push_back(launch.product ? kernel->addProduct(*launch.product) : 0);
  if (kernel->countProducts() && kernel->products.choose())
    return ADD_FAILURE() << dpc_last_error(), nullptr;
  for (const KernelLaunch &launch : kernel->code.launches)
    device.must(device.driver.cuModuleGetFunction(&kernel->functions.emplace_back(), kernel->module,
                                                  (object.symbol + launch.suffix).c_str()));
  return kernel;
}

//===----------------------------------------------------------------------===//
// Products of the library
//===----------------------------------------------------------------------===//

size_t DeviceKernel::countProducts() const {
  return llvm::count_if(code.launches,
                        [](const KernelLaunch &launch) { return launch.product.has_value(); });
}

uint32_t DeviceKernel::addProduct(const LibraryProduct &product) {
  auto recordOf = [](const MatrixInBuffer &matrix) {
    return dpc_matrix_t{static_cast<uint64_t>(matrix.stride),
                        static_cast<uint64_t>(matrix.batchStride), matrix.isTransposed, 0};
  };
  LibraryProducts::Wanted wanted;
  const Type type = product.elementType;
  wanted.product.dtype = type.isF64()    ? DPC_F64
                         : type.isF32()  ? DPC_F32
                         : type.isBF16() ? DPC_BF16
                                         : DPC_F16;
  wanted.product.tf32 = product.tf32;
  wanted.product.epilogue = static_cast<uint32_t>(product.epilogue);
  wanted.product.batches = static_cast<uint64_t>(product.batches);
  wanted.product.rows = static_cast<uint64_t>(product.rows);
  wanted.product.columns = static_cast<uint64_t>(product.columns);
  wanted.product.depth = static_cast<uint64_t>(product.depth);
  wanted.product.a = recordOf(product.a);
  wanted.product.b = recordOf(product.b);
  wanted.product.d = recordOf(product.d);
  // All buffers, and places in scratch memory, are aligned so.
  for (uint64_t &alignment : wanted.alignments)
    alignment = DPC_ALIGNMENT;
  wanted.workspaceBytes = static_cast<uint64_t>(product.workspaceBytes);
  return products.add(wanted);
}

void DeviceKernel::runProduct(const LibraryProduct &product, uint32_t number,
                              function_ref<cuda::DevicePointer(unsigned)> place) {
  SmallVector<cuda::DevicePointer> buffers;
  for (const MatrixInBuffer &matrix :
       {product.a, product.b, product.d, product.workspace, product.addend})
    buffers.push_back(place(matrix.buffer) + static_cast<uint64_t>(matrix.offset));
  ASSERT_TRUE(products.isMade(number));
  ASSERT_EQ(products.run(number, buffers.data(), TestedDevice::get().stream), DPC_OK)
      << dpc_last_error();
}

DeviceKernel::~DeviceKernel() {
  // A replay has no library.
  if (recordFile() && !recorded.runs.empty() && countProducts() == 0) {
    const testing::TestInfo &test = *testing::UnitTest::GetInstance()->current_test_info();
    recorded.name = std::string(test.test_suite_name()) + "." + test.name();
    recorded.ptx = ptx;
    for (const KernelLaunch &launch : code.launches)
      recorded.launches.push_back({symbol + launch.suffix,
                                   static_cast<uint32_t>(launch.blocks),
                                   static_cast<uint32_t>(launch.threads),
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
  for (auto [launch, function, product] :
       llvm::zip_equal(code.launches, functions, productNumbers)) {
    if (launch.product) {
      runProduct(*launch.product, product,
                 [&](unsigned number) { return copies[buffers[number]]; });
      continue;
    }
    SmallVector<void *> parameters;
    for (unsigned number : launch.buffers)
      parameters.push_back(&copies[buffers[number]]);
    device.must(device.driver.cuLaunchKernel(function, static_cast<unsigned>(launch.blocks), 1, 1,
                                             static_cast<unsigned>(launch.threads), 1, 1, 0,
                                             device.stream, parameters.data(), nullptr));
  }
  for (auto [buffer, copy] : copies)
    device.must(
        device.driver.cuMemcpyDtoHAsync_v2(buffer->data(), copy, buffer->getSize(), device.stream));
  device.must(device.driver.cuStreamSynchronize(device.stream));
  for (auto [buffer, copy] : copies)
    device.must(device.driver.cuMemFree_v2(copy));
  // Other places of the results, and other types than f32, are worth a run where
  // they cost little.
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
