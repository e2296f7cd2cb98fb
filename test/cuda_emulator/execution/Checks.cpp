// Finds accesses that a device would let pass or punish later. A race is two
// accesses of one byte, one of them a store, by threads between which no barrier
// lies: each byte of shared memory remembers who touched it last, and when.
#include "test/cuda_emulator/execution/Checks.h"

#include "test/cuda_emulator/base/Options.h"
#include "test/cuda_emulator/driver/DeviceMemory.h"
#include "test/cuda_emulator/execution/Block.h"

using namespace dpc::emulator;

static constexpr uint16_t kAtomic = 0xffff; // the "thread" of all atomic accesses

static void checkSharedByte(Block &block, uint64_t at, Access access, uint32_t thread, int line) {
  ByteShadow &byte = block.shadow[at];
  const uint16_t me = access == Access::atomic ? kAtomic : static_cast<uint16_t>(thread);
  const uint32_t warp = thread / 32, warpEpoch = block.warps[warp].epoch;
  // Earlier accesses of the same thread, or of the same warp before its last barrier.
  auto isOrdered = [&](uint16_t who, uint32_t epoch) {
    return who == me || (who != kAtomic && who / 32u == warp && epoch < warpEpoch);
  };
  const auto where = static_cast<unsigned long long>(at);
  if (byte.writeEpoch == block.epoch && !isOrdered(byte.writer, byte.writeWarpEpoch))
    fail("data race on shared byte %llu: PTX line %d %s what thread %u wrote, with no barrier "
         "between",
         where, line, access == Access::load ? "reads" : "overwrites", byte.writer);
  if (access == Access::load && byte.writeEpoch < block.firstEpoch)
    fail("PTX line %d reads shared byte %llu, which this block never wrote", line, where);
  if (access != Access::load && byte.readEpoch == block.epoch &&
      (byte.manyReaders || !isOrdered(byte.reader, byte.readWarpEpoch)))
    fail("data race on shared byte %llu: PTX line %d overwrites what thread %u read, with no "
         "barrier between",
         where, line, byte.reader);
  if (access != Access::load) {
    byte.writeEpoch = block.epoch;
    byte.writer = me;
    byte.writeWarpEpoch = warpEpoch;
    return;
  }
  const bool others = byte.reader != me && byte.reader / 32u != warp;
  byte.manyReaders = byte.readEpoch == block.epoch && (byte.manyReaders || others);
  byte.readEpoch = block.epoch;
  byte.reader = me;
  byte.readWarpEpoch = warpEpoch;
}

void dpc::emulator::checkAccess(ThreadContext *thread, uint64_t address, uint32_t bytes,
                                uint32_t space, uint32_t access, int line) {
  static const char *const verbs[] = {"load", "store", "atomic"};
  Block &block = *thread->owner;
  block.current = thread->index;
  if (AddressSpace(space) == AddressSpace::generic) {
    if (address - kLocalWindow < kWindowBytes)
      return;
    if (address - kSharedWindow < kWindowBytes) {
      address -= kSharedWindow;
      space = static_cast<uint32_t>(AddressSpace::shared);
    }
  }
  const bool isShared = AddressSpace(space) == AddressSpace::shared;
  if (address % bytes)
    fail("misaligned %s of %u bytes at PTX line %d: %s address 0x%llx", verbs[access], bytes, line,
         isShared ? "shared" : "global", static_cast<unsigned long long>(address));
  if (!isShared) {
    std::string why;
    if (!DeviceMemory::get().contains(address, bytes, &why))
      fail("out-of-bounds %s of %u bytes at PTX line %d: %s", verbs[access], bytes, line,
           why.c_str());
    return;
  }
  if (address + bytes > block.sharedBytes)
    fail("out-of-bounds %s of %u bytes at shared offset %llu of %u, PTX line %d", verbs[access],
         bytes, static_cast<unsigned long long>(address), block.sharedBytes, line);
  for (uint64_t at = address; at < address + bytes; ++at)
    checkSharedByte(block, at, Access(access), thread->index, line);
}

char *dpc::emulator::genericAddress(ThreadContext *thread, char *local, uint64_t address) {
  if (address - kSharedWindow < kWindowBytes)
    return thread->shared + (address - kSharedWindow);
  if (address - kLocalWindow < kWindowBytes)
    return local + (address - kLocalWindow);
  return reinterpret_cast<char *>(address + thread->delta);
}
