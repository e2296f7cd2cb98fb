#ifndef DPC_RUNTIME_SRC_BASE_FINGERPRINT_H
#define DPC_RUNTIME_SRC_BASE_FINGERPRINT_H

#include <cstddef>
#include <cstdint>

namespace dpc {

/// A hash of 64 bits over a stream of bytes, at about the speed of memory. Only the bytes and
/// their order count, not the sizes of the parts in which they are added. Streams that differ in
/// any bits have different values, except by a chance of about 2^-64. The hash is no protection
/// against people who choose the bytes.
class Fingerprint {
public:
  Fingerprint();
  void add(const void *data, size_t bytes);
  uint64_t value() const;

private:
  static constexpr size_t kLanes = 8, kStripe = kLanes * sizeof(uint64_t);
  /// Number of stripes after which the lanes are scrambled.
  static constexpr size_t kStripesPerBlock = 16;

  /// Adds a word to each sum: the product of the halves of the word after its key. The word also
  /// enters its neighbour's sum as it is, so that no word is lost if its product is 0.
  static void addStripe(uint64_t *sums, const char *data, const uint64_t *keys);
  void addStripes(const char *data, size_t count);

  uint64_t lanes[kLanes];
  char rest[kStripe]; ///< the last bytes that do not fill a stripe
  size_t restBytes = 0, stripesInBlock = 0;
  uint64_t total = 0;
};

/// The fingerprint of `bytes` bytes.
uint64_t fingerprintOf(const void *data, size_t bytes);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_FINGERPRINT_H
