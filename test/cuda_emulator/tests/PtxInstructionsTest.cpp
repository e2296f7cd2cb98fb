// Each instruction of PTX that the emulator knows, on edge values and random
// ones, against what PTX ISA says of it, written in C++.
#include "test/cuda_emulator/tests/Emulated.h"

#include <array>
#include <cfloat>
#include <cmath>
#include <cstring>

using namespace dpc::test;

namespace {

/// Registers that code finds filled: ra, la, fa, da, ha from operand a as 32 and
/// 64 bits, f32, f64 and 16 bits, and so on for b and c. It writes one of rd, ld,
/// fd, dd, hd, or the flag p; `result` says which.
struct Snippet {
  const char *name, *code;
  char result; // r, l, f, d, h or p
  std::function<uint64_t(uint64_t, uint64_t, uint64_t)> expected;
};

template <typename T> T as(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <typename T> uint64_t bitsOf(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
float f(uint64_t bits) { return as<float>(bits); }
double d(uint64_t bits) { return as<double>(bits); }
uint32_t u(uint64_t bits) { return static_cast<uint32_t>(bits); }
int32_t s(uint64_t bits) { return static_cast<int32_t>(bits); }

/// Float to integer: NaN to 0, beyond the range to its end.
template <typename To, typename From> To saturated(From value) {
  if (value != value)
    return 0;
  const auto lowest = static_cast<From>(std::numeric_limits<To>::min());
  if (value <= lowest)
    return std::numeric_limits<To>::min();
  // The largest integer may round up to one that does not fit.
  if (value >= std::ldexp(From(1), std::numeric_limits<To>::digits))
    return std::numeric_limits<To>::max();
  return static_cast<To>(value);
}

std::vector<Snippet> integerSnippets() {
  using U = uint64_t;
  return {
      {"add", "add.s32 %rd, %ra, %rb;", 'r', [](U a, U b, U) { return u(a) + u(b); }},
      {"sub64", "sub.s64 %ld, %la, %lb;", 'l', [](U a, U b, U) { return a - b; }},
      {"mul_lo", "mul.lo.s32 %rd, %ra, %rb;", 'r', [](U a, U b, U) { return u(a) * u(b); }},
      {"mul_hi_s", "mul.hi.s32 %rd, %ra, %rb;", 'r',
       [](U a, U b, U) { return u(static_cast<U>(int64_t(s(a)) * s(b)) >> 32); }},
      {"mul_hi_u64", "mul.hi.u64 %ld, %la, %lb;", 'l',
       [](U a, U b, U) { return static_cast<U>((static_cast<unsigned __int128>(a) * b) >> 64); }},
      {"mul_wide_s", "mul.wide.s32 %ld, %ra, %rb;", 'l',
       [](U a, U b, U) { return static_cast<U>(int64_t(s(a)) * s(b)); }},
      {"mul_wide_u", "mul.wide.u32 %ld, %ra, %rb;", 'l',
       [](U a, U b, U) { return U(u(a)) * u(b); }},
      {"mad_lo", "mad.lo.s32 %rd, %ra, %rb, %rc;", 'r',
       [](U a, U b, U c) { return u(a) * u(b) + u(c); }},
      {"mad_wide", "mad.wide.s32 %ld, %ra, %rb, %lc;", 'l',
       [](U a, U b, U c) { return static_cast<U>(int64_t(s(a)) * s(b)) + c; }},
      {"carry", "add.cc.u32 %rd, %ra, %rb;\n\taddc.u32 %rd, %rc, 0;", 'r',
       [](U a, U b, U c) { return u(c) + u((U(u(a)) + u(b)) >> 32); }},
      {"borrow", "sub.cc.u32 %rd, %ra, %rb;\n\tsubc.u32 %rd, %rc, 0;", 'r',
       [](U a, U b, U c) { return u(c) - (u(a) < u(b) ? 1u : 0u); }},
      {"carry64", "add.cc.u64 %ld, %la, %lb;\n\taddc.u64 %ld, %lc, 0;", 'l',
       [](U a, U b, U c) { return c + (a + b < a ? 1 : 0); }},
      {"mad_carry", "mad.lo.cc.u32 %rd, %ra, %rb, %rc;\n\tmadc.hi.u32 %rd, %ra, %rb, 0;", 'r',
       [](U a, U b, U c) { return u((U(u(a)) * u(b) + u(c)) >> 32); }},
      {"neg", "neg.s32 %rd, %ra;", 'r', [](U a, U, U) { return 0u - u(a); }},
      {"abs", "abs.s32 %rd, %ra;", 'r', [](U a, U, U) { return s(a) < 0 ? 0u - u(a) : u(a); }},
      {"min_s", "min.s32 %rd, %ra, %rb;", 'r', [](U a, U b, U) { return u(std::min(s(a), s(b))); }},
      {"max_u64", "max.u64 %ld, %la, %lb;", 'l', [](U a, U b, U) { return std::max(a, b); }},
      {"div_u", "or.b32 %rb, %rb, 1;\n\tdiv.u32 %rd, %ra, %rb;", 'r',
       [](U a, U b, U) { return u(a) / (u(b) | 1); }},
      {"rem_s64", "and.b64 %lb, %lb, 1023;\n\tadd.s64 %lb, %lb, 1;\n\trem.s64 %ld, %la, %lb;", 'l',
       [](U a, U b, U) {
         return static_cast<U>(static_cast<int64_t>(a) % (static_cast<int64_t>(b & 1023) + 1));
       }},
      {"and", "and.b32 %rd, %ra, %rb;", 'r', [](U a, U b, U) { return u(a & b); }},
      {"xor64", "xor.b64 %ld, %la, %lb;", 'l', [](U a, U b, U) { return a ^ b; }},
      {"not", "not.b32 %rd, %ra;", 'r', [](U a, U, U) { return u(~a); }},
      {"shl", "shl.b32 %rd, %ra, %rb;", 'r',
       [](U a, U b, U) { return u(b) >= 32 ? 0 : u(a) << u(b); }},
      {"shr_u64", "shr.u64 %ld, %la, %rb;", 'l',
       [](U a, U b, U) { return u(b) >= 64 ? 0 : a >> u(b); }},
      {"shr_s", "shr.s32 %rd, %ra, %rb;", 'r',
       [](U a, U b, U) { return u(s(a) >> std::min(u(b), 31u)); }},
      {"shf_l", "shf.l.wrap.b32 %rd, %ra, %rb, %rc;", 'r',
       [](U a, U b, U c) { return u(((U(u(b)) << 32 | u(a)) << (c & 31)) >> 32); }},
      {"shf_r", "shf.r.wrap.b32 %rd, %ra, %rb, %rc;", 'r',
       [](U a, U b, U c) { return u((U(u(b)) << 32 | u(a)) >> (c & 31)); }},
      {"popc", "popc.b32 %rd, %ra;", 'r', [](U a, U, U) { return u(__builtin_popcount(u(a))); }},
      {"popc64", "popc.b64 %rd, %la;", 'r', [](U a, U, U) { return u(__builtin_popcountll(a)); }},
      {"clz", "clz.b32 %rd, %ra;", 'r',
       [](U a, U, U) { return u(a) ? u(__builtin_clz(u(a))) : 32u; }},
      {"brev", "brev.b32 %rd, %ra;", 'r',
       [](U a, U, U) {
         uint32_t reversed = 0;
         for (int i = 0; i < 32; ++i)
           reversed |= (u(a) >> i & 1) << (31 - i);
         return reversed;
       }},
      {"bfe_u", "and.b32 %rb, %rb, 31;\n\tbfe.u32 %rd, %ra, %rb, 7;", 'r',
       [](U a, U b, U) { return u(a) >> (b & 31) & 127; }},
      {"bfe_s", "bfe.s32 %rd, %ra, 3, 5;", 'r',
       [](U a, U, U) { return u(static_cast<int32_t>(u(a) << 24) >> 27); }},
      {"bfi", "bfi.b32 %rd, %ra, %rb, 4, 8;", 'r',
       [](U a, U b, U) { return (u(b) & ~0xff0u) | (u(a) & 0xff) << 4; }},
      {"prmt", "prmt.b32 %rd, %ra, %rb, 0x5410;", 'r',
       [](U a, U b, U) { return (u(b) & 0xffff) << 16 | (u(a) & 0xffff); }},
      {"prmt_sign", "prmt.b32 %rd, %ra, %rb, 0x3b21;", 'r',
       [](U a, U, U) {
         const uint32_t byte3 = u(a) >> 24, sign = byte3 & 128 ? 255 : 0;
         return byte3 << 24 | sign << 16 | (u(a) >> 16 & 255) << 8 | (u(a) >> 8 & 255);
       }},
      {"selp", "setp.lt.s32 %p, %ra, %rb;\n\tselp.b32 %rd, %rb, %rc, %p;", 'r',
       [](U a, U b, U c) { return s(a) < s(b) ? u(b) : u(c); }},
      {"setp_hi", "setp.hi.u32 %p, %ra, %rb;", 'p', [](U a, U b, U) { return U(u(a) > u(b)); }},
      {"setp_and", "setp.ne.s32 %q, %rc, 0;\n\tsetp.ge.u64.and %p, %la, %lb, %q;", 'p',
       [](U a, U b, U c) { return U(a >= b && u(c) != 0); }},
      {"guard", "mov.u32 %rd, %ra;\n\tsetp.lt.u32 %p, %ra, %rb;\n\t@!%p mov.u32 %rd, %rb;", 'r',
       [](U a, U b, U) { return std::min(u(a), u(b)); }},
      {"branch",
       "mov.u32 %rd, 0;\n\tand.b32 %ra, %ra, 15;\nAGAIN:\n\tsetp.eq.s32 %p, %ra, 0;\n\t@%p bra "
       "DONE;\n\tadd.s32 %rd, %rd, %rb;\n\tsub.s32 %ra, %ra, 1;\n\tbra.uni AGAIN;\nDONE:",
       'r', [](U a, U b, U) { return u(a & 15) * u(b); }},
      {"scope", "{\n\t.reg .b32 t;\n\tadd.s32 t, %ra, %rb;\n\tmov.b32 %rd, t;\n\t}", 'r',
       [](U a, U b, U) { return u(a) + u(b); }},
      {"pack", "mov.b64 %ld, {%ra, %rb};", 'l', [](U a, U b, U) { return U(u(b)) << 32 | u(a); }},
      {"unpack", "mov.b64 {%rd, %re}, %la;\n\txor.b32 %rd, %rd, %re;", 'r',
       [](U a, U, U) { return u(a) ^ u(a >> 32); }},
      {"cvt_s8", "cvt.s32.s8 %rd, %ra;", 'r', [](U a, U, U) { return u(int8_t(a)); }},
      {"cvt_u16", "cvt.u32.u16 %rd, %ha;", 'r', [](U a, U, U) { return u(uint16_t(a)); }},
      {"cvt_s64", "cvt.s64.s32 %ld, %ra;", 'l', [](U a, U, U) { return U(int64_t(s(a))); }},
      {"cvt_u32", "cvt.u32.u64 %rd, %la;", 'r', [](U a, U, U) { return u(a); }},
  };
}

uint64_t nearestHalf(float value) { return bitsOf(static_cast<_Float16>(value)); }
uint64_t nearestBfloat(float value) {
  const uint32_t bits = u(bitsOf(value));
  return value != value ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16 & 0xffff;
}
float wideBfloat(uint64_t bits) { return f((bits & 0xffff) << 16); }

/// The lesser number; -0 is less than +0, and NaN is no number.
float lesser(float a, float b) {
  if (a != a || b != b)
    return a != a ? b : a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}

std::vector<Snippet> floatSnippets() {
  using U = uint64_t;
  return {
      {"add", "add.rn.f32 %fd, %fa, %fb;", 'f', [](U a, U b, U) { return bitsOf(f(a) + f(b)); }},
      {"add_down", "add.rm.f32 %fd, %fa, %fb;", 'f',
       [](U a, U b, U) {
         const double exact = double(f(a)) + f(b);
         auto near = static_cast<float>(exact);
         return bitsOf(near > exact ? std::nextafter(near, -INFINITY) : near);
       }},
      {"sub64", "sub.f64 %dd, %da, %db;", 'd', [](U a, U b, U) { return bitsOf(d(a) - d(b)); }},
      {"mul", "mul.f32 %fd, %fa, %fb;", 'f', [](U a, U b, U) { return bitsOf(f(a) * f(b)); }},
      {"div", "div.rn.f32 %fd, %fa, %fb;", 'f', [](U a, U b, U) { return bitsOf(f(a) / f(b)); }},
      {"div64", "div.rn.f64 %dd, %da, %db;", 'd', [](U a, U b, U) { return bitsOf(d(a) / d(b)); }},
      {"fma", "fma.rn.f32 %fd, %fa, %fb, %fc;", 'f',
       [](U a, U b, U c) { return bitsOf(std::fma(f(a), f(b), f(c))); }},
      {"fma64", "fma.rn.f64 %dd, %da, %db, %dc;", 'd',
       [](U a, U b, U c) { return bitsOf(std::fma(d(a), d(b), d(c))); }},
      {"neg", "neg.f32 %fd, %fa;", 'f', [](U a, U, U) { return bitsOf(-f(a)); }},
      {"abs64", "abs.f64 %dd, %da;", 'd', [](U a, U, U) { return bitsOf(std::fabs(d(a))); }},
      {"min", "min.f32 %fd, %fa, %fb;", 'f',
       [](U a, U b, U) { return bitsOf(lesser(f(a), f(b))); }},
      {"max_nan", "max.NaN.f32 %fd, %fa, %fb;", 'f',
       [](U a, U b, U) {
         return f(a) != f(a) || f(b) != f(b) ? bitsOf(NAN) : bitsOf(-lesser(-f(a), -f(b)));
       }},
      {"copysign", "copysign.f32 %fd, %fa, %fb;", 'f',
       [](U a, U b, U) { return bitsOf(std::copysign(f(b), f(a))); }},
      {"sqrt", "sqrt.rn.f32 %fd, %fa;", 'f', [](U a, U, U) { return bitsOf(std::sqrt(f(a))); }},
      {"sqrt64", "sqrt.rn.f64 %dd, %da;", 'd', [](U a, U, U) { return bitsOf(std::sqrt(d(a))); }},
      {"rcp64", "rcp.rn.f64 %dd, %da;", 'd', [](U a, U, U) { return bitsOf(1 / d(a)); }},
      {"ex2", "ex2.approx.f32 %fd, %fa;", 'f', [](U a, U, U) { return bitsOf(std::exp2(f(a))); }},
      {"ex2_ftz", "ex2.approx.ftz.f32 %fd, %fa;", 'f',
       [](U a, U, U) {
         const float power = std::exp2(f(a));
         return bitsOf(power < FLT_MIN ? 0.0f : power);
       }},
      {"lg2", "lg2.approx.f32 %fd, %fa;", 'f', [](U a, U, U) { return bitsOf(std::log2(f(a))); }},
      {"sat", "add.sat.f32 %fd, %fa, %fb;", 'f',
       [](U a, U b, U) {
         const float sum = f(a) + f(b);
         return bitsOf(sum > 0 ? std::min(sum, 1.0f) : 0.0f);
       }},
      {"setp_lt", "setp.lt.f32 %p, %fa, %fb;", 'p', [](U a, U b, U) { return U(f(a) < f(b)); }},
      {"setp_ne", "setp.ne.f32 %p, %fa, %fb;", 'p',
       [](U a, U b, U) { return U(f(a) < f(b) || f(a) > f(b)); }},
      {"setp_neu", "setp.neu.f64 %p, %da, %db;", 'p', [](U a, U b, U) { return U(d(a) != d(b)); }},
      {"setp_nan", "setp.nan.f32 %p, %fa, %fb;", 'p',
       [](U a, U b, U) { return U(f(a) != f(a) || f(b) != f(b)); }},
      {"selp", "setp.gtu.f32 %p, %fa, %fb;\n\tselp.f32 %fd, %fa, %fb, %p;", 'f',
       [](U a, U b, U) { return bitsOf(!(f(a) <= f(b)) ? f(a) : f(b)); }},
      {"cvt_f64", "cvt.f64.f32 %dd, %fa;", 'd', [](U a, U, U) { return bitsOf(double(f(a))); }},
      {"cvt_f32", "cvt.rn.f32.f64 %fd, %da;", 'f',
       [](U a, U, U) { return bitsOf(static_cast<float>(d(a))); }},
      {"cvt_s32", "cvt.rzi.s32.f32 %rd, %fa;", 'r',
       [](U a, U, U) { return u(saturated<int32_t>(std::trunc(f(a)))); }},
      {"cvt_u32_near", "cvt.rni.u32.f32 %rd, %fa;", 'r',
       [](U a, U, U) { return saturated<uint32_t>(std::nearbyint(f(a))); }},
      {"cvt_s64_down", "cvt.rmi.s64.f64 %ld, %da;", 'l',
       [](U a, U, U) { return U(saturated<int64_t>(std::floor(d(a)))); }},
      {"floor", "cvt.rmi.f32.f32 %fd, %fa;", 'f',
       [](U a, U, U) { return bitsOf(std::floor(f(a))); }},
      {"round_even", "cvt.rni.f64.f64 %dd, %da;", 'd',
       [](U a, U, U) { return bitsOf(std::nearbyint(d(a))); }},
      {"from_s32", "cvt.rn.f32.s32 %fd, %ra;", 'f',
       [](U a, U, U) { return bitsOf(static_cast<float>(s(a))); }},
      {"from_u64", "cvt.rn.f64.u64 %dd, %la;", 'd',
       [](U a, U, U) { return bitsOf(static_cast<double>(a)); }},
      {"to_half", "cvt.rn.f16.f32 %hd, %fa;", 'h', [](U a, U, U) { return nearestHalf(f(a)); }},
      {"from_half", "cvt.f32.f16 %fd, %ha;", 'f',
       [](U a, U, U) { return bitsOf(static_cast<float>(as<_Float16>(a & 0xffff))); }},
      {"half_add", "add.f16 %hd, %ha, %hb;", 'h',
       [](U a, U b, U) {
         return nearestHalf(static_cast<float>(as<_Float16>(a & 0xffff)) +
                            static_cast<float>(as<_Float16>(b & 0xffff)));
       }},
      {"to_bfloat", "cvt.rn.bf16.f32 %hd, %fa;", 'h',
       [](U a, U, U) { return nearestBfloat(f(a)); }},
      {"to_bfloat_pair", "cvt.rn.bf16x2.f32 %rd, %fa, %fb;", 'r',
       [](U a, U b, U) { return u(nearestBfloat(f(a)) << 16 | nearestBfloat(f(b))); }},
      {"bfloat_fma", "fma.rn.bf16 %hd, %ha, %hb, %hc;", 'h',
       [](U a, U b, U c) {
         // One rounding: the product is exact in f32, the sum in f64.
         const double exact = double(wideBfloat(a)) * wideBfloat(b) + wideBfloat(c);
         auto odd = static_cast<float>(exact);
         if (double(odd) != exact && exact == exact) { // to odd, so that the next rounding counts
           uint32_t bits = u(bitsOf(odd));
           bits -= std::fabs(double(odd)) > std::fabs(exact);
           odd = f(bits | 1);
         }
         return nearestBfloat(odd);
       }},
      {"tf32", "cvt.rna.tf32.f32 %rd, %fa;", 'r',
       [](U a, U, U) { return f(a) - f(a) == 0 ? (u(a) + 0x1000) & ~0x1fffu : u(a); }},
      {"tf32_even", "cvt.rn.tf32.f32 %rd, %fa;", 'r',
       [](U a, U, U) {
         const uint32_t even = u(a) >> 13 & 1;
         return f(a) - f(a) == 0 ? (u(a) + 0xfff + even) & ~0x1fffu : u(a);
       }},
      {"literal", "mov.f32 %fd, 0f3FC00000;\n\tadd.f32 %fd, %fd, %fa;", 'f',
       [](U a, U, U) { return bitsOf(1.5f + f(a)); }},
      {"literal64", "add.f64 %dd, %da, 0d3FF8000000000000;", 'd',
       [](U a, U, U) { return bitsOf(d(a) + 1.5); }},
  };
}

/// The kernel that runs `code` on three words a thread.
std::string kernelOf(const Snippet &snippet) {
  std::string stores;
  switch (snippet.result) {
  case 'r':
    stores = "cvt.u64.u32 %ld, %rd;";
    break;
  case 'f':
    stores = "mov.b32 %rd, %fd;\n\tcvt.u64.u32 %ld, %rd;";
    break;
  case 'd':
    stores = "mov.b64 %ld, %dd;";
    break;
  case 'h':
    stores = "cvt.u64.u16 %ld, %hd;";
    break;
  case 'p':
    stores = "selp.u64 %ld, 1, 0, %p;";
    break;
  default:
    break;
  }
  return std::string(R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
	.reg .pred %p, %q;
	.reg .b16 %ha, %hb, %hc, %hd;
	.reg .b32 %ra, %rb, %rc, %rd, %re;
	.reg .b64 %la, %lb, %lc, %ld, %pi, %po, %at;
	.reg .f32 %fa, %fb, %fc, %fd;
	.reg .f64 %da, %db, %dc, %dd;
	mov.u32 %ra, %tid.x;
	ld.param.u64 %pi, [in];
	ld.param.u64 %po, [out];
	cvta.to.global.u64 %pi, %pi;
	cvta.to.global.u64 %po, %po;
	mul.wide.u32 %at, %ra, 32;
	add.s64 %pi, %pi, %at;
	mul.wide.u32 %at, %ra, 8;
	add.s64 %po, %po, %at;
	ld.global.v2.u64 {%la, %lb}, [%pi];
	ld.global.u64 %lc, [%pi+16];
	cvt.u32.u64 %ra, %la;
	cvt.u32.u64 %rb, %lb;
	cvt.u32.u64 %rc, %lc;
	cvt.u16.u64 %ha, %la;
	cvt.u16.u64 %hb, %lb;
	cvt.u16.u64 %hc, %lc;
	mov.b32 %fa, %ra;
	mov.b32 %fb, %rb;
	mov.b32 %fc, %rc;
	mov.b64 %da, %la;
	mov.b64 %db, %lb;
	mov.b64 %dc, %lc;
	)") +
         snippet.code + "\n\t" + stores + "\n\tst.global.u64 [%po], %ld;\n\tret;\n}\n";
}

/// Operands: edge values as f64, f32 and integers in all pairs, then random ones.
std::vector<std::array<uint64_t, 4>> operands() {
  std::vector<uint64_t> edges = {0,  1,  2,   31,         32,         33,
                                 63, 64, 255, 0x7fffffff, 0x80000000, 0xffffffff};
  for (float value : {0.5f, -1.5f, 1.0f, 3e38f, -0.0f, 1e-40f, 2147483648.0f, INFINITY, NAN})
    edges.push_back(bitsOf(value));
  for (double value : {0.5, 2.5, -1e300, 9.3e18, 5e-324, double(-INFINITY), double(NAN)})
    edges.push_back(bitsOf(value));
  std::vector<std::array<uint64_t, 4>> all;
  for (uint64_t a : edges)
    for (uint64_t b : edges)
      all.push_back({a, b, all.size() % 7, 0});
  std::mt19937_64 random(3);
  while (all.size() < 1024)
    all.push_back({random(), random(), random(), 0});
  return all;
}

/// Equal bits, or both a NaN of the result's type: which NaN is not said.
bool isSame(char result, uint64_t got, uint64_t want) {
  if (got == want)
    return true;
  switch (result) {
  case 'f':
    return f(got) != f(got) && f(want) != f(want);
  case 'd':
    return d(got) != d(got) && d(want) != d(want);
  case 'h':
    return (got & 0x7fff) > 0x7c00 && (want & 0x7fff) > 0x7c00;
  default:
    return false;
  }
}

int runSnippet(TestDevice &device, const Snippet &snippet) {
  device.loadText(kernelOf(snippet));
  const auto all = operands();
  Buffer<std::array<uint64_t, 4>> in(device, all);
  Buffer<uint64_t> out(device, all.size());
  device.launch("k", {1, 1}, {static_cast<unsigned>(all.size()), 1}, device.stream, in.pointer,
                out.pointer);
  const auto got = out.get();
  for (size_t i = 0; i < all.size(); ++i) {
    const uint64_t want = snippet.expected(all[i][0], all[i][1], all[i][2]);
    if (isSame(snippet.result, got[i], want))
      continue;
    std::printf("%s(%llx, %llx, %llx) is %llx, not %llx\n", snippet.name,
                static_cast<unsigned long long>(all[i][0]),
                static_cast<unsigned long long>(all[i][1]),
                static_cast<unsigned long long>(all[i][2]), static_cast<unsigned long long>(got[i]),
                static_cast<unsigned long long>(want));
    return 1;
  }
  return 0;
}

void expectRight(const std::vector<Snippet> &snippets) {
  for (const Snippet &snippet : snippets)
    expectAssembles(kernelOf(snippet));
  const Ending ending = onDevice({{"SM", "90"}}, [&] {
    TestDevice device;
    int wrong = 0;
    for (const Snippet &snippet : snippets) {
      std::printf("%s\n", snippet.name);
      wrong += runSnippet(device, snippet);
    }
    return wrong;
  });
  EXPECT_EQ(ending.status, 0) << ending.printed;
}

TEST(PtxInstructions, OfIntegers) { expectRight(integerSnippets()); }
TEST(PtxInstructions, OfFloats) { expectRight(floatSnippets()); }

} // namespace
