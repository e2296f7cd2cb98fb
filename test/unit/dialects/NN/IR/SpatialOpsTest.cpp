// Convolution and pooling against their definitions, their gradients against
// central differences, and their sharding rules against what the parts of a cut
// op compute.

#include "dialects/NN/IR/Convolution.h"
#include "dialects/NN/IR/Pooling.h"
#include "test/unit/ShardingParts.h"
#include "test/unit/dialects/NN/IR/SpatialGeometry.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

namespace {

void expectGradients(StringRef text) {
  StraightLine machine(text);
  func::FuncOp function = machine.getFunction();
  ASSERT_TRUE(function);
  machine.expectGradients(function, machine.randomArguments(function, 5));
}

TEST(Convolution, IsItsDefinition) {
  for (const Geometry &g : geometriesInBothOrders()) {
    SCOPED_TRACE(g.name + std::string(g.channelsLast ? ", channels last" : ""));
    Outcome run(convolutionText("nn.conv", g.x(), g.w(), g, g.y()));
    std::vector<double> expected(run.out.size());
    forEachTerm(g, [&](int64_t x, int64_t w, int64_t y) {
      expected[y] += run.in[0].floats[x] * run.in[1].floats[w];
    });
    EXPECT_LE(relativeError(run.out.floats, expected), 1e-14);
  }
}

TEST(Convolution, InputGradientIsItsDefinition) {
  for (const Geometry &g : geometriesInBothOrders()) {
    SCOPED_TRACE(g.name + std::string(g.channelsLast ? ", channels last" : ""));
    Outcome run(convolutionText("nn.conv_input_grad", g.y(), g.w(), g, g.x()));
    std::vector<double> expected(run.out.size());
    forEachTerm(g, [&](int64_t x, int64_t w, int64_t y) {
      expected[x] += run.in[0].floats[y] * run.in[1].floats[w];
    });
    EXPECT_LE(relativeError(run.out.floats, expected), 1e-14);
  }
}

TEST(Convolution, WeightGradientIsItsDefinition) {
  for (const Geometry &g : geometriesInBothOrders()) {
    SCOPED_TRACE(g.name + std::string(g.channelsLast ? ", channels last" : ""));
    Outcome run(convolutionText("nn.conv_weight_grad", g.x(), g.y(), g, g.w()));
    std::vector<double> expected(run.out.size());
    forEachTerm(g, [&](int64_t x, int64_t w, int64_t y) {
      expected[w] += run.in[0].floats[x] * run.in[1].floats[y];
    });
    EXPECT_LE(relativeError(run.out.floats, expected), 1e-14);
  }
}

TEST(Convolution, GradientsOfAllThreeOps) {
  for (const Geometry &g : geometriesInBothOrders()) {
    SCOPED_TRACE(g.name + std::string(g.channelsLast ? ", channels last" : ""));
    expectGradients(convolutionText("nn.conv", g.x(), g.w(), g, g.y()));
    expectGradients(convolutionText("nn.conv_input_grad", g.y(), g.w(), g, g.x()));
    expectGradients(convolutionText("nn.conv_weight_grad", g.x(), g.y(), g, g.w()));
  }
}

TEST(Convolution, CountsTwoFlopsAProduct) {
  const Geometry &g = geometries[7]; // groups
  int64_t products = g.inputsPerGroup;
  for (int64_t extent : g.y())
    products *= extent;
  for (int64_t extent : g.kernel)
    products *= extent;
  for (auto &text : {convolutionText("nn.conv", g.x(), g.w(), g, g.y()),
                     convolutionText("nn.conv_input_grad", g.y(), g.w(), g, g.x()),
                     convolutionText("nn.conv_weight_grad", g.x(), g.y(), g, g.w())}) {
    Outcome run(text);
    EXPECT_EQ(cast<CostOpInterface>(run.getOp()).getFlops(), 2 * products);
  }
}

/// True when some window holds padding alone.
bool hasEmptyWindow(const Geometry &g) {
  Extents terms(g.batch * g.groups * rowMajorStrides(g.y())[1]);
  forEachTerm(g, [&](int64_t, int64_t, int64_t y) { ++terms[y]; });
  return llvm::is_contained(terms, 0);
}

TEST(MaxPool, IsItsDefinition) {
  for (const Geometry &convolution : geometries) {
    SCOPED_TRACE(convolution.name);
    Geometry g = pooling(convolution);
    Outcome run(poolingText("nn.max_pool", {g.x()}, g, g.y()));
    std::vector<double> expected(run.out.size(), -INFINITY);
    forEachTerm(g, [&](int64_t x, int64_t, int64_t y) {
      expected[y] = std::max(expected[y], run.in[0].floats[x]);
    });
    EXPECT_EQ(run.out.floats, expected);
  }
}

TEST(MaxPool, Gradient) {
  for (const Geometry &convolution : geometries) {
    SCOPED_TRACE(convolution.name);
    Geometry g = pooling(convolution);
    if (!hasEmptyWindow(g)) // -inf has no differences
      expectGradients(poolingText("nn.max_pool", {g.x()}, g, g.y()));
  }
}

// Integers have ties: nn.max_pool_taps chooses the first of equal elements, as
// torch.nn.functional.max_pool2d does. nn.max_pool_grad adds gradients at the taps, and nothing at
// taps of the padding.
TEST(MaxPoolTaps, ChoosesTheFirstOfEqualElements) {
  for (const Geometry &convolution : geometries) {
    SCOPED_TRACE(convolution.name);
    Geometry g = pooling(convolution);
    Outcome taps(poolingText("nn.max_pool_taps", {g.x()}, g, g.y(), {"i32", "i8"}), -2, 3);
    Outcome grad(poolingText("nn.max_pool_grad", {g.y(), g.y()}, g, g.x(), {"i8", "i32", "i32"}),
                 -2, 3);
    std::vector<int64_t> place(taps.out.size(), -1), first(taps.out.size(), -1),
        expected(grad.out.size());
    const int64_t count = rowMajorStrides(g.w())[1];
    forEachTerm(g, [&](int64_t x, int64_t w, int64_t y) {
      const int64_t tap = w % count;
      if (place[y] < 0 || taps.in[0].ints[x] > taps.in[0].ints[place[y]]) {
        place[y] = x;
        first[y] = tap;
      }
      if (grad.in[0].ints[y] == tap)
        expected[x] += grad.in[1].ints[y];
    });
    EXPECT_EQ(taps.out.ints, first);
    EXPECT_EQ(grad.out.ints, expected);
  }
}

TEST(MaxPool, NotANumberWins) {
  StraightLine machine("func.func @f(%x: tensor<1x1x4xf64>, %g: tensor<1x1x3xf64>) -> "
                       "(tensor<1x1x3xf64>, tensor<1x1x4xf64>) {\n"
                       "%y = nn.max_pool %x kernel [2] strides [1] padLow [0] padHigh [0] "
                       "dilations [1] : tensor<1x1x4xf64> -> tensor<1x1x3xf64>\n"
                       "%t = nn.max_pool_taps %x kernel [2] strides [1] padLow [0] padHigh [0] "
                       "dilations [1] : tensor<1x1x4xf64> -> tensor<1x1x3xi8>\n"
                       "%d = nn.max_pool_grad %t, %g kernel [2] strides [1] padLow [0] padHigh "
                       "[0] dilations [1] : tensor<1x1x3xi8>, tensor<1x1x3xf64> -> "
                       "tensor<1x1x4xf64>\n"
                       "return %y, %d : tensor<1x1x3xf64>, tensor<1x1x4xf64>\n}");
  func::FuncOp function = machine.getFunction();
  ASSERT_TRUE(function);
  std::vector<HostTensor> in = machine.randomArguments(function, 1);
  in[0].floats = {5, NAN, NAN, 7};
  in[1].floats = {1, 2, 4};
  std::vector<HostTensor> out = machine.run(function, in);
  ASSERT_EQ(out.size(), 2u);
  for (double element : out[0].floats)
    EXPECT_TRUE(std::isnan(element));
  EXPECT_EQ(out[1].floats, (std::vector<double>{0, 3, 4, 0}));
}

// The least value where a window is padding alone; unsigned order.
TEST(MaxPool, Integers) {
  struct Case {
    const char *element;
    std::vector<int64_t> in, out;
  };
  for (const Case &test : {Case{"i8", {-1, -128}, {-128, -1, -128}},
                           Case{"ui8", {255, 1}, {0, 255, 1}}, Case{"ui64", {-1, 1}, {0, -1, 1}}}) {
    SCOPED_TRACE(test.element);
    Geometry g{"", {2}, {1}, {1}, {1}, {0}, {1}, 1};
    StraightLine machine(poolingText("nn.max_pool", {g.x()}, g, g.y(), {test.element}));
    func::FuncOp function = machine.getFunction();
    ASSERT_TRUE(function);
    std::vector<HostTensor> in = machine.randomArguments(function, 1);
    in[0].ints = test.in;
    EXPECT_EQ(machine.run(function, in)[0].ints, test.out);
  }
  Geometry g{"", {2}, {2}, {1}, {0}, {0}, {1}, 1};
  StraightLine machine(poolingText("nn.max_pool", {g.x()}, g, g.y(), {"ui64"}));
  std::vector<HostTensor> in = machine.randomArguments(machine.getFunction(), 1);
  in[0].ints = {1, -1};
  EXPECT_EQ(machine.run(machine.getFunction(), in)[0].ints[0], -1);
}

TEST(SumPool, IsItsDefinition) {
  for (const Geometry &convolution : geometries) {
    SCOPED_TRACE(convolution.name);
    Geometry g = pooling(convolution);
    Outcome run(poolingText("nn.sum_pool", {g.x()}, g, g.y()));
    std::vector<double> expected(run.out.size());
    forEachTerm(g, [&](int64_t x, int64_t, int64_t y) { expected[y] += run.in[0].floats[x]; });
    EXPECT_LE(relativeError(run.out.floats, expected), 1e-14);
  }
}

TEST(SumPoolGrad, IsItsDefinition) {
  for (const Geometry &convolution : geometries) {
    SCOPED_TRACE(convolution.name);
    Geometry g = pooling(convolution);
    Outcome run(poolingText("nn.sum_pool_grad", {g.y()}, g, g.x()));
    std::vector<double> expected(run.out.size());
    forEachTerm(g, [&](int64_t x, int64_t, int64_t y) { expected[x] += run.in[0].floats[y]; });
    EXPECT_LE(relativeError(run.out.floats, expected), 1e-14);
  }
}

TEST(SumPool, GradientsOfBothOps) {
  for (const Geometry &convolution : geometries) {
    SCOPED_TRACE(convolution.name);
    Geometry g = pooling(convolution);
    expectGradients(poolingText("nn.sum_pool", {g.x()}, g, g.y()));
    expectGradients(poolingText("nn.sum_pool_grad", {g.y()}, g, g.x()));
  }
}

/// One device's part of a convolution holds a part of its groups.
void setGroups(Operation *op) {
  auto set = [](auto convolution) {
    nn::Convolution c = convolution.getConvolution();
    convolution.setGroups(c.x.getDimSize(1) / c.w.getDimSize(1));
  };
  llvm::TypeSwitch<Operation *>(op).Case<nn::ConvOp, nn::ConvInputGradOp, nn::ConvWeightGradOp>(
      set);
}

TEST(SpatialSharding, PartsOfConvolutionsGiveTheWhole) {
  for (const Geometry &g : geometriesInBothOrders()) {
    // Batch and both channels, or batch and groups.
    int cuts =
        (g.batch > 1) + (g.groups > 1 ? 1 : (g.inputsPerGroup > 1) + (g.outputsPerGroup > 1));
    EXPECT_EQ(expectShardable(convolutionText("nn.conv", g.x(), g.w(), g, g.y()), setGroups), cuts);
    EXPECT_EQ(
        expectShardable(convolutionText("nn.conv_input_grad", g.y(), g.w(), g, g.x()), setGroups),
        cuts);
    EXPECT_EQ(
        expectShardable(convolutionText("nn.conv_weight_grad", g.x(), g.y(), g, g.w()), setGroups),
        cuts);
  }
}

TEST(SpatialSharding, PartsOfPoolingsGiveTheWhole) {
  for (const Geometry &convolution : geometries) {
    Geometry g = pooling(convolution);
    int cuts = (g.batch > 1) + (g.groups > 1);
    EXPECT_EQ(expectShardable(poolingText("nn.max_pool", {g.x()}, g, g.y())), cuts);
    EXPECT_EQ(expectShardable(poolingText("nn.max_pool_taps", {g.x()}, g, g.y(), {"f64", "i8"})),
              cuts);
    EXPECT_EQ(expectShardable(
                  poolingText("nn.max_pool_grad", {g.y(), g.y()}, g, g.x(), {"i8", "f64", "f64"})),
              cuts);
    EXPECT_EQ(expectShardable(poolingText("nn.sum_pool", {g.x()}, g, g.y())), cuts);
    EXPECT_EQ(expectShardable(poolingText("nn.sum_pool_grad", {g.y()}, g, g.x())), cuts);
  }
}

} // namespace
