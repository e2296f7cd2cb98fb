// Joins accesses of threads into accesses of warps: see the header.
#include "test/cuda_emulator/execution/AccessTrace.h"

#include "test/cuda_emulator/execution/Block.h"

#include <algorithm>

using namespace dpc::emulator;

/// How many executions of one instruction a lane may be ahead of the slowest lane.
static constexpr size_t kMostPending = 16;

AccessTrace::AccessTrace(size_t instructions, std::vector<uint32_t> lanesOfWarps)
    : counts(instructions), warps(lanesOfWarps.size()) {
  for (size_t i = 0; i < warps.size(); ++i) {
    warps[i].lanes = lanesOfWarps[i];
    warps[i].sites.resize(2 * instructions);
  }
}

void AccessTrace::countFirst(Site &site) {
  counts.add(site.instruction, site.isShared, site.pending[site.done]);
  ++site.first;
  ++site.counted; // lanes that wait go on
  site.isFull = false;
  if (++site.done == site.pending.size()) {
    site.pending.clear();
    site.done = 0;
  } else if (site.done == kMostPending) {
    site.pending.erase(site.pending.begin(), site.pending.begin() + kMostPending);
    site.done = 0;
  }
}

void AccessTrace::flush(Site &site) {
  while (site.open())
    countFirst(site);
}

void AccessTrace::add(ThreadContext *thread, uint64_t address, uint32_t bytes, bool isShared,
                      uint32_t instruction, int line) {
  Warp &warp = warps[thread->warp];
  std::unique_ptr<Site> &slot = warp.sites[2 * instruction + isShared];
  if (!slot) {
    slot = std::make_unique<Site>();
    slot->instruction = instruction;
    slot->isShared = isShared;
  }
  Site &site = *slot;
  const uint32_t lane = thread->lane;
  // A lane that came late to counted accesses takes part in the next one.
  while (std::max(site.next[lane], site.first) - site.first == kMostPending) {
    site.isFull = true;
    thread->owner->current = thread->index;
    thread->owner->waitFor(&site.counted, site.counted, line);
  }
  const uint64_t execution = std::max(site.next[lane], site.first);
  if (execution - site.first == site.open())
    site.pending.emplace_back();
  WarpAccess &access = site.pending[site.done + (execution - site.first)];
  access.lanes |= 1u << lane;
  access.bytes[lane] = static_cast<uint8_t>(bytes);
  access.addresses[lane] = address;
  site.next[lane] = execution + 1;
  while (site.open() && site.pending[site.done].lanes == warp.lanes)
    countFirst(site);
  if (site.open() && !site.isListed) {
    site.isListed = true;
    warp.open.push_back(&site);
  }
}

void AccessTrace::meet(size_t warp) {
  for (Site *site : warps[warp].open) {
    flush(*site);
    site->isListed = false;
  }
  warps[warp].open.clear();
}

void AccessTrace::meetAll() {
  for (size_t warp = 0; warp < warps.size(); ++warp)
    meet(warp);
}

bool AccessTrace::release() {
  bool any = false;
  for (Warp &warp : warps)
    for (Site *site : warp.open)
      if (site->isFull) {
        flush(*site);
        any = true;
      }
  return any;
}

void dpc::emulator::countAccess(ThreadContext *thread, uint64_t address, uint32_t bytes,
                                uint32_t space, uint32_t lanes, uint32_t instruction, int line) {
  if (thread->lane >= lanes || !bytes)
    return;
  AccessTrace &trace = *thread->owner->trace;
  auto where = static_cast<AddressSpace>(space);
  if (where == AddressSpace::generic) {
    where = AddressSpace::global;
    if (address - kLocalWindow < kWindowBytes)
      where = AddressSpace::local;
    else if (address - kSharedWindow < kWindowBytes) // begins at bank 0
      where = AddressSpace::shared;
  }
  if (where == AddressSpace::local)
    trace.addLocal(bytes);
  else
    trace.add(thread, address, bytes, where == AddressSpace::shared, instruction, line);
}
