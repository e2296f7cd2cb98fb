// Memory of the emulated device: see the header.
#include "test/cuda_emulator/driver/DeviceMemory.h"

#include "test/cuda_emulator/base/Options.h"

#include <csignal>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

using namespace dpc::emulator;

static constexpr uint64_t kPage = 4096, kGrain = 256;
static constexpr unsigned char kCanary = 0xa5;

static uint64_t roundUp(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

DeviceMemory &DeviceMemory::get() {
  static DeviceMemory *memory = new DeviceMemory; // lives as long as the process
  return *memory;
}

DeviceMemory::DeviceMemory() {
  const int file = memfd_create("device", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, kWindowBytes))
    fail("cannot reserve the memory of the device");
  auto map = [](int flags, int fd) {
    void *memory = mmap(nullptr, kWindowBytes, PROT_NONE, flags | MAP_NORESERVE, fd, 0);
    if (memory == MAP_FAILED)
      fail("cannot reserve the memory of the device");
    return reinterpret_cast<uint64_t>(memory);
  };
  window = top = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
  alias = map(MAP_SHARED, file);
  close(file);
  struct sigaction action = {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = &onFault;
  sigaction(SIGSEGV, &action, nullptr);
}

void DeviceMemory::onFault(int signal, siginfo_t *info, void *) {
  const auto address = reinterpret_cast<uint64_t>(info->si_addr);
  DeviceMemory &memory = get();
  if (memory.isDevice(address))
    fail("host code touched the device address 0x%llx", static_cast<unsigned long long>(address));
  if (address - memory.alias < kWindowBytes)
    fail("an access of the device hit a page that nobody may touch: %s",
         memory.describe(address - memory.delta()).c_str());
  std::signal(signal, SIG_DFL);
}

uint64_t DeviceMemory::allocate(uint64_t bytes) {
  std::unique_lock<std::shared_mutex> lock(mutex);
  const uint64_t padded = roundUp(bytes, kGrain), pageBytes = roundUp(padded, kPage);
  const uint64_t total = uint64_t(Options::get().memoryMegabytes) << 20;
  if (bytes == 0 || bytes > total - usedBytes || top + pageBytes + kPage > window + kWindowBytes)
    return 0;
  const uint64_t pages = top, address = pages + pageBytes - padded;
  top += pageBytes + kPage;
  char *host = reinterpret_cast<char *>(pages + delta());
  if (mprotect(host, pageBytes, PROT_READ | PROT_WRITE))
    return 0;
  if (!Options::get().runsSomeBlocks()) // then pages that nobody touches need no memory
    std::memset(host, 0xff, pageBytes);
  std::memset(reinterpret_cast<char *>(address + bytes + delta()), kCanary, padded - bytes);
  live[address] = {bytes, pageBytes, pages};
  usedBytes += bytes;
  ++version;
  return address;
}

bool DeviceMemory::release(uint64_t address) {
  std::unique_lock<std::shared_mutex> lock(mutex);
  auto found = live.find(address);
  if (found == live.end())
    return false;
  const Allocation allocation = found->second;
  const auto *host = reinterpret_cast<const unsigned char *>(address + delta());
  for (uint64_t at = allocation.bytes; at < roundUp(allocation.bytes, kGrain); ++at)
    if (host[at] != kCanary)
      fail("byte %llu behind the end of an allocation of %llu bytes was written",
           static_cast<unsigned long long>(at - allocation.bytes),
           static_cast<unsigned long long>(allocation.bytes));
  void *pages = reinterpret_cast<void *>(allocation.pages + delta());
  madvise(pages, allocation.pageBytes, MADV_REMOVE);
  mprotect(pages, allocation.pageBytes, PROT_NONE);
  freed[address] = allocation;
  live.erase(found);
  usedBytes -= allocation.bytes;
  ++version;
  return true;
}

bool DeviceMemory::contains(uint64_t address, uint64_t bytes, std::string *why) {
  // Most accesses of a thread fall into the allocation of its last one.
  static thread_local uint64_t first = 0, behind = 0, ofVersion = 0;
  if (ofVersion == version && address >= first && address + bytes <= behind)
    return true;
  {
    std::shared_lock<std::shared_mutex> lock(mutex);
    auto after = live.upper_bound(address);
    if (after != live.begin()) {
      auto found = std::prev(after);
      first = found->first;
      behind = first + found->second.bytes;
      ofVersion = version;
      if (address + bytes <= behind)
        return true;
    }
  }
  if (why)
    *why = describe(address);
  return false;
}

std::string DeviceMemory::describe(uint64_t address) {
  std::shared_lock<std::shared_mutex> lock(mutex);
  char where[32];
  std::snprintf(where, sizeof where, "0x%llx", static_cast<unsigned long long>(address));
  const std::string name = std::string("address ") + where;
  if (!isDevice(address))
    return name + " is not device memory";
  auto before = [address](const std::map<uint64_t, Allocation> &all) {
    auto after = all.upper_bound(address);
    return after == all.begin() ? all.end() : std::prev(after);
  };
  if (auto found = before(freed);
      found != freed.end() && address < found->first + found->second.bytes)
    return name + " is in an allocation that was freed";
  auto found = before(live);
  if (found == live.end())
    return name + " lies before every allocation";
  const uint64_t end = found->first + found->second.bytes;
  if (address < end)
    return name + " is " + std::to_string(end - address) + " bytes before the end of an allocation";
  return name + " is " + std::to_string(address - end) +
         " bytes past the end of an allocation of " + std::to_string(found->second.bytes) +
         " bytes";
}

char *DeviceMemory::reach(uint64_t address, uint64_t bytes, const char *what) {
  std::string why;
  if (bytes && !contains(address, bytes, &why))
    fail("%s of %llu bytes: %s", what, static_cast<unsigned long long>(bytes), why.c_str());
  return reinterpret_cast<char *>(address + delta());
}

bool DeviceMemory::lockHost(uint64_t address, uint64_t bytes) {
  std::unique_lock<std::shared_mutex> lock(mutex);
  auto after = locked.lower_bound(address + bytes);
  if (after != locked.begin()) {
    auto last = std::prev(after);
    if (last->first + last->second > address)
      return false;
  }
  locked[address] = bytes;
  return true;
}

bool DeviceMemory::unlockHost(uint64_t address) {
  std::unique_lock<std::shared_mutex> lock(mutex);
  return locked.erase(address) == 1;
}

bool DeviceMemory::isLocked(uint64_t address, uint64_t bytes) {
  std::shared_lock<std::shared_mutex> lock(mutex);
  auto after = locked.upper_bound(address);
  if (after == locked.begin())
    return false;
  auto found = std::prev(after);
  return address + bytes <= found->first + found->second;
}
