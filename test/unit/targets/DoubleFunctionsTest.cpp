// Accuracy of generated f64 functions, in units in the last place of what the
// long double functions of libm give, and what they give at the edges.

#include "test/unit/targets/CompiledKernel.h"

#include "gtest/gtest.h"

#include <cmath>
#include <functional>

using namespace dpc::test;

namespace {

struct Sweep {
  const char *op;
  long double (*reference)(long double);
  double low, high;
  double units = 2;
};

class DoubleFunctions : public testing::TestWithParam<Sweep> {};

const double inf = INFINITY, nan = NAN;

double ulp(double value) {
  double size = std::abs(value);
  return std::nextafter(size, INFINITY) - size;
}

std::vector<double> evaluate(const std::string &op, const std::vector<double> &inputs,
                             const std::vector<double> &seconds = {}) {
  return evaluateElements(op, "f64", inputs, seconds);
}

void expectSame(double got, double expected, double units, const std::string &what) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(got)) << what << " is " << got;
    return;
  }
  EXPECT_EQ(std::signbit(got), std::signbit(expected)) << what;
  if (std::isinf(expected))
    EXPECT_EQ(got, expected) << what;
  else
    EXPECT_LE(std::abs(got - expected), units * ulp(expected)) << what << " is " << got;
}

TEST_P(DoubleFunctions, AreAccurate) {
  const Sweep &sweep = GetParam();
  std::vector<double> inputs;
  const int count = 100003;
  for (int i = 0; i < count; ++i)
    inputs.push_back(sweep.low + (sweep.high - sweep.low) * i / (count - 1));
  // Small arguments, relative accuracy near 0.
  for (double x = 1e-300; x < 1; x *= 1.1)
    for (double sign : {1.0, -1.0})
      if (sign * x > sweep.low && sign * x < sweep.high)
        inputs.push_back(sign * x);
  std::vector<double> results = evaluate(sweep.op, inputs);
  ASSERT_EQ(results.size(), inputs.size());
  long double worst = 0;
  double at = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    long double expected = sweep.reference(inputs[i]);
    long double error = std::abs(results[i] - expected) / ulp(static_cast<double>(expected));
    if (!(error <= worst)) {
      worst = error;
      at = inputs[i];
    }
  }
  RecordProperty("units", std::to_string(worst));
  EXPECT_LE(worst, sweep.units) << sweep.op << " at " << at;
}

long double power(long double x) { return std::pow(x, x); }

INSTANTIATE_TEST_SUITE_P(
    Sweeps, DoubleFunctions,
    testing::Values(
        Sweep{"nn.exp", std::exp, -745, 709.7}, Sweep{"nn.exp", std::exp, -2, 2},
        Sweep{"nn.log", std::log, 1e-310, 1e-300}, Sweep{"nn.log", std::log, 0.3, 3},
        Sweep{"nn.log", std::log, 1, 1e302}, Sweep{"nn.log1p", std::log1p, -0.999, 10},
        Sweep{"nn.log1p", std::log1p, 0, 1e18}, Sweep{"nn.tanh", std::tanh, -25, 25, 4},
        Sweep{"nn.sinh", std::sinh, -60, 60, 4}, Sweep{"nn.sinh", std::sinh, 700, 710.4, 4},
        Sweep{"nn.cosh", std::cosh, -60, 60, 4}, Sweep{"nn.cosh", std::cosh, 700, 710.4, 4},
        Sweep{"nn.asinh", std::asinh, -10, 10, 4}, Sweep{"nn.asinh", std::asinh, 0, 1e10, 4},
        Sweep{"nn.acosh", std::acosh, 1, 3, 4}, Sweep{"nn.acosh", std::acosh, 1, 1e10, 4},
        Sweep{"nn.atanh", std::atanh, -0.9999, 0.9999, 4}, Sweep{"nn.erf", std::erf, -7, 7, 3},
        Sweep{"nn.pow %x,", power, 0.001, 143, 4}, Sweep{"nn.sin", std::sin, -30, 30},
        Sweep{"nn.sin", std::sin, -1e15, 1e15}, Sweep{"nn.cos", std::cos, -30, 30},
        Sweep{"nn.cos", std::cos, 1e12, 1e15}, Sweep{"nn.tan", std::tan, -30, 30, 4},
        Sweep{"nn.atan", std::atan, -5, 5}, Sweep{"nn.atan", std::atan, 0, 1e10},
        Sweep{"nn.asin", std::asin, -1, 1, 4}, Sweep{"nn.acos", std::acos, -1, 1, 4}));

TEST(DoubleFunctionEdges, AsLibm) {
  const std::vector<double> inputs = {0.0,    -0.0,   inf,   -inf,  nan,    1.0,  -1.0,
                                      2.0,    1e30,   -1e30, 1e308, 710,    -746, -744.5,
                                      1e-310, 5e-324, 0.5,   -0.5,  1e-308, 22,   1e-5};
  const std::pair<const char *, double (*)(double)> functions[] = {
      {"nn.exp", std::exp},     {"nn.log", std::log},     {"nn.log1p", std::log1p},
      {"nn.tanh", std::tanh},   {"nn.sinh", std::sinh},   {"nn.cosh", std::cosh},
      {"nn.asinh", std::asinh}, {"nn.acosh", std::acosh}, {"nn.atanh", std::atanh},
      {"nn.erf", std::erf},     {"nn.atan", std::atan},   {"nn.asin", std::asin},
      {"nn.acos", std::acos}};
  for (auto [op, reference] : functions) {
    std::vector<double> results = evaluate(op, inputs);
    ASSERT_EQ(results.size(), inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      expectSame(results[i], reference(inputs[i]), 5,
                 std::string(op) + " of " + std::to_string(inputs[i]));
  }
}

TEST(DoubleFunctionEdges, AnglesOfLargeNumbersAreNan) {
  for (const char *op : {"nn.sin", "nn.cos", "nn.tan"}) {
    std::vector<double> results = evaluate(op, {0x1p49, 0x1p50, -0x1p60, inf, nan});
    ASSERT_EQ(results.size(), 5u);
    EXPECT_FALSE(std::isnan(results[0])) << op;
    for (size_t i = 1; i < 5; ++i)
      EXPECT_TRUE(std::isnan(results[i])) << op << " " << i;
    EXPECT_EQ(std::signbit(evaluate(op, {-0.0})[0]), std::string(op) != "nn.cos") << op;
  }
}

/// `op` of every pair of `firsts` and `seconds`, as `reference` has it.
void comparePairs(const char *op, const std::string &type, const std::vector<double> &firsts,
                  const std::vector<double> &seconds, double units,
                  const std::function<double(double, double)> &reference) {
  std::vector<double> x, y;
  for (double first : firsts)
    for (double second : seconds) {
      x.push_back(first);
      y.push_back(second);
    }
  // The second comes last: %x.
  std::vector<double> results = evaluateElements(op, type, y, x);
  ASSERT_EQ(results.size(), x.size());
  for (size_t i = 0; i < x.size(); ++i)
    expectSame(results[i], reference(x[i], y[i]), units,
               op + std::to_string(x[i]) + ", " + std::to_string(y[i]));
}

TEST(DoubleFunctionEdges, PowersAsLibm) {
  comparePairs(
      "nn.pow %z,", "f64",
      {0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 3.0, -3.0, 1e300, -1e300, 1e-310, 0.999999, inf, -inf, nan},
      {0.0, -0.0, 1.0, -1.0, 2.0, 3.0, -3.0, 0.5, -0.5, 2.5, 1e9, -1e9, 9007199254740991.0, 1e300,
       -1e300, inf, -inf, nan},
      // Of long products: 1000 roundings of 2^-58.
      16, [](double x, double y) { return std::pow(x, y); });
}

TEST(DoubleFunctionEdges, RemaindersAreExact) {
  const std::vector<double> values = {0.0,  -0.0,   1.0,   -1.0,   0.1,   -0.3,   7.0,
                                      -7.5, 1e17,   1e300, -1e300, 1e308, 5e-324, 3e-310,
                                      3.7,  1e-300, inf,   -inf,   nan,   0x1p53, 123456789.125};
  comparePairs("nn.rem %z,", "f64", values, values, 0,
               [](double x, double y) { return std::fmod(x, y); });
  std::vector<double> narrow;
  for (double value : values)
    narrow.push_back(static_cast<float>(value));
  comparePairs("nn.rem %z,", "f32", narrow, narrow, 0, [](double x, double y) {
    return std::fmod(static_cast<float>(x), static_cast<float>(y));
  });
}

} // namespace
