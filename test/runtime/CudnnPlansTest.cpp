// Plans of the real cuDNN for the convolutions of ResNet-50 on an H100, on a machine with or
// without a device: cuDNN makes plans for a device that h100.json describes. For each convolution,
// its gradients, each type and each layout there must be a plan of an allowed engine. Where the
// library is not installed, the test says so.

#include "runtime/src/cudnn/ConvolutionPlans.h"

#include "dpc/types.h"
#include "test/runtime/Convolutions.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <fstream>
#include <sstream>

using namespace dpc;
using namespace dpc::cudnn;
using namespace dpc::test;
using cuda::DnnNumericalNote;

namespace {

/// The convolutions of ResNet-50 with distinct shapes, for 64 images.
const Shape kShapes[] = {
    {64, 3, 224, 64, 7, 2},   {64, 64, 56, 64, 1, 1},   {64, 64, 56, 64, 3, 1},
    {64, 64, 56, 256, 1, 1},  {64, 256, 56, 64, 1, 1},  {64, 256, 56, 128, 1, 1},
    {64, 128, 56, 128, 3, 2}, {64, 128, 28, 512, 1, 1}, {64, 256, 56, 512, 1, 2},
    {64, 256, 28, 256, 3, 2}, {64, 256, 14, 256, 3, 1}, {64, 1024, 14, 256, 1, 1},
    {64, 512, 14, 512, 3, 2}, {64, 512, 7, 2048, 1, 1}, {64, 1024, 14, 2048, 1, 2}};

class CudnnPlans : public testing::Test {
protected:
  void SetUp() override {
    if (cuda::openCudnn(library) != DPC_OK)
      GTEST_SKIP() << dpc_last_error();
    std::ifstream file(DEVICE);
    std::stringstream text;
    text << file.rdbuf();
    properties = Descriptor(library, cuda::DnnDescriptorType::deviceProperties);
    properties.set(cuda::DnnAttribute::deviceText, text.str());
    if (properties.finalize() != cuda::DnnStatus::success)
      GTEST_SKIP() << "cuDNN " << library.cudnnGetVersion() << " makes no plans without a device";
    device.properties = &properties;
  }

  static WantedConvolution want(const dpc_convolution_t &convolution, uint64_t workspaceBytes) {
    return {convolution, {256, 256, 256}, workspaceBytes};
  }
  std::vector<Plan> find(const dpc_convolution_t &convolution, uint64_t workspaceBytes,
                         size_t most = 1) const {
    return findPlans(library, device, want(convolution, workspaceBytes), most);
  }

  /// Checks the plan that a program would use for `convolution`.
  void check(const dpc_convolution_t &convolution, const std::string &what) const {
    SCOPED_TRACE(what);
    ASSERT_TRUE(dpc_convolution_is_valid(&convolution));
    const uint64_t bytes = dpc_convolution_workspace_bytes(&convolution);
    const std::vector<Plan> plans = find(convolution, bytes);
    ASSERT_EQ(plans.size(), 1u);
    const Plan &plan = plans[0];
    EXPECT_LE(plan.workspaceBytes, bytes);
    // Where the library may use matrix units, more workspace would not make it choose another
    // engine. The three channels of an image suit no unit.
    const bool is16 = convolution.dtype == DPC_BF16 || convolution.dtype == DPC_F16;
    if ((is16 || convolution.tf32) && convolution.x.extents[1] > 3) {
      const std::vector<Plan> best = find(convolution, UINT64_MAX);
      EXPECT_EQ(best[0].engine, plan.engine) << best[0].workspaceBytes << " bytes, not " << bytes;
    }
    const Plan again = readPlan(library, device, plan.text);
    EXPECT_EQ(again.descriptor.getStatus(), cuda::DnnStatus::success);
    EXPECT_TRUE(again.text == plan.text);
    EXPECT_EQ(again.workspaceBytes, plan.workspaceBytes);
    auto has = [&](DnnNumericalNote note) {
      return std::find(plan.notes.begin(), plan.notes.end(), note) != plan.notes.end();
    };
    EXPECT_FALSE(has(DnnNumericalNote::nondeterministic));
    if (convolution.dtype == DPC_F32 && !convolution.tf32) {
      EXPECT_FALSE(has(DnnNumericalNote::tensorCore));
    }
    if (is16 && convolution.x.extents[1] > 3) {
      EXPECT_TRUE(has(DnnNumericalNote::tensorCore));
    }
  }

  void checkAll(uint32_t dtype, bool tf32 = false) const {
    static const char *const names[] = {"input gradient", "weight gradient", "convolution"};
    for (const Shape &shape : kShapes)
      for (uint32_t result = 0; result < DPC_CONVOLUTION_WORKSPACE; ++result)
        for (bool isChannelsLast : {false, true}) {
          dpc_convolution_t convolution = makeConvolution(result, dtype, shape, isChannelsLast);
          convolution.tf32 = tf32;
          std::ostringstream what;
          what << names[result] << " " << shape.channels << "x" << shape.size << " to "
               << shape.outputs << ", kernel " << shape.kernel << ", stride " << shape.stride
               << (isChannelsLast ? ", channels last" : "");
          check(convolution, what.str());
        }
  }

  cuda::Cudnn library;
  Descriptor properties;
  Device device;
};

TEST_F(CudnnPlans, F32) { checkAll(DPC_F32); }
TEST_F(CudnnPlans, Tf32) { checkAll(DPC_F32, /*tf32=*/true); }
TEST_F(CudnnPlans, Bf16) { checkAll(DPC_BF16); }
TEST_F(CudnnPlans, F16) { checkAll(DPC_F16); }

// Groups, dilations, uneven padding and f64 have plans too, if only of the library's plain engines.
TEST_F(CudnnPlans, OtherConvolutions) {
  for (uint32_t result = 0; result < DPC_CONVOLUTION_WORKSPACE; ++result) {
    for (uint32_t dtype : {DPC_F32, DPC_BF16})
      for (const Shape &shape : {Shape{8, 32, 14, 32, 3, 1, 4}, Shape{8, 32, 14, 32, 3, 2, 32},
                                 Shape{8, 16, 28, 32, 3, 1, 1, 2}}) {
        const dpc_convolution_t convolution = makeConvolution(result, dtype, shape);
        EXPECT_EQ(find(convolution, dpc_convolution_workspace_bytes(&convolution)).size(), 1u);
      }
    dpc_convolution_t f64 = makeConvolution(result, DPC_F64, {8, 16, 14, 16, 3, 1});
    f64.pad_low[0] += 1;
    f64.pad_high[0] -= 1;
    EXPECT_EQ(find(f64, dpc_convolution_workspace_bytes(&f64)).size(), 1u);
  }
}

// Several plans, for --tune: of different texts, none with more workspace than allowed.
TEST_F(CudnnPlans, SeveralPlans) {
  const dpc_convolution_t convolution =
      makeConvolution(DPC_CONVOLUTION_W, DPC_BF16, {64, 64, 56, 64, 3, 1});
  const uint64_t little = 1 << 20;
  std::vector<Plan> all = find(convolution, UINT64_MAX, 16), small = find(convolution, little, 16);
  EXPECT_EQ(all.size(), 16u);
  ASSERT_FALSE(small.empty());
  for (const Plan &plan : small)
    EXPECT_LE(plan.workspaceBytes, little);
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_NE(all[i].text, all[j].text);
}

// A damaged text is no plan, and no reason to end the process.
TEST_F(CudnnPlans, DamagedText) {
  const dpc_convolution_t convolution =
      makeConvolution(DPC_CONVOLUTION_Y, DPC_F32, {8, 16, 14, 16, 3, 1});
  const std::vector<Plan> plans = find(convolution, UINT64_MAX);
  ASSERT_EQ(plans.size(), 1u);
  for (const std::string &text : {std::string("{}"), plans[0].text.substr(0, 100)})
    EXPECT_NE(readPlan(library, device, text).descriptor.getStatus(), cuda::DnnStatus::success);
}

} // namespace
