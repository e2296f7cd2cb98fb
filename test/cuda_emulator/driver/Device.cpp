// The made-up device: how many there are, what they can do, and the context.
#include "test/cuda_emulator/base/Host.h"
#include "test/cuda_emulator/base/Options.h"
#include "test/cuda_emulator/driver/Calls.h"
#include "test/cuda_emulator/driver/Capture.h"
#include "test/cuda_emulator/driver/DeviceMemory.h"
#include "test/cuda_emulator/execution/Context.h"

#include <atomic>
#include <cstdio>
#include <cstring>

using namespace dpc::cuda;
using namespace dpc::emulator;

namespace {
struct ErrorText {
  Result error;
  const char *name, *text;
};
} // namespace

static constexpr ErrorText kErrors[] = {
    {Result::success, "CUDA_SUCCESS", "no error"},
    {Result::invalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {Result::outOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {Result::notInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {Result::noDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {Result::invalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {Result::invalidImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {Result::invalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {Result::noBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {Result::invalidPtx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {Result::unsupportedPtxVersion, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain"},
    {Result::invalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {Result::notFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {Result::notReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {Result::illegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {Result::launchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {Result::hostMemoryAlreadyRegistered, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {Result::hostMemoryNotRegistered, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {Result::notSupported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {Result::streamCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {Result::streamCaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {Result::streamCaptureUnmatched, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "capture was not initiated in this stream"},
    {Result::streamCaptureUnjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
     "capturing stream has unjoined work"},
    {Result::streamCaptureWrongThread, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture sequence from another thread"},
};

static bool initialized = false;
static thread_local int current = -1; // the device whose context this thread has
static std::atomic<int> lastDevice{-1};

static std::atomic<bool> contextIsLost{false};

void dpc::emulator::loseContext() { contextIsLost = true; }
bool dpc::emulator::isContextLost() { return contextIsLost; }

Result dpc::emulator::enter() {
  Streams::get().noteCall();
  if (!initialized)
    return Result::notInitialized;
  if (contextIsLost)
    return Result::illegalAddress;
  return current < 0 ? Result::invalidContext : Result::success;
}

Result dpc::emulator::enterOutsideCapture() {
  const Result entered = enter();
  if (entered != Result::success)
    return entered;
  if (std::shared_ptr<Capture> capture = forbiddingCapture()) {
    capture->invalidated = true;
    return Result::streamCaptureUnsupported;
  }
  return Result::success;
}

Result dpc::emulator::enterWaiting(Stream stream) {
  Result result = checkStream(stream);
  if (result != Result::success)
    return result;
  if (stateOf(stream)->capture) {
    stateOf(stream)->capture->invalidated = true;
    return Result::streamCaptureUnsupported;
  }
  return Result::success;
}

Result dpc::emulator::checkStream(Stream stream) {
  const Result entered = enter();
  if (entered != Result::success)
    return entered;
  if (!stream)
    fail("the default stream, which waits for all others, is not known: create one");
  if (!Streams::get().isKnown(stateOf(stream)))
    return Result::invalidHandle;
  const auto &capture = stateOf(stream)->capture;
  return capture && capture->invalidated ? Result::streamCaptureInvalidated : Result::success;
}

static bool isDevice(Device device) {
  return device >= 0 && device < static_cast<int>(Options::get().devices);
}

namespace dpc::cuda {
extern "C" {

Result cuInit(unsigned flags) {
  if (flags)
    return Result::invalidValue;
  if (Options::get().devices == 0)
    return Result::noDevice;
  initialized = true;
  return Result::success;
}

Result cuDriverGetVersion(int *version) {
  *version = 13000;
  return Result::success;
}

Result cuGetErrorName(Result error, const char **name) {
  for (const ErrorText &known : kErrors)
    if (known.error == error) {
      *name = known.name;
      return Result::success;
    }
  *name = nullptr;
  return Result::invalidValue;
}

Result cuGetErrorString(Result error, const char **text) {
  for (const ErrorText &known : kErrors)
    if (known.error == error) {
      *text = known.text;
      return Result::success;
    }
  *text = nullptr;
  return Result::invalidValue;
}

Result cuDeviceGetCount(int *number) {
  if (!initialized)
    return Result::notInitialized;
  *number = static_cast<int>(Options::get().devices);
  return Result::success;
}

Result cuDeviceGet(Device *device, int ordinal) {
  if (!initialized)
    return Result::notInitialized;
  if (!isDevice(ordinal))
    return Result::invalidDevice;
  *device = ordinal;
  return Result::success;
}

Result cuDeviceGetName(char *name, int bytes, Device device) {
  if (!isDevice(device))
    return Result::invalidDevice;
  std::snprintf(name, static_cast<size_t>(bytes), "emulated sm_%u", Options::get().capability);
  return Result::success;
}

Result cuDeviceGetUuid_v2(Uuid *uuid, Device device) {
  if (!isDevice(device))
    return Result::invalidDevice;
  std::memset(uuid, 0, sizeof *uuid);
  uuid->bytes[0] = static_cast<char>(device + 1);
  const uint64_t host = hostNumber();
  std::memcpy(uuid->bytes + 8, &host, sizeof host);
  return Result::success;
}

Result cuDeviceGetAttribute(int *value, DeviceAttribute attribute, Device device) {
  if (!isDevice(device))
    return Result::invalidDevice;
  const int capability = static_cast<int>(Options::get().capability);
  const int shared = capability >= 90 ? 227 << 10 : 163 << 10;
  switch (attribute) {
  case DeviceAttribute::maxThreadsPerBlock:
    *value = 1024;
    return Result::success;
  case DeviceAttribute::maxSharedMemoryPerBlock:
    *value = 48 << 10;
    return Result::success;
  case DeviceAttribute::maxSharedMemoryPerBlockOptin:
    *value = shared;
    return Result::success;
  case DeviceAttribute::maxSharedMemoryPerMultiprocessor:
    *value = shared + (1 << 10);
    return Result::success;
  case DeviceAttribute::warpSize:
    *value = 32;
    return Result::success;
  case DeviceAttribute::maxRegistersPerBlock:
    *value = 65536;
    return Result::success;
  case DeviceAttribute::multiprocessorCount:
    *value = static_cast<int>(Options::get().multiprocessors);
    return Result::success;
  case DeviceAttribute::computeMode:
    *value = 0;
    return Result::success;
  case DeviceAttribute::l2CacheBytes:
    *value = 4 << 20;
    return Result::success;
  case DeviceAttribute::maxThreadsPerMultiprocessor:
    *value = 2048;
    return Result::success;
  case DeviceAttribute::computeCapabilityMajor:
    *value = capability / 10;
    return Result::success;
  case DeviceAttribute::computeCapabilityMinor:
    *value = capability % 10;
    return Result::success;
  }
  fail("the device attribute %d is not known", static_cast<int>(attribute));
}

Result cuDeviceTotalMem_v2(size_t *bytes, Device device) {
  if (!isDevice(device))
    return Result::invalidDevice;
  *bytes = size_t(Options::get().memoryMegabytes) << 20;
  return Result::success;
}

Result cuDevicePrimaryCtxRetain(Context *context, Device device) {
  if (!initialized)
    return Result::notInitialized;
  if (!isDevice(device))
    return Result::invalidDevice;
  *context = reinterpret_cast<Context>(static_cast<intptr_t>(device) + 1);
  return Result::success;
}

Result cuDevicePrimaryCtxRelease_v2(Device device) {
  return isDevice(device) ? Result::success : Result::invalidDevice;
}

Result cuCtxSetCurrent(Context context) {
  if (!initialized)
    return Result::notInitialized;
  const auto device = static_cast<int>(reinterpret_cast<intptr_t>(context)) - 1;
  if (device >= 0 && !isDevice(device))
    return Result::invalidContext;
  // All devices have one memory here: a process that used two would not notice.
  int none = -1;
  if (device >= 0 && !lastDevice.compare_exchange_strong(none, device) && none != device)
    fail("this process uses devices %d and %d: one is known", none, device);
  current = device;
  return Result::success;
}

Result cuCtxSynchronize() {
  const Result entered = enterOutsideCapture();
  if (entered == Result::success)
    Streams::get().waitAll();
  return entered;
}

Result cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  *least = kLeastPriority;
  *greatest = kGreatestPriority;
  return enter();
}

int dpcEmulatorDevice() { return lastDevice; }

void dpcEmulatorFinish() { Streams::get().waitAll(); }

void *dpcEmulatorReach(const void *device, size_t bytes, const char *what) {
  return DeviceMemory::get().reach(reinterpret_cast<uint64_t>(device), bytes, what);
}
}
} // namespace dpc::cuda
