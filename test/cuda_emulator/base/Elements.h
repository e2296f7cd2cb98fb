#ifndef DPC_TEST_CUDA_EMULATOR_BASE_ELEMENTS_H
#define DPC_TEST_CUDA_EMULATOR_BASE_ELEMENTS_H

// 16-bit floats as bits, for libraries that compute in wider types.

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

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_BASE_ELEMENTS_H
