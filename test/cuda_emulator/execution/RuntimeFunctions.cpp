// The functions that compiled kernels call, by name.
#include "test/cuda_emulator/base/Elements.h"
#include "test/cuda_emulator/base/Options.h"
#include "test/cuda_emulator/execution/AccessTrace.h"
#include "test/cuda_emulator/execution/Block.h"
#include "test/cuda_emulator/execution/Checks.h"
#include "test/cuda_emulator/execution/WarpOperations.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace dpc::emulator;

static void trap(ThreadContext *thread, int line) {
  thread->owner->current = thread->index;
  fail("trap at PTX line %d", line);
}

static void copyAsync(ThreadContext *thread, char *to, const char *from, uint32_t bytes,
                      uint32_t used) {
  std::memset(to, 0xff, bytes); // who reads it before it waits gets NaN
  thread->copies.push_back({to, from, bytes, std::min(used, bytes), thread->copyGroup});
}

static void copyCommit(ThreadContext *thread) { ++thread->copyGroup; }

/// All groups but the last `pending` arrive.
static void copyWait(ThreadContext *thread, uint32_t pending) {
  auto &copies = thread->copies;
  auto arrived = [&](const ThreadContext::Copy &copy) {
    return copy.group + pending < thread->copyGroup;
  };
  for (const ThreadContext::Copy &copy : copies)
    if (arrived(copy)) {
      std::memset(copy.to, 0, copy.bytes);
      std::memcpy(copy.to, copy.from, copy.used);
    }
  copies.erase(std::remove_if(copies.begin(), copies.end(), arrived), copies.end());
}

/// a b + c rounded down (-1), up (1) or to zero (0). The product is exact in
/// double precision, the sum nearly: enough for the range reductions that use it.
static float fmaDirected(float a, float b, float c, int32_t direction) {
  const double exact = double(a) * b + c;
  const auto nearest = static_cast<float>(exact);
  if (direction == 0)
    direction = exact > 0 ? -1 : 1;
  if (direction < 0 && nearest > exact)
    return std::nextafter(nearest, -INFINITY);
  if (direction > 0 && nearest < exact)
    return std::nextafter(nearest, INFINITY);
  return nearest;
}

template <typename Word, bool isSigned>
static Word extractBits(Word from, uint32_t position, uint32_t length) {
  constexpr uint32_t width = sizeof(Word) * 8;
  position &= 255;
  length &= 255;
  // PTX ISA, "bfe": beyond the last bit stands the sign, or 0.
  const uint32_t signAt = std::min(position + length - 1, width - 1);
  const bool sign = isSigned && length && (from >> signAt & 1);
  Word result = 0;
  for (uint32_t i = 0; i < width; ++i) {
    const bool isInside = i < length && position + i < width;
    const bool bit = isInside ? (from >> (position + i) & 1) : sign;
    result |= Word(bit) << i;
  }
  return result;
}

template <typename Word>
static Word insertBits(Word from, Word into, uint32_t position, uint32_t length) {
  constexpr uint32_t width = sizeof(Word) * 8;
  position &= 255;
  length &= 255;
  for (uint32_t i = 0; i < length && position + i < width; ++i) {
    const Word mask = Word(1) << (position + i);
    into = (from >> i & 1) ? into | mask : into & ~mask;
  }
  return into;
}

/// prmt.b32: bytes of (a, b) chosen by the nibbles of the selector.
static uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t both = a | uint64_t(b) << 32;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t nibble = selector >> (4 * i) & 15;
    uint32_t byte = both >> (8 * (nibble & 7)) & 255;
    if (nibble & 8)
      byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}

/// LLVM calls this for float to bfloat; the result travels in the low half of a
/// float register. The libgcc of Debian 12 has none.
static float truncateToBfloat(float value) {
  const uint32_t bits = Bfloat(value).bits;
  std::memcpy(&value, &bits, 4);
  return value;
}

static float truncateDoubleToBfloat(double value) {
  // Rounded to odd first, so that the second rounding is the only one that counts.
  auto narrow = static_cast<float>(value);
  if (double(narrow) != value && value == value) {
    uint32_t bits;
    std::memcpy(&bits, &narrow, 4);
    if (std::fabs(double(narrow)) > std::fabs(value))
      --bits;
    bits |= 1;
    std::memcpy(&narrow, &bits, 4);
  }
  return truncateToBfloat(narrow);
}

static float inverseRoot(float x) { return 1 / std::sqrt(x); }
static float exponential2(float x) { return std::exp2(x); }
static float logarithm2(float x) { return std::log2(x); }
static float sine(float x) { return std::sin(x); }
static float cosine(float x) { return std::cos(x); }
static float hyperbolicTangent(float x) { return std::tanh(x); }

std::vector<RuntimeFunction> dpc::emulator::runtimeFunctions() {
  auto entry = [](const char *name, auto *function) {
    return RuntimeFunction{name, reinterpret_cast<void *>(function)};
  };
  return {
      entry("emu_check", checkAccess),
      entry("emu_count", countAccess),
      entry("emu_generic", genericAddress),
      entry("emu_trap", trap),
      entry("emu_barrier", barrier),
      entry("emu_warp_barrier", warpBarrier),
      entry("emu_shuffle", shuffle),
      entry("emu_vote", vote),
      entry("emu_ldmatrix", loadMatrix),
      entry("emu_mma", matrixProduct),
      entry("emu_copy", copyAsync),
      entry("emu_copy_commit", copyCommit),
      entry("emu_copy_wait", copyWait),
      entry("emu_fma_directed", fmaDirected),
      entry("emu_tf32", roundToTf32),
      entry("emu_tf32_even", roundToTf32Even),
      entry("emu_bfe_u32", extractBits<uint32_t, false>),
      entry("emu_bfe_s32", extractBits<uint32_t, true>),
      entry("emu_bfe_u64", extractBits<uint64_t, false>),
      entry("emu_bfe_s64", extractBits<uint64_t, true>),
      entry("emu_bfi32", insertBits<uint32_t>),
      entry("emu_bfi64", insertBits<uint64_t>),
      entry("emu_prmt", permute),
      entry("emu_rsqrt", inverseRoot),
      entry("emu_ex2", exponential2),
      entry("emu_lg2", logarithm2),
      entry("emu_sin", sine),
      entry("emu_cos", cosine),
      entry("emu_tanh", hyperbolicTangent),
      entry("__truncsfbf2", truncateToBfloat),
      entry("__truncdfbf2", truncateDoubleToBfloat),
  };
}
