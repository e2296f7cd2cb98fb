// Accuracy of generated f32 functions over their range, in units in the last
// place of the true value, and what they give at the edges.

#include "test/unit/targets/CompiledKernel.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace dpc::test;

namespace {
struct Sweep {
  const char *op;
  double (*reference)(double);
  double low, high;
};
} // namespace

static double gelu(double x) { return 0.5 * x * (1 + std::erf(x * M_SQRT1_2)); }
static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

static double selfPower(double x) { return std::pow(x, x); }

static std::vector<double> evaluate(const std::string &op, const std::vector<double> &inputs,
                                    const std::vector<double> &seconds = {}) {
  return evaluateElements(op, "f32", inputs, seconds);
}

static double ulp(double value) {
  float size = std::abs(float(value));
  return std::max(double(std::nextafter(size, INFINITY)) - size, 0x1p-149);
}

class FloatFunctions : public testing::TestWithParam<Sweep> {};

TEST_P(FloatFunctions, WithinTwoUnits) {
  const Sweep &sweep = GetParam();
  std::vector<double> inputs;
  const int count = 100003;
  for (int i = 0; i < count; ++i)
    inputs.push_back(float(sweep.low + (sweep.high - sweep.low) * i / (count - 1)));
  // Small arguments, relative accuracy near 0.
  for (double x = 1e-30; x < 1; x *= 1.01)
    for (double sign : {1.0, -1.0})
      if (sign * x > sweep.low && sign * x < sweep.high)
        inputs.push_back(float(sign * x));
  std::vector<double> results = evaluate(sweep.op, inputs);
  ASSERT_EQ(results.size(), inputs.size());
  double worst = 0, at = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    double expected = sweep.reference(inputs[i]);
    double error = std::abs(results[i] - expected) / ulp(expected);
    if (!(error <= worst)) {
      worst = error;
      at = inputs[i];
    }
  }
  EXPECT_LE(worst, 2.0) << sweep.op << " at " << at;
}

INSTANTIATE_TEST_SUITE_P(
    Sweeps, FloatFunctions,
    testing::Values(Sweep{"nn.exp", std::exp, -87.3, 88.7}, Sweep{"nn.sin", std::sin, -30, 30},
                    Sweep{"nn.sin", std::sin, -1e9, 1e9}, Sweep{"nn.cos", std::cos, -30, 30},
                    Sweep{"nn.cos", std::cos, 1e12, 2e14}, Sweep{"nn.pow %x,", selfPower, 0, 26},
                    Sweep{"nn.log", std::log, 1e-30, 10}, Sweep{"nn.log", std::log, 1, 3e38},
                    Sweep{"nn.log1p", std::log1p, -0.999, 10}, Sweep{"nn.tanh", std::tanh, -10, 10},
                    Sweep{"nn.erf", std::erf, -5, 5}));

TEST(FloatFunctionEdges, PowersAsLibm) {
  const double inf = INFINITY, nan = NAN;
  std::vector<double> bases, exponents;
  for (double x : {0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 3.0, -3.0, 1e30, -1e30, 1e-38, inf, -inf, nan})
    for (double y : {0.0, -0.0, 1.0, -1.0, 2.0, 3.0, -3.0, 0.5, -0.5, 2.5, 1e9, -1e9, 16777217.0,
                     inf, -inf, nan}) {
      bases.push_back(float(x));
      exponents.push_back(float(y));
    }
  // The exponent comes first: %x is the last operand.
  std::vector<double> results = evaluate("nn.pow %z,", exponents, bases);
  ASSERT_EQ(results.size(), bases.size());
  for (size_t i = 0; i < bases.size(); ++i) {
    float expected = std::pow(float(bases[i]), float(exponents[i]));
    std::string what = std::to_string(bases[i]) + " ^ " + std::to_string(exponents[i]);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(results[i])) << what;
      continue;
    }
    EXPECT_EQ(std::signbit(results[i]), std::signbit(expected)) << what;
    if (std::isinf(expected))
      EXPECT_EQ(results[i], expected) << what;
    else
      EXPECT_NEAR(results[i], expected, std::abs(expected) * 3e-7 + 1e-37) << what;
  }
}

TEST(FloatFunctionEdges, SinesOfLargeNumbersAreNan) {
  for (const char *op : {"nn.sin", "nn.cos"}) {
    std::vector<double> results = evaluate(op, {0x1p49, 0x1p50, -0x1p60, INFINITY, NAN});
    ASSERT_EQ(results.size(), 5u);
    EXPECT_FALSE(std::isnan(results[0])) << op;
    for (size_t i = 1; i < 5; ++i)
      EXPECT_TRUE(std::isnan(results[i])) << op << " " << i;
  }
  EXPECT_TRUE(std::signbit(evaluate("nn.sin", {-0.0})[0]));
}

TEST(FloatFunctionEdges, AsLibm) {
  const double inf = INFINITY, nan = NAN, tiny = 1e-40;
  std::vector<double> inputs = {0.0,  -0.0, inf,   -inf, nan,    1.0,
                                -1.0, 1e30, -1e30, 89.0, -200.0, float(tiny)};
  const std::pair<const char *, double (*)(double)> functions[] = {{"nn.exp", std::exp},
                                                                   {"nn.log", std::log},
                                                                   {"nn.log1p", std::log1p},
                                                                   {"nn.tanh", std::tanh},
                                                                   {"nn.erf", std::erf}};
  for (auto [op, reference] : functions) {
    std::vector<double> results = evaluate(op, inputs);
    ASSERT_EQ(results.size(), inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      double expected = float(reference(inputs[i]));
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(results[i])) << op << " of " << inputs[i];
      else if (std::isinf(expected))
        EXPECT_EQ(results[i], expected) << op << " of " << inputs[i];
      else
        EXPECT_NEAR(results[i], expected, std::abs(expected) * 3e-7 + 1e-37)
            << op << " of " << inputs[i];
    }
  }
}

TEST(FloatFunctionEdges, CompositesDoNotOverflow) {
  std::vector<double> inputs = {-200, -90, -20, 0, 20, 90, 200};
  std::vector<double> sigmoids = evaluate("nn.sigmoid", inputs),
                      gelus = evaluate("nn.gelu none", inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_NEAR(sigmoids[i], sigmoid(inputs[i]), 1e-6);
    EXPECT_NEAR(gelus[i], gelu(inputs[i]), 1e-6 * std::abs(inputs[i]));
  }
}
