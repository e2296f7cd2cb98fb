#ifndef DPC_TEST_CUDA_EMULATOR_DRIVER_DEVICEMEMORY_H
#define DPC_TEST_CUDA_EMULATOR_DRIVER_DEVICEMEMORY_H

#include <atomic>
#include <csignal>
#include <cstdint>
#include <map>
#include <shared_mutex>
#include <string>

namespace dpc::emulator {

/// The memory of the emulated device, and what host memory is page-locked.
///
/// Device addresses lie in a window that nobody may touch: the pages lie
/// elsewhere, at the same distance each (`delta`), so host code that follows a
/// device pointer faults. An allocation ends, but for at most 255 bytes that
/// are looked at when it is freed, before a page that nobody may touch; it
/// starts filled with 0xff, which is NaN in every float format (with DPC_EMU_BLOCKS, with zeros);
/// its addresses are never used again.
class DeviceMemory {
public:
  static DeviceMemory &get();

  /// 0 when the device has no such space left.
  uint64_t allocate(uint64_t bytes);
  /// False if nothing was allocated there.
  bool release(uint64_t address);
  uint64_t delta() const { return alias - window; }
  bool isDevice(uint64_t address) const { return address - window < kWindowBytes; }
  /// Whether [address, address + bytes) lies in one allocation; else says why not.
  bool contains(uint64_t address, uint64_t bytes, std::string *why = nullptr);
  /// Where the host reaches device memory; ends the process unless the range is
  /// allocated.
  char *reach(uint64_t address, uint64_t bytes, const char *what);
  uint64_t used() const { return usedBytes; }

  /// False if a part of it is locked already.
  bool lockHost(uint64_t address, uint64_t bytes);
  bool unlockHost(uint64_t address);
  bool isLocked(uint64_t address, uint64_t bytes);

  static constexpr uint64_t kWindowBytes = uint64_t(1) << 36;

private:
  struct Allocation {
    uint64_t bytes, pageBytes, pages; // size asked for; of its pages; where they begin
  };
  DeviceMemory();
  std::string describe(uint64_t address);
  static void onFault(int signal, siginfo_t *info, void *context);

  uint64_t window = 0, alias = 0, top = 0;
  std::atomic<uint64_t> usedBytes{0};
  std::atomic<uint64_t> version{1}; // changes with `live`
  std::map<uint64_t, Allocation> live, freed;
  std::map<uint64_t, uint64_t> locked; // host memory: address and bytes
  std::shared_mutex mutex;
};

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_DRIVER_DEVICEMEMORY_H
