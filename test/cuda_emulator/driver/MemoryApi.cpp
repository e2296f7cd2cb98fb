// Allocations, copies and fills.
#include "test/cuda_emulator/base/Options.h"
#include "test/cuda_emulator/driver/Calls.h"
#include "test/cuda_emulator/driver/DeviceMemory.h"

#include <cstdlib>
#include <cstring>

using namespace dpc::cuda;
using namespace dpc::emulator;

/// Larger copies and fills are not made if only some blocks of each launch run. Nobody then needs
/// the values but for small ones, such as the loss, and the pages would need memory.
static constexpr size_t kMostBytesOfSomeBlocks = 1 << 20;

static bool isSkipped(size_t bytes) {
  return Options::get().runsSomeBlocks() && bytes > kMostBytesOfSomeBlocks;
}

static DeviceMemory &memory() { return DeviceMemory::get(); }

static bool isLocked(const void *pointer, size_t bytes) {
  return memory().isLocked(reinterpret_cast<uint64_t>(pointer), bytes);
}

/// Appends a copy between host memory and the device. Memory that is not
/// page-locked is copied before the call returns, as the driver does; while a
/// stream is captured it would be read much later, which is refused.
static Result copyHost(Stream stream, void *host, DevicePointer device, size_t bytes,
                       bool toDevice) {
  Result result = checkStream(stream);
  if (result != Result::success)
    return result;
  if (!host || memory().isDevice(reinterpret_cast<uint64_t>(host)) || !memory().isDevice(device))
    return Result::invalidValue;
  if (!bytes)
    return Result::success;
  char *reached =
      memory().reach(device, bytes, toDevice ? "a copy to the device" : "a copy from the device");
  const bool locked = isLocked(host, bytes);
  if (!locked && stateOf(stream)->capture)
    fail("a captured copy reads or writes host memory that is not page-locked");
  Operation operation;
  operation.type = NodeType::memcpy;
  if (isSkipped(bytes)) {
    operation.run = [] {};
  } else if (!toDevice) {
    operation.run = [=] { std::memcpy(host, reached, bytes); };
  } else if (locked) {
    operation.run = [=] { std::memcpy(reached, host, bytes); };
  } else {
    const auto *from = static_cast<const char *>(host);
    auto staged = std::make_shared<std::vector<char>>(from, from + bytes);
    operation.run = [=] { std::memcpy(reached, staged->data(), bytes); };
  }
  const uint64_t position = Streams::get().enqueue(stateOf(stream), std::move(operation));
  if (!toDevice && !locked)
    Streams::get().wait(stateOf(stream), position);
  return Result::success;
}

template <typename Word>
static Result fill(DevicePointer to, Word value, size_t number, Stream stream) {
  const Result result = checkStream(stream);
  if (result != Result::success)
    return result;
  if (!memory().isDevice(to) || to % sizeof(Word))
    return Result::invalidValue;
  char *reached = memory().reach(to, number * sizeof(Word), "a fill");
  Operation operation;
  operation.type = NodeType::memset;
  operation.run = [=] {
    for (size_t i = 0; !isSkipped(number * sizeof(Word)) && i < number; ++i)
      std::memcpy(reached + i * sizeof(Word), &value, sizeof(Word));
  };
  Streams::get().enqueue(stateOf(stream), std::move(operation));
  return Result::success;
}

namespace dpc::cuda {
extern "C" {

Result cuMemGetInfo_v2(size_t *freeBytes, size_t *totalBytes) {
  *totalBytes = size_t(Options::get().memoryMegabytes) << 20;
  *freeBytes = *totalBytes - memory().used();
  return enter();
}

Result cuMemAlloc_v2(DevicePointer *pointer, size_t bytes) {
  const Result result = enterOutsideCapture();
  if (result != Result::success)
    return result;
  if (!bytes)
    return Result::invalidValue;
  dpcEmulatorCount("cuMemAlloc");
  *pointer = memory().allocate(bytes);
  return *pointer ? Result::success : Result::outOfMemory;
}

Result cuMemFree_v2(DevicePointer pointer) {
  const Result result = enterOutsideCapture();
  if (result != Result::success || !pointer)
    return result;
  Streams::get().waitAll(); // as the driver does
  return memory().release(pointer) ? Result::success : Result::invalidValue;
}

Result cuMemHostAlloc(void **pointer, size_t bytes, unsigned) {
  const Result result = enterOutsideCapture();
  if (result != Result::success)
    return result;
  dpcEmulatorCount("cuMemHostAlloc");
  *pointer = bytes ? std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096) : nullptr;
  if (!*pointer)
    return bytes ? Result::outOfMemory : Result::invalidValue;
  memory().lockHost(reinterpret_cast<uint64_t>(*pointer), bytes);
  return Result::success;
}

Result cuMemFreeHost(void *pointer) {
  const Result result = enterOutsideCapture();
  if (result != Result::success)
    return result;
  Streams::get().waitAll();
  if (!memory().unlockHost(reinterpret_cast<uint64_t>(pointer)))
    return Result::invalidValue;
  std::free(pointer);
  return Result::success;
}

Result cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned) {
  const Result result = enterOutsideCapture();
  if (result != Result::success)
    return result;
  if (!pointer || !bytes)
    return Result::invalidValue;
  return memory().lockHost(reinterpret_cast<uint64_t>(pointer), bytes)
             ? Result::success
             : Result::hostMemoryAlreadyRegistered;
}

Result cuMemHostUnregister(void *pointer) {
  const Result result = enterOutsideCapture();
  if (result != Result::success)
    return result;
  Streams::get().waitAll();
  return memory().unlockHost(reinterpret_cast<uint64_t>(pointer)) ? Result::success
                                                                  : Result::hostMemoryNotRegistered;
}

Result cuMemcpyHtoDAsync_v2(DevicePointer to, const void *from, size_t bytes, Stream stream) {
  return copyHost(stream, const_cast<void *>(from), to, bytes, true);
}

Result cuMemcpyDtoHAsync_v2(void *to, DevicePointer from, size_t bytes, Stream stream) {
  return copyHost(stream, to, from, bytes, false);
}

Result cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, size_t bytes, Stream stream) {
  const Result result = checkStream(stream);
  if (result != Result::success)
    return result;
  if (!memory().isDevice(to) || !memory().isDevice(from))
    return Result::invalidValue;
  char *target = memory().reach(to, bytes, "a copy on the device");
  const char *source = memory().reach(from, bytes, "a copy on the device");
  if (bytes && to < from + bytes && from < to + bytes)
    fail("a copy of %zu bytes on the device has a source and a target that overlap", bytes);
  Operation operation;
  operation.type = NodeType::memcpy;
  operation.run = [=] {
    if (!isSkipped(bytes))
      std::memcpy(target, source, bytes);
  };
  Streams::get().enqueue(stateOf(stream), std::move(operation));
  return Result::success;
}

Result cuMemsetD8Async(DevicePointer to, unsigned char value, size_t number, Stream stream) {
  return fill(to, value, number, stream);
}

Result cuMemsetD32Async(DevicePointer to, unsigned value, size_t number, Stream stream) {
  return fill(to, value, number, stream);
}
}
} // namespace dpc::cuda
