// Small uses of every op with a gradient, with ranges for their arguments;
// tests of VJPs, of sharding rules and of generated code run all of them.

#include "test/unit/dialects/NN/IR/OpCases.h"

// clang-format off
static const std::vector<dpc::test::OpCase> cases = {
    // Elementwise
    {"nn.neg %a : tensor<3x4xf64>", {{"3x4xf64", -2, 2}}},
    {"nn.abs %a : tensor<3x4xf64>", {{"3x4xf64", -2, 2}}},
    {"nn.sign %a : tensor<3x4xf64>", {{"3x4xf64", -2, 2}}},
    {"nn.relu %a : tensor<3x4xf64>", {{"3x4xf64", -2, 2}}},
    {"nn.exp %a : tensor<3x4xf64>", {{"3x4xf64", -2, 2}}},
    {"nn.log %a : tensor<3x4xf64>", {{"3x4xf64", 0.2, 3}}},
    {"nn.log1p %a : tensor<3x4xf64>", {{"3x4xf64", -0.7, 3}}},
    {"nn.sqrt %a : tensor<3x4xf64>", {{"3x4xf64", 0.2, 3}}},
    {"nn.rsqrt %a : tensor<3x4xf64>", {{"3x4xf64", 0.2, 3}}},
    {"nn.sin %a : tensor<3x4xf64>", {{"3x4xf64", -2, 2}}},
    {"nn.cos %a : tensor<3x4xf64>", {{"3x4xf64", -2, 2}}},
    {"nn.tan %a : tensor<3x4xf64>", {{"3x4xf64", -1.2, 1.2}}},
    {"nn.asin %a : tensor<3x4xf64>", {{"3x4xf64", -0.9, 0.9}}},
    {"nn.acos %a : tensor<3x4xf64>", {{"3x4xf64", -0.9, 0.9}}},
    {"nn.atan %a : tensor<3x4xf64>", {{"3x4xf64", -2, 2}}},
    {"nn.sinh %a : tensor<3x4xf64>", {{"3x4xf64", -2, 2}}},
    {"nn.cosh %a : tensor<3x4xf64>", {{"3x4xf64", -2, 2}}},
    {"nn.tanh %a : tensor<3x4xf64>", {{"3x4xf64", -2, 2}}},
    {"nn.asinh %a : tensor<3x4xf64>", {{"3x4xf64", -2, 2}}},
    {"nn.acosh %a : tensor<3x4xf64>", {{"3x4xf64", 1.2, 3}}},
    {"nn.atanh %a : tensor<3x4xf64>", {{"3x4xf64", -0.9, 0.9}}},
    {"nn.erf %a : tensor<3x4xf64>", {{"3x4xf64", -2, 2}}},
    {"nn.sigmoid %a : tensor<3x4xf64>", {{"3x4xf64", -4, 4}}},
    {"nn.softplus %a : tensor<3x4xf64>", {{"3x4xf64", -4, 4}}},
    {"nn.floor %a : tensor<3x4xf64>", {{"3x4xf64", -4, 4}}},
    {"nn.ceil %a : tensor<3x4xf64>", {{"3x4xf64", -4, 4}}},
    {"nn.stop_gradient %a : tensor<3x4xf64>", {{"3x4xf64", -4, 4}}, {0}},
    {"nn.round %a : tensor<3x4xf64>", {{"3x4xf64", -4, 4}}},
    {"nn.gelu none %a : tensor<3x4xf64>", {{"3x4xf64", -3, 3}}},
    {"nn.gelu tanh %a : tensor<3x4xf64>", {{"3x4xf64", -3, 3}}},
    {"nn.add %a, %b : tensor<3x4xf64>", {{"3x4xf64", -2, 2}, {"3x4xf64", -2, 2}}},
    {"nn.sub %a, %b : tensor<3x4xf64>", {{"3x4xf64", -2, 2}, {"3x4xf64", -2, 2}}},
    {"nn.mul %a, %b : tensor<3x4xf64>", {{"3x4xf64", -2, 2}, {"3x4xf64", -2, 2}}},
    {"nn.div %a, %b : tensor<3x4xf64>", {{"3x4xf64", -2, 2}, {"3x4xf64", 0.5, 2}}},
    {"nn.pow %a, %b : tensor<3x4xf64>", {{"3x4xf64", 0.3, 2}, {"3x4xf64", -2, 2}}},
    {"nn.max %a, %b : tensor<3x4xf64>", {{"3x4xf64", -2, 2}, {"3x4xf64", -2, 2}}},
    {"nn.min %a, %b : tensor<3x4xf64>", {{"3x4xf64", -2, 2}, {"3x4xf64", -2, 2}}},
    {"nn.rem %a, %b : tensor<3x4xf64>", {{"3x4xf64", -5, 5}, {"3x4xf64", 1.1, 1.9}}},
    {"nn.mod %a, %b : tensor<3x4xf64>", {{"3x4xf64", -5, 5}, {"3x4xf64", 1.1, 1.9}}},
    {"nn.mod %a, %b : tensor<3x4xf64>", {{"3x4xf64", -5, 5}, {"3x4xf64", -1.9, -1.1}}},
    {"nn.mul %a, %a : tensor<5xf64>", {{"5xf64"}}},
    {"nn.select %a, %b, %c : tensor<6xi1>, tensor<6xf64>", {{"6xi1", 0, 1}, {"6xf64"}, {"6xf64"}}},
    {"nn.clamp %a, %b, %c : tensor<9xf64>", {{"9xf64"}, {"9xf64", -1, -0.5}, {"9xf64", 0.5, 1}}, {1, 2}},
    {"nn.convert %a : tensor<5xf64> -> tensor<5xf32>", {{"5xf64"}}},
    {"nn.convert %a : tensor<5xf64> -> tensor<5xi64>", {{"5xf64"}}},
    // Shape
    {"nn.reshape %a : tensor<2x6xf64> -> tensor<3x4xf64>", {{"2x6xf64"}}},
    {"nn.reshape %a : tensor<4x6x1xf64> -> tensor<1x2x2x6xf64>", {{"4x6x1xf64"}}},
    {"nn.transpose %a [2, 0, 1] : tensor<2x3x4xf64> -> tensor<4x2x3xf64>", {{"2x3x4xf64"}}},
    {"nn.broadcast %a [1] : tensor<3xf64> -> tensor<2x3x4xf64>", {{"3xf64"}}},
    {"nn.broadcast %a [] : tensor<f64> -> tensor<2x3xf64>", {{"f64"}}},
    {"nn.slice %a starts [1, 0] limits [3, 5] strides [1, 2] : tensor<4x6xf64> -> tensor<2x3xf64>", {{"4x6xf64"}}},
    {"nn.slice %a starts [2] limits [2] strides [1] : tensor<4xf64> -> tensor<0xf64>", {{"4xf64"}}},
    {"nn.pad %a, %b low [1, 0] high [0, 2] interior [0, 1] : tensor<2x3xf64>, tensor<f64> -> tensor<3x7xf64>", {{"2x3xf64"}, {"f64"}}},
    {"nn.pad %a, %b low [-1] high [-2] interior [2] : tensor<4xf64>, tensor<f64> -> tensor<7xf64>", {{"4xf64"}, {"f64"}}},
    {"%z = nn.constant dense<0.0> : tensor<f64> nn.pad %a, %z low [2] high [1] interior [0] : tensor<4xf64>, tensor<f64> -> tensor<7xf64>", {{"4xf64"}}},
    {"nn.concat %a, %b, %a dim 1 : tensor<2x1xf64>, tensor<2x3xf64>, tensor<2x1xf64> -> tensor<2x5xf64>", {{"2x1xf64"}, {"2x3xf64"}}},
    {"nn.reverse %a [0, 2] : tensor<2x3x4xf64>", {{"2x3x4xf64"}}},
    // Contraction
    {"nn.dot %a, %b contract [1] [0] : tensor<3x4xf64>, tensor<4x5xf64> -> tensor<3x5xf64>", {{"3x4xf64"}, {"4x5xf64"}}},
    {"nn.dot %a, %b batch [0, 2] [1, 3] contract [3, 1] [2, 0] : tensor<2x3x2x4xf64>, tensor<3x2x4x2x5xf64> -> tensor<2x2x5xf64>", {{"2x3x2x4xf64"}, {"3x2x4x2x5xf64"}}},
    {"nn.dot %a, %b batch [1] [0] contract [] [] : tensor<2x3xf64>, tensor<3x2x2xf64> -> tensor<3x2x2x2xf64>", {{"2x3xf64"}, {"3x2x2xf64"}}},
    {"nn.dot %a, %a contract [0] [1] : tensor<3x3xf64>, tensor<3x3xf64> -> tensor<3x3xf64>", {{"3x3xf64"}}},
    // Reduction
    {"nn.reduce sum %a [0, 2] : tensor<2x3x4xf64> -> tensor<3xf64>", {{"2x3x4xf64"}}},
    {"nn.reduce max %a [0, 2] : tensor<2x3x4xf64> -> tensor<3xf64>", {{"2x3x4xf64"}}},
    {"nn.reduce min %a [1] : tensor<2x3x4xf64> -> tensor<2x4xf64>", {{"2x3x4xf64"}}},
    {"nn.reduce max %a [0, 2] {first} : tensor<2x3x4xf64> -> tensor<3xf64>", {{"2x3x4xf64"}}},
    {"nn.reduce min %a [1] {first} : tensor<2x3x4xf64> -> tensor<2x4xf64>", {{"2x3x4xf64"}}},
    {"nn.reduce prod %a [0, 2] : tensor<2x3x4xf64> -> tensor<3xf64>", {{"2x3x4xf64"}}},
    {"%z = nn.constant dense<[1.0, 0.0, 2.0]> : tensor<3xf64> %x = nn.mul %a, %z : tensor<3xf64> nn.reduce prod %x [0] : tensor<3xf64> -> tensor<f64>", {{"3xf64"}}},
    {"nn.cumsum %a dim 1 : tensor<2x4x2xf64>", {{"2x4x2xf64"}}},
    {"nn.cumsum %a dim 0 {exclusive} : tensor<4x2xf64>", {{"4x2xf64"}}},
    {"nn.cumsum %a dim 0 {reverse} : tensor<4x2xf64>", {{"4x2xf64"}}},
    {"nn.cumsum %a dim 1 {exclusive, reverse} : tensor<2x4xf64>", {{"2x4xf64"}}},
    // Convolution
    {"nn.conv %a, %b strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] groups 2 : tensor<2x4x5x5xf64>, tensor<6x2x3x2xf64> -> tensor<2x6x2x4xf64>", {{"2x4x5x5xf64"}, {"6x2x3x2xf64"}}},
    {"nn.conv %a, %b strides [2] padLow [-1] padHigh [2] dilations [1] groups 1 : tensor<1x2x6xf64>, tensor<3x2x3xf64> -> tensor<1x3x3xf64>", {{"1x2x6xf64"}, {"3x2x3xf64"}}},
    {"nn.conv_input_grad %a, %b strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] groups 2 : tensor<2x6x2x4xf64>, tensor<6x2x3x2xf64> -> tensor<2x4x5x5xf64>", {{"2x6x2x4xf64"}, {"6x2x3x2xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] groups 2 : tensor<2x4x5x5xf64>, tensor<2x6x2x4xf64> -> tensor<6x2x3x2xf64>", {{"2x4x5x5xf64"}, {"2x6x2x4xf64"}}},
    // Pooling
    {"nn.max_pool %a kernel [3, 2] strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] : tensor<2x3x5x5xf64> -> tensor<2x3x2x4xf64>", {{"2x3x5x5xf64"}}},
    {"nn.sum_pool %a kernel [3, 2] strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] : tensor<2x3x5x5xf64> -> tensor<2x3x2x4xf64>", {{"2x3x5x5xf64"}}},
    {"nn.sum_pool_grad %a kernel [3, 2] strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] : tensor<2x3x2x4xf64> -> tensor<2x3x5x5xf64>", {{"2x3x2x4xf64"}}},
    // Normalization
    {"nn.softmax %a dim 1 : tensor<2x4x3xf64>", {{"2x4x3xf64"}}},
    {"nn.log_softmax %a dim 0 : tensor<4x3xf64>", {{"4x3xf64"}}},
    {"nn.normalize %a [1, 2] epsilon 0.1 : tensor<2x3x4xf64> -> tensor<2x3x4xf64>, tensor<2xf64>, tensor<2xf64>", {{"2x3x4xf64"}}},
    {"nn.normalize %a [0] epsilon 1.0e-5 uncentered : tensor<4x3xf64> -> tensor<4x3xf64>, tensor<3xf64>, tensor<3xf64>", {{"4x3xf64"}}},
    // Attention: rows before or behind heads, masks over some dimensions, a
    // gradient of the sums.
    {"nn.attention %a, %b, %c rows 0 scale 0.7 : tensor<3x4xf64>, tensor<5x4xf64>, tensor<5x2xf64> -> tensor<3x2xf64>, tensor<3xf64>", {{"3x4xf64"}, {"5x4xf64"}, {"5x2xf64"}}},
    {"nn.attention %a, %b, %c rows 1 scale 0.5 causal : tensor<2x3x2x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x3xf64> -> tensor<2x3x2x3xf64>, tensor<2x2x3xf64>", {{"2x3x2x4xf64"}, {"2x5x2x4xf64"}, {"2x5x2x3xf64"}}},
    {"nn.attention %a, %b, %c mask %d [0, 3] rows 2 scale -1.0 guarded : tensor<2x3x4x2xf64>, tensor<2x3x4x2xf64>, tensor<2x3x4x2xf64>, tensor<2x4xf64> -> tensor<2x3x4x2xf64>, tensor<2x3x4xf64>", {{"2x3x4x2xf64"}, {"2x3x4x2xf64"}, {"2x3x4x2xf64"}, {"2x4xf64"}}},
    {"nn.attention %a, %b, %c mask %d [1, 2] rows 0 scale 0.5 causal : tensor<4x2x3xf64>, tensor<4x2x3xf64>, tensor<4x2x3xf64>, tensor<4x4xf64> -> tensor<4x2x3xf64>, tensor<2x4xf64>", {{"4x2x3xf64"}, {"4x2x3xf64"}, {"4x2x3xf64"}, {"4x4xf64"}}},
    {R"(%m = nn.constant dense<[-1.0e+30, 0.5]> : tensor<2xf64>
        %y, %l = nn.attention %a, %b, %c mask %m [0] rows 1 scale 0.4 : tensor<2x3x2x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x3xf64>, tensor<2xf64> -> tensor<2x3x2x3xf64>, tensor<2x2x3xf64>
        nn.attention_grad %a, %b, %c, %l, %d, %e mask %m [0] rows 1 scale 0.4 : tensor<2x3x2x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x3xf64>, tensor<2x2x3xf64>, tensor<2x2x3xf64>, tensor<2x3x2x3xf64>, tensor<2xf64> -> tensor<2x3x2x4xf64>, tensor<2x5x2x4xf64>, tensor<2x5x2x3xf64>)",
     {{"2x3x2x4xf64"}, {"2x5x2x4xf64"}, {"2x5x2x3xf64"}, {"2x2x3xf64"}, {"2x3x2x3xf64"}}},
    {R"(%m = nn.constant dense<[-1.0e+30, 0.5]> : tensor<2xf64>
        %y, %l = nn.attention %a, %b, %c mask %m [0] rows 1 scale 0.4 causal guarded : tensor<2x3x1x4xf64>, tensor<2x5x1x4xf64>, tensor<2x5x1x3xf64>, tensor<2xf64> -> tensor<2x3x1x3xf64>, tensor<2x1x3xf64>
        nn.attention_grad %a, %b, %c, %l, %d, %e mask %m [0] rows 1 scale 0.4 causal guarded : tensor<2x3x1x4xf64>, tensor<2x5x1x4xf64>, tensor<2x5x1x3xf64>, tensor<2x1x3xf64>, tensor<2x1x3xf64>, tensor<2x3x1x3xf64>, tensor<2xf64> -> tensor<2x3x1x4xf64>, tensor<2x5x1x4xf64>, tensor<2x5x1x3xf64>)",
     {{"2x3x1x4xf64"}, {"2x5x1x4xf64"}, {"2x5x1x3xf64"}, {"2x1x3xf64"}, {"2x3x1x3xf64"}}},
    // Loss
    {"%l = nn.constant dense<[2, -100, 0]> : tensor<3xi64> nn.cross_entropy %a, %l dim 1 : tensor<3x4xf64>, tensor<3xi64> -> tensor<3xf64>, tensor<3xf64>", {{"3x4xf64"}}},
    {"%l = nn.constant dense<[[1, 0], [3, 2]]> : tensor<2x2xi32> nn.cross_entropy %a, %l dim 1 {ignoreIndex = 2 : i64, labelSmoothing = 0.2 : f64} : tensor<2x4x2xf64>, tensor<2x2xi32> -> tensor<2x2xf64>, tensor<2x2xf64>", {{"2x4x2xf64"}}},
    // Indexing
    {"nn.gather %a, %b dim 0 : tensor<5x2xf64>, tensor<3x4xi64> -> tensor<3x4x2xf64>", {{"5x2xf64"}, {"3x4xi64", 0, 4}}},
    {"nn.gather %a, %b dim 1 : tensor<2x5x3xf64>, tensor<i32> -> tensor<2x3xf64>", {{"2x5x3xf64"}, {"i32", 0, 4}}},
    {"nn.scatter_add %a, %b dim 1 : tensor<2x7x3xf64>, tensor<7xi64> -> tensor<2x4x3xf64>", {{"2x7x3xf64"}, {"7xi64", 0, 3}}},
    {"nn.gather_elements %a, %b dim 1 : tensor<3x5xf64>, tensor<2x7xi64> -> tensor<2x7xf64>", {{"3x5xf64"}, {"2x7xi64", 0, 4}}},
    {"%i = nn.constant dense<[[0, 3], [4, 1]]> : tensor<2x2xi64> nn.scatter_elements none %a, %i, %b dim 1 : tensor<3x5xf64>, tensor<2x2xi64>, tensor<2x2xf64>", {{"3x5xf64"}, {"2x2xf64"}}},
    {"nn.scatter_elements add %a, %c, %b dim 0 : tensor<3x5xf64>, tensor<4x4xi64>, tensor<4x4xf64>", {{"3x5xf64"}, {"4x4xf64"}, {"4x4xi64", 0, 2}}},
    {"nn.scatter_elements max %a, %c, %b dim 0 : tensor<3x5xf64>, tensor<4x4xi64>, tensor<4x4xf64>", {{"3x5xf64"}, {"4x4xf64"}, {"4x4xi64", 0, 2}}},
    {"nn.scatter_elements min %a, %c, %b dim 0 : tensor<3x5xf64>, tensor<4x4xi64>, tensor<4x4xf64>", {{"3x5xf64"}, {"4x4xf64"}, {"4x4xi64", 0, 2}}},
    {"nn.gather_nd %a, %b : tensor<3x4x2xf64>, tensor<5x2xi64> -> tensor<5x2xf64>", {{"3x4x2xf64"}, {"5x2xi64", 0, 2}}},
    {"nn.gather_nd %a, %b {batchDims = 1 : i64} : tensor<2x3x4xf64>, tensor<2x5x1xi64> -> tensor<2x5x4xf64>", {{"2x3x4xf64"}, {"2x5x1xi64", 0, 2}}},
    {"%i = nn.constant dense<[[0, 3], [2, 1]]> : tensor<2x2xi64> nn.scatter_nd none %a, %i, %b : tensor<3x4x2xf64>, tensor<2x2xi64>, tensor<2x2xf64>", {{"3x4x2xf64"}, {"2x2xf64"}}},
    {"nn.scatter_nd add %a, %c, %b : tensor<3x4xf64>, tensor<5x1xi64>, tensor<5x4xf64>", {{"3x4xf64"}, {"5x4xf64"}, {"5x1xi64", 0, 2}}},
    {"nn.scatter_nd max %a, %c, %b {batchDims = 1 : i64} : tensor<2x4xf64>, tensor<2x5x1xi64>, tensor<2x5xf64>", {{"2x4xf64"}, {"2x5xf64"}, {"2x5x1xi64", 0, 3}}},
    {"nn.top_k %a dim 0 {k = 3 : i64} : tensor<5x2xf64> -> tensor<3x2xf64>, tensor<3x2xi64>", {{"5x2xf64"}}},
    {"nn.top_k %a dim 1 {k = 2 : i64, largest = false} : tensor<2x5xf64> -> tensor<2x2xf64>, tensor<2x2xi64>", {{"2x5xf64"}}},
};
// clang-format on

const std::vector<dpc::test::OpCase> &dpc::test::opCases() { return cases; }
