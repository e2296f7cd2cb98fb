// Reductions of 16-bit floats, by each instruction set that this machine has.
#include "runtime/src/comm/ReduceKernels.h"
#include "dpc/data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace dpc {
namespace baseline {
ReduceFn select(uint32_t dtype, uint32_t reduction);
}
namespace avx2 {
ReduceFn select(uint32_t dtype, uint32_t reduction);
}
namespace avx512 {
ReduceFn select(uint32_t dtype, uint32_t reduction);
}
} // namespace dpc

using namespace dpc;

namespace {

using Select = ReduceFn (*)(uint32_t dtype, uint32_t reduction);

std::vector<Select> availableSets() {
  std::vector<Select> sets = {baseline::select};
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2"))
    sets.push_back(avx2::select);
  if (__builtin_cpu_supports("avx512f"))
    sets.push_back(avx512::select);
#endif
  return sets;
}

double valueOf(uint32_t dtype, uint16_t bits) {
  double value;
  dpc_convert(DPC_F64, &value, dtype, &bits, 1);
  return value;
}

/// A float of the type, from an f32: its bits.
uint16_t rounded(uint32_t dtype, float value) {
  uint16_t bits;
  dpc_convert(dtype, &bits, DPC_F32, &value, 1);
  return bits;
}

class Narrow : public testing::TestWithParam<uint32_t> {
protected:
  /// Sums (or another reduction) of `inputs` by `set`, one a member.
  std::vector<uint16_t> reduce(Select set, uint32_t reduction,
                               const std::vector<std::vector<uint16_t>> &inputs) {
    std::vector<uint16_t> out(inputs[0].size());
    std::vector<const void *> ins;
    for (const auto &input : inputs)
      ins.push_back(input.data());
    void *to = out.data();
    set(GetParam(), reduction)(ins.data(), uint32_t(ins.size()), &to, 1, 0, out.size(), false);
    return out;
  }
};

// One member: every number there is stays as it is, and every NaN is one.
TEST_P(Narrow, EveryNumberSurvives) {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = uint16_t(i);
  for (Select set : availableSets()) {
    const std::vector<uint16_t> out = reduce(set, DPC_SUM, {all});
    for (size_t i = 0; i < all.size(); ++i)
      if (std::isnan(valueOf(GetParam(), all[i])))
        ASSERT_TRUE(std::isnan(valueOf(GetParam(), out[i]))) << i;
      else
        ASSERT_EQ(out[i], all[i]) << i;
  }
}

// Sums are f32 sums, rounded once to nearest even: at ties, in subnormal numbers and where the
// type overflows.
TEST_P(Narrow, SumsAreRoundedOnce) {
  std::vector<std::vector<uint16_t>> inputs(3, std::vector<uint16_t>(200000));
  uint32_t state = 12345;
  for (auto &input : inputs)
    for (uint16_t &bits : input) {
      state = state * 1664525 + 1013904223;
      bits = uint16_t(state >> 16);
    }
  // What ties, in f16: 1 + 2^-11 and 1 + 3 2^-11.
  inputs[0][0] = inputs[0][1] = rounded(GetParam(), 1);
  inputs[1][0] = rounded(GetParam(), std::ldexp(1.f, -11));
  inputs[1][1] = rounded(GetParam(), 3 * std::ldexp(1.f, -11));
  inputs[2][0] = inputs[2][1] = 0;
  for (Select set : availableSets()) {
    const std::vector<uint16_t> out = reduce(set, DPC_SUM, inputs);
    for (size_t i = 0; i < out.size(); ++i) {
      const float sum = float(valueOf(GetParam(), inputs[0][i])) +
                        float(valueOf(GetParam(), inputs[1][i])) +
                        float(valueOf(GetParam(), inputs[2][i]));
      const double want = valueOf(GetParam(), rounded(GetParam(), sum)),
                   got = valueOf(GetParam(), out[i]);
      ASSERT_TRUE(want == got || (std::isnan(want) && std::isnan(got)))
          << i << ": " << got << " for " << want;
    }
  }
}

TEST_P(Narrow, LargestAndSmallest) {
  auto of = [&](float x) { return rounded(GetParam(), x); };
  for (Select set : availableSets()) {
    const std::vector<std::vector<uint16_t>> in = {{of(1), of(-3), of(NAN)},
                                                   {of(2), of(-4), of(5)}};
    const std::vector<uint16_t> most = reduce(set, DPC_MAX, in), least = reduce(set, DPC_MIN, in);
    EXPECT_EQ(valueOf(GetParam(), most[0]), 2);
    EXPECT_EQ(valueOf(GetParam(), most[1]), -3);
    EXPECT_TRUE(std::isnan(valueOf(GetParam(), most[2])));
    EXPECT_EQ(valueOf(GetParam(), least[0]), 1);
    EXPECT_EQ(valueOf(GetParam(), least[1]), -4);
    EXPECT_TRUE(std::isnan(valueOf(GetParam(), least[2])));
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Narrow, testing::Values(uint32_t(DPC_BF16), uint32_t(DPC_F16)));

} // namespace
