// What threads do together: barriers, shuffles, votes, matrix products.
#include "test/cuda_emulator/execution/WarpOperations.h"

#include "test/cuda_emulator/base/Elements.h"
#include "test/cuda_emulator/base/Options.h"
#include "test/cuda_emulator/execution/Block.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace dpc::emulator;

void dpc::emulator::barrier(ThreadContext *thread, uint32_t id, uint32_t count, int line) {
  Block &block = *thread->owner;
  block.current = thread->index;
  if (id >= 16)
    fail("barrier %u at PTX line %d: there are 16", id, line);
  Barrier &barrier = block.barriers[id];
  if (barrier.arrived && barrier.line != line && Options::get().check)
    fail("threads reach barrier %u at PTX lines %d and %d", id, barrier.line, line);
  barrier.line = line;
  if (++barrier.arrived == (count ? count : block.alive)) {
    block.open(barrier);
    return;
  }
  block.waitFor(&barrier.round, barrier.round, line);
}

namespace {
/// What the lanes of a mask brought to where they met.
struct Met {
  Meeting *meeting;
  unsigned side;
  uint32_t value(unsigned lane) const { return meeting->values[side][lane]; }
  const uint32_t *fragment(unsigned lane) const { return meeting->fragments[side][lane]; }
  bool has(unsigned lane) const { return meeting->mask >> lane & 1; }
};
} // namespace

/// Waits until every lane of `mask` is here.
static Met meet(ThreadContext *thread, uint32_t mask, int line, uint32_t value,
                const uint32_t *fragment = nullptr, unsigned words = 0) {
  Block &block = *thread->owner;
  block.current = thread->index;
  Warp &warp = block.warps[thread->warp];
  mask &= warp.lanes;
  if (!(mask >> thread->lane & 1))
    fail("lane %u is not in the mask 0x%x of the operation at PTX line %d", thread->lane, mask,
         line);
  Meeting *meeting = nullptr;
  for (std::unique_ptr<Meeting> &one : warp.meetings)
    if (one->mask == mask)
      meeting = one.get();
  if (!meeting) {
    warp.meetings.push_back(std::make_unique<Meeting>());
    meeting = warp.meetings.back().get();
    meeting->mask = mask;
  }
  if (meeting->arrived && meeting->line != line)
    fail("lanes of a warp reach operations at PTX lines %d and %d", meeting->line, line);
  meeting->line = line;
  const uint32_t round = meeting->round;
  const Met met = {meeting, round & 1};
  meeting->values[met.side][thread->lane] = value;
  if (words)
    std::memcpy(meeting->fragments[met.side][thread->lane], fragment, words * 4);
  meeting->arrived |= 1u << thread->lane;
  if (meeting->arrived == mask) {
    meeting->arrived = 0;
    ++meeting->round;
    if (block.trace && mask == warp.lanes)
      block.trace->meet(thread->warp);
  } else {
    block.waitFor(&meeting->round, round, line);
  }
  return met;
}

void dpc::emulator::warpBarrier(ThreadContext *thread, uint32_t mask, int line) {
  const uint32_t before = thread->owner->warps[thread->warp].epoch;
  meet(thread, mask, line, 0);
  // What lanes did before is now visible to the others: see ByteShadow.
  uint32_t &epoch = thread->owner->warps[thread->warp].epoch;
  epoch = std::max(epoch, before + 1);
}

uint64_t dpc::emulator::shuffle(ThreadContext *thread, uint32_t value, uint32_t by, uint32_t clamp,
                                uint32_t mask, uint32_t mode, int line) {
  const Met met = meet(thread, mask, line, value);
  // PTX ISA, "shfl.sync": segments of the warp, and the last lane of each.
  const int lane = static_cast<int>(thread->lane), segments = clamp >> 8 & 31,
            last = (lane & segments) | (static_cast<int>(clamp & 31) & ~segments),
            first = lane & segments;
  const int distance = static_cast<int>(by & 31);
  int from = lane;
  bool inside = false;
  switch (ShuffleMode(mode)) {
  case ShuffleMode::up:
    from = lane - distance;
    inside = from >= last; // of .up the clamp is the lowest lane
    break;
  case ShuffleMode::down:
    from = lane + distance;
    inside = from <= last;
    break;
  case ShuffleMode::butterfly:
    from = lane ^ distance;
    inside = from <= last;
    break;
  case ShuffleMode::index:
    from = first | (distance & ~segments);
    inside = from <= last;
    break;
  }
  if (!inside)
    from = lane;
  if (!met.has(static_cast<unsigned>(from)))
    fail("the shuffle at PTX line %d reads lane %d, which is not in its mask 0x%x", line, from,
         met.meeting->mask);
  return met.value(static_cast<unsigned>(from)) | uint64_t(inside) << 32;
}

uint32_t dpc::emulator::vote(ThreadContext *thread, uint32_t value, uint32_t mask, uint32_t kind,
                             uint32_t isSigned, int line) {
  const Met met = meet(thread, mask, line, value);
  uint32_t ballot = 0, result = 0;
  bool isFirst = true;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!met.has(lane))
      continue;
    const uint32_t other = met.value(lane);
    ballot |= uint32_t(other != 0) << lane;
    const bool less = isSigned ? int32_t(other) < int32_t(result) : other < result;
    if (isFirst)
      result = other;
    else if (VoteKind(kind) == VoteKind::add)
      result += other;
    else if (VoteKind(kind) == VoteKind::min)
      result = less ? other : result;
    else if (VoteKind(kind) == VoteKind::max)
      result = less ? result : other;
    else if (VoteKind(kind) == VoteKind::bitAnd)
      result &= other;
    else if (VoteKind(kind) == VoteKind::bitOr)
      result |= other;
    else if (VoteKind(kind) == VoteKind::bitXor)
      result ^= other;
    isFirst = false;
  }
  switch (VoteKind(kind)) {
  case VoteKind::any:
    return ballot != 0;
  case VoteKind::all:
    return ballot == met.meeting->mask;
  case VoteKind::uniform:
    return ballot == 0 || ballot == met.meeting->mask;
  case VoteKind::ballot:
    return ballot;
  default:
    return result;
  }
}

void dpc::emulator::loadMatrix(ThreadContext *thread, char *row, uint32_t *out, uint32_t tiles,
                               uint32_t transposed, int line) {
  uint32_t address[2];
  std::memcpy(address, &row, sizeof row);
  const Met met = meet(thread, ~0u, line, 0, address, 2);
  for (unsigned tile = 0; tile < tiles; ++tile)
    for (unsigned half = 0; half < 2; ++half) {
      unsigned r = thread->lane / 4, column = thread->lane % 4 * 2 + half;
      if (transposed)
        std::swap(r, column);
      char *from;
      std::memcpy(&from, met.fragment(tile * 8 + r), sizeof from);
      std::memcpy(reinterpret_cast<char *>(&out[tile]) + 2 * half, from + 2 * column, 2);
    }
}

/// Half `half` of a word, as f16 or bf16.
static float halfOf(uint32_t word, unsigned half, bool isBfloat) {
  const auto bits = static_cast<uint16_t>(word >> (half * 16));
  if (isBfloat) {
    Bfloat value;
    value.bits = bits;
    return value;
  }
  Half value;
  std::memcpy(&value, &bits, 2);
  return static_cast<float>(value);
}

/// The f32 in a word, of whose mantissa tf32 keeps 10 bits.
static float tf32Of(uint32_t word) {
  word &= ~0x1fffu;
  float value;
  std::memcpy(&value, &word, 4);
  return value;
}

static double doubleAt(const uint32_t *words) {
  double value;
  std::memcpy(&value, words, 8);
  return value;
}

/// Which lane and word hold element (row, k) of A or (k, column) of B follows the
/// figures of PTX ISA, "Matrix Fragments for mma.m16n8k16" and its kin.
void dpc::emulator::matrixProduct(ThreadContext *thread, const uint32_t *a, const uint32_t *b,
                                  const uint32_t *c, uint32_t *d, uint32_t kind, int line) {
  const MatrixKind what = MatrixKind(kind);
  uint32_t mine[6];
  std::memcpy(mine, a, 16);
  std::memcpy(mine + 4, b, 8);
  if (what == MatrixKind::f64)
    std::memcpy(mine + 2, b, 8);
  const Met met = meet(thread, ~0u, line, 0, mine, 6);
  const unsigned lane = thread->lane;
  if (what == MatrixKind::f64) {
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned row = lane / 4, column = lane % 4 * 2 + i;
      double sum = doubleAt(c + 2 * i);
      for (unsigned k = 0; k < 4; ++k)
        sum = std::fma(doubleAt(met.fragment(row * 4 + k)),
                       doubleAt(met.fragment(column * 4 + k) + 2), sum);
      std::memcpy(d + 2 * i, &sum, 8);
    }
    return;
  }
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    float start;
    std::memcpy(&start, c + i, 4);
    double sum = start;
    for (unsigned k = 0; k < (what == MatrixKind::tf32 ? 8u : 16u); ++k) {
      if (what == MatrixKind::tf32) {
        sum += double(tf32Of(met.fragment(row % 8 * 4 + k % 4)[row / 8 + k / 4 * 2])) *
               tf32Of(met.fragment(column * 4 + k % 4)[4 + k / 4]);
        continue;
      }
      const bool isBfloat = what == MatrixKind::bf16;
      sum += double(halfOf(met.fragment(row % 8 * 4 + k % 8 / 2)[row / 8 + k / 8 * 2], k & 1,
                           isBfloat)) *
             halfOf(met.fragment(column * 4 + k % 8 / 2)[4 + k / 8], k & 1, isBfloat);
    }
    const float result = static_cast<float>(sum);
    std::memcpy(d + i, &result, 4);
  }
}
