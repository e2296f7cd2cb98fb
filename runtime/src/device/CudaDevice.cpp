// Opens a CUDA device for a rank, allocates the rank's spaces on the device, and
// loads the program's kernels.

#include "runtime/src/device/CudaDevice.h"

#include "dpc/device.h"
#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/SharedOptions.h"
#include "runtime/src/base/Status.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

namespace dpc {

/// A plan leaves kMostForLibraries bytes to libraries, but at most one part of kLeastShare of the
/// device's memory.
static constexpr uint64_t kMostForLibraries = 1u << 30, kLeastShare = 16;

dpc_status_t CudaDevice::check(cuda::Result result, const char *what) const {
  if (result == cuda::Result::success)
    return DPC_OK;
  const char *name = nullptr, *text = nullptr;
  driver.cuGetErrorName(result, &name);
  driver.cuGetErrorString(result, &text);
  const bool isFault = result == cuda::Result::illegalAddress ||
                       result == cuda::Result::misalignedAddress ||
                       result == cuda::Result::launchFailed;
  const char *waits = std::getenv("CUDA_LAUNCH_BLOCKING");
  const bool mayBeEarlier = isFault && !(waits && *waits == '1');
  return fail(DPC_INVALID, "%sCUDA: %s: %s (%s)%s", owner.c_str(), what,
              text ? text : "unknown error", name ? name : "?",
              mayBeEarlier ? ": CUDA_LAUNCH_BLOCKING=1 with --cuda-graph=off names the kernel"
                           : "");
}

CudaDevice::~CudaDevice() {
  if (!isRetained)
    return;
  // Failures are ignored here, because an earlier call has already reported their
  // cause.
  if (stream) {
    driver.cuStreamSynchronize(stream);
    driver.cuStreamDestroy_v2(stream);
  }
  for (const auto &[image, module] : modules)
    driver.cuModuleUnload(module);
  for (cuda::DevicePointer space : spaces)
    if (space)
      driver.cuMemFree_v2(space);
  driver.cuDevicePrimaryCtxRelease_v2(device);
}

dpc_status_t CudaDevice::open(uint32_t index) {
  if (dpc_status_t status = cuda::openDriver(driver))
    return status;
  int count = 0;
  if (dpc_status_t status = check(driver.cuInit(0), "no device can be used"))
    return status;
  if (dpc_status_t status = check(driver.cuDeviceGetCount(&count), "counting devices"))
    return status;
  if (count < 1)
    return fail(DPC_INVALID, "CUDA: there is no device");
  int major = 0, minor = 0;
  if (dpc_status_t status =
          check(driver.cuDeviceGet(&device, static_cast<int>(index % uint32_t(count))),
                "taking a device"))
    return status;
  if (dpc_status_t status =
          check(driver.cuDeviceGetAttribute(&major, cuda::DeviceAttribute::computeCapabilityMajor,
                                            device),
                "asking for the device's capability"))
    return status;
  if (dpc_status_t status =
          check(driver.cuDeviceGetAttribute(&minor, cuda::DeviceAttribute::computeCapabilityMinor,
                                            device),
                "asking for the device's capability"))
    return status;
  arch = static_cast<uint32_t>(10 * major + minor);
  if (dpc_status_t status =
          check(driver.cuDevicePrimaryCtxRetain(&context, device), "opening the device"))
    return status;
  isRetained = true;
  if (dpc_status_t status = use())
    return status;
  return check(driver.cuStreamCreateWithPriority(&stream, cuda::kStreamNonBlocking, 0),
               "making a stream");
}

dpc_status_t CudaDevice::use() const {
  return check(driver.cuCtxSetCurrent(context), "using the device");
}

dpc_status_t CudaDevice::readId(cuda::Uuid *out) const {
  return check(driver.cuDeviceGetUuid_v2(out, device), "asking for the device's number");
}

dpc_status_t CudaDevice::readName(std::string *out) const {
  char name[256] = "";
  const dpc_status_t status =
      check(driver.cuDeviceGetName(name, sizeof name, device), "asking for the device's name");
  *out = name;
  return status;
}

dpc_status_t CudaDevice::readMemory(uint64_t *outFree, uint64_t *outForLibraries) const {
  size_t free = 0, total = 0;
  const dpc_status_t status =
      check(driver.cuMemGetInfo_v2(&free, &total), "asking for free memory");
  *outFree = free;
  *outForLibraries = std::min<uint64_t>(kMostForLibraries, total / kLeastShare);
  return status;
}

dpc_status_t CudaDevice::allocate(const uint64_t (&wanted)[DPC_SPACE_COUNT]) {
  uint64_t free = 0, forLibraries = 0, sum = 0;
  if (dpc_status_t status = readMemory(&free, &forLibraries))
    return status;
  for (uint64_t bytes : wanted)
    sum += bytes;
  if (sum + forLibraries > free)
    return fail(DPC_INVALID,
                "the plan needs %s of the device's memory, of which %s are free, and %s must stay "
                "free for libraries",
                bytesText(sum).c_str(), bytesText(free).c_str(), bytesText(forLibraries).c_str());
  for (uint32_t space = 0; space < DPC_SPACE_COUNT; ++space) {
    if (wanted[space] == 0)
      continue;
    if (dpc_status_t status =
            check(driver.cuMemAlloc_v2(&spaces[space], wanted[space]), "allocating memory"))
      return status;
    if (dpc_status_t status = check(driver.cuMemsetD8Async(spaces[space], 0, wanted[space], stream),
                                    "clearing memory"))
      return status;
  }
  return DPC_OK;
}

std::vector<const dpc_image_t *> CudaDevice::findImages(const dpc_kernel_t &kernel) const {
  std::vector<const dpc_image_t *> found;
  for (const dpc_image_t *image = kernel.images; image->kind != DPC_IMAGE_NONE; ++image)
    if (image->arch <= arch && (image->kind == DPC_IMAGE_PTX || image->arch / 10 == arch / 10))
      found.push_back(image);
  std::stable_sort(found.begin(), found.end(), [](const dpc_image_t *a, const dpc_image_t *b) {
    return std::make_pair(a->kind == DPC_IMAGE_CUBIN, a->arch) >
           std::make_pair(b->kind == DPC_IMAGE_CUBIN, b->arch);
  });
  return found;
}

dpc_status_t CudaDevice::load(const dpc_kernel_t &kernel, cuda::Module *out) {
  const auto known = modules.find(kernel.images);
  if (known != modules.end()) {
    *out = known->second;
    return DPC_OK;
  }
  const std::vector<const dpc_image_t *> images = findImages(kernel);
  if (images.empty()) {
    uint32_t oldest = kernel.images->arch;
    for (const dpc_image_t *image = kernel.images; image->kind != DPC_IMAGE_NONE; ++image)
      oldest = std::min(oldest, image->arch);
    return fail(DPC_INVALID, "the program is for devices from sm_%u on, this one is sm_%u", oldest,
                arch);
  }
  cuda::Result loaded = cuda::Result::success;
  for (const dpc_image_t *image : images) {
    cuda::Module module = nullptr;
    loaded = driver.cuModuleLoadDataEx(&module, image->data, 0, nullptr, nullptr);
    if (loaded == cuda::Result::success) {
      *out = modules[kernel.images] = module;
      return DPC_OK;
    }
    // If the driver is older than the assembler that wrote the machine code, it may
    // not accept this image. Then try the next one.
    if (image->kind != DPC_IMAGE_CUBIN)
      break;
  }
  return check(loaded, ("loading kernel " + std::string(kernel.name)).c_str());
}

dpc_status_t CudaDevice::load(const dpc_program_t &program, uint32_t rank) {
  if (program.world_size > 1)
    owner = "rank " + std::to_string(rank) + ": ";
  const dpc_rank_t &wanted = program.ranks[rank];
  if (dpc_status_t status = allocate({wanted.arena_bytes, wanted.shared_bytes}))
    return status;
  const dpc_device_program_t &tables = *program.device;
  functions.resize(tables.kernel_count);
  for (uint32_t k = 0; k < tables.kernel_count; ++k) {
    const dpc_kernel_t &kernel = tables.kernels[k];
    cuda::Module module = nullptr;
    if (dpc_status_t status = load(kernel, &module))
      return status;
    if (dpc_status_t status =
            check(driver.cuModuleGetFunction(&functions[k], module, kernel.symbol),
                  ("finding kernel " + std::string(kernel.name)).c_str()))
      return status;
  }
  for (uint64_t i = 0; i < tables.launch_count; ++i)
    if (dpc_status_t status = allowSharedMemory(tables, tables.launches[i]))
      return status;
  return DPC_OK;
}

/// Asks for the dynamic shared memory of a launch, of which a block has little without asking.
dpc_status_t CudaDevice::allowSharedMemory(const dpc_device_program_t &tables,
                                           const dpc_launch_t &launch) {
  if (!launch.shared_bytes)
    return DPC_OK;
  const cuda::Function kernel = functions[launch.kernel];
  int allowed = 0, fixed = 0;
  if (dpc_status_t status =
          check(driver.cuDeviceGetAttribute(
                    &allowed, cuda::DeviceAttribute::maxSharedMemoryPerBlockOptin, device),
                "asking for the shared memory of a block"))
    return status;
  if (dpc_status_t status = check(
          driver.cuFuncGetAttribute(&fixed, cuda::FunctionAttribute::staticSharedBytes, kernel),
          "asking for the shared memory of a kernel"))
    return status;
  const int wanted = static_cast<int>(launch.shared_bytes);
  if (wanted + fixed > allowed)
    return fail(DPC_INVALID,
                "kernel %s: a block needs %d bytes of shared memory, and has %d on this sm_%u: "
                "compile the program for older devices too (--cuda-arch)",
                tables.kernels[launch.kernel].name, wanted + fixed, allowed, arch);
  return check(
      driver.cuFuncSetAttribute(kernel, cuda::FunctionAttribute::maxDynamicSharedBytes, wanted),
      "setting the shared memory of a kernel");
}

uint32_t rankOnHost(uint32_t rank, uint32_t worldSize, const uint32_t *hosts) {
  uint64_t number = 0;
  for (const char *name :
       {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"})
    if (const char *value = std::getenv(name))
      if (parseWhole(value, 0, UINT32_MAX, &number))
        return static_cast<uint32_t>(number);
  if (std::set<uint32_t>(hosts, hosts + worldSize).size() == worldSize)
    return rank;
  return static_cast<uint32_t>(std::count(hosts, hosts + rank, hosts[rank]));
}

} // namespace dpc
