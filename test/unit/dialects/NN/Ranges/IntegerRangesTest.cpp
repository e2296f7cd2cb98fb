// What ranges say of values, and that the interpreter computes nothing else.

#include "test/unit/dialects/NN/IR/BlockInterpreter.h"

#include "dialects/NN/Ranges/Ranges.h"

#include <gtest/gtest.h>

#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

namespace {

constexpr int64_t least = std::numeric_limits<int64_t>::min(),
                  most = std::numeric_limits<int64_t>::max();

/// A function body on %a (booleans) and %b (i64 from -9 to 9), both of which
/// can be anything, and the range that its last value has.
struct RangeCase {
  const char *text;
  int64_t low, high;
};

void PrintTo(const RangeCase &rangeCase, std::ostream *stream) { *stream << rangeCase.text; }

#define X "%x = nn.constant dense<[-3, 5, 2]> : tensor<3xi64> "
#define Y "%y = nn.constant dense<[4, 2, 3]> : tensor<3xi64> "

// clang-format off
const RangeCase cases[] = {
    {"nn.neg %b : tensor<3xi64>", least, most}, // no model
    {"nn.constant dense<[-3, 5, 2]> : tensor<3xi64>", -3, 5},
    {"nn.constant dense<[3, 250]> : tensor<2xui8>", 3, 250},
    {"nn.constant dense<[true, true]> : tensor<2xi1>", 1, 1},
    {"nn.constant dense<> : tensor<0xi8>", -128, 127},
    {"nn.iota dim 1 : tensor<2x7xi64>", 0, 6},
    {"nn.iota dim 0 : tensor<128xi8>", 0, 127},
    {"nn.iota dim 0 : tensor<129xi8>", -128, 127},
    // Elements that move
    {X "nn.reshape %x : tensor<3xi64> -> tensor<1x3xi64>", -3, 5},
    {X "nn.transpose %x [0] : tensor<3xi64> -> tensor<3xi64>", -3, 5},
    {X "nn.broadcast %x [1] : tensor<3xi64> -> tensor<2x3xi64>", -3, 5},
    {X "nn.slice %x starts [0] limits [2] strides [1] : tensor<3xi64> -> tensor<2xi64>", -3, 5},
    {X "nn.reverse %x [0] : tensor<3xi64>", -3, 5},
    {X Y "nn.concat %x, %y dim 0 : tensor<3xi64>, tensor<3xi64> -> tensor<6xi64>", -3, 5},
    {X "%z = nn.constant dense<7> : tensor<i64> nn.pad %x, %z low [1] high [0] interior [0] : tensor<3xi64>, tensor<i64> -> tensor<4xi64>", -3, 7},
    {Y "%i = nn.iota dim 0 : tensor<3xi64> nn.gather %y, %i dim 0 : tensor<3xi64>, tensor<3xi64> -> tensor<3xi64>", 2, 4},
    {Y "%i = nn.iota dim 0 : tensor<3xi64> nn.gather_elements %y, %i dim 0 : tensor<3xi64>, tensor<3xi64> -> tensor<3xi64>", 2, 4},
    {Y "%i = nn.iota dim 0 : tensor<3x1xi64> nn.gather_nd %y, %i : tensor<3xi64>, tensor<3x1xi64> -> tensor<3xi64>", 2, 4},
    // Arithmetic
    {X Y "nn.add %x, %y : tensor<3xi64>", -1, 9},
    {X "nn.add %x, %b : tensor<3xi64>", least, most},
    {"%h = nn.constant dense<[100, 1]> : tensor<2xi8> nn.add %h, %h : tensor<2xi8>", -128, 127},
    {X Y "nn.sub %x, %y : tensor<3xi64>", -7, 3},
    {X Y "nn.mul %x, %y : tensor<3xi64>", -12, 20},
    {X Y "nn.max %x, %y : tensor<3xi64>", 2, 5},
    {X Y "nn.min %x, %y : tensor<3xi64>", -3, 4},
    {X Y "nn.clamp %b, %x, %y : tensor<3xi64>", -3, 4},
    {"%u = nn.constant dense<[200, 9]> : tensor<2xui8> %v = nn.constant dense<100> : tensor<2xui8> nn.max %u, %v : tensor<2xui8>", 100, 200},
    {Y "nn.rem %b, %y : tensor<3xi64>", -3, 3},
    {Y "nn.mod %b, %y : tensor<3xi64>", 0, 3},
    {X Y "nn.mod %y, %x : tensor<3xi64>", least, most}, // perhaps by 0
    {Y "%n = nn.constant dense<[5, 6, 7]> : tensor<3xi64> nn.mod %y, %n : tensor<3xi64>", 2, 4},
    {X "%n = nn.constant dense<2> : tensor<3xi64> nn.div %x, %n : tensor<3xi64>", -1, 2},
    // Choices
    {X Y "nn.select %a, %x, %y : tensor<3xi1>, tensor<3xi64>", -3, 5},
    {X Y "%t = nn.constant dense<true> : tensor<3xi1> nn.select %t, %x, %y : tensor<3xi1>, tensor<3xi64>", -3, 5},
    {X Y "%t = nn.constant dense<false> : tensor<3xi1> nn.select %t, %x, %y : tensor<3xi1>, tensor<3xi64>", 2, 4},
    {X Y "nn.compare lt %x, %y : tensor<3xi64> -> tensor<3xi1>", 0, 1},
    {Y "%n = nn.constant dense<4> : tensor<3xi64> nn.compare le %y, %n : tensor<3xi64> -> tensor<3xi1>", 1, 1},
    {Y "%n = nn.constant dense<4> : tensor<3xi64> nn.compare gt %y, %n : tensor<3xi64> -> tensor<3xi1>", 0, 0},
    {Y "%n = nn.constant dense<2> : tensor<3xi64> nn.compare lt %y, %n : tensor<3xi64> -> tensor<3xi1>", 0, 0},
    {Y "%n = nn.constant dense<2> : tensor<3xi64> nn.compare ge %y, %n : tensor<3xi64> -> tensor<3xi1>", 1, 1},
    {Y "%n = nn.constant dense<1> : tensor<3xi64> nn.compare eq %y, %n : tensor<3xi64> -> tensor<3xi1>", 0, 0},
    {Y "%n = nn.constant dense<1> : tensor<3xi64> nn.compare ne %y, %n : tensor<3xi64> -> tensor<3xi1>", 1, 1},
    {"%u = nn.constant dense<200> : tensor<2xui8> %v = nn.constant dense<9> : tensor<2xui8> nn.compare lt %u, %v : tensor<2xui8> -> tensor<2xi1>", 0, 0},
    {"%f = nn.constant dense<1.0> : tensor<3xf32> nn.compare lt %f, %f : tensor<3xf32> -> tensor<3xi1>", 0, 1},
    // Conversions
    {"nn.convert %a : tensor<3xi1> -> tensor<3xi64>", 0, 1},
    {X "nn.convert %x : tensor<3xi64> -> tensor<3xi32>", -3, 5},
    {X "nn.convert %x : tensor<3xi64> -> tensor<3xi1>", 0, 1},
    {"%w = nn.constant dense<[3, 300]> : tensor<2xi64> nn.convert %w : tensor<2xi64> -> tensor<2xi8>", -128, 127},
    {"%u = nn.constant dense<[200, 9]> : tensor<2xui8> nn.convert %u : tensor<2xui8> -> tensor<2xi64>", 9, 200},
    {"%f = nn.constant dense<1.0> : tensor<3xf32> nn.convert %f : tensor<3xf32> -> tensor<3xi8>", -128, 127},
    // Reductions and orders
    {X "nn.reduce max %x [0] : tensor<3xi64> -> tensor<i64>", -3, 5},
    {X "nn.reduce min %x [0] : tensor<3xi64> -> tensor<i64>", -3, 5},
    {X "nn.reduce sum %x [0] : tensor<3xi64> -> tensor<i64>", -9, 15},
    {X "nn.reduce prod %x [0] : tensor<3xi64> -> tensor<i64>", least, most},
    {"%e = nn.constant dense<> : tensor<0x2xi8> nn.reduce max %e [0] : tensor<0x2xi8> -> tensor<2xi8>", -128, 127},
    {"nn.arg_reduce max %b dim 0 : tensor<3xi64> -> tensor<i64>", 0, 2},
    {X "nn.top_k %x dim 0 {k = 1 : i64} : tensor<3xi64> -> tensor<1xi64>, tensor<1xi64>", -3, 5},
};
// clang-format on

class IntegerRangesTest : public testing::TestWithParam<RangeCase> {};

} // namespace

TEST_P(IntegerRangesTest, HoldsWhatIsComputed) {
  const RangeCase &wanted = GetParam();
  DialectRegistry registry;
  registerRangeModels(registry);
  MLIRContext context(registry);
  loadDialects(context);
  std::vector<Arg> args = {{"3xi1", 0, 1}, {"3xi64", -9, 9}};
  auto module = parseFunction(context, wanted.text, args);
  ASSERT_TRUE(module);
  Block &block = functionOf(*module).getBody().front();
  Value value = block.getTerminator()->getPrevNode()->getResult(0);

  IntegerRanges ranges;
  bool isUnsigned = isOrderedUnsigned(value.getType());
  ConstantIntRanges range = ranges.get(value);
  int64_t low = isUnsigned ? range.umin().getZExtValue() : range.smin().getSExtValue(),
          high = isUnsigned ? range.umax().getZExtValue() : range.smax().getSExtValue();
  EXPECT_EQ(low, wanted.low);
  EXPECT_EQ(high, wanted.high);
  EXPECT_TRUE(ranges.isWithin(value, low, high));
  if (low > least) {
    EXPECT_FALSE(ranges.isWithin(value, low + 1, high));
    EXPECT_FALSE(ranges.isWithin(value, low, high - 1));
  }

  std::mt19937 random(1);
  for (int i = 0; i < 20; ++i) {
    BlockInterpreter::Values values;
    for (auto [argument, spec] : llvm::zip_equal(block.getArguments(), args))
      values[argument] = randomTensor(argument.getType(), spec.low, spec.high, random);
    BlockInterpreter machine;
    ASSERT_TRUE(succeeded(machine.run(block, values)));
    for (int64_t element : values[value].ints) {
      EXPECT_GE(element, low);
      EXPECT_LE(element, high);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, IntegerRangesTest, testing::ValuesIn(cases));

TEST(IntegerRanges, OfSecondResults) {
  DialectRegistry registry;
  registerRangeModels(registry);
  MLIRContext context(registry);
  loadDialects(context);
  auto module = parseFunction(context,
                              "nn.top_k %a dim 0 {k = 1 : i64} : tensor<4xf32> -> tensor<1xf32>, "
                              "tensor<1xi64>",
                              Arg{"4xf32"});
  Block &block = functionOf(*module).getBody().front();
  Operation *op = block.getTerminator()->getPrevNode();
  IntegerRanges ranges;
  EXPECT_TRUE(ranges.isWithin(op->getResult(1), 0, 3));
  EXPECT_FALSE(ranges.isWithin(op->getResult(1), 0, 2));
  // Floats have no range of integers.
  EXPECT_FALSE(ranges.isWithin(op->getResult(0), least, most));
}
