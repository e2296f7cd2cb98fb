// The search for values that are not finite.
#include "runtime/src/program/GradientCheck.h"
#include "dpc/data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace dpc;

namespace {

TEST(GradientCheck, FindsTheFirstValueThatIsNotFinite) {
  constexpr uint64_t count = 10000;
  for (const uint32_t dtype : {DPC_F64, DPC_F32, DPC_F16, DPC_BF16}) {
    const uint64_t size = dpc_dtype_size(dtype);
    std::vector<double> wide(count);
    for (uint64_t i = 0; i < count; ++i)
      wide[i] = i % 3 == 0 ? 0 : std::ldexp(i % 2 ? -1.5 : 1, int(i % 29) - 14);
    std::vector<char> values(count * size);
    ASSERT_EQ(dpc_convert(dtype, values.data(), DPC_F64, wide.data(), count), DPC_OK);
    EXPECT_EQ(findNotFinite(dtype, values.data(), count), count) << dpc_dtype_name(dtype);
    for (const double bad : {double(NAN), double(INFINITY), -double(INFINITY)})
      for (const uint64_t at : {uint64_t(0), uint64_t(4095), uint64_t(4096), count - 1}) {
        std::vector<char> changed = values;
        for (const uint64_t place : {at, count - 1})
          ASSERT_EQ(dpc_convert(dtype, changed.data() + place * size, DPC_F64, &bad, 1), DPC_OK);
        EXPECT_EQ(findNotFinite(dtype, changed.data(), count), at) << dpc_dtype_name(dtype);
        EXPECT_EQ(findNotFinite(dtype, changed.data(), at), at) << "it reads too much";
      }
  }
  const int32_t integers[] = {-1, 0x7f800000};
  EXPECT_EQ(findNotFinite(DPC_I32, integers, 2), 2u);
}

} // namespace
