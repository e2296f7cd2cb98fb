// Floats of 16 bits, in 32.

#include "frontends/onnx/Model/Halves.h"

#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>

using namespace dpc::onnx;

namespace {

/// Every number of 16 bits, against LLVM's floats; also as f32, the bits of a NaN apart.
TEST(Halves, WidensEveryHalf) {
  for (auto [type, semantics] : {std::pair(ElementType::F16, &llvm::APFloat::IEEEhalf()),
                                 std::pair(ElementType::BF16, &llvm::APFloat::BFloat())}) {
    std::vector<char> bytes(65536 * sizeof(uint16_t));
    for (unsigned bits = 0; bits < 65536; ++bits) {
      const auto element = static_cast<uint16_t>(bits);
      std::memcpy(bytes.data() + bits * sizeof element, &element, sizeof element);
    }
    const Tensor half = makeTensor(type, {256, 256}, std::move(bytes));
    const Tensor wide = widenHalves(half);
    EXPECT_EQ(wide.type, ElementType::F32);
    EXPECT_EQ(wide.shape, half.shape);
    ASSERT_EQ(wide.numElements(), 65536);
    for (unsigned bits = 0; bits < 65536; ++bits) {
      llvm::APFloat want(*semantics, llvm::APInt(16, bits));
      bool lost;
      want.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
      for (double got : {half.asDouble(bits), double(wide.as<float>()[bits])})
        EXPECT_TRUE(want.isNaN() ? std::isnan(got) : llvm::APFloat(got).bitwiseIsEqual(want))
            << bits;
    }
  }
}

TEST(Halves, LeavesOtherTypes) {
  const Tensor doubles = makeTensor(ElementType::F64, {2}, std::vector<char>(16));
  EXPECT_EQ(widenHalves(doubles).bytes.data(), doubles.bytes.data());
  EXPECT_EQ(widenHalf(ElementType::I16), ElementType::I16);
}

} // namespace
