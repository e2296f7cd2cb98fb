// Counts what the accesses of warps move: lines of global memory and wavefronts of
// shared memory.
#include "test/cuda_emulator/execution/AccessCounts.h"

#include <algorithm>

using namespace dpc::emulator;

static constexpr uint64_t kLineBytes = 128, kWordBytes = 4;
static constexpr unsigned kBanks = 32;

namespace {

/// The bytes that lanes access, in the order of their addresses. Ranges may overlap.
class Ranges {
public:
  Ranges(const WarpAccess &access, unsigned firstLane, unsigned lanes) {
    for (unsigned lane = firstLane; lane < firstLane + lanes; ++lane)
      if (access.lanes >> lane & 1)
        insert({access.addresses[lane], access.addresses[lane] + access.bytes[lane]});
  }

  bool empty() const { return !number; }

  /// Calls `visit` once with each distinct unit of `bytes` that a range touches.
  template <typename Visit> void forEach(uint64_t bytes, Visit visit) const {
    uint64_t next = 0; // units before it were visited
    for (unsigned i = 0; i < number; ++i) {
      const uint64_t behind = (ranges[i].end + bytes - 1) / bytes;
      for (uint64_t unit = std::max(ranges[i].begin / bytes, next); unit < behind; ++unit)
        visit(unit);
      next = std::max(next, behind);
    }
  }

  uint64_t distinct(uint64_t bytes) const {
    uint64_t next = 0, units = 0;
    for (unsigned i = 0; i < number; ++i) {
      const uint64_t behind = (ranges[i].end + bytes - 1) / bytes,
                     first = std::max(ranges[i].begin / bytes, next);
      units += behind > first ? behind - first : 0;
      next = std::max(next, behind);
    }
    return units;
  }

  /// The fewest lines that hold the distinct bytes.
  uint64_t leastLines() const { return (distinct(1) + kLineBytes - 1) / kLineBytes; }

private:
  struct Range {
    uint64_t begin, end;
  };
  void insert(Range range) { // most lanes come in the order of their addresses
    unsigned at = number++;
    for (; at && ranges[at - 1].begin > range.begin; --at)
      ranges[at] = ranges[at - 1];
    ranges[at] = range;
  }

  Range ranges[kWarpLanes];
  unsigned number = 0;
};

} // namespace

/// The accesses and bytes that an access counts, and the bytes of its widest lane.
static SiteCounts countRequest(const WarpAccess &access, unsigned &widest) {
  SiteCounts counts;
  counts.accesses = 1;
  widest = 0;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane)
    if (access.lanes >> lane & 1) {
      counts.requested += access.bytes[lane];
      widest = std::max<unsigned>(widest, access.bytes[lane]);
    }
  return counts;
}

SiteCounts dpc::emulator::countGlobal(const WarpAccess &access) {
  unsigned widest;
  SiteCounts counts = countRequest(access, widest);
  const Ranges ranges(access, 0, kWarpLanes);
  counts.transfers = ranges.distinct(kLineBytes);
  counts.least = ranges.leastLines();
  return counts;
}

SiteCounts dpc::emulator::countShared(const WarpAccess &access) {
  unsigned widest;
  SiteCounts counts = countRequest(access, widest);
  const unsigned lanes = widest <= 4 ? kWarpLanes : widest <= 8 ? kWarpLanes / 2 : kWarpLanes / 4;
  for (unsigned first = 0; first < kWarpLanes; first += lanes) {
    const Ranges ranges(access, first, lanes);
    if (ranges.empty())
      continue;
    unsigned words[kBanks] = {}, most = 0;
    ranges.forEach(kWordBytes,
                   [&](uint64_t word) { most = std::max(most, ++words[word % kBanks]); });
    counts.transfers += most;
    counts.least += ranges.leastLines();
  }
  return counts;
}

void SiteCounts::add(const SiteCounts &other) {
  accesses += other.accesses;
  requested += other.requested;
  transfers += other.transfers;
  least += other.least;
}

SectorSet::Page &SectorSet::page(uint64_t number) {
  if (number != lastNumber || !last) {
    last = &pages.try_emplace(number).first->second;
    lastNumber = number;
  }
  return *last;
}

void SectorSet::add(uint64_t address, uint64_t bytes) {
  for (uint64_t sector = address / kSectorBytes; sector * kSectorBytes < address + bytes;
       ++sector) {
    const uint64_t at = sector % kPageSectors;
    page(sector / kPageSectors)[at / 64] |= uint64_t(1) << (at % 64);
  }
}

void SectorSet::merge(const SectorSet &other) {
  for (const auto &[number, theirs] : other.pages) {
    Page &mine = page(number);
    for (size_t i = 0; i < mine.size(); ++i)
      mine[i] |= theirs[i];
  }
}

uint64_t SectorSet::bytes() const {
  uint64_t sectors = 0;
  for (const auto &entry : pages)
    for (uint64_t bits : entry.second)
      sectors += static_cast<uint64_t>(__builtin_popcountll(bits));
  return sectors * kSectorBytes;
}

/// The place of a width in bytesByWidth.
static size_t widthIndex(unsigned bytes) {
  size_t index = 0;
  while (index < 4 && bytes > 1u << index)
    ++index;
  return index;
}

void AccessCounts::add(size_t instruction, bool isShared, const WarpAccess &access) {
  if (isShared) {
    shared[instruction].add(countShared(access));
    return;
  }
  global[instruction].add(countGlobal(access));
  for (unsigned lane = 0; lane < kWarpLanes; ++lane)
    if (access.lanes >> lane & 1) {
      bytesByWidth[widthIndex(access.bytes[lane])] += access.bytes[lane];
      sectors.add(access.addresses[lane], access.bytes[lane]);
    }
}

void AccessCounts::merge(const AccessCounts &other) {
  for (size_t i = 0; i < global.size(); ++i) {
    global[i].add(other.global[i]);
    shared[i].add(other.shared[i]);
  }
  for (size_t i = 0; i < bytesByWidth.size(); ++i)
    bytesByWidth[i] += other.bytesByWidth[i];
  local += other.local;
  sectors.merge(other.sectors);
  blocks += other.blocks;
}
