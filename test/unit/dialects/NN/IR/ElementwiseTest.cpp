// Interprets elementwise ops on integers of both signs.

#include "test/unit/StraightLine.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace dpc;
using dpc::test::StraightLine;

/// The results of `op` (e.g. "nn.max %a, %b") on tensors of two elements of type `element`.
static std::vector<int64_t> interpret(StringRef op, StringRef element,
                                      const std::vector<std::vector<int64_t>> &operands) {
  const std::string type = "tensor<2x" + element.str() + ">";
  std::string arguments;
  for (size_t i = 0; i < operands.size(); ++i)
    arguments += std::string(i ? ", " : "") + "%" + char('a' + i) + ": " + type;
  StraightLine machine("func.func @f(" + arguments + ") -> " + type + " { %y = " + op.str() +
                       " : " + type + " return %y : " + type + " }");
  func::FuncOp function = machine.getFunction();
  if (!function)
    return {};
  std::vector<HostTensor> in = machine.randomArguments(function, 1);
  for (size_t i = 0; i < operands.size(); ++i)
    in[i].ints.assign(operands[i].begin(), operands[i].end());
  const HostTensor out = machine.run(function, in)[0];
  return {out.ints.begin(), out.ints.end()};
}

// The bits of -1 are the largest ui64.
TEST(Elementwise, ComparesIntegersByTheirType) {
  using Values = std::vector<int64_t>;
  const Values large{-1, 7}, small{1, 1}, middle{5, 5};
  EXPECT_EQ(interpret("nn.max %a, %b", "i64", {large, middle}), (Values{5, 7}));
  EXPECT_EQ(interpret("nn.max %a, %b", "ui64", {large, middle}), (Values{-1, 7}));
  EXPECT_EQ(interpret("nn.min %a, %b", "i64", {large, middle}), (Values{-1, 5}));
  EXPECT_EQ(interpret("nn.min %a, %b", "ui64", {large, middle}), (Values{5, 5}));
  EXPECT_EQ(interpret("nn.clamp %a, %b, %c", "i64", {large, small, middle}), (Values{1, 5}));
  EXPECT_EQ(interpret("nn.clamp %a, %b, %c", "ui64", {large, small, middle}), (Values{5, 5}));
}
