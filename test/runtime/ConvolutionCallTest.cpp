// Tests the checks of convolutions, a kind of library calls: fields that no library supports, and
// buffers that are too small, are refused with the numbers that are wrong.

#include "dpc/status.h"
#include "runtime/src/device/CallKind.h"
#include "runtime/src/device/LibraryCalls.h"
#include "test/runtime/Convolutions.h"
#include "gtest/gtest.h"

#include <functional>

using namespace dpc;
using namespace dpc::test;

namespace {

using Change = std::function<void(dpc_convolution_t &)>;

/// A convolution of 2 images with 4 channels by 6 kernels in 2 groups, with a stride of 2.
dpc_convolution_t makeSound() {
  return makeConvolution(DPC_CONVOLUTION_Y, DPC_F32, {2, 4, 9, 6, 3, 2, 2});
}

bool isAccepted(const dpc_convolution_t &convolution) {
  const bool isValid = dpc_convolution_is_valid(&convolution);
  EXPECT_EQ(kConvolutionCalls.check(&convolution) == DPC_OK, isValid);
  return isValid;
}

TEST(ConvolutionCall, SoundOnes) {
  for (uint32_t result = 0; result < DPC_CONVOLUTION_WORKSPACE; ++result)
    for (uint32_t dtype : {DPC_F64, DPC_F32, DPC_F16, DPC_BF16}) {
      dpc_convolution_t convolution = makeSound();
      convolution.result = result;
      convolution.dtype = dtype;
      EXPECT_TRUE(isAccepted(convolution));
    }
  dpc_convolution_t tf32 = makeSound();
  tf32.tf32 = 1;
  EXPECT_TRUE(isAccepted(tf32));
  EXPECT_EQ(kConvolutionCalls.countBuffers(&tf32), 4u);
}

TEST(ConvolutionCall, FieldsOfNoLibrary) {
  const uint64_t tooLarge = 1ull << 31;
  const Change changes[] = {
      [](auto &c) { c.dtype = DPC_I32; },
      [](auto &c) { c.tf32 = 2; },
      [](auto &c) { c.tf32 = 1, c.dtype = DPC_BF16; },
      [](auto &c) { c.result = DPC_CONVOLUTION_WORKSPACE; },
      [](auto &c) { c.spatial = 1; },
      [](auto &c) { c.spatial = 4; },
      [](auto &c) { c.groups = 0; },
      [](auto &c) { c.groups = 4; },
      [](auto &c) { c.strides[1] = 0; },
      [](auto &c) { c.dilations[0] = 0; },
      [=](auto &c) { c.pad_low[0] = tooLarge; },
      [](auto &c) { c.pad_high[1] = static_cast<uint64_t>(-1); },
      [](auto &c) { c.y.extents[0] = 3; },
      [](auto &c) { c.y.extents[3] -= 1; },
      [](auto &c) { c.w.extents[1] = 3; },
      [](auto &c) { c.w.extents[0] = c.y.extents[1] = 5; }, // two groups
      [](auto &c) { c.w.extents[2] = 12; },                 // larger than the padded image
      [](auto &c) { c.x.extents[0] = c.y.extents[0] = 0; },
      [=](auto &c) { c.x.extents[0] = c.y.extents[0] = tooLarge; },
  };
  for (const Change &change : changes) {
    dpc_convolution_t convolution = makeSound();
    change(convolution);
    EXPECT_FALSE(isAccepted(convolution)) << "change " << &change - changes;
  }
  dpc_convolution_t integers = makeSound();
  integers.dtype = DPC_I32;
  EXPECT_EQ(kConvolutionCalls.check(&integers), DPC_INVALID);
  EXPECT_EQ(std::string(dpc_last_error()),
            "a convolution of type 6 with 2 spatial dimensions, 2 groups and result 2, of 2 x 4 by "
            "6 x 2 channels");
}

TEST(ConvolutionCall, SizesOfBuffers) {
  for (bool isChannelsLast : {false, true}) {
    dpc_convolution_t convolution = makeSound();
    for (dpc_convolution_tensor_t *tensor : {&convolution.x, &convolution.w, &convolution.y})
      layOut(*tensor, isChannelsLast);
    const uint64_t bytes[] = {2 * 4 * 9 * 9 * 4, 6 * 2 * 3 * 3 * 4, 2 * 6 * 5 * 5 * 4};
    for (uint32_t i = 0; i < DPC_CONVOLUTION_WORKSPACE; ++i) {
      EXPECT_EQ(kConvolutionCalls.checkBuffer(&convolution, i, bytes[i]), DPC_OK);
      EXPECT_EQ(kConvolutionCalls.checkBuffer(&convolution, i, bytes[i] - 1), DPC_INVALID);
    }
    EXPECT_EQ(kConvolutionCalls.checkBuffer(&convolution, DPC_CONVOLUTION_WORKSPACE, 0), DPC_OK);
  }
  // A part of a larger tensor.
  dpc_convolution_t part = makeSound();
  part.x.strides[0] = 1000;
  EXPECT_EQ(dpc_convolution_buffer_bytes(&part, 0), (1000 + 4 * 81) * 4u);
  EXPECT_EQ(kConvolutionCalls.checkBuffer(&part, 0, 0), DPC_INVALID);
  EXPECT_EQ(std::string(dpc_last_error()),
            "tensor 0 of a convolution, 2 x 4 x .. with strides of 1000 and 81, has a buffer of 0 "
            "bytes");
}

TEST(ConvolutionCall, ElementsHaveTheirOwnPlaces) {
  auto bytesOf = [](const Change &change) {
    dpc_convolution_t convolution = makeSound();
    change(convolution);
    return dpc_convolution_buffer_bytes(&convolution, 0);
  };
  for (uint64_t stride : {0, 8, 9 * 9 * 3})
    EXPECT_EQ(bytesOf([=](auto &c) { c.x.strides[1] = stride; }), UINT64_MAX) << stride;
  EXPECT_EQ(bytesOf([](auto &c) { c.x.strides[0] = 4 * 81 - 1; }), UINT64_MAX);
  EXPECT_EQ(bytesOf([](auto &c) { c.x.strides[0] = 1ull << 61; }), UINT64_MAX);
  // The stride of an extent of 1 does not matter.
  EXPECT_EQ(bytesOf([](auto &c) { c.x.extents[0] = 1, c.x.strides[0] = 0; }), 4u * 81 * 4);
}

TEST(ConvolutionCall, WithoutTheLibrary) {
  setenv("DPC_CUDA_LIBRARIES", "/nowhere", 1);
  EXPECT_EQ(kConvolutionCalls.make()->open(), DPC_INVALID);
  EXPECT_EQ(std::string(dpc_last_error()).rfind("cuDNN is not there: ", 0), 0u) << dpc_last_error();
}

} // namespace
