// The kernels that stand for their classes.

#include "tools/dpc-device/Samples.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/FormatVariadic.h"

using namespace dpc;
using llvm::formatv;

/// Returns a kernel whose operands %a0, %a1, .. have the types `operands`. Its `body` computes %y,
/// which has the type `result`.
static std::string kernelOf(llvm::ArrayRef<std::string> operands, const std::string &body,
                            const std::string &result) {
  std::string outer, names, types, inner;
  for (size_t i = 0; i < operands.size(); ++i) {
    const char *comma = i ? ", " : "";
    outer += formatv("{0}%x{1}: {2}", comma, i, operands[i]);
    names += formatv("{0}%x{1}", comma, i);
    types += comma + operands[i];
    inner += formatv("{0}%a{1}: {2}", comma, i, operands[i]);
  }
  return formatv(
             "func.func @sample({0}) -> {1} {\n  %0 = nn.kernel({2} : {3}) {{\n  ^bb0({4}):\n    "
             "{5}\n    nn.yield %y : {1}\n  } -> {1}\n  return %0 : {1}\n}\n",
             outer, result, names, types, inner, body)
      .str();
}

static std::string typeOf(llvm::ArrayRef<int64_t> shape, llvm::StringRef element = "f32") {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + element.str() + ">";
}

static Sample productOf(int64_t rows, int64_t terms, int64_t columns, NumberType type) {
  const std::string element = nameOf(type).str(), a = typeOf({rows, terms}, element),
                    b = typeOf({terms, columns}, element), y = typeOf({rows, columns}, element);
  return {
      KernelClass::product, type,
      kernelOf({a, b},
               formatv("%y = nn.dot %a0, %a1 contract [1] [0] : {0}, {1} -> {2}", a, b, y).str(),
               y)};
}

static Sample convolutionOf(int64_t samples, int64_t channels, int64_t extent) {
  const std::string x = typeOf({samples, channels, extent, extent}),
                    w = typeOf({channels, channels, 3, 3});
  return {KernelClass::convolution, NumberType::f32,
          kernelOf({x, w},
                   formatv("%y = nn.conv %a0, %a1 strides [1, 1] padLow [1, 1] padHigh [1, 1] "
                           "dilations [1, 1] groups 1 : {0}, {1} -> {0}",
                           x, w)
                       .str(),
                   x)};
}

static Sample attentionOf(int64_t samples, int64_t rows, int64_t heads, int64_t extent) {
  const std::string x = typeOf({samples, rows, heads, extent}),
                    sums = typeOf({samples, heads, rows});
  return {KernelClass::attention, NumberType::f32,
          kernelOf({x, x, x},
                   formatv("%y, %l = nn.attention %a0, %a1, %a2 rows 1 scale 0.125 : {0}, {0}, {0} "
                           "-> {0}, {1}",
                           x, sums)
                       .str(),
                   x)};
}

static Sample unaryOf(KernelClass kind, const std::string &operand, const std::string &result,
                      const std::string &op) {
  return {kind, NumberType::f32,
          kernelOf({operand},
                   formatv("%y = {0} : {1}", op, operand).str() +
                       (operand == result && kind != KernelClass::copy ? "" : " -> " + result),
                   result)};
}

/// Two halves of rows beside each other.
static Sample concatOf(int64_t rows) {
  const std::string half = typeOf({rows, 512}), y = typeOf({rows, 1024});
  return {KernelClass::copy, NumberType::f32,
          kernelOf({half, half},
                   formatv("%y = nn.concat %a0, %a1 dim 1 : {0}, {0} -> {1}", half, y).str(), y)};
}

static Sample updateOf(int64_t count) {
  const std::string x = typeOf({count});
  return {
      KernelClass::update, NumberType::f32,
      formatv("func.func @sample(%p: {0}, %g: {0}, %m: {0}, %lr: tensor<f32>) -> ({0}, {0}) {{\n"
              "  %0:2 = nn.update (%p, %g, %m : {0}, {0}, {0}) scalars (%lr : tensor<f32>) {{\n"
              "  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):\n"
              "    %1 = nn.add %b, %c : tensor<f32>\n"
              "    %2 = nn.mul %1, %d : tensor<f32>\n"
              "    %3 = nn.sub %a, %2 : tensor<f32>\n"
              "    nn.yield %3, %1 : tensor<f32>, tensor<f32>\n"
              "  } -> {0}, {0}\n  return %0#0, %0#1 : {0}, {0}\n}\n",
              x)
          .str()};
}

static Sample gatherOf(int64_t rows, int64_t count) {
  const std::string table = typeOf({rows, 128}), indices = typeOf({count}, "i64"),
                    y = typeOf({count, 128});
  return {
      KernelClass::indexing, NumberType::f32,
      kernelOf({table, indices},
               formatv("%y = nn.gather %a0, %a1 dim 0 : {0}, {1} -> {2}", table, indices, y).str(),
               y),
      rows};
}

std::vector<Sample> dpc::makeSamples() {
  std::vector<Sample> samples;
  for (int64_t extent : {32, 96, 256, 768})
    samples.push_back(productOf(extent, extent, extent, NumberType::f32));
  for (NumberType type : {NumberType::f64, NumberType::bf16, NumberType::f16})
    samples.push_back(productOf(512, 512, 512, type));
  samples.push_back(convolutionOf(4, 16, 16));
  samples.push_back(convolutionOf(8, 32, 28));
  samples.push_back(convolutionOf(8, 128, 28));
  samples.push_back(attentionOf(1, 64, 2, 32));
  samples.push_back(attentionOf(4, 128, 8, 64));
  for (int64_t rows : {32, 512, 8192}) {
    const std::string x = typeOf({rows, 1024}), y = typeOf({rows}), turned = typeOf({1024, rows});
    samples.push_back(unaryOf(KernelClass::elementwise, x, x, "nn.relu %a0"));
    samples.push_back(unaryOf(KernelClass::reduction, x, y, "nn.reduce sum %a0 [1]"));
    samples.push_back(unaryOf(KernelClass::copy, x, turned, "nn.transpose %a0 [1, 0]"));
    samples.push_back(concatOf(rows));
    samples.push_back(updateOf(rows * 1024));
    samples.push_back(gatherOf(8 * rows, 8 * rows)); // as many bytes as the relu
  }
  return samples;
}
