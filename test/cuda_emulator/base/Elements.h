#ifndef DPC_TEST_CUDA_EMULATOR_BASE_ELEMENTS_H
#define DPC_TEST_CUDA_EMULATOR_BASE_ELEMENTS_H

// Narrow floats, for code that computes in wider types.

#include <cstdint>
#include <cstring>

namespace dpc::emulator {

/// A bfloat16; arithmetic happens in float.
struct Bfloat {
  uint16_t bits;

  Bfloat() = default;
  /// Rounded to nearest, ties to even.
  explicit Bfloat(float value) {
    uint32_t wide;
    std::memcpy(&wide, &value, 4);
    bits =
        static_cast<uint16_t>(value != value ? 0x7fff : (wide + 0x7fff + (wide >> 16 & 1)) >> 16);
  }
  operator float() const {
    const uint32_t wide = uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &wide, 4);
    return value;
  }
};

/// An IEEE half; the compiler's conversions are correctly rounded.
using Half = _Float16;

/// To the 10 bits of mantissa of tf32, nearest, ties away from zero.
inline float roundToTf32(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if ((bits & 0x7f800000) != 0x7f800000)
    bits = (bits + 0x1000) & ~0x1fffu;
  std::memcpy(&value, &bits, 4);
  return value;
}

/// As above, ties to even.
inline float roundToTf32Even(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if ((bits & 0x7f800000) != 0x7f800000)
    bits = (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
  std::memcpy(&value, &bits, 4);
  return value;
}

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_BASE_ELEMENTS_H
