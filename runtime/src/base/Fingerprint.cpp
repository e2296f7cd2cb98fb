// Eight lanes of 64 bits, each with one multiplication of 32 x 32 bits per 8 bytes of data. The
// scheme follows Y. Collet's XXH3 (xxHash 0.8); the values are not those of XXH3.

#include "runtime/src/base/Fingerprint.h"

#include <algorithm>
#include <cstring>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace dpc {

namespace {

constexpr uint64_t kPrime = 0x9e3779b185ebca87ull, kOther = 0xc2b2ae3d27d4eb4full;

/// Spreads every bit of `x` over all bits.
uint64_t mixed(uint64_t x) {
  x ^= x >> 33;
  x *= kOther;
  x ^= x >> 29;
  x *= kPrime;
  return x ^ (x >> 32);
}

/// The keys of a block: lane i of stripe s has the key at s + i.
struct Keys {
  constexpr Keys() : at{} {
    uint64_t x = kPrime;
    for (uint64_t &key : at) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      key = x;
    }
  }
  uint64_t at[24];
};
constexpr Keys kKeys;

/// The distance in bytes at which the processor is told to load memory. Without this, a loop over
/// more data than the caches hold took more than twice as long on a virtual machine.
constexpr size_t kAhead = 4096;

} // namespace

Fingerprint::Fingerprint() {
  for (size_t i = 0; i < kLanes; ++i)
    lanes[i] = mixed(i + 1);
}

void Fingerprint::addStripe(uint64_t *sums, const char *data, const uint64_t *keys) {
  __builtin_prefetch(data + kAhead);
#ifdef __SSE2__
  // The compiler makes no use of the instruction that multiplies two pairs of halves at once.
  for (size_t i = 0; i < kLanes; i += 2) {
    const auto at = [i](const void *words) {
      return reinterpret_cast<const __m128i *>(words) + i / 2;
    };
    const __m128i word = _mm_loadu_si128(at(data)),
                  keyed = _mm_xor_si128(word, _mm_loadu_si128(at(keys))),
                  product = _mm_mul_epu32(keyed, _mm_srli_epi64(keyed, 32)),
                  neighbour = _mm_shuffle_epi32(word, _MM_SHUFFLE(1, 0, 3, 2)),
                  sum = _mm_add_epi64(_mm_loadu_si128(at(sums)), _mm_add_epi64(product, neighbour));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(sums + i), sum);
  }
#else
  uint64_t words[kLanes];
  std::memcpy(words, data, sizeof words);
  for (size_t i = 0; i < kLanes; ++i) {
    const uint64_t keyed = words[i] ^ keys[i];
    sums[i] += (keyed & 0xffffffff) * (keyed >> 32) + words[i ^ 1];
  }
#endif
}

void Fingerprint::addStripes(const char *data, size_t count) {
  uint64_t sums[kLanes];
  std::memcpy(sums, lanes, sizeof sums);
  while (count) {
    const size_t part = std::min(count, kStripesPerBlock - stripesInBlock);
    for (size_t s = 0; s < part; ++s, data += kStripe)
      addStripe(sums, data, kKeys.at + stripesInBlock + s);
    count -= part;
    stripesInBlock += part;
    if (stripesInBlock < kStripesPerBlock)
      break;
    stripesInBlock = 0;
    for (size_t i = 0; i < kLanes; ++i)
      sums[i] = (sums[i] ^ (sums[i] >> 47) ^ kKeys.at[kStripesPerBlock + i]) * kPrime;
  }
  std::memcpy(lanes, sums, sizeof sums);
}

void Fingerprint::add(const void *data, size_t bytes) {
  const char *next = static_cast<const char *>(data);
  total += bytes;
  if (restBytes) {
    const size_t part = std::min(bytes, kStripe - restBytes);
    std::memcpy(rest + restBytes, next, part);
    restBytes += part, next += part, bytes -= part;
    if (restBytes < kStripe)
      return;
    addStripes(rest, 1);
    restBytes = 0;
  }
  addStripes(next, bytes / kStripe);
  restBytes = bytes % kStripe;
  if (restBytes)
    std::memcpy(rest, next + (bytes - restBytes), restBytes);
}

uint64_t Fingerprint::value() const {
  Fingerprint last = *this;
  if (restBytes) {
    std::memset(last.rest + restBytes, 0, kStripe - restBytes);
    last.addStripes(last.rest, 1);
  }
  uint64_t out = mixed(total + kPrime);
  for (const uint64_t lane : last.lanes)
    out = mixed(out ^ mixed(lane)) + kOther;
  return mixed(out);
}

uint64_t fingerprintOf(const void *data, size_t bytes) {
  Fingerprint all;
  all.add(data, bytes);
  return all.value();
}

} // namespace dpc
