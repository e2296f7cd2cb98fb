#ifndef DPC_RUNTIME_SRC_BASE_SHA256_H
#define DPC_RUNTIME_SRC_BASE_SHA256_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace dpc {

using Digest = std::array<uint8_t, 32>;

/// SHA-256 (FIPS 180-4) of data that the caller passes in pieces.
class Sha256 {
public:
  Sha256();
  void update(const void *data, size_t bytes);
  Digest finish();

private:
  void block(const uint8_t *data);
  uint32_t state[8];
  uint64_t total = 0;
  uint8_t pending[64];
  size_t pendingBytes = 0;
};

/// HMAC-SHA256 (RFC 2104) with a 32-byte key.
Digest hmacSha256(const Digest &key, const void *data, size_t bytes);

/// Compares digests in constant time, so that an attacker who measures the time
/// learns nothing about their contents.
bool equalDigests(const Digest &a, const Digest &b);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_SHA256_H
