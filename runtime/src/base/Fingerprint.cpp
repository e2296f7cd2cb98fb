// Eight lanes of 64 bits, each with one multiplication of 32 x 32 bits per 8 bytes of data, so
// that the compiler can use vectors of every instruction set. The scheme follows Y. Collet's XXH3
// (xxHash 0.8); the values are not those of XXH3.

#include "runtime/src/base/Fingerprint.h"

#include <algorithm>
#include <cstring>

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

} // namespace

Fingerprint::Fingerprint() {
  for (size_t i = 0; i < kLanes; ++i)
    lanes[i] = mixed(i + 1);
}

void Fingerprint::addStripes(const char *data, size_t count) {
  uint64_t sums[kLanes];
  std::memcpy(sums, lanes, sizeof sums);
  while (count) {
    const size_t part = std::min(count, kStripesPerBlock - stripesInBlock);
    for (size_t s = 0; s < part; ++s, data += kStripe) {
      uint64_t words[kLanes];
      std::memcpy(words, data, kStripe);
      const uint64_t *keys = kKeys.at + stripesInBlock + s;
      // A word also enters its neighbour's lane as it is, so that no word is lost if its
      // product is 0.
      for (size_t i = 0; i < kLanes; ++i) {
        const uint64_t keyed = words[i] ^ keys[i];
        sums[i] += (keyed & 0xffffffff) * (keyed >> 32) + words[i ^ 1];
      }
    }
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
