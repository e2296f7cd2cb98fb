// Converts elements between all types, and finds the first element that is out of
// bounds. A conversion from float to integer saturates and turns NaN into 0.

#include "dpc/data.h"
#include "runtime/src/base/Status.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace {

struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};
struct Truth {
  uint8_t bits;
};

double toDouble(Half h) {
  const int exponent = h.bits >> 10 & 31, mantissa = h.bits & 1023;
  double magnitude = exponent == 31  ? (mantissa ? NAN : INFINITY)
                     : exponent == 0 ? std::ldexp(mantissa, -24)
                                     : std::ldexp(1024 + mantissa, exponent - 25);
  return h.bits & 0x8000 ? -magnitude : magnitude;
}
float toFloat(Brain b) {
  uint32_t bits = uint32_t(b.bits) << 16;
  float out;
  std::memcpy(&out, &bits, 4);
  return out;
}

/// Rounds to nearest even. The result may be a denormal or infinity.
Half toHalf(double x) {
  uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  double a = std::fabs(x);
  if (std::isnan(a))
    return {uint16_t(sign | 0x7e00)};
  if (a >= 65520)
    return {uint16_t(sign | 0x7c00)};
  int exponent;
  std::frexp(a, &exponent);                            // a = f * 2^exponent, f in [0.5, 1)
  int scale = exponent < -13 ? 24 : 11 - exponent;     // the unit in the last place is 2^-scale
  double units = std::nearbyint(std::ldexp(a, scale)); // at most 2048
  if (a == 0 || exponent < -13)
    return {uint16_t(sign | uint16_t(units))}; // a denormal, or 2^-14 if `units` rounded up to 1024
  return {uint16_t(sign | (((exponent + 14) << 10) + (int(units) - 1024)))};
}
Brain toBrain(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  if (std::isnan(x))
    return {uint16_t(bits >> 16 | 0x40)};
  return {uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

template <typename T> struct Load {
  static T from(T x) { return x; }
};
template <> struct Load<Half> {
  static double from(Half x) { return toDouble(x); }
};
template <> struct Load<Brain> {
  static float from(Brain x) { return toFloat(x); }
};
template <> struct Load<Truth> {
  static uint8_t from(Truth x) { return x.bits != 0; }
};

template <typename T> struct Store {
  template <typename V> static T to(V x) {
    if constexpr (std::is_integral_v<T> && std::is_floating_point_v<V>) {
      // In C++, the conversion of a value that is out of range is undefined. So the
      // value is clamped first, and NaN becomes 0.
      constexpr double lo = double(std::numeric_limits<T>::min()),
                       hi = double(std::numeric_limits<T>::max());
      return x != x    ? T(0)
             : x <= lo ? std::numeric_limits<T>::min()
             : x >= hi ? std::numeric_limits<T>::max()
                       : T(x);
    } else
      return static_cast<T>(x);
  }
};
template <> struct Store<Half> {
  template <typename V> static Half to(V x) { return toHalf(static_cast<double>(x)); }
};
template <> struct Store<Brain> {
  template <typename V> static Brain to(V x) { return toBrain(static_cast<float>(x)); }
};
template <> struct Store<Truth> {
  template <typename V> static Truth to(V x) { return {uint8_t(x != 0)}; }
};

/// Calls visit(pointer) with a null pointer to the C++ type of `dtype`.
/// Returns false for an unknown type.
template <typename Visitor> bool visitType(uint32_t dtype, Visitor visit) {
  switch (dtype) {
  case DPC_F64:
    return visit(static_cast<double *>(nullptr)), true;
  case DPC_F32:
    return visit(static_cast<float *>(nullptr)), true;
  case DPC_F16:
    return visit(static_cast<Half *>(nullptr)), true;
  case DPC_BF16:
    return visit(static_cast<Brain *>(nullptr)), true;
  case DPC_I64:
    return visit(static_cast<int64_t *>(nullptr)), true;
  case DPC_I32:
    return visit(static_cast<int32_t *>(nullptr)), true;
  case DPC_I16:
    return visit(static_cast<int16_t *>(nullptr)), true;
  case DPC_I8:
    return visit(static_cast<int8_t *>(nullptr)), true;
  case DPC_U64:
    return visit(static_cast<uint64_t *>(nullptr)), true;
  case DPC_U32:
    return visit(static_cast<uint32_t *>(nullptr)), true;
  case DPC_U16:
    return visit(static_cast<uint16_t *>(nullptr)), true;
  case DPC_U8:
    return visit(static_cast<uint8_t *>(nullptr)), true;
  case DPC_BOOL:
    return visit(static_cast<Truth *>(nullptr)), true;
  }
  return false;
}

template <typename T> bool within(T x, int64_t lo, int64_t hi) {
  if constexpr (std::is_floating_point_v<T>) {
    const double t = std::trunc(double(x));
    return t >= double(lo) && t <= double(hi);
  } else if constexpr (std::is_unsigned_v<T>)
    return hi >= 0 && uint64_t(x) <= uint64_t(hi) && (lo <= 0 || uint64_t(x) >= uint64_t(lo));
  else
    return int64_t(x) >= lo && int64_t(x) <= hi;
}

} // namespace

extern "C" dpc_status_t dpc_convert(uint32_t dstDtype, void *dst, uint32_t srcDtype,
                                    const void *src, uint64_t count) {
  if (dpc_dtype_size(dstDtype) == 0 || dpc_dtype_size(srcDtype) == 0)
    return dpc::fail(DPC_INVALID, "cannot convert element type %u to %u", srcDtype, dstDtype);
  if (dstDtype == srcDtype) {
    if (count && dst != src)
      std::memcpy(dst, src, count * dpc_dtype_size(dstDtype));
    return DPC_OK;
  }
  visitType(dstDtype, [&](auto *dstType) {
    visitType(srcDtype, [&](auto *srcType) {
      using D = std::remove_pointer_t<decltype(dstType)>;
      using S = std::remove_pointer_t<decltype(srcType)>;
      const S *in = static_cast<const S *>(src);
      D *out = static_cast<D *>(dst);
      for (uint64_t i = 0; i < count; ++i)
        out[i] = Store<D>::to(Load<S>::from(in[i]));
    });
  });
  return DPC_OK;
}

extern "C" uint64_t dpc_first_out_of_bounds(uint32_t dtype, const void *data, uint64_t count,
                                            int64_t lo, int64_t hi, const int64_t *ignore) {
  uint64_t found = count;
  visitType(dtype, [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    const T *in = static_cast<const T *>(data);
    for (uint64_t i = 0; i < count; ++i) {
      const auto x = Load<T>::from(in[i]);
      if (within(x, lo, hi) || (ignore && within(x, *ignore, *ignore)))
        continue;
      found = i;
      return;
    }
  });
  return found;
}
