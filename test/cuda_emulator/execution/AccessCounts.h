#ifndef DPC_TEST_CUDA_EMULATOR_EXECUTION_ACCESSCOUNTS_H
#define DPC_TEST_CUDA_EMULATOR_EXECUTION_ACCESSCOUNTS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace dpc::emulator {

inline constexpr unsigned kWarpLanes = 32;

/// One access of a warp: what each of its lanes reads or writes.
struct WarpAccess {
  uint32_t lanes = 0; // mask of the lanes that take part
  uint8_t bytes[kWarpLanes];
  uint64_t addresses[kWarpLanes];
};

/// How much memory moves for the accesses of one instruction, or of several.
struct SiteCounts {
  uint64_t accesses = 0;  // of warps
  uint64_t requested = 0; // bytes that the threads ask for
  /// Global memory: the 128-byte lines that each access touches. Shared memory: wavefronts.
  uint64_t transfers = 0;
  uint64_t least = 0; // transfers, if the distinct bytes of each access lay together

  uint64_t excess() const { return transfers - least; }
  void add(const SiteCounts &other);
};

/// The transfers of one access of global memory.
SiteCounts countGlobal(const WarpAccess &access);
/// The transfers of one access of shared memory. Shared memory has 32 banks of 4-byte words, and a
/// wavefront reads one word of each bank, for all lanes that want it. Accesses of 8 bytes have two
/// phases of half a warp, and those of 16 bytes four phases of eight lanes (NVIDIA, "CUDA C++
/// Programming Guide", "Shared Memory"; also a row of ldmatrix is an access of 16 bytes).
SiteCounts countShared(const WarpAccess &access);

/// A set of 32-byte sectors of device memory: a bit per sector, in pages.
class SectorSet {
public:
  void add(uint64_t address, uint64_t bytes);
  void merge(const SectorSet &other);
  /// Bytes of all sectors.
  uint64_t bytes() const;

  static constexpr uint64_t kSectorBytes = 32;

private:
  static constexpr uint64_t kPageSectors = 4096;
  using Page = std::array<uint64_t, kPageSectors / 64>;
  Page &page(uint64_t number);

  std::unordered_map<uint64_t, Page> pages;
  uint64_t lastNumber = ~uint64_t(0); // most sectors lie in the page of the last one
  Page *last = nullptr;
};

/// The accesses of some blocks of a launch.
struct AccessCounts {
  /// By the number of the instruction in its kernel. A generic access, and an asynchronous copy,
  /// may count in both.
  std::vector<SiteCounts> global, shared;
  /// Bytes of global memory that threads ask for, by the bytes per thread: 1, 2, 4, 8, 16 and more.
  std::array<uint64_t, 5> bytesByWidth = {};
  uint64_t local = 0; // bytes of local memory that threads ask for
  SectorSet sectors;  // of global memory
  uint64_t blocks = 0;

  explicit AccessCounts(size_t instructions) : global(instructions), shared(instructions) {}
  void add(size_t instruction, bool isShared, const WarpAccess &access);
  void merge(const AccessCounts &other);
};

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_EXECUTION_ACCESSCOUNTS_H
