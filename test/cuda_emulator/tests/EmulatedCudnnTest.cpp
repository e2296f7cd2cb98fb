// Convolutions of the emulated cuDNN against sums written out here; which engines dpc takes of
// those that the library proposes; and what NVIDIA's documentation refuses.
#include "runtime/src/cudnn/ConvolutionPlans.h"
#include "test/cuda_emulator/base/Elements.h"
#include "test/cuda_emulator/tests/Emulated.h"
#include "test/runtime/Convolutions.h"

#include "dpc/types.h"

#include <cstring>

using namespace dpc;
using namespace dpc::cuda;
using namespace dpc::cudnn;
using namespace dpc::test;

namespace {

/// The library, opened on a device.
class Library {
public:
  explicit Library(const TestDevice &device) : device(device) {
    if (openCudnn(library))
      TestDevice::stop(dpc_last_error());
    must(library.cudnnCreate(&handle));
  }
  void must(DnnStatus status) const {
    if (status != DnnStatus::success)
      TestDevice::stop(library.cudnnGetErrorString(status));
  }
  std::vector<Plan> find(const dpc_convolution_t &convolution, size_t most = 1,
                         uint64_t workspaceBytes = 1 << 20) const {
    return findPlans(library, {handle, nullptr}, {convolution, {256, 256, 256}, workspaceBytes},
                     most);
  }

  const TestDevice &device;
  Cudnn library;
  DnnHandle handle = nullptr;
};

/// The elements of a tensor as f64, in the order of their memory.
using Values = std::vector<double>;

template <typename T> Values widen(const std::vector<T> &values) {
  return Values(values.begin(), values.end());
}

/// Random elements that type T holds exactly.
template <typename T> std::vector<T> makeElements(size_t count) {
  std::vector<T> made;
  for (float value : randomFloats(count))
    made.push_back(T(value));
  return made;
}

/// Adds up the terms of a convolution in the order of its definition.
void addTerms(const dpc_convolution_t &c, Values (&tensors)[3]) {
  const uint64_t *x = c.x.extents, *w = c.w.extents, *y = c.y.extents;
  for (uint64_t n = 0; n < y[0]; ++n)
    for (uint64_t k = 0; k < y[1]; ++k)
      for (uint64_t i = 0; i < y[2]; ++i)
        for (uint64_t j = 0; j < y[3]; ++j)
          for (uint64_t channel = 0; channel < w[1]; ++channel)
            for (uint64_t r = 0; r < w[2]; ++r)
              for (uint64_t s = 0; s < w[3]; ++s) {
                const uint64_t row = i * c.strides[0] + r * c.dilations[0] - c.pad_low[0],
                               column = j * c.strides[1] + s * c.dilations[1] - c.pad_low[1];
                if (row >= x[2] || column >= x[3])
                  continue;
                const uint64_t from = k / (w[0] / c.groups) * w[1] + channel;
                auto at = [](const dpc_convolution_tensor_t &t, uint64_t a, uint64_t b, uint64_t d,
                             uint64_t e) {
                  return a * t.strides[0] + b * t.strides[1] + d * t.strides[2] + e * t.strides[3];
                };
                double *places[] = {&tensors[0][at(c.x, n, from, row, column)],
                                    &tensors[1][at(c.w, k, channel, r, s)],
                                    &tensors[2][at(c.y, n, k, i, j)]};
                double &to = *places[c.result];
                to += *places[c.result == 0 ? 1 : 0] * *places[c.result == 2 ? 1 : 2];
              }
}

/// Runs the best plan for a convolution, and compares the result with the definition.
template <typename T> int check(const dpc_convolution_t &convolution, double tolerance) {
  const TestDevice device;
  const Library library(device);
  std::vector<std::vector<T>> given;
  std::vector<Buffer<T>> buffers;
  Values expected[3];
  DevicePointer pointers[3];
  for (uint32_t i = 0; i < 3; ++i) {
    const uint64_t count = dpc_convolution_buffer_bytes(&convolution, i) /
                           dpc_convolution_type_bytes(convolution.dtype);
    given.push_back(makeElements<T>(count));
    expected[i] = i == convolution.result ? Values(count) : widen(given[i]);
    buffers.emplace_back(device, given[i]);
    pointers[i] = buffers[i].pointer;
  }
  std::vector<Plan> plans = library.find(convolution);
  if (plans.size() != 1)
    TestDevice::stop("there is no plan");
  const Plan again = readPlan(library.library, {library.handle, nullptr}, plans[0].text);
  const Buffer<char> workspace(device, again.workspaceBytes);
  library.must(
      runPlan(library.library, library.handle, again, pointers, workspace.pointer, device.stream));
  addTerms(convolution, expected);
  return compare("result", widen(buffers[convolution.result].get()), expected[convolution.result],
                 tolerance);
}

const Shape kShapes[] = {{2, 3, 7, 4, 3, 1}, {2, 4, 8, 6, 3, 2, 2}, {1, 3, 9, 2, 2, 1, 1, 2},
                         {3, 4, 5, 8, 1, 1}, {1, 6, 6, 6, 3, 1, 6}, {2, 2, 5, 3, 1, 2}};

template <typename T> void checkShapes(uint32_t dtype, double tolerance) {
  for (const Shape &shape : kShapes)
    for (uint32_t result = 0; result < 3; ++result)
      for (bool isChannelsLast : {false, true}) {
        const dpc_convolution_t convolution = makeConvolution(result, dtype, shape, isChannelsLast);
        const Ending ending =
            onDevice({{"CHECK", "1"}}, [&] { return check<T>(convolution, tolerance); });
        EXPECT_EQ(ending.status, 0) << "result " << result << ": " << ending.printed;
      }
}

TEST(EmulatedCudnn, F32) { checkShapes<float>(DPC_F32, 1e-6); }
TEST(EmulatedCudnn, F64) { checkShapes<double>(DPC_F64, 1e-12); }
TEST(EmulatedCudnn, Bf16) { checkShapes<emulator::Bfloat>(DPC_BF16, 1e-2); }
TEST(EmulatedCudnn, F16) { checkShapes<emulator::Half>(DPC_F16, 2e-3); }

/// The engines of all plans that dpc would take.
std::vector<int64_t> enginesFor(dpc_convolution_t convolution, uint64_t workspaceBytes = 1 << 20) {
  const TestDevice device;
  std::vector<int64_t> engines;
  for (const Plan &plan : Library(device).find(convolution, 16, workspaceBytes))
    engines.push_back(plan.engine);
  return engines;
}

// The library proposes engines first that give other results in each run, round factors or sums,
// or need a compiler.
TEST(EmulatedCudnn, AllowedEngines) {
  const Ending ending = onDevice({}, [] {
    using Engines = std::vector<int64_t>;
    for (uint32_t result = 0; result < 3; ++result) {
      dpc_convolution_t convolution = makeConvolution(result, DPC_F32, kShapes[0]);
      EXPECT_EQ(enginesFor(convolution), Engines({0, 0}));
      convolution.tf32 = 1;
      EXPECT_EQ(enginesFor(convolution), Engines({2, 2, 0, 0}));
      EXPECT_EQ(enginesFor(convolution, 600), Engines({0, 0})); // no place for copies
      EXPECT_EQ(enginesFor(convolution, 100), Engines());
      convolution.tf32 = 0;
      convolution.dtype = DPC_BF16;
      EXPECT_EQ(enginesFor(convolution), Engines({2, 2, 0, 0}));
      convolution.dtype = DPC_F64;
      EXPECT_EQ(enginesFor(convolution), Engines({0, 0}));
      // Only the plain engine pads one side more than the other.
      convolution.dtype = DPC_BF16;
      convolution.pad_low[0] -= 1;
      convolution.x.extents[2] += 1;
      layOut(convolution.x, /*isChannelsLast=*/false);
      EXPECT_TRUE(dpc_convolution_is_valid(&convolution));
      EXPECT_EQ(enginesFor(convolution), Engines({0, 0}));
    }
    return testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(ending.status, 0) << ending.printed;
}

/// A tensor descriptor that a test may spoil.
struct TensorCase {
  std::vector<int64_t> extents = {2, 3, 4, 5}, strides = {60, 20, 5, 1};
  int64_t alignment = 16;
  bool hasType = true;
};

DnnStatus describe(const Cudnn &library, const TensorCase &c) {
  Descriptor tensor(library, DnnDescriptorType::tensor);
  tensor.set(DnnAttribute::tensorId, int64_t(1));
  if (c.hasType)
    tensor.set(DnnAttribute::tensorType, DnnDataType::f32);
  tensor.set(DnnAttribute::tensorAlignment, c.alignment);
  tensor.set(DnnAttribute::tensorExtents, c.extents);
  tensor.set(DnnAttribute::tensorStrides, c.strides);
  return tensor.finalize();
}

TEST(EmulatedCudnn, Refusals) {
  const Ending ending = onDevice({}, [] {
    const TestDevice device;
    const Library own(device);
    const Cudnn &library = own.library;
    TensorCase few, none, odd;
    few.strides = {20, 5, 1};
    none.hasType = false;
    odd.alignment = 12;
    EXPECT_EQ(describe(library, {}), DnnStatus::success);
    EXPECT_EQ(describe(library, few), DnnStatus::badParameter);
    EXPECT_EQ(describe(library, none), DnnStatus::badParameter);
    EXPECT_EQ(describe(library, odd), DnnStatus::badParameter);
    auto status = [&](auto set) {
      Descriptor tensor(library, DnnDescriptorType::tensor);
      set(tensor);
      return tensor.getStatus();
    };
    const int64_t numbers[9] = {};
    using D = Descriptor;
    EXPECT_EQ(status([&](D &d) { d.set(DnnAttribute::tensorId, DnnType::f64, 1, numbers); }),
              DnnStatus::attributeType);
    EXPECT_EQ(status([&](D &d) { d.set(DnnAttribute::tensorId, DnnType::i64, 2, numbers); }),
              DnnStatus::outOfBound);
    EXPECT_EQ(status([&](D &d) { d.set(DnnAttribute::tensorExtents, DnnType::i64, 9, numbers); }),
              DnnStatus::outOfBound);
    EXPECT_EQ(status([&](D &d) { d.set(DnnAttribute::tensorId, DnnType::i64, 1, nullptr); }),
              DnnStatus::nullPointer);
    // A descriptor that is not finalized cannot be used, and a finalized one cannot change.
    Descriptor convolution(library, DnnDescriptorType::convolution),
        operation(library, DnnDescriptorType::operationForward),
        text(library, DnnDescriptorType::executionPlan);
    const float one = 1;
    for (DnnAttribute attribute : {DnnAttribute::forwardAlpha, DnnAttribute::forwardBeta})
      operation.set(attribute, DnnType::f32, 1, &one);
    for (DnnAttribute attribute : {DnnAttribute::forwardConvolution, DnnAttribute::forwardW,
                                   DnnAttribute::forwardX, DnnAttribute::forwardY})
      operation.set(attribute, convolution);
    EXPECT_EQ(operation.finalize(), DnnStatus::notFinalized);
    char message[100];
    library.cudnnGetLastErrorString(message, sizeof message);
    EXPECT_NE(std::string(message).find("is not finalized"), std::string::npos) << message;
    std::vector<Plan> plans = own.find(makeConvolution(2, DPC_F32, kShapes[0]));
    EXPECT_EQ(plans.size(), 1u);
    plans[0].descriptor.set(DnnAttribute::planText, std::string("{}"));
    EXPECT_EQ(plans[0].descriptor.getStatus(), DnnStatus::notInitialized);
    // A plan without the handle or the device that it is for, and one of a damaged text.
    text.set(DnnAttribute::planText, plans[0].text);
    EXPECT_EQ(text.finalize(), DnnStatus::badParameter);
    const cudnn::Device on = {own.handle, nullptr};
    EXPECT_EQ(readPlan(library, on, plans[0].text).descriptor.getStatus(), DnnStatus::success);
    for (const std::string &damaged : {std::string("{}"), plans[0].text.substr(0, 90)})
      EXPECT_NE(readPlan(library, on, damaged).descriptor.getStatus(), DnnStatus::success);
    return testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(ending.status, 0) << ending.printed;
}

/// Runs a plan with pointers that a test chose. The workspace is null if it has no bytes.
int runWith(uint64_t offset, uint64_t bytes, uint64_t workspaceBytes) {
  const TestDevice device;
  const Library own(device);
  const dpc_convolution_t convolution = makeConvolution(2, DPC_F32, kShapes[0]);
  const std::vector<Plan> plans = own.find(convolution);
  const Buffer<char> x(device, bytes), w(device, 1 << 16), y(device, 1 << 16),
      workspace(device, workspaceBytes + 1);
  const DevicePointer pointers[] = {x.pointer + offset, w.pointer, y.pointer};
  const DnnStatus status = runPlan(own.library, own.handle, plans[0], pointers,
                                   workspaceBytes ? workspace.pointer : 0, device.stream);
  device.synchronize();
  return status == DnnStatus::success ? 0 : 1;
}

TEST(EmulatedCudnn, BadPointers) {
  const uint64_t bytes = 2 * 3 * 7 * 7 * 4;
  EXPECT_EQ(onDevice({}, [&] { return runWith(0, bytes, 4096); }).status, 0);
  EXPECT_EQ(onDevice({}, [&] { return runWith(0, bytes, 0); }).status, 1);
  for (const Ending &ending : {onDevice({}, [&] { return runWith(4, bytes + 4, 4096); }),
                               onDevice({}, [&] { return runWith(0, bytes - 1, 4096); }),
                               onDevice({}, [&] { return runWith(0, bytes, 300); })})
    EXPECT_EQ(ending.status, 97) << ending.printed;
}

} // namespace
