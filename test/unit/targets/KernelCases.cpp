// Kernels for tests of generated code beside OpCases.cpp: ops without a
// gradient, blocks with remainders, 16-bit floats, empty tensors, fused ops.

#include "test/unit/targets/KernelCases.h"

// clang-format off
static const std::vector<dpc::test::OpCase> kernels = {
    // Ops that have no gradient.
    {"nn.iota dim 1 : tensor<3x5xf64>", {}},
    {"nn.iota dim 0 : tensor<7x2xi32>", {}},
    {"nn.arg_reduce max %a dim 1 : tensor<7x33xf64> -> tensor<7xi64>", {{"7x33xf64"}}},
    {"nn.arg_reduce min %a dim 0 {selectLast} : tensor<9x3xi32> -> tensor<3xi32>", {{"9x3xi32", -2, 2}}},
    {"nn.arg_reduce max %a dim 0 : tensor<9x3xui8> -> tensor<3xi64>", {{"9x3xui8", 0, 255}}},
    {"nn.random_uniform %a, %b, %c {ordinal = 3 : i64} : tensor<4x9xi64> -> tensor<4x9xf64>", {{"i64", 0, 1000}, {"i64", 0, 9}, {"4x9xi64", 0, 5000000000}}},
    {"nn.max_pool_grad %a, %b kernel [3, 2] strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] : tensor<2x3x2x4xi8>, tensor<2x3x2x4xf64> -> tensor<2x3x5x5xf64>", {{"2x3x2x4xi8", -1, 5}, {"2x3x2x4xf64"}}},
    {"nn.is_nan %a : tensor<5xf64> -> tensor<5xi1>", {{"5xf64"}}},
    {"%z = nn.constant dense<[0.0, 1.0, -2.0]> : tensor<3xf64> %q = nn.div %a, %z : tensor<3xf64> nn.is_inf %q : tensor<3xf64> -> tensor<3xi1>", {{"3xf64"}}},
    // Products and convolutions by tiles, with remainders, in all orders of their dimensions, and what is joined to them.
    {"nn.dot %a, %b contract [1] [0] : tensor<70x33xf64>, tensor<33x40xf64> -> tensor<70x40xf64>", {{"70x33xf64"}, {"33x40xf64"}}},
    {"nn.dot %a, %b contract [0] [1] : tensor<19x20xf64>, tensor<300x19xf64> -> tensor<20x300xf64>", {{"19x20xf64"}, {"300x19xf64"}}},
    {"nn.dot %a, %b batch [0] [1] contract [2] [2] : tensor<3x20x24xf64>, tensor<17x3x24xf64> -> tensor<3x20x17xf64>", {{"3x20x24xf64"}, {"17x3x24xf64"}}},
    {"nn.dot %a, %b contract [2, 0] [1, 3] : tensor<4x150x5xf64>, tensor<9x5x8x4xf64> -> tensor<150x9x8xf64>", {{"4x150x5xf64"}, {"9x5x8x4xf64"}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<33x40xbf16>, tensor<40x50xbf16> -> tensor<33x50xbf16>", {{"33x40xbf16"}, {"40x50xbf16"}}},
    {"nn.dot %a, %b contract [1] [1] : tensor<40x1100xbf16>, tensor<50x1100xbf16> -> tensor<40x50xf32>", {{"40x1100xbf16"}, {"50x1100xbf16"}}},
    {"nn.dot %a, %b batch [0] [1] contract [2] [2] : tensor<3x20x24xbf16>, tensor<17x3x24xbf16> -> tensor<3x20x17xf32>", {{"3x20x24xbf16"}, {"17x3x24xbf16"}}},
    {"%p = nn.dot %a, %b contract [0] [0] : tensor<24x40xf16>, tensor<24x32xf16> -> tensor<40x32xf32> %v = nn.broadcast %c [1] : tensor<32xf32> -> tensor<40x32xf32> nn.add %p, %v : tensor<40x32xf32>", {{"24x40xf16"}, {"24x32xf16"}, {"32xf32"}}},
    {"%p = nn.dot %a, %b contract [1] [0] : tensor<40x24xbf16>, tensor<24x32xbf16> -> tensor<40x32xf32> nn.add %p, %c : tensor<40x32xf32>", {{"40x24xbf16"}, {"24x32xbf16"}, {"40x32xf32"}}},
    {"%s = nn.slice %a starts [0, 0] limits [32, 37] strides [1, 1] {nn.read_in_place} : tensor<32x40xf64> -> tensor<32x37xf64> %e = nn.exp %s : tensor<32x37xf64> %z = nn.constant dense<0.0> : tensor<f64> nn.pad %e, %z low [0, 0] high [0, 3] interior [0, 0] : tensor<32x37xf64>, tensor<f64> -> tensor<32x40xf64>", {{"32x40xf64"}}},
    {"nn.dot %a, %b contract [0] [0] : tensor<40x36xf16>, tensor<40x50xf16> -> tensor<36x50xf64>", {{"40x36xf16"}, {"40x50xf16"}}},
    {"%p = nn.dot %a, %b contract [1] [0] : tensor<40x24xf64>, tensor<24x40xf64> -> tensor<40x40xf64> %q = nn.add %p, %c : tensor<40x40xf64> nn.tanh %q : tensor<40x40xf64>", {{"40x24xf64"}, {"24x40xf64"}, {"40x40xf64"}}},
    {"%p = nn.dot %a, %b contract [1] [0] : tensor<40x24xf64>, tensor<24x40xf64> -> tensor<40x40xf64> nn.reduce sum %p [1] : tensor<40x40xf64> -> tensor<40xf64>", {{"40x24xf64"}, {"24x40xf64"}}},
    {"%e = nn.exp %a : tensor<40x24xf64> nn.dot %e, %b contract [1] [0] : tensor<40x24xf64>, tensor<24x40xf64> -> tensor<40x40xf64>", {{"40x24xf64"}, {"24x40xf64"}}},
    {"nn.conv %a, %b strides [2, 2] padLow [1, 1] padHigh [0, 1] dilations [1, 1] groups 2 : tensor<3x8x9x9xf64>, tensor<36x4x3x3xf64> -> tensor<3x36x4x5xf64>", {{"3x8x9x9xf64"}, {"36x4x3x3xf64"}}},
    {"nn.conv_input_grad %a, %b strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] groups 2 : tensor<2x14x6x10xf64>, tensor<14x17x3x2xf64> -> tensor<2x34x13x11xf64>", {{"2x14x6x10xf64"}, {"14x17x3x2xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] groups 2 : tensor<2x10x13x11xf64>, tensor<2x36x6x10xf64> -> tensor<36x5x3x2xf64>", {{"2x10x13x11xf64"}, {"2x36x6x10xf64"}}},
    // Fills whose parts are shared by many, and whose updates fall on one element in an order that shows.
    {"nn.scatter_add %a, %b dim 0 : tensor<300x70xf64>, tensor<300xi64> -> tensor<7x70xf64>", {{"300x70xf64"}, {"300xi64", 0, 6}}},
    {"nn.scatter_add %a, %b dim 1 : tensor<3x90x2xf64>, tensor<90xi32> -> tensor<3x600x2xf64>", {{"3x90x2xf64"}, {"90xi32", 0, 599}}},
    {"nn.scatter_add %a, %b dim 0 : tensor<64x70xf64>, tensor<64xi64> -> tensor<40x70xf64>", {{"64x70xf64"}, {"64xi64", 0, 39}}},
    {"nn.scatter_elements none %a, %c, %b dim 0 : tensor<50xf64>, tensor<200xi64>, tensor<200xf64>", {{"50xf64"}, {"200xf64"}, {"200xi64", 0, 49}}},
    {"nn.scatter_elements none %a, %c, %b dim 0 : tensor<9x40xf64>, tensor<30x7xi64>, tensor<30x7xf64>", {{"9x40xf64"}, {"30x7xf64"}, {"30x7xi64", 0, 8}}},
    {"nn.scatter_nd none %a, %c, %b : tensor<30x40xf64>, tensor<90x1xi64>, tensor<90x40xf64>", {{"30x40xf64"}, {"90x40xf64"}, {"90x1xi64", 0, 29}}},
    {"nn.scatter_nd mul %a, %c, %b : tensor<6x5x3xf64>, tensor<80x2xi64>, tensor<80x3xf64>", {{"6x5x3xf64"}, {"80x3xf64"}, {"80x2xi64", 0, 4}}},
    {"nn.top_k %a dim 1 {k = 9 : i64} : tensor<3x700xf64> -> tensor<3x9xf64>, tensor<3x9xi64>", {{"3x700xf64"}}},
    {"nn.top_k %a dim 1 {k = 40 : i64, largest = false} : tensor<2x300xi32> -> tensor<2x40xi32>, tensor<2x40xi64>", {{"2x300xi32", 0, 5}}},
    {"nn.cumsum %a dim 1 : tensor<2x1000xf64>", {{"2x1000xf64"}}},
    {"nn.cumsum %a dim 0 {exclusive, reverse} : tensor<1037x3xf64>", {{"1037x3xf64"}}},
    {"nn.cumsum %a dim 0 {exclusive} : tensor<9000xi32>", {{"9000xi32", -99, 99}}},
    // Segments that begin before the tensor, end behind it, or are empty.
    {"nn.segment_sum %a, %b, %c : tensor<9000xf64>, tensor<3xi64> -> tensor<3xf64>", {{"9000xf64"}, {"3xi64", -50, 6000}, {"3xi64", 3000, 9050}}},
    {"nn.segment_sum %a, %b, %c : tensor<70xf32>, tensor<40xi64> -> tensor<40xf32>", {{"70xf32"}, {"40xi64", -9, 69}, {"40xi64", -9, 80}}},
    {"nn.segment_fill %a, %b, %c : tensor<1xf64>, tensor<1xi64> -> tensor<900xf64>", {{"1xf64"}, {"1xi64", -5, 300}, {"1xi64", 200, 910}}},
    {"nn.segment_fill %a, %b, %c : tensor<1xf32>, tensor<1xi64> -> tensor<9xf32>", {{"1xf32"}, {"1xi64", 5, 9}, {"1xi64", 0, 5}}},
    // Integers: wrap-around, signedness, shifts beyond the width.
    {"nn.xor %a, %b : tensor<9xi32>", {{"9xi32", -99, 99}, {"9xi32", -99, 99}}},
    {"nn.and %a, %b : tensor<9xi1>", {{"9xi1", 0, 1}, {"9xi1", 0, 1}}},
    {"nn.or %a, %b : tensor<9xui16>", {{"9xui16", 0, 65535}, {"9xui16", 0, 65535}}},
    {"nn.not %a : tensor<9xi8>", {{"9xi8", -128, 127}}},
    {"nn.not %a : tensor<9xi1>", {{"9xi1", 0, 1}}},
    {"nn.shift_left %a, %b : tensor<33xi32>", {{"33xi32", -99, 99}, {"33xi32", 0, 40}}},
    {"nn.shift_right %a, %b : tensor<33xi64>", {{"33xi64", -99, 99}, {"33xi64", 0, 70}}},
    {"nn.add %a, %b : tensor<33xi8>", {{"33xi8", -128, 127}, {"33xi8", -128, 127}}},
    {"nn.mul %a, %b : tensor<33xui8>", {{"33xui8", 0, 255}, {"33xui8", 0, 255}}},
    {"nn.div %a, %b : tensor<33xi32>", {{"33xi32", -99, 99}, {"33xi32", 1, 7}}},
    {"nn.div %a, %b : tensor<33xui8>", {{"33xui8", 0, 255}, {"33xui8", 1, 255}}},
    {"nn.rem %a, %b : tensor<33xi64>", {{"33xi64", -99, 99}, {"33xi64", -7, -1}}},
    {"nn.mod %a, %b : tensor<33xi32>", {{"33xi32", -99, 99}, {"33xi32", -7, -1}}},
    {"nn.pow %a, %b : tensor<33xi32>", {{"33xi32", -3, 3}, {"33xi32", -2, 9}}},
    {"nn.max %a, %b : tensor<33xui8>", {{"33xui8", 0, 255}, {"33xui8", 0, 255}}},
    {"nn.clamp %a, %b, %c : tensor<9xi32>", {{"9xi32", -99, 99}, {"9xi32", -9, 0}, {"9xi32", 1, 9}}},
    {"nn.compare lt %a, %b : tensor<33xui8> -> tensor<33xi1>", {{"33xui8", 0, 255}, {"33xui8", 0, 255}}},
    {"nn.compare ge %a, %b : tensor<33xi8> -> tensor<33xi1>", {{"33xi8", -128, 127}, {"33xi8", -128, 127}}},
    {"nn.compare ne %a, %b : tensor<33xf64> -> tensor<33xi1>", {{"33xf64"}, {"33xf64"}}},
    {"nn.convert %a : tensor<33xui8> -> tensor<33xf64>", {{"33xui8", 0, 255}}},
    {"nn.convert %a : tensor<33xi8> -> tensor<33xf64>", {{"33xi8", -128, 127}}},
    {"nn.convert %a : tensor<33xf64> -> tensor<33xui8>", {{"33xf64", 0, 255}}},
    {"nn.convert %a : tensor<33xf64> -> tensor<33xi1>", {{"33xf64"}}},
    {"nn.convert %a : tensor<33xi64> -> tensor<33xi8>", {{"33xi64", -999, 999}}},
    {"nn.convert %a : tensor<33xi1> -> tensor<33xi32>", {{"33xi1", 0, 1}}},
    {"nn.reduce max %a [1] : tensor<5x33xui8> -> tensor<5xui8>", {{"5x33xui8", 0, 255}}},
    {"nn.reduce min %a [0] : tensor<5x33xi16> -> tensor<33xi16>", {{"5x33xi16", -999, 999}}},
    {"nn.reduce max %a [0] : tensor<5x33xi1> -> tensor<33xi1>", {{"5x33xi1", 0, 1}}},
    {"nn.reduce prod %a [0, 1] : tensor<5x3xi64> -> tensor<i64>", {{"5x3xi64", -3, 3}}},
    {"nn.cumsum %a dim 0 : tensor<9xi32>", {{"9xi32", -99, 99}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<3x4xi32>, tensor<4x5xi32> -> tensor<3x5xi32>", {{"3x4xi32", -9, 9}, {"4x5xi32", -9, 9}}},
    {"nn.top_k %a dim 0 {k = 5 : i64} : tensor<9xui8> -> tensor<5xui8>, tensor<5xi64>", {{"9xui8", 0, 255}}},
    {"nn.gather %a, %b dim 0 : tensor<5xi1>, tensor<9xi32> -> tensor<9xi1>", {{"5xi1", 0, 1}, {"9xi32", 0, 4}}},
    {"nn.scatter_elements mul %a, %c, %b dim 0 : tensor<5xi32>, tensor<9xi64>, tensor<9xi32>", {{"5xi32", 1, 3}, {"9xi32", 1, 2}, {"9xi64", 0, 4}}},
    // Products that are blocked: both orders of each factor, remainders.
    {"nn.dot %a, %b contract [1] [0] : tensor<33x65xf64>, tensor<65x47xf64> -> tensor<33x47xf64>", {{"33x65xf64"}, {"65x47xf64"}}},
    {"nn.dot %a, %b contract [1] [1] : tensor<17x64xf64>, tensor<70x64xf64> -> tensor<17x70xf64>", {{"17x64xf64"}, {"70x64xf64"}}},
    {"nn.dot %a, %b contract [0] [0] : tensor<67x19xf64>, tensor<67x32xf64> -> tensor<19x32xf64>", {{"67x19xf64"}, {"67x32xf64"}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<101x1531xf64>, tensor<1531x10xf64> -> tensor<101x10xf64>", {{"101x1531xf64"}, {"1531x10xf64"}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<8x4096xf64>, tensor<4096x545xf64> -> tensor<8x545xf64>", {{"8x4096xf64", -0.1, 0.1}, {"4096x545xf64", -0.1, 0.1}}},
    {"nn.dot %a, %b batch [0, 2] [0, 2] contract [3] [3] : tensor<2x9x3x16xf64>, tensor<2x9x3x16xf64> -> tensor<2x3x9x9xf64>", {{"2x9x3x16xf64"}, {"2x9x3x16xf64"}}},
    {"nn.dot %a, %b contract [0, 1] [0, 1] : tensor<3x7x33xf64>, tensor<3x7x2x9xf64> -> tensor<33x2x9xf64>", {{"3x7x33xf64"}, {"3x7x2x9xf64"}}},
    {R"(%x = nn.transpose %a [1, 0] : tensor<65x33xf64> -> tensor<33x65xf64> %y = nn.relu %b : tensor<65x47xf64>
        nn.dot %x, %y contract [1] [0] : tensor<33x65xf64>, tensor<65x47xf64> -> tensor<33x47xf64>)", {{"65x33xf64"}, {"65x47xf64"}}},
    // Factors packed by transposing squares, in place, in several row blocks.
    {"nn.dot %a, %b contract [1] [1] : tensor<61x83xf64>, tensor<77x83xf64> -> tensor<61x77xf64>", {{"61x83xf64"}, {"77x83xf64"}}},
    {"nn.dot %a, %b contract [1] [1] : tensor<30x35xf64>, tensor<9x35xf64> -> tensor<30x9xf64>", {{"30x35xf64"}, {"9x35xf64"}}},
    {"nn.dot %a, %b contract [0] [0] : tensor<37x5xf64>, tensor<37x131xf64> -> tensor<5x131xf64>", {{"37x5xf64"}, {"37x131xf64"}}},
    {"nn.dot %a, %b contract [0] [1] : tensor<515x300xf64>, tensor<70x515xf64> -> tensor<300x70xf64>", {{"515x300xf64", -0.3, 0.3}, {"70x515xf64", -0.3, 0.3}}},
    {"nn.dot %a, %b batch [0, 2] [0, 2] contract [3] [1] : tensor<2x9x3x16xf64>, tensor<2x16x3x33xf64> -> tensor<2x3x9x33xf64>", {{"2x9x3x16xf64"}, {"2x16x3x33xf64"}}},
    // Products of narrow factors, whose sums are rounded once or stay as wide as they are.
    {"nn.dot %a, %b contract [1] [0] : tensor<3x5xbf16>, tensor<5x7xbf16> -> tensor<3x7xbf16>", {{"3x5xbf16"}, {"5x7xbf16"}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<33x65xbf16>, tensor<65x47xbf16> -> tensor<33x47xbf16>", {{"33x65xbf16"}, {"65x47xbf16"}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<3x5xbf16>, tensor<5x7xbf16> -> tensor<3x7xf32>", {{"3x5xbf16"}, {"5x7xbf16"}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<33x65xbf16>, tensor<65x47xbf16> -> tensor<33x47xf32>", {{"33x65xbf16"}, {"65x47xbf16"}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<3x5xf16>, tensor<5x7xf16> -> tensor<3x7xf16>", {{"3x5xf16"}, {"5x7xf16"}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<33x65xf16>, tensor<65x47xf16> -> tensor<33x47xf16>", {{"33x65xf16"}, {"65x47xf16"}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<3x5xf16>, tensor<5x7xf16> -> tensor<3x7xf32>", {{"3x5xf16"}, {"5x7xf16"}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<33x65xf16>, tensor<65x47xf16> -> tensor<33x47xf32>", {{"33x65xf16"}, {"65x47xf16"}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<3x5xbf16>, tensor<5x7xbf16> -> tensor<3x7xf64>", {{"3x5xbf16"}, {"5x7xbf16"}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<33x40xf32>, tensor<40x50xf32> -> tensor<33x50xf64>", {{"33x40xf32"}, {"40x50xf32"}}},
    {"nn.conv %a, %b strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] groups 2 : tensor<2x8x13x11xbf16>, tensor<6x4x3x2xbf16> -> tensor<2x6x6x10xf32>", {{"2x8x13x11xbf16"}, {"6x4x3x2xbf16"}}},
    {"nn.conv_input_grad %a, %b strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] groups 2 : tensor<2x6x6x10xbf16>, tensor<6x4x3x2xbf16> -> tensor<2x8x13x11xf32>", {{"2x6x6x10xbf16"}, {"6x4x3x2xbf16"}}},
    {"nn.conv_weight_grad %a, %b strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] groups 2 : tensor<2x8x13x11xbf16>, tensor<2x6x6x10xbf16> -> tensor<6x4x3x2xf32>", {{"2x8x13x11xbf16"}, {"2x6x6x10xbf16"}}},
    {"nn.conv %a, %b strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] groups 2 : tensor<2x8x13x11xbf16>, tensor<6x4x3x2xbf16> -> tensor<2x6x6x10xbf16>", {{"2x8x13x11xbf16"}, {"6x4x3x2xbf16"}}},
    {"nn.conv_input_grad %a, %b strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] groups 2 : tensor<2x6x6x10xbf16>, tensor<6x4x3x2xbf16> -> tensor<2x8x13x11xbf16>", {{"2x6x6x10xbf16"}, {"6x4x3x2xbf16"}}},
    {"nn.conv_weight_grad %a, %b strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] groups 2 : tensor<2x8x13x11xbf16>, tensor<2x6x6x10xbf16> -> tensor<6x4x3x2xbf16>", {{"2x8x13x11xbf16"}, {"2x6x6x10xbf16"}}},
    {"nn.conv %a, %b strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] groups 2 : tensor<2x8x13x11xf16>, tensor<6x4x3x2xf16> -> tensor<2x6x6x10xf32>", {{"2x8x13x11xf16"}, {"6x4x3x2xf16"}}},
    {"nn.conv_input_grad %a, %b strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] groups 2 : tensor<2x6x6x10xf16>, tensor<6x4x3x2xf16> -> tensor<2x8x13x11xf32>", {{"2x6x6x10xf16"}, {"6x4x3x2xf16"}}},
    {"nn.conv_weight_grad %a, %b strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] groups 2 : tensor<2x8x13x11xf16>, tensor<2x6x6x10xf16> -> tensor<6x4x3x2xf32>", {{"2x8x13x11xf16"}, {"2x6x6x10xf16"}}},
    // Convolutions of narrow operands.
    {"nn.conv %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<2x5x9x11xbf16>, tensor<9x5x3x3xbf16> -> tensor<2x9x9x11xf32>", {{"2x5x9x11xbf16"}, {"9x5x3x3xbf16"}}},
    {"nn.conv %a, %b strides [2, 2] padLow [1, 1] padHigh [0, 1] dilations [1, 1] groups 2 : tensor<3x8x9x9xbf16>, tensor<18x4x3x3xbf16> -> tensor<3x18x4x5xbf16>", {{"3x8x9x9xbf16"}, {"18x4x3x3xbf16"}}},
    {"nn.conv_input_grad %a, %b strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] groups 2 : tensor<2x14x6x10xf16>, tensor<14x5x3x2xf16> -> tensor<2x10x13x11xf32>", {{"2x14x6x10xf16"}, {"14x5x3x2xf16"}}},
    {"nn.conv_input_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<3x12x5x5xbf16>, tensor<12x9x3x3xbf16> -> tensor<3x9x5x5xbf16>", {{"3x12x5x5xbf16"}, {"12x9x3x3xbf16"}}},
    {"nn.conv_weight_grad %a, %b strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] groups 2 : tensor<2x10x13x11xbf16>, tensor<2x14x6x10xbf16> -> tensor<14x5x3x2xf32>", {{"2x10x13x11xbf16"}, {"2x14x6x10xbf16"}}},
    {"nn.conv %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<5x7x5x6xbf16>, tensor<37x7x3x3xbf16> -> tensor<5x37x5x6xbf16>", {{"5x7x5x6xbf16"}, {"37x7x3x3xbf16"}}},
    {"nn.conv_input_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<5x37x5x6xf16>, tensor<37x7x3x3xf16> -> tensor<5x7x5x6xf32>", {{"5x37x5x6xf16"}, {"37x7x3x3xf16"}}},
    {"nn.conv_weight_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<5x7x5x6xf16>, tensor<5x37x5x6xf16> -> tensor<37x7x3x3xf16>", {{"5x7x5x6xf16"}, {"5x37x5x6xf16"}}},
    {"nn.conv %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<2x3x24x26xbf16>, tensor<5x3x3x3xbf16> -> tensor<2x5x24x26xf32>", {{"2x3x24x26xbf16"}, {"5x3x3x3xbf16"}}},
    {"nn.conv_input_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<2x5x24x26xf16>, tensor<5x3x3x3xf16> -> tensor<2x3x24x26xf16>", {{"2x5x24x26xf16"}, {"5x3x3x3xf16"}}},
    {"nn.conv_weight_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<2x3x24x26xf16>, tensor<2x5x24x26xf16> -> tensor<5x3x3x3xf32>", {{"2x3x24x26xf16"}, {"2x5x24x26xf16"}}},
    {"nn.conv %a, %b strides [3, 3] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : tensor<2x6x9x11xf16>, tensor<10x6x2x1xf16> -> tensor<2x10x3x4xf16>", {{"2x6x9x11xf16"}, {"10x6x2x1xf16"}}},
    {"nn.conv_input_grad %a, %b strides [3, 3] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : tensor<2x10x3x4xbf16>, tensor<10x6x2x1xbf16> -> tensor<2x6x9x11xf32>", {{"2x10x3x4xbf16"}, {"10x6x2x1xbf16"}}},
    {"nn.conv_weight_grad %a, %b strides [3, 3] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : tensor<2x6x9x11xbf16>, tensor<2x10x3x4xbf16> -> tensor<10x6x2x1xbf16>", {{"2x6x9x11xbf16"}, {"2x10x3x4xbf16"}}},
    {"nn.conv %a, %b strides [4, 2] padLow [2, 1] padHigh [2, 1] dilations [2, 3] groups 1 : tensor<2x5x11x12xf16>, tensor<9x5x3x3xf16> -> tensor<2x9x3x4xf32>", {{"2x5x11x12xf16"}, {"9x5x3x3xf16"}}},
    {"nn.conv_input_grad %a, %b strides [4, 2] padLow [2, 1] padHigh [2, 1] dilations [2, 3] groups 1 : tensor<2x9x3x4xbf16>, tensor<9x5x3x3xbf16> -> tensor<2x5x11x12xbf16>", {{"2x9x3x4xbf16"}, {"9x5x3x3xbf16"}}},
    {"nn.conv_weight_grad %a, %b strides [4, 2] padLow [2, 1] padHigh [2, 1] dilations [2, 3] groups 1 : tensor<2x5x11x12xbf16>, tensor<2x9x3x4xbf16> -> tensor<9x5x3x3xf32>", {{"2x5x11x12xbf16"}, {"2x9x3x4xbf16"}}},
    {"nn.conv_input_grad %a, %b strides [2, 2] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<1x6x16x12xbf16>, tensor<6x4x4x4xbf16> -> tensor<1x4x32x24xbf16>", {{"1x6x16x12xbf16"}, {"6x4x4x4xbf16"}}},
    {"nn.conv %a, %b strides [1, 1] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : tensor<2x20x8x8xf16>, tensor<24x20x1x1xf16> -> tensor<2x24x8x8xf32>", {{"2x20x8x8xf16"}, {"24x20x1x1xf16"}}},
    {"nn.conv_input_grad %a, %b strides [1, 1] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : tensor<2x24x8x8xf16>, tensor<24x20x1x1xf16> -> tensor<2x20x8x8xf16>", {{"2x24x8x8xf16"}, {"24x20x1x1xf16"}}},
    {"nn.conv_weight_grad %a, %b strides [1, 1] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : tensor<2x20x8x8xbf16>, tensor<2x24x8x8xbf16> -> tensor<24x20x1x1xf32>", {{"2x20x8x8xbf16"}, {"2x24x8x8xbf16"}}},
    {"nn.conv %a, %b strides [2] padLow [5] padHigh [5] dilations [1] groups 1 : tensor<3x4x40xf16>, tensor<17x4x11xf16> -> tensor<3x17x20xf16>", {{"3x4x40xf16"}, {"17x4x11xf16"}}},
    {"nn.conv_input_grad %a, %b strides [2] padLow [5] padHigh [5] dilations [1] groups 1 : tensor<3x17x20xf16>, tensor<17x4x11xf16> -> tensor<3x4x40xf32>", {{"3x17x20xf16"}, {"17x4x11xf16"}}},
    {"nn.conv_weight_grad %a, %b strides [2] padLow [5] padHigh [5] dilations [1] groups 1 : tensor<3x4x40xf16>, tensor<3x17x20xf16> -> tensor<17x4x11xf16>", {{"3x4x40xf16"}, {"3x17x20xf16"}}},
    {"nn.conv %a, %b strides [1, 2, 1] padLow [0, 1, 1] padHigh [1, 0, 1] dilations [1, 1, 1] groups 2 : tensor<2x6x4x5x6xbf16>, tensor<18x3x2x3x2xbf16> -> tensor<2x18x4x2x7xf32>", {{"2x6x4x5x6xbf16"}, {"18x3x2x3x2xbf16"}}},
    {"nn.conv_input_grad %a, %b strides [1, 2, 1] padLow [0, 1, 1] padHigh [1, 0, 1] dilations [1, 1, 1] groups 2 : tensor<2x18x4x2x7xbf16>, tensor<18x3x2x3x2xbf16> -> tensor<2x6x4x5x6xbf16>", {{"2x18x4x2x7xbf16"}, {"18x3x2x3x2xbf16"}}},
    {"nn.conv_weight_grad %a, %b strides [1, 2, 1] padLow [0, 1, 1] padHigh [1, 0, 1] dilations [1, 1, 1] groups 2 : tensor<2x6x4x5x6xf16>, tensor<2x18x4x2x7xf16> -> tensor<18x3x2x3x2xf32>", {{"2x6x4x5x6xf16"}, {"2x18x4x2x7xf16"}}},
    {"nn.conv %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 6 : tensor<2x6x13x21xbf16>, tensor<6x1x3x3xbf16> -> tensor<2x6x13x21xbf16>", {{"2x6x13x21xbf16"}, {"6x1x3x3xbf16"}}},
    {"nn.conv_input_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 6 : tensor<2x6x13x21xbf16>, tensor<6x1x3x3xbf16> -> tensor<2x6x13x21xf32>", {{"2x6x13x21xbf16"}, {"6x1x3x3xbf16"}}},
    {"nn.conv_weight_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 6 : tensor<2x6x13x21xbf16>, tensor<2x6x13x21xbf16> -> tensor<6x1x3x3xbf16>", {{"2x6x13x21xbf16"}, {"2x6x13x21xbf16"}}},
    {"nn.conv %a, %b strides [2, 2] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 5 : tensor<3x5x12x23xf16>, tensor<5x1x3x3xf16> -> tensor<3x5x6x12xf32>", {{"3x5x12x23xf16"}, {"5x1x3x3xf16"}}},
    {"nn.conv_input_grad %a, %b strides [2, 2] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 5 : tensor<3x5x6x12xf16>, tensor<5x1x3x3xf16> -> tensor<3x5x12x23xf16>", {{"3x5x6x12xf16"}, {"5x1x3x3xf16"}}},
    {"nn.conv_weight_grad %a, %b strides [2, 2] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 5 : tensor<3x5x12x23xbf16>, tensor<3x5x6x12xbf16> -> tensor<5x1x3x3xf32>", {{"3x5x12x23xbf16"}, {"3x5x6x12xbf16"}}},
    {"nn.conv %a, %b strides [1, 3] padLow [1, 2] padHigh [0, 3] dilations [2, 2] groups 4 : tensor<1x4x15x16xf16>, tensor<8x1x2x5xf16> -> tensor<1x8x14x5xf16>", {{"1x4x15x16xf16"}, {"8x1x2x5xf16"}}},
    {"nn.conv_input_grad %a, %b strides [1, 3] padLow [1, 2] padHigh [0, 3] dilations [2, 2] groups 4 : tensor<1x8x14x5xf16>, tensor<8x1x2x5xf16> -> tensor<1x4x15x16xf32>", {{"1x8x14x5xf16"}, {"8x1x2x5xf16"}}},
    {"nn.conv_weight_grad %a, %b strides [1, 3] padLow [1, 2] padHigh [0, 3] dilations [2, 2] groups 4 : tensor<1x4x15x16xf16>, tensor<1x8x14x5xf16> -> tensor<8x1x2x5xf16>", {{"1x4x15x16xf16"}, {"1x8x14x5xf16"}}},
    {"nn.conv %a, %b strides [3, 4] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 5 : tensor<4x5x25x29xbf16>, tensor<5x1x2x2xbf16> -> tensor<4x5x8x7xf32>", {{"4x5x25x29xbf16"}, {"5x1x2x2xbf16"}}},
    {"nn.conv_input_grad %a, %b strides [3, 4] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 5 : tensor<4x5x8x7xbf16>, tensor<5x1x2x2xbf16> -> tensor<4x5x25x29xbf16>", {{"4x5x8x7xbf16"}, {"5x1x2x2xbf16"}}},
    {"nn.conv_weight_grad %a, %b strides [3, 4] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 5 : tensor<4x5x25x29xf16>, tensor<4x5x8x7xf16> -> tensor<5x1x2x2xf32>", {{"4x5x25x29xf16"}, {"4x5x8x7xf16"}}},
    {"nn.conv %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 2 : tensor<1x2x5x150xbf16>, tensor<2x1x3x3xbf16> -> tensor<1x2x5x150xbf16>", {{"1x2x5x150xbf16"}, {"2x1x3x3xbf16"}}},
    {R"(%x = nn.convert %a : tensor<5x7x5x6xf32> -> tensor<5x7x5x6xbf16> %w = nn.convert %b : tensor<37x7x3x3xf32> -> tensor<37x7x3x3xbf16>
        %y = nn.conv %x, %w strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<5x7x5x6xbf16>, tensor<37x7x3x3xbf16> -> tensor<5x37x5x6xf32>
        nn.relu %y : tensor<5x37x5x6xf32>)", {{"5x7x5x6xf32"}, {"37x7x3x3xf32"}}},
    // Its result may be as wide as they are.
    {"nn.attention %a, %b, %c mask %d [2, 3] rows 1 scale 0.4 causal : tensor<2x19x3x6xbf16>, tensor<2x23x3x6xbf16>, tensor<2x23x3x9xbf16>, tensor<19x23xf32> -> tensor<2x19x3x9xf32>, tensor<2x3x19xf32>", {{"2x19x3x6xbf16"}, {"2x23x3x6xbf16"}, {"2x23x3x9xbf16"}, {"19x23xf32"}}},
    {"nn.attention %a, %b, %c rows 1 scale 0.4 causal : tensor<2x37x3x16xf16>, tensor<2x37x3x16xf16>, tensor<2x37x3x16xf16> -> tensor<2x37x3x16xf32>, tensor<2x3x37xf32>", {{"2x37x3x16xf16"}, {"2x37x3x16xf16"}, {"2x37x3x16xf16"}}},
    {"nn.attention %a, %b, %c rows 0 scale 0.4 : tensor<40x150xbf16>, tensor<50x150xbf16>, tensor<50x260xbf16> -> tensor<40x260xf32>, tensor<40xf32>", {{"40x150xbf16"}, {"50x150xbf16"}, {"50x260xbf16"}}},
    // Attention of narrow rows: scores and sums are f32, a mask may be.
    {"nn.attention %a, %b, %c mask %d [2, 3] rows 1 scale 0.4 causal : tensor<2x19x3x6xbf16>, tensor<2x23x3x6xbf16>, tensor<2x23x3x9xbf16>, tensor<19x23xf32> -> tensor<2x19x3x9xbf16>, tensor<2x3x19xf32>", {{"2x19x3x6xbf16"}, {"2x23x3x6xbf16"}, {"2x23x3x9xbf16"}, {"19x23xf32"}}},
    {"%o, %l = nn.attention %a, %b, %c mask %d [2, 3] rows 1 scale 0.4 causal : tensor<2x19x3x6xbf16>, tensor<2x23x3x6xbf16>, tensor<2x23x3x9xbf16>, tensor<19x23xf32> -> tensor<2x19x3x9xbf16>, tensor<2x3x19xf32> nn.attention_grad %a, %b, %c, %l, %e, %f mask %d [2, 3] rows 1 scale 0.4 causal : tensor<2x19x3x6xbf16>, tensor<2x23x3x6xbf16>, tensor<2x23x3x9xbf16>, tensor<2x3x19xf32>, tensor<2x3x19xf32>, tensor<2x19x3x9xbf16>, tensor<19x23xf32> -> tensor<2x19x3x6xbf16>, tensor<2x23x3x6xbf16>, tensor<2x23x3x9xbf16>", {{"2x19x3x6xbf16"}, {"2x23x3x6xbf16"}, {"2x23x3x9xbf16"}, {"19x23xf32"}, {"2x3x19xf32"}, {"2x19x3x9xbf16"}}},
    {"nn.attention %a, %b, %c mask %d [2, 3] rows 1 scale 0.4 guarded : tensor<2x19x3x6xbf16>, tensor<2x23x3x6xbf16>, tensor<2x23x3x9xbf16>, tensor<19x23xf32> -> tensor<2x19x3x9xbf16>, tensor<2x3x19xf32>", {{"2x19x3x6xbf16"}, {"2x23x3x6xbf16"}, {"2x23x3x9xbf16"}, {"19x23xf32"}}},
    {"%o, %l = nn.attention %a, %b, %c mask %d [2, 3] rows 1 scale 0.4 guarded : tensor<2x19x3x6xbf16>, tensor<2x23x3x6xbf16>, tensor<2x23x3x9xbf16>, tensor<19x23xf32> -> tensor<2x19x3x9xbf16>, tensor<2x3x19xf32> nn.attention_grad %a, %b, %c, %l, %e, %f mask %d [2, 3] rows 1 scale 0.4 guarded : tensor<2x19x3x6xbf16>, tensor<2x23x3x6xbf16>, tensor<2x23x3x9xbf16>, tensor<2x3x19xf32>, tensor<2x3x19xf32>, tensor<2x19x3x9xbf16>, tensor<19x23xf32> -> tensor<2x19x3x6xbf16>, tensor<2x23x3x6xbf16>, tensor<2x23x3x9xbf16>", {{"2x19x3x6xbf16"}, {"2x23x3x6xbf16"}, {"2x23x3x9xbf16"}, {"19x23xf32"}, {"2x3x19xf32"}, {"2x19x3x9xbf16"}}},
    {"nn.attention %a, %b, %c mask %d [2, 3] rows 1 scale 0.4 causal : tensor<2x19x3x6xbf16>, tensor<2x23x3x6xbf16>, tensor<2x23x3x9xbf16>, tensor<19x23xbf16> -> tensor<2x19x3x9xbf16>, tensor<2x3x19xf32>", {{"2x19x3x6xbf16"}, {"2x23x3x6xbf16"}, {"2x23x3x9xbf16"}, {"19x23xbf16"}}},
    {"%o, %l = nn.attention %a, %b, %c mask %d [2, 3] rows 1 scale 0.4 causal : tensor<2x19x3x6xbf16>, tensor<2x23x3x6xbf16>, tensor<2x23x3x9xbf16>, tensor<19x23xbf16> -> tensor<2x19x3x9xbf16>, tensor<2x3x19xf32> nn.attention_grad %a, %b, %c, %l, %e, %f mask %d [2, 3] rows 1 scale 0.4 causal : tensor<2x19x3x6xbf16>, tensor<2x23x3x6xbf16>, tensor<2x23x3x9xbf16>, tensor<2x3x19xf32>, tensor<2x3x19xf32>, tensor<2x19x3x9xbf16>, tensor<19x23xbf16> -> tensor<2x19x3x6xbf16>, tensor<2x23x3x6xbf16>, tensor<2x23x3x9xbf16>", {{"2x19x3x6xbf16"}, {"2x23x3x6xbf16"}, {"2x23x3x9xbf16"}, {"19x23xbf16"}, {"2x3x19xf32"}, {"2x19x3x9xbf16"}}},
    {"nn.attention %a, %b, %c mask %d [2, 3] rows 1 scale 0.4 guarded : tensor<2x19x3x6xbf16>, tensor<2x23x3x6xbf16>, tensor<2x23x3x9xbf16>, tensor<19x23xbf16> -> tensor<2x19x3x9xbf16>, tensor<2x3x19xf32>", {{"2x19x3x6xbf16"}, {"2x23x3x6xbf16"}, {"2x23x3x9xbf16"}, {"19x23xbf16"}}},
    {"%o, %l = nn.attention %a, %b, %c mask %d [2, 3] rows 1 scale 0.4 guarded : tensor<2x19x3x6xbf16>, tensor<2x23x3x6xbf16>, tensor<2x23x3x9xbf16>, tensor<19x23xbf16> -> tensor<2x19x3x9xbf16>, tensor<2x3x19xf32> nn.attention_grad %a, %b, %c, %l, %e, %f mask %d [2, 3] rows 1 scale 0.4 guarded : tensor<2x19x3x6xbf16>, tensor<2x23x3x6xbf16>, tensor<2x23x3x9xbf16>, tensor<2x3x19xf32>, tensor<2x3x19xf32>, tensor<2x19x3x9xbf16>, tensor<19x23xbf16> -> tensor<2x19x3x6xbf16>, tensor<2x23x3x6xbf16>, tensor<2x23x3x9xbf16>", {{"2x19x3x6xbf16"}, {"2x23x3x6xbf16"}, {"2x23x3x9xbf16"}, {"19x23xbf16"}, {"2x3x19xf32"}, {"2x19x3x9xbf16"}}},
    {"nn.attention %a, %b, %c mask %d [2, 3] rows 1 scale 0.4 causal : tensor<2x19x3x6xf16>, tensor<2x23x3x6xf16>, tensor<2x23x3x9xf16>, tensor<19x23xf32> -> tensor<2x19x3x9xf16>, tensor<2x3x19xf32>", {{"2x19x3x6xf16"}, {"2x23x3x6xf16"}, {"2x23x3x9xf16"}, {"19x23xf32"}}},
    {"%o, %l = nn.attention %a, %b, %c mask %d [2, 3] rows 1 scale 0.4 causal : tensor<2x19x3x6xf16>, tensor<2x23x3x6xf16>, tensor<2x23x3x9xf16>, tensor<19x23xf32> -> tensor<2x19x3x9xf16>, tensor<2x3x19xf32> nn.attention_grad %a, %b, %c, %l, %e, %f mask %d [2, 3] rows 1 scale 0.4 causal : tensor<2x19x3x6xf16>, tensor<2x23x3x6xf16>, tensor<2x23x3x9xf16>, tensor<2x3x19xf32>, tensor<2x3x19xf32>, tensor<2x19x3x9xf16>, tensor<19x23xf32> -> tensor<2x19x3x6xf16>, tensor<2x23x3x6xf16>, tensor<2x23x3x9xf16>", {{"2x19x3x6xf16"}, {"2x23x3x6xf16"}, {"2x23x3x9xf16"}, {"19x23xf32"}, {"2x3x19xf32"}, {"2x19x3x9xf16"}}},
    {"nn.attention %a, %b, %c mask %d [2, 3] rows 1 scale 0.4 guarded : tensor<2x19x3x6xf16>, tensor<2x23x3x6xf16>, tensor<2x23x3x9xf16>, tensor<19x23xf32> -> tensor<2x19x3x9xf16>, tensor<2x3x19xf32>", {{"2x19x3x6xf16"}, {"2x23x3x6xf16"}, {"2x23x3x9xf16"}, {"19x23xf32"}}},
    {"%o, %l = nn.attention %a, %b, %c mask %d [2, 3] rows 1 scale 0.4 guarded : tensor<2x19x3x6xf16>, tensor<2x23x3x6xf16>, tensor<2x23x3x9xf16>, tensor<19x23xf32> -> tensor<2x19x3x9xf16>, tensor<2x3x19xf32> nn.attention_grad %a, %b, %c, %l, %e, %f mask %d [2, 3] rows 1 scale 0.4 guarded : tensor<2x19x3x6xf16>, tensor<2x23x3x6xf16>, tensor<2x23x3x9xf16>, tensor<2x3x19xf32>, tensor<2x3x19xf32>, tensor<2x19x3x9xf16>, tensor<19x23xf32> -> tensor<2x19x3x6xf16>, tensor<2x23x3x6xf16>, tensor<2x23x3x9xf16>", {{"2x19x3x6xf16"}, {"2x23x3x6xf16"}, {"2x23x3x9xf16"}, {"19x23xf32"}, {"2x3x19xf32"}, {"2x19x3x9xf16"}}},
    {"nn.attention %a, %b, %c rows 1 scale 0.4 causal : tensor<2x37x3x16xbf16>, tensor<2x37x3x16xbf16>, tensor<2x37x3x16xbf16> -> tensor<2x37x3x16xbf16>, tensor<2x3x37xf32>", {{"2x37x3x16xbf16"}, {"2x37x3x16xbf16"}, {"2x37x3x16xbf16"}}},
    {"%o, %l = nn.attention %a, %b, %c rows 1 scale 0.4 causal : tensor<2x37x3x16xbf16>, tensor<2x37x3x16xbf16>, tensor<2x37x3x16xbf16> -> tensor<2x37x3x16xbf16>, tensor<2x3x37xf32> nn.attention_grad %a, %b, %c, %l, %d, %e rows 1 scale 0.4 causal : tensor<2x37x3x16xbf16>, tensor<2x37x3x16xbf16>, tensor<2x37x3x16xbf16>, tensor<2x3x37xf32>, tensor<2x3x37xf32>, tensor<2x37x3x16xbf16> -> tensor<2x37x3x16xbf16>, tensor<2x37x3x16xbf16>, tensor<2x37x3x16xbf16>", {{"2x37x3x16xbf16"}, {"2x37x3x16xbf16"}, {"2x37x3x16xbf16"}, {"2x3x37xf32"}, {"2x37x3x16xbf16"}}},
    {"nn.attention %a, %b, %c rows 0 scale 0.4 : tensor<40x150xbf16>, tensor<50x150xbf16>, tensor<50x260xbf16> -> tensor<40x260xbf16>, tensor<40xf32>", {{"40x150xbf16"}, {"50x150xbf16"}, {"50x260xbf16"}}},
    {"%o, %l = nn.attention %a, %b, %c rows 0 scale 0.4 : tensor<40x150xbf16>, tensor<50x150xbf16>, tensor<50x260xbf16> -> tensor<40x260xbf16>, tensor<40xf32> nn.attention_grad %a, %b, %c, %l, %d, %e rows 0 scale 0.4 : tensor<40x150xbf16>, tensor<50x150xbf16>, tensor<50x260xbf16>, tensor<40xf32>, tensor<40xf32>, tensor<40x260xbf16> -> tensor<40x150xbf16>, tensor<50x150xbf16>, tensor<50x260xbf16>", {{"40x150xbf16"}, {"50x150xbf16"}, {"50x260xbf16"}, {"40xf32"}, {"40x260xbf16"}}},
    {"nn.attention %a, %b, %c rows 1 scale 0.4 causal : tensor<2x37x3x16xf16>, tensor<2x37x3x16xf16>, tensor<2x37x3x16xf16> -> tensor<2x37x3x16xf16>, tensor<2x3x37xf32>", {{"2x37x3x16xf16"}, {"2x37x3x16xf16"}, {"2x37x3x16xf16"}}},
    {"%o, %l = nn.attention %a, %b, %c rows 1 scale 0.4 causal : tensor<2x37x3x16xf16>, tensor<2x37x3x16xf16>, tensor<2x37x3x16xf16> -> tensor<2x37x3x16xf16>, tensor<2x3x37xf32> nn.attention_grad %a, %b, %c, %l, %d, %e rows 1 scale 0.4 causal : tensor<2x37x3x16xf16>, tensor<2x37x3x16xf16>, tensor<2x37x3x16xf16>, tensor<2x3x37xf32>, tensor<2x3x37xf32>, tensor<2x37x3x16xf16> -> tensor<2x37x3x16xf16>, tensor<2x37x3x16xf16>, tensor<2x37x3x16xf16>", {{"2x37x3x16xf16"}, {"2x37x3x16xf16"}, {"2x37x3x16xf16"}, {"2x3x37xf32"}, {"2x37x3x16xf16"}}},
    {"nn.attention %a, %b, %c rows 0 scale 0.4 : tensor<40x150xf16>, tensor<50x150xf16>, tensor<50x260xf16> -> tensor<40x260xf16>, tensor<40xf32>", {{"40x150xf16"}, {"50x150xf16"}, {"50x260xf16"}}},
    {"%o, %l = nn.attention %a, %b, %c rows 0 scale 0.4 : tensor<40x150xf16>, tensor<50x150xf16>, tensor<50x260xf16> -> tensor<40x260xf16>, tensor<40xf32> nn.attention_grad %a, %b, %c, %l, %d, %e rows 0 scale 0.4 : tensor<40x150xf16>, tensor<50x150xf16>, tensor<50x260xf16>, tensor<40xf32>, tensor<40xf32>, tensor<40x260xf16> -> tensor<40x150xf16>, tensor<50x150xf16>, tensor<50x260xf16>", {{"40x150xf16"}, {"50x150xf16"}, {"50x260xf16"}, {"40xf32"}, {"40x260xf16"}}},
    // A mask where it lies; queries in several parts.
    {"nn.attention %a, %b, %c mask %d [1, 2] rows 1 scale 0.4 : tensor<2x33x20xbf16>, tensor<2x64x20xbf16>, tensor<2x64x35xbf16>, tensor<33x64xbf16> -> tensor<2x33x35xbf16>, tensor<2x33xf32>", {{"2x33x20xbf16"}, {"2x64x20xbf16"}, {"2x64x35xbf16"}, {"33x64xbf16"}}},
    {"%o, %l = nn.attention %a, %b, %c mask %d [1, 2] rows 1 scale 0.4 : tensor<2x33x20xbf16>, tensor<2x64x20xbf16>, tensor<2x64x35xbf16>, tensor<33x64xbf16> -> tensor<2x33x35xbf16>, tensor<2x33xf32> nn.attention_grad %a, %b, %c, %l, %e, %f mask %d [1, 2] rows 1 scale 0.4 : tensor<2x33x20xbf16>, tensor<2x64x20xbf16>, tensor<2x64x35xbf16>, tensor<2x33xf32>, tensor<2x33xf32>, tensor<2x33x35xbf16>, tensor<33x64xbf16> -> tensor<2x33x20xbf16>, tensor<2x64x20xbf16>, tensor<2x64x35xbf16>", {{"2x33x20xbf16"}, {"2x64x20xbf16"}, {"2x64x35xbf16"}, {"33x64xbf16"}, {"2x33xf32"}, {"2x33x35xbf16"}}},
    {"nn.attention %a, %b, %c rows 0 scale 0.4 causal : tensor<1500x9xbf16>, tensor<1500x9xbf16>, tensor<1500x7xbf16> -> tensor<1500x7xbf16>, tensor<1500xf32>", {{"1500x9xbf16"}, {"1500x9xbf16"}, {"1500x7xbf16"}}},
    {"%o, %l = nn.attention %a, %b, %c rows 0 scale 0.4 causal : tensor<1500x9xbf16>, tensor<1500x9xbf16>, tensor<1500x7xbf16> -> tensor<1500x7xbf16>, tensor<1500xf32> nn.attention_grad %a, %b, %c, %l, %d, %e rows 0 scale 0.4 causal : tensor<1500x9xbf16>, tensor<1500x9xbf16>, tensor<1500x7xbf16>, tensor<1500xf32>, tensor<1500xf32>, tensor<1500x7xbf16> -> tensor<1500x9xbf16>, tensor<1500x9xbf16>, tensor<1500x7xbf16>", {{"1500x9xbf16"}, {"1500x9xbf16"}, {"1500x7xbf16"}, {"1500xf32"}, {"1500x7xbf16"}}},
    {R"(%q = nn.convert %a : tensor<33x16xf32> -> tensor<33x16xbf16> %k = nn.convert %b : tensor<33x16xf32> -> tensor<33x16xbf16> %m = nn.iota dim 1 : tensor<33x33xbf16>
        %o, %l = nn.attention %q, %k, %q mask %m [0, 1] rows 0 scale 0.3 : tensor<33x16xbf16>, tensor<33x16xbf16>, tensor<33x16xbf16>, tensor<33x33xbf16> -> tensor<33x16xbf16>, tensor<33xf32>
        %r = nn.convert %o : tensor<33x16xbf16> -> tensor<33x16xf32> %s = nn.exp %l : tensor<33xf32> "test.yield"(%r, %s) : (tensor<33x16xf32>, tensor<33xf32>) -> ())", {{"33x16xf32"}, {"33x16xf32"}}},
    // Blocked products of narrow factors: odd depths, rests, several blocks, all orders, batches.
    {"nn.dot %a, %b contract [1] [1] : tensor<61x83xbf16>, tensor<77x83xbf16> -> tensor<61x77xbf16>", {{"61x83xbf16"}, {"77x83xbf16"}}},
    {"nn.dot %a, %b contract [0] [0] : tensor<67x19xbf16>, tensor<67x32xbf16> -> tensor<19x32xbf16>", {{"67x19xbf16"}, {"67x32xbf16"}}},
    {"nn.dot %a, %b contract [0] [1] : tensor<39x45xbf16>, tensor<70x39xbf16> -> tensor<45x70xbf16>", {{"39x45xbf16"}, {"70x39xbf16"}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<101x1531xbf16>, tensor<1531x10xbf16> -> tensor<101x10xbf16>", {{"101x1531xbf16", -0.3, 0.3}, {"1531x10xbf16", -0.3, 0.3}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<9x2305xbf16>, tensor<2305x70xbf16> -> tensor<9x70xbf16>", {{"9x2305xbf16", -0.3, 0.3}, {"2305x70xbf16", -0.3, 0.3}}},
    {"nn.dot %a, %b contract [1] [1] : tensor<16x1536xbf16>, tensor<33x1536xbf16> -> tensor<16x33xbf16>", {{"16x1536xbf16", -0.3, 0.3}, {"33x1536xbf16", -0.3, 0.3}}},
    {"nn.dot %a, %b batch [0, 2] [0, 2] contract [3] [3] : tensor<2x9x3x17xbf16>, tensor<2x9x3x17xbf16> -> tensor<2x3x9x9xbf16>", {{"2x9x3x17xbf16"}, {"2x9x3x17xbf16"}}},
    {"nn.dot %a, %b batch [0, 2] [0, 2] contract [3] [1] : tensor<2x9x3x16xbf16>, tensor<2x16x3x33xbf16> -> tensor<2x3x9x33xbf16>", {{"2x9x3x16xbf16"}, {"2x16x3x33xbf16"}}},
    {"nn.dot %a, %b contract [0, 1] [0, 1] : tensor<3x7x33xbf16>, tensor<3x7x2x9xbf16> -> tensor<33x2x9xbf16>", {{"3x7x33xbf16"}, {"3x7x2x9xbf16"}}},
    {"nn.dot %a, %b contract [2, 0] [1, 3] : tensor<4x50x5xbf16>, tensor<9x5x8x4xbf16> -> tensor<50x9x8xbf16>", {{"4x50x5xbf16"}, {"9x5x8x4xbf16"}}},
    {"nn.dot %a, %b contract [1] [1] : tensor<61x83xbf16>, tensor<77x83xbf16> -> tensor<61x77xf32>", {{"61x83xbf16"}, {"77x83xbf16"}}},
    {"nn.dot %a, %b contract [0] [0] : tensor<67x19xbf16>, tensor<67x32xbf16> -> tensor<19x32xf32>", {{"67x19xbf16"}, {"67x32xbf16"}}},
    {"nn.dot %a, %b contract [0] [1] : tensor<39x45xbf16>, tensor<70x39xbf16> -> tensor<45x70xf32>", {{"39x45xbf16"}, {"70x39xbf16"}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<101x1531xbf16>, tensor<1531x10xbf16> -> tensor<101x10xf32>", {{"101x1531xbf16", -0.3, 0.3}, {"1531x10xbf16", -0.3, 0.3}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<9x2305xbf16>, tensor<2305x70xbf16> -> tensor<9x70xf32>", {{"9x2305xbf16", -0.3, 0.3}, {"2305x70xbf16", -0.3, 0.3}}},
    {"nn.dot %a, %b contract [1] [1] : tensor<16x1536xbf16>, tensor<33x1536xbf16> -> tensor<16x33xf32>", {{"16x1536xbf16", -0.3, 0.3}, {"33x1536xbf16", -0.3, 0.3}}},
    {"nn.dot %a, %b batch [0, 2] [0, 2] contract [3] [3] : tensor<2x9x3x17xbf16>, tensor<2x9x3x17xbf16> -> tensor<2x3x9x9xf32>", {{"2x9x3x17xbf16"}, {"2x9x3x17xbf16"}}},
    {"nn.dot %a, %b batch [0, 2] [0, 2] contract [3] [1] : tensor<2x9x3x16xbf16>, tensor<2x16x3x33xbf16> -> tensor<2x3x9x33xf32>", {{"2x9x3x16xbf16"}, {"2x16x3x33xbf16"}}},
    {"nn.dot %a, %b contract [0, 1] [0, 1] : tensor<3x7x33xbf16>, tensor<3x7x2x9xbf16> -> tensor<33x2x9xf32>", {{"3x7x33xbf16"}, {"3x7x2x9xbf16"}}},
    {"nn.dot %a, %b contract [2, 0] [1, 3] : tensor<4x50x5xbf16>, tensor<9x5x8x4xbf16> -> tensor<50x9x8xf32>", {{"4x50x5xbf16"}, {"9x5x8x4xbf16"}}},
    {"nn.dot %a, %b contract [1] [1] : tensor<61x83xf16>, tensor<77x83xf16> -> tensor<61x77xf16>", {{"61x83xf16"}, {"77x83xf16"}}},
    {"nn.dot %a, %b contract [0] [0] : tensor<67x19xf16>, tensor<67x32xf16> -> tensor<19x32xf16>", {{"67x19xf16"}, {"67x32xf16"}}},
    {"nn.dot %a, %b contract [0] [1] : tensor<39x45xf16>, tensor<70x39xf16> -> tensor<45x70xf16>", {{"39x45xf16"}, {"70x39xf16"}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<101x1531xf16>, tensor<1531x10xf16> -> tensor<101x10xf16>", {{"101x1531xf16", -0.3, 0.3}, {"1531x10xf16", -0.3, 0.3}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<9x2305xf16>, tensor<2305x70xf16> -> tensor<9x70xf16>", {{"9x2305xf16", -0.3, 0.3}, {"2305x70xf16", -0.3, 0.3}}},
    {"nn.dot %a, %b contract [1] [1] : tensor<16x1536xf16>, tensor<33x1536xf16> -> tensor<16x33xf16>", {{"16x1536xf16", -0.3, 0.3}, {"33x1536xf16", -0.3, 0.3}}},
    {"nn.dot %a, %b batch [0, 2] [0, 2] contract [3] [3] : tensor<2x9x3x17xf16>, tensor<2x9x3x17xf16> -> tensor<2x3x9x9xf16>", {{"2x9x3x17xf16"}, {"2x9x3x17xf16"}}},
    {"nn.dot %a, %b batch [0, 2] [0, 2] contract [3] [1] : tensor<2x9x3x16xf16>, tensor<2x16x3x33xf16> -> tensor<2x3x9x33xf16>", {{"2x9x3x16xf16"}, {"2x16x3x33xf16"}}},
    {"nn.dot %a, %b contract [0, 1] [0, 1] : tensor<3x7x33xf16>, tensor<3x7x2x9xf16> -> tensor<33x2x9xf16>", {{"3x7x33xf16"}, {"3x7x2x9xf16"}}},
    {"nn.dot %a, %b contract [2, 0] [1, 3] : tensor<4x50x5xf16>, tensor<9x5x8x4xf16> -> tensor<50x9x8xf16>", {{"4x50x5xf16"}, {"9x5x8x4xf16"}}},
    {"nn.dot %a, %b contract [1] [1] : tensor<61x83xf16>, tensor<77x83xf16> -> tensor<61x77xf32>", {{"61x83xf16"}, {"77x83xf16"}}},
    {"nn.dot %a, %b contract [0] [0] : tensor<67x19xf16>, tensor<67x32xf16> -> tensor<19x32xf32>", {{"67x19xf16"}, {"67x32xf16"}}},
    {"nn.dot %a, %b contract [0] [1] : tensor<39x45xf16>, tensor<70x39xf16> -> tensor<45x70xf32>", {{"39x45xf16"}, {"70x39xf16"}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<101x1531xf16>, tensor<1531x10xf16> -> tensor<101x10xf32>", {{"101x1531xf16", -0.3, 0.3}, {"1531x10xf16", -0.3, 0.3}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<9x2305xf16>, tensor<2305x70xf16> -> tensor<9x70xf32>", {{"9x2305xf16", -0.3, 0.3}, {"2305x70xf16", -0.3, 0.3}}},
    {"nn.dot %a, %b contract [1] [1] : tensor<16x1536xf16>, tensor<33x1536xf16> -> tensor<16x33xf32>", {{"16x1536xf16", -0.3, 0.3}, {"33x1536xf16", -0.3, 0.3}}},
    {"nn.dot %a, %b batch [0, 2] [0, 2] contract [3] [3] : tensor<2x9x3x17xf16>, tensor<2x9x3x17xf16> -> tensor<2x3x9x9xf32>", {{"2x9x3x17xf16"}, {"2x9x3x17xf16"}}},
    {"nn.dot %a, %b batch [0, 2] [0, 2] contract [3] [1] : tensor<2x9x3x16xf16>, tensor<2x16x3x33xf16> -> tensor<2x3x9x33xf32>", {{"2x9x3x16xf16"}, {"2x16x3x33xf16"}}},
    {"nn.dot %a, %b contract [0, 1] [0, 1] : tensor<3x7x33xf16>, tensor<3x7x2x9xf16> -> tensor<33x2x9xf32>", {{"3x7x33xf16"}, {"3x7x2x9xf16"}}},
    {"nn.dot %a, %b contract [2, 0] [1, 3] : tensor<4x50x5xf16>, tensor<9x5x8x4xf16> -> tensor<50x9x8xf32>", {{"4x50x5xf16"}, {"9x5x8x4xf16"}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<500x70xbf16>, tensor<70x530xbf16> -> tensor<500x530xf32>", {{"500x70xbf16"}, {"70x530xbf16"}}},
    {"nn.dot %a, %b contract [0] [1] : tensor<515x300xbf16>, tensor<70x515xbf16> -> tensor<300x70xbf16>", {{"515x300xbf16", -0.3, 0.3}, {"70x515xbf16", -0.3, 0.3}}},
    // What is joined to them: factors rounded or computed where they are read, and what is elementwise over tiles.
    {R"(%x = nn.convert %a : tensor<37x83xf32> -> tensor<37x83xbf16> %y = nn.convert %b : tensor<83x77xf32> -> tensor<83x77xbf16>
        nn.dot %x, %y contract [1] [0] : tensor<37x83xbf16>, tensor<83x77xbf16> -> tensor<37x77xf32>)", {{"37x83xf32"}, {"83x77xf32"}}},
    {R"(%x = nn.convert %a : tensor<83x37xf32> -> tensor<83x37xbf16> %y = nn.convert %b : tensor<77x83xf32> -> tensor<77x83xbf16>
        nn.dot %x, %y contract [0] [1] : tensor<83x37xbf16>, tensor<77x83xbf16> -> tensor<37x77xf32>)", {{"83x37xf32"}, {"77x83xf32"}}},
    {R"(%r = nn.relu %a : tensor<37x83xf32> %x = nn.convert %r : tensor<37x83xf32> -> tensor<37x83xbf16> %s = nn.tanh %b : tensor<77x83xf32> %y = nn.convert %s : tensor<77x83xf32> -> tensor<77x83xbf16>
        nn.dot %x, %y contract [1] [1] : tensor<37x83xbf16>, tensor<77x83xbf16> -> tensor<37x77xf32>)", {{"37x83xf32"}, {"77x83xf32"}}},
    {R"(%d = nn.dot %a, %b contract [1] [1] : tensor<37x83xbf16>, tensor<77x83xbf16> -> tensor<37x77xbf16> %w = nn.convert %d : tensor<37x77xbf16> -> tensor<37x77xf32>
        %0 = nn.broadcast %c [1] : tensor<77xf32> -> tensor<37x77xf32> %u = nn.add %w, %0 : tensor<37x77xf32> %h = nn.convert %u : tensor<37x77xf32> -> tensor<37x77xbf16>
        %g = nn.relu %u : tensor<37x77xf32> "test.yield"(%h, %g) : (tensor<37x77xbf16>, tensor<37x77xf32>) -> ())", {{"37x83xbf16"}, {"77x83xbf16"}, {"77xf32"}}},
    {R"(%d = nn.dot %a, %b contract [1] [1] : tensor<37x83xbf16>, tensor<77x83xbf16> -> tensor<37x77xbf16>
        %g = nn.relu %d : tensor<37x77xbf16> "test.yield"(%d, %g) : (tensor<37x77xbf16>, tensor<37x77xbf16>) -> ())", {{"37x83xbf16"}, {"77x83xbf16"}}},
    {R"(%d = nn.dot %a, %b contract [1] [1] : tensor<37x2305xbf16>, tensor<77x2305xbf16> -> tensor<37x77xbf16> %w = nn.convert %d : tensor<37x77xbf16> -> tensor<37x77xf32>
        %0 = nn.broadcast %c [1] : tensor<77xf32> -> tensor<37x77xf32> %u = nn.add %w, %0 : tensor<37x77xf32> %h = nn.convert %u : tensor<37x77xf32> -> tensor<37x77xbf16>
        %g = nn.relu %u : tensor<37x77xf32> "test.yield"(%h, %g) : (tensor<37x77xbf16>, tensor<37x77xf32>) -> ())", {{"37x2305xbf16", -0.3, 0.3}, {"77x2305xbf16", -0.3, 0.3}, {"77xf32"}}},
    {R"(%d = nn.dot %a, %b contract [1] [1] : tensor<37x2305xbf16>, tensor<77x2305xbf16> -> tensor<37x77xbf16>
        %g = nn.relu %d : tensor<37x77xbf16> "test.yield"(%d, %g) : (tensor<37x77xbf16>, tensor<37x77xbf16>) -> ())", {{"37x2305xbf16", -0.3, 0.3}, {"77x2305xbf16", -0.3, 0.3}}},
    {R"(%d = nn.dot %a, %b contract [1] [1] : tensor<37x83xbf16>, tensor<77x83xbf16> -> tensor<37x77xf32>
        %0 = nn.broadcast %c [1] : tensor<77xf32> -> tensor<37x77xf32> %u = nn.add %d, %0 : tensor<37x77xf32> %h = nn.convert %u : tensor<37x77xf32> -> tensor<37x77xbf16>
        %g = nn.relu %u : tensor<37x77xf32> "test.yield"(%h, %g) : (tensor<37x77xbf16>, tensor<37x77xf32>) -> ())", {{"37x83xbf16"}, {"77x83xbf16"}, {"77xf32"}}},
    {R"(%d = nn.dot %a, %b contract [1] [1] : tensor<37x83xbf16>, tensor<77x83xbf16> -> tensor<37x77xf32>
        %g = nn.relu %d : tensor<37x77xf32> "test.yield"(%d, %g) : (tensor<37x77xf32>, tensor<37x77xf32>) -> ())", {{"37x83xbf16"}, {"77x83xbf16"}}},
    {R"(%d = nn.dot %a, %b contract [1] [1] : tensor<37x2305xbf16>, tensor<77x2305xbf16> -> tensor<37x77xf32>
        %0 = nn.broadcast %c [1] : tensor<77xf32> -> tensor<37x77xf32> %u = nn.add %d, %0 : tensor<37x77xf32> %h = nn.convert %u : tensor<37x77xf32> -> tensor<37x77xbf16>
        %g = nn.relu %u : tensor<37x77xf32> "test.yield"(%h, %g) : (tensor<37x77xbf16>, tensor<37x77xf32>) -> ())", {{"37x2305xbf16", -0.3, 0.3}, {"77x2305xbf16", -0.3, 0.3}, {"77xf32"}}},
    {R"(%d = nn.dot %a, %b contract [1] [1] : tensor<37x2305xbf16>, tensor<77x2305xbf16> -> tensor<37x77xf32>
        %g = nn.relu %d : tensor<37x77xf32> "test.yield"(%d, %g) : (tensor<37x77xf32>, tensor<37x77xf32>) -> ())", {{"37x2305xbf16", -0.3, 0.3}, {"77x2305xbf16", -0.3, 0.3}}},
    {R"(%x = nn.convert %a : tensor<37x83xf32> -> tensor<37x83xf16> %y = nn.convert %b : tensor<83x77xf32> -> tensor<83x77xf16>
        nn.dot %x, %y contract [1] [0] : tensor<37x83xf16>, tensor<83x77xf16> -> tensor<37x77xf32>)", {{"37x83xf32"}, {"83x77xf32"}}},
    {R"(%x = nn.convert %a : tensor<83x37xf32> -> tensor<83x37xf16> %y = nn.convert %b : tensor<77x83xf32> -> tensor<77x83xf16>
        nn.dot %x, %y contract [0] [1] : tensor<83x37xf16>, tensor<77x83xf16> -> tensor<37x77xf32>)", {{"83x37xf32"}, {"77x83xf32"}}},
    {R"(%r = nn.relu %a : tensor<37x83xf32> %x = nn.convert %r : tensor<37x83xf32> -> tensor<37x83xf16> %s = nn.tanh %b : tensor<77x83xf32> %y = nn.convert %s : tensor<77x83xf32> -> tensor<77x83xf16>
        nn.dot %x, %y contract [1] [1] : tensor<37x83xf16>, tensor<77x83xf16> -> tensor<37x77xf32>)", {{"37x83xf32"}, {"77x83xf32"}}},
    {R"(%d = nn.dot %a, %b contract [1] [1] : tensor<37x83xf16>, tensor<77x83xf16> -> tensor<37x77xf16> %w = nn.convert %d : tensor<37x77xf16> -> tensor<37x77xf32>
        %0 = nn.broadcast %c [1] : tensor<77xf32> -> tensor<37x77xf32> %u = nn.add %w, %0 : tensor<37x77xf32> %h = nn.convert %u : tensor<37x77xf32> -> tensor<37x77xf16>
        %g = nn.relu %u : tensor<37x77xf32> "test.yield"(%h, %g) : (tensor<37x77xf16>, tensor<37x77xf32>) -> ())", {{"37x83xf16"}, {"77x83xf16"}, {"77xf32"}}},
    {R"(%d = nn.dot %a, %b contract [1] [1] : tensor<37x83xf16>, tensor<77x83xf16> -> tensor<37x77xf16>
        %g = nn.relu %d : tensor<37x77xf16> "test.yield"(%d, %g) : (tensor<37x77xf16>, tensor<37x77xf16>) -> ())", {{"37x83xf16"}, {"77x83xf16"}}},
    {R"(%d = nn.dot %a, %b contract [1] [1] : tensor<37x2305xf16>, tensor<77x2305xf16> -> tensor<37x77xf16> %w = nn.convert %d : tensor<37x77xf16> -> tensor<37x77xf32>
        %0 = nn.broadcast %c [1] : tensor<77xf32> -> tensor<37x77xf32> %u = nn.add %w, %0 : tensor<37x77xf32> %h = nn.convert %u : tensor<37x77xf32> -> tensor<37x77xf16>
        %g = nn.relu %u : tensor<37x77xf32> "test.yield"(%h, %g) : (tensor<37x77xf16>, tensor<37x77xf32>) -> ())", {{"37x2305xf16", -0.3, 0.3}, {"77x2305xf16", -0.3, 0.3}, {"77xf32"}}},
    {R"(%d = nn.dot %a, %b contract [1] [1] : tensor<37x2305xf16>, tensor<77x2305xf16> -> tensor<37x77xf16>
        %g = nn.relu %d : tensor<37x77xf16> "test.yield"(%d, %g) : (tensor<37x77xf16>, tensor<37x77xf16>) -> ())", {{"37x2305xf16", -0.3, 0.3}, {"77x2305xf16", -0.3, 0.3}}},
    {R"(%d = nn.dot %a, %b contract [1] [1] : tensor<37x83xf16>, tensor<77x83xf16> -> tensor<37x77xf32>
        %0 = nn.broadcast %c [1] : tensor<77xf32> -> tensor<37x77xf32> %u = nn.add %d, %0 : tensor<37x77xf32> %h = nn.convert %u : tensor<37x77xf32> -> tensor<37x77xf16>
        %g = nn.relu %u : tensor<37x77xf32> "test.yield"(%h, %g) : (tensor<37x77xf16>, tensor<37x77xf32>) -> ())", {{"37x83xf16"}, {"77x83xf16"}, {"77xf32"}}},
    {R"(%d = nn.dot %a, %b contract [1] [1] : tensor<37x83xf16>, tensor<77x83xf16> -> tensor<37x77xf32>
        %g = nn.relu %d : tensor<37x77xf32> "test.yield"(%d, %g) : (tensor<37x77xf32>, tensor<37x77xf32>) -> ())", {{"37x83xf16"}, {"77x83xf16"}}},
    {R"(%d = nn.dot %a, %b contract [1] [1] : tensor<37x2305xf16>, tensor<77x2305xf16> -> tensor<37x77xf32>
        %0 = nn.broadcast %c [1] : tensor<77xf32> -> tensor<37x77xf32> %u = nn.add %d, %0 : tensor<37x77xf32> %h = nn.convert %u : tensor<37x77xf32> -> tensor<37x77xf16>
        %g = nn.relu %u : tensor<37x77xf32> "test.yield"(%h, %g) : (tensor<37x77xf16>, tensor<37x77xf32>) -> ())", {{"37x2305xf16", -0.3, 0.3}, {"77x2305xf16", -0.3, 0.3}, {"77xf32"}}},
    {R"(%d = nn.dot %a, %b contract [1] [1] : tensor<37x2305xf16>, tensor<77x2305xf16> -> tensor<37x77xf32>
        %g = nn.relu %d : tensor<37x77xf32> "test.yield"(%d, %g) : (tensor<37x77xf32>, tensor<37x77xf32>) -> ())", {{"37x2305xf16", -0.3, 0.3}, {"77x2305xf16", -0.3, 0.3}}},
    // What is elementwise over a product is computed from its tiles: also where
    // the depth has several blocks, and where another element is read.
    {R"(%d = nn.dot %a, %b contract [1] [1] : tensor<37x83xf64>, tensor<77x83xf64> -> tensor<37x77xf64>
        %0 = nn.broadcast %c [1] : tensor<77xf64> -> tensor<37x77xf64> %u = nn.add %d, %0 : tensor<37x77xf64>
        %g = nn.gelu tanh %u : tensor<37x77xf64> "test.yield"(%u, %g) : (tensor<37x77xf64>, tensor<37x77xf64>) -> ())",
     {{"37x83xf64"}, {"77x83xf64"}, {"77xf64"}}},
    {R"(%d = nn.dot %a, %b contract [1] [0] : tensor<9x2050xf64>, tensor<2050x40xf64> -> tensor<9x40xf64>
        nn.add %d, %c : tensor<9x40xf64>)", {{"9x2050xf64", -0.1, 0.1}, {"2050x40xf64", -0.1, 0.1}, {"9x40xf64"}}},
    {R"(%d = nn.dot %a, %b contract [1] [0] : tensor<33x20xf64>, tensor<20x33xf64> -> tensor<33x33xf64>
        %t = nn.transpose %d [1, 0] : tensor<33x33xf64> -> tensor<33x33xf64>
        nn.add %d, %t : tensor<33x33xf64>)", {{"33x20xf64"}, {"20x33xf64"}}},
    {R"(%d = nn.dot %a, %b batch [0] [0] contract [2] [1] : tensor<3x17x20xf64>, tensor<3x20x33xf64> -> tensor<3x17x33xf64>
        %r = nn.relu %d : tensor<3x17x33xf64> %h = nn.convert %r : tensor<3x17x33xf64> -> tensor<3x17x33xi32>
        %s = nn.reduce sum %r [0, 1] : tensor<3x17x33xf64> -> tensor<33xf64>
        "test.yield"(%h, %s) : (tensor<3x17x33xi32>, tensor<33xf64>) -> ())", {{"3x17x20xf64"}, {"3x20x33xf64"}}},
    // Attention: blocks of queries and panels of keys with rests, rows that are
    // not whole vectors, more keys than queries, masks where they lie and copied.
    {"nn.attention %a, %b, %c rows 1 scale 0.4 : tensor<2x37x3x16xf64>, tensor<2x37x3x16xf64>, tensor<2x37x3x16xf64> -> tensor<2x37x3x16xf64>, tensor<2x3x37xf64>", {{"2x37x3x16xf64"}, {"2x37x3x16xf64"}, {"2x37x3x16xf64"}}},
    {"nn.attention_grad %a, %b, %c, %d, %e, %f rows 1 scale 0.4 : tensor<2x37x3x16xf64>, tensor<2x37x3x16xf64>, tensor<2x37x3x16xf64>, tensor<2x3x37xf64>, tensor<2x3x37xf64>, tensor<2x37x3x16xf64> -> tensor<2x37x3x16xf64>, tensor<2x37x3x16xf64>, tensor<2x37x3x16xf64>", {{"2x37x3x16xf64"}, {"2x37x3x16xf64"}, {"2x37x3x16xf64"}, {"2x3x37xf64", 3, 5}, {"2x3x37xf64"}, {"2x37x3x16xf64"}}},
    {"nn.attention %a, %b, %c rows 2 scale 0.4 : tensor<2x2x5x3xf64>, tensor<2x2x3x3xf64>, tensor<2x2x3x5xf64> -> tensor<2x2x5x5xf64>, tensor<2x2x5xf64>", {{"2x2x5x3xf64"}, {"2x2x3x3xf64"}, {"2x2x3x5xf64"}}},
    {"nn.attention_grad %a, %b, %c, %d, %e, %f rows 2 scale 0.4 : tensor<2x2x5x3xf64>, tensor<2x2x3x3xf64>, tensor<2x2x3x5xf64>, tensor<2x2x5xf64>, tensor<2x2x5xf64>, tensor<2x2x5x5xf64> -> tensor<2x2x5x3xf64>, tensor<2x2x3x3xf64>, tensor<2x2x3x5xf64>", {{"2x2x5x3xf64"}, {"2x2x3x3xf64"}, {"2x2x3x5xf64"}, {"2x2x5xf64", 3, 5}, {"2x2x5xf64"}, {"2x2x5x5xf64"}}},
    {"nn.attention %a, %b, %c rows 1 scale 0.4 causal : tensor<1x45x2x24xf64>, tensor<1x45x2x24xf64>, tensor<1x45x2x9xf64> -> tensor<1x45x2x9xf64>, tensor<1x2x45xf64>", {{"1x45x2x24xf64"}, {"1x45x2x24xf64"}, {"1x45x2x9xf64"}}},
    {"nn.attention_grad %a, %b, %c, %d, %e, %f rows 1 scale 0.4 causal : tensor<1x45x2x24xf64>, tensor<1x45x2x24xf64>, tensor<1x45x2x9xf64>, tensor<1x2x45xf64>, tensor<1x2x45xf64>, tensor<1x45x2x9xf64> -> tensor<1x45x2x24xf64>, tensor<1x45x2x24xf64>, tensor<1x45x2x9xf64>", {{"1x45x2x24xf64"}, {"1x45x2x24xf64"}, {"1x45x2x9xf64"}, {"1x2x45xf64", 3, 5}, {"1x2x45xf64"}, {"1x45x2x9xf64"}}},
    {"nn.attention %a, %b, %c rows 2 scale 0.4 causal : tensor<2x1x50x19xf64>, tensor<2x1x83x19xf64>, tensor<2x1x83x33xf64> -> tensor<2x1x50x33xf64>, tensor<2x1x50xf64>", {{"2x1x50x19xf64"}, {"2x1x83x19xf64"}, {"2x1x83x33xf64"}}},
    {"nn.attention_grad %a, %b, %c, %d, %e, %f rows 2 scale 0.4 causal : tensor<2x1x50x19xf64>, tensor<2x1x83x19xf64>, tensor<2x1x83x33xf64>, tensor<2x1x50xf64>, tensor<2x1x50xf64>, tensor<2x1x50x33xf64> -> tensor<2x1x50x19xf64>, tensor<2x1x83x19xf64>, tensor<2x1x83x33xf64>", {{"2x1x50x19xf64"}, {"2x1x83x19xf64"}, {"2x1x83x33xf64"}, {"2x1x50xf64", 3, 5}, {"2x1x50xf64"}, {"2x1x50x33xf64"}}},
    {"nn.attention %a, %b, %c mask %d [0, 3] rows 1 scale 0.4 : tensor<2x33x2x8xf64>, tensor<2x64x2x8xf64>, tensor<2x64x2x8xf64>, tensor<2x64xf64> -> tensor<2x33x2x8xf64>, tensor<2x2x33xf64>", {{"2x33x2x8xf64"}, {"2x64x2x8xf64"}, {"2x64x2x8xf64"}, {"2x64xf64"}}},
    {"nn.attention_grad %a, %b, %c, %d, %e, %f mask %g [0, 3] rows 1 scale 0.4 : tensor<2x33x2x8xf64>, tensor<2x64x2x8xf64>, tensor<2x64x2x8xf64>, tensor<2x2x33xf64>, tensor<2x2x33xf64>, tensor<2x33x2x8xf64>, tensor<2x64xf64> -> tensor<2x33x2x8xf64>, tensor<2x64x2x8xf64>, tensor<2x64x2x8xf64>", {{"2x33x2x8xf64"}, {"2x64x2x8xf64"}, {"2x64x2x8xf64"}, {"2x2x33xf64", 3, 5}, {"2x2x33xf64"}, {"2x33x2x8xf64"}, {"2x64xf64"}}},
    {"nn.attention %a, %b, %c mask %d [2, 3] rows 2 scale 0.4 causal : tensor<2x2x40x8xf64>, tensor<2x2x48x8xf64>, tensor<2x2x48x40xf64>, tensor<40x48xf64> -> tensor<2x2x40x40xf64>, tensor<2x2x40xf64>", {{"2x2x40x8xf64"}, {"2x2x48x8xf64"}, {"2x2x48x40xf64"}, {"40x48xf64"}}},
    {"nn.attention_grad %a, %b, %c, %d, %e, %f mask %g [2, 3] rows 2 scale 0.4 causal : tensor<2x2x40x8xf64>, tensor<2x2x48x8xf64>, tensor<2x2x48x40xf64>, tensor<2x2x40xf64>, tensor<2x2x40xf64>, tensor<2x2x40x40xf64>, tensor<40x48xf64> -> tensor<2x2x40x8xf64>, tensor<2x2x48x8xf64>, tensor<2x2x48x40xf64>", {{"2x2x40x8xf64"}, {"2x2x48x8xf64"}, {"2x2x48x40xf64"}, {"2x2x40xf64", 3, 5}, {"2x2x40xf64"}, {"2x2x40x40xf64"}, {"40x48xf64"}}},
    // A number that hides all keys of a row, after which logSumExp has lost their
    // number: in one part and in several.
    {R"(%m = nn.constant dense<[-1.0e+30, 0.5]> : tensor<2xf64>
        %y, %l = nn.attention %a, %b, %c mask %m [0] rows 1 scale 0.4 : tensor<2x19x2x8xf64>, tensor<2x23x2x8xf64>, tensor<2x23x2x5xf64>, tensor<2xf64> -> tensor<2x19x2x5xf64>, tensor<2x2x19xf64>
        nn.attention_grad %a, %b, %c, %l, %d, %e mask %m [0] rows 1 scale 0.4 : tensor<2x19x2x8xf64>, tensor<2x23x2x8xf64>, tensor<2x23x2x5xf64>, tensor<2x2x19xf64>, tensor<2x2x19xf64>, tensor<2x19x2x5xf64>, tensor<2xf64> -> tensor<2x19x2x8xf64>, tensor<2x23x2x8xf64>, tensor<2x23x2x5xf64>)",
     {{"2x19x2x8xf64"}, {"2x23x2x8xf64"}, {"2x23x2x5xf64"}, {"2x2x19xf64"}, {"2x19x2x5xf64"}}},
    {R"(%m = nn.constant dense<[-1.0e+30, 0.5]> : tensor<2xf64>
        %y, %l = nn.attention %a, %b, %c mask %m [0] rows 1 scale 0.4 causal guarded : tensor<2x33x1x3xf64>, tensor<2x33x1x3xf64>, tensor<2x33x1x9xf64>, tensor<2xf64> -> tensor<2x33x1x9xf64>, tensor<2x1x33xf64>
        nn.attention_grad %a, %b, %c, %l, %d, %e mask %m [0] rows 1 scale 0.4 causal guarded : tensor<2x33x1x3xf64>, tensor<2x33x1x3xf64>, tensor<2x33x1x9xf64>, tensor<2x1x33xf64>, tensor<2x1x33xf64>, tensor<2x33x1x9xf64>, tensor<2xf64> -> tensor<2x33x1x3xf64>, tensor<2x33x1x3xf64>, tensor<2x33x1x9xf64>)",
     {{"2x33x1x3xf64"}, {"2x33x1x3xf64"}, {"2x33x1x9xf64"}, {"2x1x33xf64"}, {"2x33x1x9xf64"}}},
    {"nn.attention %a, %b, %c mask %d [1, 2, 3] rows 1 scale 0.4 guarded : tensor<2x19x2x8xf64>, tensor<2x23x2x8xf64>, tensor<2x23x2x8xf64>, tensor<2x19x23xf64> -> tensor<2x19x2x8xf64>, tensor<2x2x19xf64>", {{"2x19x2x8xf64"}, {"2x23x2x8xf64"}, {"2x23x2x8xf64"}, {"2x19x23xf64"}}},
    {"nn.attention_grad %a, %b, %c, %d, %e, %f mask %g [1, 2, 3] rows 1 scale 0.4 guarded : tensor<2x19x2x8xf64>, tensor<2x23x2x8xf64>, tensor<2x23x2x8xf64>, tensor<2x2x19xf64>, tensor<2x2x19xf64>, tensor<2x19x2x8xf64>, tensor<2x19x23xf64> -> tensor<2x19x2x8xf64>, tensor<2x23x2x8xf64>, tensor<2x23x2x8xf64>", {{"2x19x2x8xf64"}, {"2x23x2x8xf64"}, {"2x23x2x8xf64"}, {"2x2x19xf64", 3, 5}, {"2x2x19xf64"}, {"2x19x2x8xf64"}, {"2x19x23xf64"}}},
    {"nn.attention %a, %b, %c mask %d [0, 2] rows 1 scale 0.4 : tensor<2x9x2x8xf64>, tensor<2x10x2x8xf64>, tensor<2x10x2x8xf64>, tensor<2x9xf64> -> tensor<2x9x2x8xf64>, tensor<2x2x9xf64>", {{"2x9x2x8xf64"}, {"2x10x2x8xf64"}, {"2x10x2x8xf64"}, {"2x9xf64"}}},
    {"nn.attention_grad %a, %b, %c, %d, %e, %f mask %g [0, 2] rows 1 scale 0.4 : tensor<2x9x2x8xf64>, tensor<2x10x2x8xf64>, tensor<2x10x2x8xf64>, tensor<2x2x9xf64>, tensor<2x2x9xf64>, tensor<2x9x2x8xf64>, tensor<2x9xf64> -> tensor<2x9x2x8xf64>, tensor<2x10x2x8xf64>, tensor<2x10x2x8xf64>", {{"2x9x2x8xf64"}, {"2x10x2x8xf64"}, {"2x10x2x8xf64"}, {"2x2x9xf64", 3, 5}, {"2x2x9xf64"}, {"2x9x2x8xf64"}, {"2x9xf64"}}},
    // Several parts of the queries.
    {"nn.attention_grad %a, %b, %c, %d, %e, %f rows 0 scale 0.4 causal : tensor<350x9xf64>, tensor<370x9xf64>, tensor<370x9xf64>, tensor<350xf64>, tensor<350xf64>, tensor<350x9xf64> -> tensor<350x9xf64>, tensor<370x9xf64>, tensor<370x9xf64>", {{"350x9xf64"}, {"370x9xf64"}, {"370x9xf64"}, {"350xf64", 3, 6}, {"350xf64"}, {"350x9xf64"}}},
    {"nn.attention_grad %a, %b, %c, %d, %e, %f rows 0 scale 0.4 : tensor<333x9xf64>, tensor<301x9xf64>, tensor<301x9xf64>, tensor<333xf64>, tensor<333xf64>, tensor<333x9xf64> -> tensor<333x9xf64>, tensor<301x9xf64>, tensor<301x9xf64>", {{"333x9xf64"}, {"301x9xf64"}, {"301x9xf64"}, {"333xf64", 3, 6}, {"333xf64"}, {"333x9xf64"}}},
    {"nn.attention %a, %b, %c rows 1 scale 0.1 causal : tensor<1x128x2x64xf64>, tensor<1x128x2x64xf64>, tensor<1x128x2x64xf64> -> tensor<1x128x2x64xf64>, tensor<1x2x128xf64>", {{"1x128x2x64xf64"}, {"1x128x2x64xf64"}, {"1x128x2x64xf64"}}},
    {"nn.attention_grad %a, %b, %c, %d, %e, %f rows 1 scale 0.1 causal : tensor<1x128x2x64xf64>, tensor<1x128x2x64xf64>, tensor<1x128x2x64xf64>, tensor<1x2x128xf64>, tensor<1x2x128xf64>, tensor<1x128x2x64xf64> -> tensor<1x128x2x64xf64>, tensor<1x128x2x64xf64>, tensor<1x128x2x64xf64>", {{"1x128x2x64xf64"}, {"1x128x2x64xf64"}, {"1x128x2x64xf64"}, {"1x2x128xf64", 5, 6}, {"1x2x128xf64"}, {"1x128x2x64xf64"}}},
    {"nn.attention %a, %b, %c rows 2 scale 0.1 : tensor<1x1x64x32xf64>, tensor<1x1x64x32xf64>, tensor<1x1x64x64xf64> -> tensor<1x1x64x64xf64>, tensor<1x1x64xf64>", {{"1x1x64x32xf64"}, {"1x1x64x32xf64"}, {"1x1x64x64xf64"}}},
    {"nn.attention_grad %a, %b, %c, %d, %e, %f rows 2 scale 0.1 : tensor<1x1x64x32xf64>, tensor<1x1x64x32xf64>, tensor<1x1x64x64xf64>, tensor<1x1x64xf64>, tensor<1x1x64xf64>, tensor<1x1x64x64xf64> -> tensor<1x1x64x32xf64>, tensor<1x1x64x32xf64>, tensor<1x1x64x64xf64>", {{"1x1x64x32xf64"}, {"1x1x64x32xf64"}, {"1x1x64x64xf64"}, {"1x1x64xf64", 5, 6}, {"1x1x64xf64"}, {"1x1x64x64xf64"}}},
    // A row without keys is NaN, or nothing where that is asked for.
    {R"(%n = nn.constant dense<[[0.0, 0.0, 0.0], [1.0, 0.0, 1.0]]> : tensor<2x3xf64> %m = nn.log %n : tensor<2x3xf64>
        nn.attention %a, %b, %c mask %m [0, 1] rows 0 scale 0.4 : tensor<2x4xf64>, tensor<3x4xf64>, tensor<3x2xf64>, tensor<2x3xf64> -> tensor<2x2xf64>, tensor<2xf64>)", {{"2x4xf64"}, {"3x4xf64"}, {"3x2xf64"}}},
    {R"(%n = nn.constant dense<[[0.0, 0.0, 0.0], [1.0, 0.0, 1.0]]> : tensor<2x3xf64> %m = nn.log %n : tensor<2x3xf64>
        nn.attention %a, %b, %c mask %m [0, 1] rows 0 scale 0.4 guarded : tensor<2x4xf64>, tensor<3x4xf64>, tensor<3x2xf64>, tensor<2x3xf64> -> tensor<2x2xf64>, tensor<2xf64>)", {{"2x4xf64"}, {"3x4xf64"}, {"3x2xf64"}}},
    {R"(%n = nn.constant dense<[[0.0, 0.0, 0.0], [1.0, 0.0, 1.0]]> : tensor<2x3xf64> %m = nn.log %n : tensor<2x3xf64>
        %o, %l = nn.attention %a, %b, %c mask %m [0, 1] rows 0 scale 0.4 : tensor<2x4xf64>, tensor<3x4xf64>, tensor<3x2xf64>, tensor<2x3xf64> -> tensor<2x2xf64>, tensor<2xf64>
        nn.attention_grad %a, %b, %c, %l, %d, %e mask %m [0, 1] rows 0 scale 0.4 : tensor<2x4xf64>, tensor<3x4xf64>, tensor<3x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2x3xf64> -> tensor<2x4xf64>, tensor<3x4xf64>, tensor<3x2xf64>)", {{"2x4xf64"}, {"3x4xf64"}, {"3x2xf64"}, {"2xf64"}, {"2x2xf64"}}},
    {R"(%n = nn.constant dense<[[0.0, 0.0, 0.0], [1.0, 0.0, 1.0]]> : tensor<2x3xf64> %m = nn.log %n : tensor<2x3xf64>
        %o, %l = nn.attention %a, %b, %c mask %m [0, 1] rows 0 scale 0.4 guarded : tensor<2x4xf64>, tensor<3x4xf64>, tensor<3x2xf64>, tensor<2x3xf64> -> tensor<2x2xf64>, tensor<2xf64>
        nn.attention_grad %a, %b, %c, %l, %d, %e mask %m [0, 1] rows 0 scale 0.4 guarded : tensor<2x4xf64>, tensor<3x4xf64>, tensor<3x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2x3xf64> -> tensor<2x4xf64>, tensor<3x4xf64>, tensor<3x2xf64>)", {{"2x4xf64"}, {"3x4xf64"}, {"3x2xf64"}, {"2xf64"}, {"2x2xf64"}}},
    // Rows that see no key, or none of the first ones.
    {R"(%i = nn.iota dim 0 : tensor<19x75xf64> %j = nn.iota dim 1 : tensor<19x75xf64> %t = nn.constant dense<10.0> : tensor<19x75xf64> %u = nn.constant dense<20.0> : tensor<19x75xf64>
        %v = nn.mul %i, %t : tensor<19x75xf64> %w = nn.sub %j, %v : tensor<19x75xf64> %x = nn.add %w, %u : tensor<19x75xf64> %n = nn.relu %x : tensor<19x75xf64> %m = nn.log %n : tensor<19x75xf64>
        nn.attention %a, %b, %c mask %m [1, 2] rows 1 scale 0.4 : tensor<2x19x6xf64>, tensor<2x75x6xf64>, tensor<2x75x35xf64>, tensor<19x75xf64> -> tensor<2x19x35xf64>, tensor<2x19xf64>)", {{"2x19x6xf64"}, {"2x75x6xf64"}, {"2x75x35xf64"}}},
    {R"(%i = nn.iota dim 0 : tensor<19x75xf64> %j = nn.iota dim 1 : tensor<19x75xf64> %t = nn.constant dense<10.0> : tensor<19x75xf64> %u = nn.constant dense<20.0> : tensor<19x75xf64>
        %v = nn.mul %i, %t : tensor<19x75xf64> %w = nn.sub %j, %v : tensor<19x75xf64> %x = nn.add %w, %u : tensor<19x75xf64> %n = nn.relu %x : tensor<19x75xf64> %m = nn.log %n : tensor<19x75xf64>
        %o, %l = nn.attention %a, %b, %c mask %m [1, 2] rows 1 scale 0.4 : tensor<2x19x6xf64>, tensor<2x75x6xf64>, tensor<2x75x35xf64>, tensor<19x75xf64> -> tensor<2x19x35xf64>, tensor<2x19xf64>
        nn.attention_grad %a, %b, %c, %l, %d, %e mask %m [1, 2] rows 1 scale 0.4 : tensor<2x19x6xf64>, tensor<2x75x6xf64>, tensor<2x75x35xf64>, tensor<2x19xf64>, tensor<2x19xf64>, tensor<2x19x35xf64>, tensor<19x75xf64> -> tensor<2x19x6xf64>, tensor<2x75x6xf64>, tensor<2x75x35xf64>)", {{"2x19x6xf64"}, {"2x75x6xf64"}, {"2x75x35xf64"}, {"2x19xf64"}, {"2x19x35xf64"}}},
    {R"(%i = nn.iota dim 0 : tensor<19x75xf64> %j = nn.iota dim 1 : tensor<19x75xf64> %t = nn.constant dense<10.0> : tensor<19x75xf64> %u = nn.constant dense<20.0> : tensor<19x75xf64>
        %v = nn.mul %i, %t : tensor<19x75xf64> %w = nn.sub %j, %v : tensor<19x75xf64> %x = nn.add %w, %u : tensor<19x75xf64> %n = nn.relu %x : tensor<19x75xf64> %m = nn.log %n : tensor<19x75xf64>
        nn.attention %a, %b, %c mask %m [1, 2] rows 1 scale 0.4 guarded : tensor<2x19x6xf64>, tensor<2x75x6xf64>, tensor<2x75x35xf64>, tensor<19x75xf64> -> tensor<2x19x35xf64>, tensor<2x19xf64>)", {{"2x19x6xf64"}, {"2x75x6xf64"}, {"2x75x35xf64"}}},
    {R"(%i = nn.iota dim 0 : tensor<19x75xf64> %j = nn.iota dim 1 : tensor<19x75xf64> %t = nn.constant dense<10.0> : tensor<19x75xf64> %u = nn.constant dense<20.0> : tensor<19x75xf64>
        %v = nn.mul %i, %t : tensor<19x75xf64> %w = nn.sub %j, %v : tensor<19x75xf64> %x = nn.add %w, %u : tensor<19x75xf64> %n = nn.relu %x : tensor<19x75xf64> %m = nn.log %n : tensor<19x75xf64>
        %o, %l = nn.attention %a, %b, %c mask %m [1, 2] rows 1 scale 0.4 guarded : tensor<2x19x6xf64>, tensor<2x75x6xf64>, tensor<2x75x35xf64>, tensor<19x75xf64> -> tensor<2x19x35xf64>, tensor<2x19xf64>
        nn.attention_grad %a, %b, %c, %l, %d, %e mask %m [1, 2] rows 1 scale 0.4 guarded : tensor<2x19x6xf64>, tensor<2x75x6xf64>, tensor<2x75x35xf64>, tensor<2x19xf64>, tensor<2x19xf64>, tensor<2x19x35xf64>, tensor<19x75xf64> -> tensor<2x19x6xf64>, tensor<2x75x6xf64>, tensor<2x75x35xf64>)", {{"2x19x6xf64"}, {"2x75x6xf64"}, {"2x75x35xf64"}, {"2x19xf64"}, {"2x19x35xf64"}}},
    // A finite number masks all keys: the logarithm of their number is lost. (So are scores, unless they are small.)
    {R"(%m = nn.constant dense<-1.0e9> : tensor<19x75xf64> %o, %l = nn.attention %a, %b, %c mask %m [1, 2] rows 1 scale 1.0e-9 : tensor<2x19x6xf64>, tensor<2x75x6xf64>, tensor<2x75x35xf64>, tensor<19x75xf64> -> tensor<2x19x35xf64>, tensor<2x19xf64>
        nn.attention_grad %a, %b, %c, %l, %d, %e mask %m [1, 2] rows 1 scale 1.0e-9 : tensor<2x19x6xf64>, tensor<2x75x6xf64>, tensor<2x75x35xf64>, tensor<2x19xf64>, tensor<2x19xf64>, tensor<2x19x35xf64>, tensor<19x75xf64> -> tensor<2x19x6xf64>, tensor<2x75x6xf64>, tensor<2x75x35xf64>)", {{"2x19x6xf64"}, {"2x75x6xf64"}, {"2x75x35xf64"}, {"2x19xf64"}, {"2x19x35xf64"}}},
    // Rows of more elements than a block takes.
    {"nn.attention %a, %b, %c rows 0 scale 0.1 : tensor<40x150xf64>, tensor<50x150xf64>, tensor<50x260xf64> -> tensor<40x260xf64>, tensor<40xf64>", {{"40x150xf64"}, {"50x150xf64"}, {"50x260xf64"}}},
    {R"(%o, %l = nn.attention %a, %b, %c rows 0 scale 0.1 : tensor<40x150xf64>, tensor<50x150xf64>, tensor<50x260xf64> -> tensor<40x260xf64>, tensor<40xf64> nn.attention_grad %a, %b, %c, %l, %d, %e rows 0 scale 0.1 : tensor<40x150xf64>, tensor<50x150xf64>, tensor<50x260xf64>, tensor<40xf64>, tensor<40xf64>, tensor<40x260xf64> -> tensor<40x150xf64>, tensor<50x150xf64>, tensor<50x260xf64>)", {{"40x150xf64"}, {"50x150xf64"}, {"50x260xf64"}, {"40xf64"}, {"40x260xf64"}}},
    // Long sums of few tiles are divided.
    {R"(%d = nn.dot %a, %b contract [0] [0] : tensor<1000x17xf64>, tensor<1000x33xf64> -> tensor<17x33xf64> nn.add %d, %c : tensor<17x33xf64>)", {{"1000x17xf64", -0.3, 0.3}, {"1000x33xf64", -0.3, 0.3}, {"17x33xf64"}}},
    // What an attention reads may be computed, and what it makes be used.
    {R"(%q = nn.transpose %a [1, 0] : tensor<16x33xf64> -> tensor<33x16xf64> %k = nn.broadcast %b [1] : tensor<16xf64> -> tensor<33x16xf64>
        %m = nn.iota dim 1 : tensor<33x33xf64> %o, %l = nn.attention %q, %k, %c mask %m [0, 1] rows 0 scale 0.3 : tensor<33x16xf64>, tensor<33x16xf64>, tensor<33x16xf64>, tensor<33x33xf64> -> tensor<33x16xf64>, tensor<33xf64>
        %r = nn.relu %o : tensor<33x16xf64> %s = nn.exp %l : tensor<33xf64> "test.yield"(%r, %s) : (tensor<33x16xf64>, tensor<33xf64>) -> ())", {{"16x33xf64"}, {"16xf64"}, {"33x16xf64"}}},
    // Transpositions in tiles.
    {"%t = nn.transpose %a [1, 0] : tensor<48x20xf64> -> tensor<20x48xf64> nn.add %t, %b : tensor<20x48xf64>", {{"48x20xf64"}, {"20x48xf64"}}},
    {"nn.transpose %a [2, 0, 1] : tensor<3x64x16xf64> -> tensor<16x3x64xf64>", {{"3x64x16xf64"}}},
    {"nn.transpose %a [0, 2, 1] : tensor<3x40x17xf64> -> tensor<3x17x40xf64>", {{"3x40x17xf64"}}},
    {"nn.transpose %a [3, 1, 0, 2] : tensor<64x1x32x1xf64> -> tensor<1x1x64x32xf64>", {{"64x1x32x1xf64"}}},
    {R"(%0 = nn.exp %a : tensor<1x35x20x2xf64> %1 = nn.transpose %0 [2, 0, 3, 1] : tensor<1x35x20x2xf64> -> tensor<20x1x2x35xf64>
        %2 = nn.add %1, %b : tensor<20x1x2x35xf64>)", {{"1x35x20x2xf64"}, {"20x1x2x35xf64"}}},
    // Convolutions that are products over patches.
    {"nn.conv %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<2x5x9x11xf64>, tensor<9x5x3x3xf64> -> tensor<2x9x9x11xf64>", {{"2x5x9x11xf64"}, {"9x5x3x3xf64"}}},
    {"nn.conv %a, %b strides [2, 2] padLow [1, 1] padHigh [0, 1] dilations [1, 1] groups 2 : tensor<3x8x9x9xf64>, tensor<18x4x3x3xf64> -> tensor<3x18x4x5xf64>", {{"3x8x9x9xf64"}, {"18x4x3x3xf64"}}},
    {"nn.conv_input_grad %a, %b strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] groups 2 : tensor<2x14x6x10xf64>, tensor<14x5x3x2xf64> -> tensor<2x10x13x11xf64>", {{"2x14x6x10xf64"}, {"14x5x3x2xf64"}}},
    {"nn.conv_input_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<3x12x5x5xf64>, tensor<12x9x3x3xf64> -> tensor<3x9x5x5xf64>", {{"3x12x5x5xf64"}, {"12x9x3x3xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] groups 2 : tensor<2x10x13x11xf64>, tensor<2x14x6x10xf64> -> tensor<14x5x3x2xf64>", {{"2x10x13x11xf64"}, {"2x14x6x10xf64"}}},
    // The same with the channels last: several panels, groups, depthwise, one and three dimensions.
    {"nn.conv %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 channelsLast : tensor<2x9x11x5xf64>, tensor<9x3x3x5xf64> -> tensor<2x9x11x9xf64>", {{"2x9x11x5xf64"}, {"9x3x3x5xf64"}}},
    {"nn.conv_input_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 channelsLast : tensor<2x9x11x9xf64>, tensor<9x3x3x5xf64> -> tensor<2x9x11x5xf64>", {{"2x9x11x9xf64"}, {"9x3x3x5xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 channelsLast : tensor<2x9x11x5xf64>, tensor<2x9x11x9xf64> -> tensor<9x3x3x5xf64>", {{"2x9x11x5xf64"}, {"2x9x11x9xf64"}}},
    {"nn.conv %a, %b strides [2, 2] padLow [1, 1] padHigh [0, 1] dilations [1, 1] groups 2 channelsLast : tensor<3x9x9x8xf64>, tensor<18x3x3x4xf64> -> tensor<3x4x5x18xf64>", {{"3x9x9x8xf64"}, {"18x3x3x4xf64"}}},
    {"nn.conv_input_grad %a, %b strides [2, 2] padLow [1, 1] padHigh [0, 1] dilations [1, 1] groups 2 channelsLast : tensor<3x4x5x18xf64>, tensor<18x3x3x4xf64> -> tensor<3x9x9x8xf64>", {{"3x4x5x18xf64"}, {"18x3x3x4xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [2, 2] padLow [1, 1] padHigh [0, 1] dilations [1, 1] groups 2 channelsLast : tensor<3x9x9x8xf64>, tensor<3x4x5x18xf64> -> tensor<18x3x3x4xf64>", {{"3x9x9x8xf64"}, {"3x4x5x18xf64"}}},
    {"nn.conv %a, %b strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] groups 2 channelsLast : tensor<2x13x11x10xf64>, tensor<14x3x2x5xf64> -> tensor<2x6x10x14xf64>", {{"2x13x11x10xf64"}, {"14x3x2x5xf64"}}},
    {"nn.conv_input_grad %a, %b strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] groups 2 channelsLast : tensor<2x6x10x14xf64>, tensor<14x3x2x5xf64> -> tensor<2x13x11x10xf64>", {{"2x6x10x14xf64"}, {"14x3x2x5xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] groups 2 channelsLast : tensor<2x13x11x10xf64>, tensor<2x6x10x14xf64> -> tensor<14x3x2x5xf64>", {{"2x13x11x10xf64"}, {"2x6x10x14xf64"}}},
    {"nn.conv %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 channelsLast : tensor<2x5x5x18xf64>, tensor<131x3x3x18xf64> -> tensor<2x5x5x131xf64>", {{"2x5x5x18xf64"}, {"131x3x3x18xf64"}}},
    {"nn.conv_input_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 channelsLast : tensor<2x5x5x131xf64>, tensor<131x3x3x18xf64> -> tensor<2x5x5x18xf64>", {{"2x5x5x131xf64"}, {"131x3x3x18xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 channelsLast : tensor<2x5x5x18xf64>, tensor<2x5x5x131xf64> -> tensor<131x3x3x18xf64>", {{"2x5x5x18xf64"}, {"2x5x5x131xf64"}}},
    {"nn.conv %a, %b strides [2] padLow [1] padHigh [1] dilations [1] groups 1 channelsLast : tensor<2x9x4xf64>, tensor<18x3x4xf64> -> tensor<2x5x18xf64>", {{"2x9x4xf64"}, {"18x3x4xf64"}}},
    {"nn.conv_input_grad %a, %b strides [2] padLow [1] padHigh [1] dilations [1] groups 1 channelsLast : tensor<2x5x18xf64>, tensor<18x3x4xf64> -> tensor<2x9x4xf64>", {{"2x5x18xf64"}, {"18x3x4xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [2] padLow [1] padHigh [1] dilations [1] groups 1 channelsLast : tensor<2x9x4xf64>, tensor<2x5x18xf64> -> tensor<18x3x4xf64>", {{"2x9x4xf64"}, {"2x5x18xf64"}}},
    {"nn.conv %a, %b strides [1, 1, 1] padLow [1, 0, 0] padHigh [0, 0, 1] dilations [1, 1, 1] groups 1 channelsLast : tensor<1x4x4x3x16xf64>, tensor<16x2x1x2x16xf64> -> tensor<1x4x4x3x16xf64>", {{"1x4x4x3x16xf64"}, {"16x2x1x2x16xf64"}}},
    {"nn.conv_input_grad %a, %b strides [1, 1, 1] padLow [1, 0, 0] padHigh [0, 0, 1] dilations [1, 1, 1] groups 1 channelsLast : tensor<1x4x4x3x16xf64>, tensor<16x2x1x2x16xf64> -> tensor<1x4x4x3x16xf64>", {{"1x4x4x3x16xf64"}, {"16x2x1x2x16xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [1, 1, 1] padLow [1, 0, 0] padHigh [0, 0, 1] dilations [1, 1, 1] groups 1 channelsLast : tensor<1x4x4x3x16xf64>, tensor<1x4x4x3x16xf64> -> tensor<16x2x1x2x16xf64>", {{"1x4x4x3x16xf64"}, {"1x4x4x3x16xf64"}}},
    {"nn.conv %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 6 channelsLast : tensor<2x7x7x6xf64>, tensor<6x3x3x1xf64> -> tensor<2x7x7x6xf64>", {{"2x7x7x6xf64"}, {"6x3x3x1xf64"}}},
    {"nn.conv_input_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 6 channelsLast : tensor<2x7x7x6xf64>, tensor<6x3x3x1xf64> -> tensor<2x7x7x6xf64>", {{"2x7x7x6xf64"}, {"6x3x3x1xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 6 channelsLast : tensor<2x7x7x6xf64>, tensor<2x7x7x6xf64> -> tensor<6x3x3x1xf64>", {{"2x7x7x6xf64"}, {"2x7x7x6xf64"}}},
    // Several panels of channels, the last one narrow; patches in samples.
    {"nn.conv %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<5x7x5x6xf64>, tensor<37x7x3x3xf64> -> tensor<5x37x5x6xf64>", {{"5x7x5x6xf64"}, {"37x7x3x3xf64"}}},
    {"nn.conv_input_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<5x37x5x6xf64>, tensor<37x7x3x3xf64> -> tensor<5x7x5x6xf64>", {{"5x37x5x6xf64"}, {"37x7x3x3xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<5x7x5x6xf64>, tensor<5x37x5x6xf64> -> tensor<37x7x3x3xf64>", {{"5x7x5x6xf64"}, {"5x37x5x6xf64"}}},
    // The depth in pieces, with a rest.
    {"nn.conv %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<2x131x5x5xf64>, tensor<18x131x3x3xf64> -> tensor<2x18x5x5xf64>", {{"2x131x5x5xf64"}, {"18x131x3x3xf64"}}},
    {"nn.conv_input_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<2x18x5x5xf64>, tensor<18x131x3x3xf64> -> tensor<2x131x5x5xf64>", {{"2x18x5x5xf64"}, {"18x131x3x3xf64"}}},
    // The depth of the transposed convolution in pieces.
    {"nn.conv_input_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<2x131x4x5xf64>, tensor<131x18x3x3xf64> -> tensor<2x18x4x5xf64>", {{"2x131x4x5xf64"}, {"131x18x3x3xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<2x18x4x5xf64>, tensor<2x131x4x5xf64> -> tensor<131x18x3x3xf64>", {{"2x18x4x5xf64"}, {"2x131x4x5xf64"}}},
    // Blocks of rows, the depth of the kernel's gradient in pieces.
    {"nn.conv %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<2x3x24x26xf64>, tensor<5x3x3x3xf64> -> tensor<2x5x24x26xf64>", {{"2x3x24x26xf64"}, {"5x3x3x3xf64"}}},
    {"nn.conv_input_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<2x5x24x26xf64>, tensor<5x3x3x3xf64> -> tensor<2x3x24x26xf64>", {{"2x5x24x26xf64"}, {"5x3x3x3xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<2x3x24x26xf64>, tensor<2x5x24x26xf64> -> tensor<5x3x3x3xf64>", {{"2x3x24x26xf64"}, {"2x5x24x26xf64"}}},
    // Blocks of samples with a rest; asymmetric and negative padding.
    {"nn.conv %a, %b strides [1, 1] padLow [2, -1] padHigh [0, 1] dilations [1, 1] groups 1 : tensor<11x4x9x10xf64>, tensor<9x4x3x2xf64> -> tensor<11x9x9x9xf64>", {{"11x4x9x10xf64"}, {"9x4x3x2xf64"}}},
    {"nn.conv_input_grad %a, %b strides [1, 1] padLow [2, -1] padHigh [0, 1] dilations [1, 1] groups 1 : tensor<11x9x9x9xf64>, tensor<9x4x3x2xf64> -> tensor<11x4x9x10xf64>", {{"11x9x9x9xf64"}, {"9x4x3x2xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [1, 1] padLow [2, -1] padHigh [0, 1] dilations [1, 1] groups 1 : tensor<11x4x9x10xf64>, tensor<11x9x9x9xf64> -> tensor<9x4x3x2xf64>", {{"11x4x9x10xf64"}, {"11x9x9x9xf64"}}},
    // Strides that leave elements of x without an output, and phases without taps.
    {"nn.conv %a, %b strides [3, 3] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : tensor<2x6x9x11xf64>, tensor<10x6x2x1xf64> -> tensor<2x10x3x4xf64>", {{"2x6x9x11xf64"}, {"10x6x2x1xf64"}}},
    {"nn.conv_input_grad %a, %b strides [3, 3] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : tensor<2x10x3x4xf64>, tensor<10x6x2x1xf64> -> tensor<2x6x9x11xf64>", {{"2x10x3x4xf64"}, {"10x6x2x1xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [3, 3] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : tensor<2x6x9x11xf64>, tensor<2x10x3x4xf64> -> tensor<10x6x2x1xf64>", {{"2x6x9x11xf64"}, {"2x10x3x4xf64"}}},
    // A stride and a dilation with a common divisor.
    {"nn.conv %a, %b strides [4, 2] padLow [2, 1] padHigh [2, 1] dilations [2, 3] groups 1 : tensor<2x5x11x12xf64>, tensor<9x5x3x3xf64> -> tensor<2x9x3x4xf64>", {{"2x5x11x12xf64"}, {"9x5x3x3xf64"}}},
    {"nn.conv_input_grad %a, %b strides [4, 2] padLow [2, 1] padHigh [2, 1] dilations [2, 3] groups 1 : tensor<2x9x3x4xf64>, tensor<9x5x3x3xf64> -> tensor<2x5x11x12xf64>", {{"2x9x3x4xf64"}, {"9x5x3x3xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [4, 2] padLow [2, 1] padHigh [2, 1] dilations [2, 3] groups 1 : tensor<2x5x11x12xf64>, tensor<2x9x3x4xf64> -> tensor<9x5x3x3xf64>", {{"2x5x11x12xf64"}, {"2x9x3x4xf64"}}},
    // Rows of blocks that hold whole phases.
    {"nn.conv_input_grad %a, %b strides [2, 2] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<1x6x16x12xf64>, tensor<6x4x4x4xf64> -> tensor<1x4x32x24xf64>", {{"1x6x16x12xf64"}, {"6x4x4x4xf64"}}},
    // Patches read in place; planes a multiple of 512 bytes apart are moved.
    {"nn.conv %a, %b strides [1, 1] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : tensor<2x20x8x8xf64>, tensor<24x20x1x1xf64> -> tensor<2x24x8x8xf64>", {{"2x20x8x8xf64"}, {"24x20x1x1xf64"}}},
    {"nn.conv_input_grad %a, %b strides [1, 1] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : tensor<2x24x8x8xf64>, tensor<24x20x1x1xf64> -> tensor<2x20x8x8xf64>", {{"2x24x8x8xf64"}, {"24x20x1x1xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [1, 1] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : tensor<2x20x8x8xf64>, tensor<2x24x8x8xf64> -> tensor<24x20x1x1xf64>", {{"2x20x8x8xf64"}, {"2x24x8x8xf64"}}},
    // One dimension, a long kernel.
    {"nn.conv %a, %b strides [2] padLow [5] padHigh [5] dilations [1] groups 1 : tensor<3x4x40xf64>, tensor<17x4x11xf64> -> tensor<3x17x20xf64>", {{"3x4x40xf64"}, {"17x4x11xf64"}}},
    {"nn.conv_input_grad %a, %b strides [2] padLow [5] padHigh [5] dilations [1] groups 1 : tensor<3x17x20xf64>, tensor<17x4x11xf64> -> tensor<3x4x40xf64>", {{"3x17x20xf64"}, {"17x4x11xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [2] padLow [5] padHigh [5] dilations [1] groups 1 : tensor<3x4x40xf64>, tensor<3x17x20xf64> -> tensor<17x4x11xf64>", {{"3x4x40xf64"}, {"3x17x20xf64"}}},
    // Three dimensions.
    {"nn.conv %a, %b strides [1, 2, 1] padLow [0, 1, 1] padHigh [1, 0, 1] dilations [1, 1, 1] groups 2 : tensor<2x6x4x5x6xf64>, tensor<18x3x2x3x2xf64> -> tensor<2x18x4x2x7xf64>", {{"2x6x4x5x6xf64"}, {"18x3x2x3x2xf64"}}},
    {"nn.conv_input_grad %a, %b strides [1, 2, 1] padLow [0, 1, 1] padHigh [1, 0, 1] dilations [1, 1, 1] groups 2 : tensor<2x18x4x2x7xf64>, tensor<18x3x2x3x2xf64> -> tensor<2x6x4x5x6xf64>", {{"2x18x4x2x7xf64"}, {"18x3x2x3x2xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [1, 2, 1] padLow [0, 1, 1] padHigh [1, 0, 1] dilations [1, 1, 1] groups 2 : tensor<2x6x4x5x6xf64>, tensor<2x18x4x2x7xf64> -> tensor<18x3x2x3x2xf64>", {{"2x6x4x5x6xf64"}, {"2x18x4x2x7xf64"}}},
    // Few channels a group: patches of a line in the lanes.
    {"nn.conv %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 6 : tensor<2x6x13x21xf64>, tensor<6x1x3x3xf64> -> tensor<2x6x13x21xf64>", {{"2x6x13x21xf64"}, {"6x1x3x3xf64"}}},
    {"nn.conv_input_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 6 : tensor<2x6x13x21xf64>, tensor<6x1x3x3xf64> -> tensor<2x6x13x21xf64>", {{"2x6x13x21xf64"}, {"6x1x3x3xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 6 : tensor<2x6x13x21xf64>, tensor<2x6x13x21xf64> -> tensor<6x1x3x3xf64>", {{"2x6x13x21xf64"}, {"2x6x13x21xf64"}}},
    // Their strides split lines into phases.
    {"nn.conv %a, %b strides [2, 2] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 5 : tensor<3x5x12x23xf64>, tensor<5x1x3x3xf64> -> tensor<3x5x6x12xf64>", {{"3x5x12x23xf64"}, {"5x1x3x3xf64"}}},
    {"nn.conv_input_grad %a, %b strides [2, 2] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 5 : tensor<3x5x6x12xf64>, tensor<5x1x3x3xf64> -> tensor<3x5x12x23xf64>", {{"3x5x6x12xf64"}, {"5x1x3x3xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [2, 2] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 5 : tensor<3x5x12x23xf64>, tensor<3x5x6x12xf64> -> tensor<5x1x3x3xf64>", {{"3x5x12x23xf64"}, {"3x5x6x12xf64"}}},
    {"nn.conv %a, %b strides [1, 3] padLow [1, 2] padHigh [0, 3] dilations [2, 2] groups 4 : tensor<1x4x15x16xf64>, tensor<8x1x2x5xf64> -> tensor<1x8x14x5xf64>", {{"1x4x15x16xf64"}, {"8x1x2x5xf64"}}},
    {"nn.conv_input_grad %a, %b strides [1, 3] padLow [1, 2] padHigh [0, 3] dilations [2, 2] groups 4 : tensor<1x8x14x5xf64>, tensor<8x1x2x5xf64> -> tensor<1x4x15x16xf64>", {{"1x8x14x5xf64"}, {"8x1x2x5xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [1, 3] padLow [1, 2] padHigh [0, 3] dilations [2, 2] groups 4 : tensor<1x4x15x16xf64>, tensor<1x8x14x5xf64> -> tensor<8x1x2x5xf64>", {{"1x4x15x16xf64"}, {"1x8x14x5xf64"}}},
    // Phases without taps, lines that are not a multiple of the stride.
    {"nn.conv %a, %b strides [3, 4] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 5 : tensor<4x5x25x29xf64>, tensor<5x1x2x2xf64> -> tensor<4x5x8x7xf64>", {{"4x5x25x29xf64"}, {"5x1x2x2xf64"}}},
    {"nn.conv_input_grad %a, %b strides [3, 4] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 5 : tensor<4x5x8x7xf64>, tensor<5x1x2x2xf64> -> tensor<4x5x25x29xf64>", {{"4x5x8x7xf64"}, {"5x1x2x2xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [3, 4] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 5 : tensor<4x5x25x29xf64>, tensor<4x5x8x7xf64> -> tensor<5x1x2x2xf64>", {{"4x5x25x29xf64"}, {"4x5x8x7xf64"}}},
    // Lines of several tiles of vectors.
    {"nn.conv %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 2 : tensor<1x2x5x150xf64>, tensor<2x1x3x3xf64> -> tensor<1x2x5x150xf64>", {{"1x2x5x150xf64"}, {"2x1x3x3xf64"}}},
    {"nn.conv_input_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 2 : tensor<1x2x5x150xf64>, tensor<2x1x3x3xf64> -> tensor<1x2x5x150xf64>", {{"1x2x5x150xf64"}, {"2x1x3x3xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 2 : tensor<1x2x5x150xf64>, tensor<1x2x5x150xf64> -> tensor<2x1x3x3xf64>", {{"1x2x5x150xf64"}, {"1x2x5x150xf64"}}},
    // Short lines, many taps.
    {"nn.conv %a, %b strides [1, 1] padLow [3, 3] padHigh [3, 3] dilations [1, 1] groups 3 : tensor<3x3x7x7xf64>, tensor<3x1x7x7xf64> -> tensor<3x3x7x7xf64>", {{"3x3x7x7xf64"}, {"3x1x7x7xf64"}}},
    {"nn.conv_input_grad %a, %b strides [1, 1] padLow [3, 3] padHigh [3, 3] dilations [1, 1] groups 3 : tensor<3x3x7x7xf64>, tensor<3x1x7x7xf64> -> tensor<3x3x7x7xf64>", {{"3x3x7x7xf64"}, {"3x1x7x7xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [1, 1] padLow [3, 3] padHigh [3, 3] dilations [1, 1] groups 3 : tensor<3x3x7x7xf64>, tensor<3x3x7x7xf64> -> tensor<3x1x7x7xf64>", {{"3x3x7x7xf64"}, {"3x3x7x7xf64"}}},
    // Many input channels for few outputs.
    {"nn.conv %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<1x19x9x11xf64>, tensor<2x19x3x3xf64> -> tensor<1x2x9x11xf64>", {{"1x19x9x11xf64"}, {"2x19x3x3xf64"}}},
    {"nn.conv_input_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<1x2x9x11xf64>, tensor<2x19x3x3xf64> -> tensor<1x19x9x11xf64>", {{"1x2x9x11xf64"}, {"2x19x3x3xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<1x19x9x11xf64>, tensor<1x2x9x11xf64> -> tensor<2x19x3x3xf64>", {{"1x19x9x11xf64"}, {"1x2x9x11xf64"}}},
    // Groups of a few channels.
    {"nn.conv %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 3 : tensor<2x12x8x9xf64>, tensor<9x4x3x3xf64> -> tensor<2x9x8x9xf64>", {{"2x12x8x9xf64"}, {"9x4x3x3xf64"}}},
    {"nn.conv_input_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 3 : tensor<2x9x8x9xf64>, tensor<9x4x3x3xf64> -> tensor<2x12x8x9xf64>", {{"2x9x8x9xf64"}, {"9x4x3x3xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 3 : tensor<2x12x8x9xf64>, tensor<2x9x8x9xf64> -> tensor<9x4x3x3xf64>", {{"2x12x8x9xf64"}, {"2x9x8x9xf64"}}},
    // One and three dimensions.
    {"nn.conv %a, %b strides [2] padLow [3] padHigh [3] dilations [1] groups 4 : tensor<4x4x100xf64>, tensor<4x1x7xf64> -> tensor<4x4x50xf64>", {{"4x4x100xf64"}, {"4x1x7xf64"}}},
    {"nn.conv_input_grad %a, %b strides [2] padLow [3] padHigh [3] dilations [1] groups 4 : tensor<4x4x50xf64>, tensor<4x1x7xf64> -> tensor<4x4x100xf64>", {{"4x4x50xf64"}, {"4x1x7xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [2] padLow [3] padHigh [3] dilations [1] groups 4 : tensor<4x4x100xf64>, tensor<4x4x50xf64> -> tensor<4x1x7xf64>", {{"4x4x100xf64"}, {"4x4x50xf64"}}},
    {"nn.conv %a, %b strides [1, 2, 2] padLow [1, 0, 1] padHigh [1, 0, 1] dilations [1, 1, 1] groups 3 : tensor<2x3x5x6x7xf64>, tensor<3x1x3x2x3xf64> -> tensor<2x3x5x3x4xf64>", {{"2x3x5x6x7xf64"}, {"3x1x3x2x3xf64"}}},
    {"nn.conv_input_grad %a, %b strides [1, 2, 2] padLow [1, 0, 1] padHigh [1, 0, 1] dilations [1, 1, 1] groups 3 : tensor<2x3x5x3x4xf64>, tensor<3x1x3x2x3xf64> -> tensor<2x3x5x6x7xf64>", {{"2x3x5x3x4xf64"}, {"3x1x3x2x3xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [1, 2, 2] padLow [1, 0, 1] padHigh [1, 0, 1] dilations [1, 1, 1] groups 3 : tensor<2x3x5x6x7xf64>, tensor<2x3x5x3x4xf64> -> tensor<3x1x3x2x3xf64>", {{"2x3x5x6x7xf64"}, {"2x3x5x3x4xf64"}}},
    // Blocks of rows of several samples, some without taps.
    {"nn.conv_input_grad %a, %b strides [2, 2] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : tensor<3x17x16x16xf64>, tensor<17x9x1x1xf64> -> tensor<3x9x32x32xf64>", {{"3x17x16x16xf64"}, {"17x9x1x1xf64"}}},
    // Blocks of rows of several samples, a depth in pieces.
    {"nn.conv_input_grad %a, %b strides [2, 2] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<3x64x16x16xf64>, tensor<64x9x3x3xf64> -> tensor<3x9x32x32xf64>", {{"3x64x16x16xf64"}, {"64x9x3x3xf64"}}},
    {"nn.conv %a, %b strides [2, 2] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : tensor<2x9x32x32xf64>, tensor<20x9x1x1xf64> -> tensor<2x20x16x16xf64>", {{"2x9x32x32xf64"}, {"20x9x1x1xf64"}}},
    {"nn.conv_weight_grad %a, %b strides [2, 2] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : tensor<2x9x32x32xf64>, tensor<2x20x16x16xf64> -> tensor<20x9x1x1xf64>", {{"2x9x32x32xf64"}, {"2x20x16x16xf64"}}},
    // Operands that are computed where they are read.
    {"%x = nn.exp %a : tensor<2x5x9x11xf64> %w = nn.neg %b : tensor<9x5x1x1xf64> nn.conv %x, %w strides [1, 1] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : tensor<2x5x9x11xf64>, tensor<9x5x1x1xf64> -> tensor<2x9x9x11xf64>", {{"2x5x9x11xf64"}, {"9x5x1x1xf64"}}},
    {"%y = nn.exp %b : tensor<2x9x9x11xf64> nn.conv_weight_grad %a, %y strides [1, 1] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : tensor<2x5x9x11xf64>, tensor<2x9x9x11xf64> -> tensor<9x5x1x1xf64>", {{"2x5x9x11xf64"}, {"2x9x9x11xf64"}}},
    // Windows that tile the input, overlap, leave elements out, reach over the border.
    {"nn.max_pool_grad %a, %b kernel [2, 2] strides [2, 2] padLow [0, 0] padHigh [0, 0] dilations [1, 1] : tensor<2x3x4x18xi8>, tensor<2x3x4x18xf64> -> tensor<2x3x8x36xf64>", {{"2x3x4x18xi8", -1, 3}, {"2x3x4x18xf64"}}},
    {"nn.max_pool_grad %a, %b kernel [2, 2] strides [2, 2] padLow [0, 0] padHigh [0, 0] dilations [1, 1] : tensor<2x3x4x7xi8>, tensor<2x3x4x7xf32> -> tensor<2x3x8x14xf32>", {{"2x3x4x7xi8", -1, 3}, {"2x3x4x7xf32"}}},
    {"nn.max_pool_grad %a, %b kernel [5, 6] strides [5, 6] padLow [0, 0] padHigh [0, 0] dilations [1, 1] : tensor<2x3x2x2xi8>, tensor<2x3x2x2xf64> -> tensor<2x3x10x12xf64>", {{"2x3x2x2xi8", -1, 29}, {"2x3x2x2xf64"}}},
    {"nn.max_pool_grad %a, %b kernel [2, 3] strides [2, 3] padLow [0, 0] padHigh [0, 0] dilations [1, 1] : tensor<2x3x3x3xi8>, tensor<2x3x3x3xf64> -> tensor<2x3x7x9xf64>", {{"2x3x3x3xi8", -1, 5}, {"2x3x3x3xf64"}}},
    {"nn.max_pool_grad %a, %b kernel [3, 3] strides [2, 2] padLow [1, 1] padHigh [1, 1] dilations [1, 1] : tensor<2x2x5x19xi8>, tensor<2x2x5x19xf64> -> tensor<2x2x9x37xf64>", {{"2x2x5x19xi8", -1, 8}, {"2x2x5x19xf64"}}},
    {"nn.max_pool_grad %a, %b kernel [2, 2] strides [3, 3] padLow [1, 0] padHigh [0, 2] dilations [1, 1] : tensor<1x2x4x5xi8>, tensor<1x2x4x5xf64> -> tensor<1x2x11x12xf64>", {{"1x2x4x5xi8", -1, 3}, {"1x2x4x5xf64"}}},
    {"nn.max_pool_grad %a, %b kernel [3, 2] strides [3, 2] padLow [2, 1] padHigh [1, 3] dilations [1, 1] : tensor<2x2x4x7xi8>, tensor<2x2x4x7xf64> -> tensor<2x2x9x10xf64>", {{"2x2x4x7xi8", -1, 5}, {"2x2x4x7xf64"}}},
    {"nn.max_pool_grad %a, %b kernel [5, 5] strides [1, 1] padLow [2, 2] padHigh [2, 2] dilations [1, 1] : tensor<1x2x12x13xi8>, tensor<1x2x12x13xf64> -> tensor<1x2x12x13xf64>", {{"1x2x12x13xi8", -1, 24}, {"1x2x12x13xf64"}}},
    {"nn.max_pool_grad %a, %b kernel [2] strides [4] padLow [0] padHigh [0] dilations [3] : tensor<2x3x5xi8>, tensor<2x3x5xf64> -> tensor<2x3x21xf64>", {{"2x3x5xi8", -1, 1}, {"2x3x5xf64"}}},
    {"nn.max_pool_grad %a, %b kernel [2, 2, 2] strides [2, 1, 2] padLow [0, 1, 0] padHigh [0, 1, 0] dilations [1, 1, 1] : tensor<1x1x2x6x3xi8>, tensor<1x1x2x6x3xf64> -> tensor<1x1x4x5x6xf64>", {{"1x1x2x6x3xi8", -1, 7}, {"1x1x2x6x3xf64"}}},
    {"nn.max_pool_grad %a, %b kernel [3, 3] strides [2, 4] padLow [1, 3] padHigh [1, 2] dilations [1, 1] : tensor<1x2x3x2xi8>, tensor<1x2x3x2xf64> -> tensor<1x2x6x3xf64>", {{"1x2x3x2xi8", -1, 8}, {"1x2x3x2xf64"}}},
    // 16-bit floats: computed in f32, rounded after each op.
    {"%x = nn.mul %a, %b : tensor<33xbf16> nn.exp %x : tensor<33xbf16>", {{"33xbf16"}, {"33xbf16"}}},
    {"nn.reduce sum %a [1] : tensor<3x333xbf16> -> tensor<3xbf16>", {{"3x333xbf16", 0, 1}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<7x33xf16>, tensor<33x9xf16> -> tensor<7x9xf16>", {{"7x33xf16"}, {"33x9xf16"}}},
    {"nn.convert %a : tensor<33xf64> -> tensor<33xbf16>", {{"33xf64"}}},
    {"nn.convert %a : tensor<33xf16> -> tensor<33xbf16>", {{"33xf16"}}},
    {"nn.convert %a : tensor<33xbf16> -> tensor<33xf16>", {{"33xbf16"}}},
    {"%x = nn.add %a, %a : tensor<33xf16> nn.convert %x : tensor<33xf16> -> tensor<33xf64>", {{"33xf16"}}},
    // Long sums are sums over blocks: an f32 keeps its precision (f64 sums these
    // without error). Blocks of one dimension with a rest, inside outer rounds,
    // and of several dimensions.
    {"nn.reduce sum %a [0] : tensor<400003xf64> -> tensor<f64>", {{"400003xf64", 0.1f, 0.1f}}},
    {"nn.reduce sum %a [0, 2] : tensor<3x2x20001xf64> -> tensor<2xf64>", {{"3x2x20001xf64", 0.1f, 0.1f}}},
    {R"(%0 = nn.transpose %a [1, 0] : tensor<7x30001xf64> -> tensor<30001x7xf64>
        nn.reduce sum %0 [0, 1] : tensor<30001x7xf64> -> tensor<f64>)", {{"7x30001xf64", 0.1f, 0.1f}}},
    // Of whole rows: added up in f64, in one dimension or several.
    {"nn.reduce sum %a [0] : tensor<100003x3xf64> -> tensor<3xf64>", {{"100003x3xf64", 0.1f, 0.1f}}},
    {"nn.reduce sum %a [0, 2] : tensor<300x2x400x3xf64> -> tensor<2x3xf64>", {{"300x2x400x3xf64", 0.1f, 0.1f}}},
    // Of columns, and few of many terms: what blocks of threads share. Ragged in columns and terms, of
    // several dimensions around those that stay, of all kinds and types, and two over one tensor.
    {"nn.reduce sum %a [0] : tensor<70x33xf64> -> tensor<33xf64>", {{"70x33xf64"}}},
    {"nn.reduce sum %a [0] : tensor<4099x9xf64> -> tensor<9xf64>", {{"4099x9xf64"}}},
    {"nn.reduce sum %a [1] : tensor<3x100x5x7xf64> -> tensor<3x5x7xf64>", {{"3x100x5x7xf64"}}},
    {"nn.reduce max %a [0, 2] : tensor<40x3x50x11xf64> -> tensor<3x11xf64>", {{"40x3x50x11xf64"}}},
    {"nn.reduce min %a [0, 2, 3] : tensor<20x5x30x31xf64> -> tensor<5xf64>", {{"20x5x30x31xf64"}}},
    {"nn.reduce sum %a [0] : tensor<300x40xi32> -> tensor<40xi32>", {{"300x40xi32", -99, 99}}},
    {"nn.reduce prod %a [0] : tensor<100x17xi8> -> tensor<17xi8>", {{"100x17xi8", -3, 3}}},
    {"nn.reduce max %a [0] : tensor<9001xui8> -> tensor<ui8>", {{"9001xui8", 0, 250}}},
    {"nn.reduce sum %a [0] : tensor<500x9xbf16> -> tensor<9xbf16>", {{"500x9xbf16", 0, 1}}},
    {R"(%e = nn.exp %a : tensor<90x40xf64> %m = nn.mul %e, %b : tensor<90x40xf64>
        %s = nn.reduce sum %m [0] : tensor<90x40xf64> -> tensor<40xf64> %t = nn.reduce sum %e [0] : tensor<90x40xf64> -> tensor<40xf64>
        %r = nn.div %s, %t : tensor<40xf64> "test.yield"(%r, %e) : (tensor<40xf64>, tensor<90x40xf64>) -> ())", {{"90x40xf64"}, {"90x40xf64"}}},
    // Neighbouring columns of a thread, with a rest of threads; reductions that share launches; a sum that waits for
    // another reduction; a batch normalization with the channels last.
    {"nn.reduce sum %a [0, 1] : tensor<30x50x68xf64> -> tensor<68xf64>", {{"30x50x68xf64"}}},
    {"nn.reduce sum %a [1] : tensor<3x700x20xbf16> -> tensor<3x20xbf16>", {{"3x700x20xbf16", 0, 0.1f}}},
    {"nn.reduce max %a [0, 1] : tensor<20x40x36xf64> -> tensor<36xf64>", {{"20x40x36xf64"}}},
    {R"(%m = nn.mul %a, %b : tensor<20x40x36xf64> %s = nn.reduce sum %a [0, 1] : tensor<20x40x36xf64> -> tensor<36xf64>
        %t = nn.reduce max %m [0, 1] : tensor<20x40x36xf64> -> tensor<36xf64> %u = nn.reduce sum %m [0, 1] : tensor<20x40x36xf64> -> tensor<36xf64>
        %v = nn.reduce max %a [0, 1] : tensor<20x40x36xf64> -> tensor<36xf64>
        "test.yield"(%s, %t, %u, %v) : (tensor<36xf64>, tensor<36xf64>, tensor<36xf64>, tensor<36xf64>) -> ())", {{"20x40x36xf64"}, {"20x40x36xf64"}}},
    {R"(%s = nn.reduce max %a [0] : tensor<900x24xf64> -> tensor<24xf64> %b1 = nn.broadcast %s [1] : tensor<24xf64> -> tensor<900x24xf64>
        %d = nn.sub %a, %b1 : tensor<900x24xf64> %t = nn.reduce sum %d [0] : tensor<900x24xf64> -> tensor<24xf64>
        "test.yield"(%t, %s) : (tensor<24xf64>, tensor<24xf64>) -> ())", {{"900x24xf64"}}},
    {R"(%y, %m, %v = nn.normalize %a [0, 1, 2] epsilon 1.0e-5 : tensor<5x9x9x16xf64> -> tensor<5x9x9x16xf64>, tensor<16xf64>, tensor<16xf64>
        %g = nn.broadcast %b [3] : tensor<16xf64> -> tensor<5x9x9x16xf64> %0 = nn.mul %y, %g : tensor<5x9x9x16xf64>
        "test.yield"(%0, %m, %v) : (tensor<5x9x9x16xf64>, tensor<16xf64>, tensor<16xf64>) -> ())", {{"5x9x9x16xf64"}, {"16xf64"}}},
    {R"(%q = nn.mul %a, %a : tensor<9001xf64> %s = nn.reduce sum %q [0] : tensor<9001xf64> -> tensor<f64>
        %r = nn.sqrt %s : tensor<f64> %b = nn.broadcast %r [] : tensor<f64> -> tensor<9001xf64> nn.div %a, %b : tensor<9001xf64>)", {{"9001xf64", 1, 2}}},
    // Empty tensors.
    {"nn.add %a, %a : tensor<0x3xf64>", {{"0x3xf64"}}},
    {"nn.reduce sum %a [0] : tensor<0x3xf64> -> tensor<3xf64>", {{"0x3xf64"}}},
    {"nn.reduce max %a [1] : tensor<3x0xf64> -> tensor<3xf64>", {{"3x0xf64"}}},
    {"nn.reduce min %a [1] : tensor<0x3xf64> -> tensor<0xf64>", {{"0x3xf64"}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<3x0xf64>, tensor<0x5xf64> -> tensor<3x5xf64>", {{"3x0xf64"}, {"0x5xf64"}}},
    {"nn.dot %a, %b contract [1] [0] : tensor<0x3xf64>, tensor<3x5xf64> -> tensor<0x5xf64>", {{"0x3xf64"}, {"3x5xf64"}}},
    {"nn.concat %a, %b, %a dim 0 : tensor<0x3xf64>, tensor<2x3xf64>, tensor<0x3xf64> -> tensor<2x3xf64>", {{"0x3xf64"}, {"2x3xf64"}}},
    {"nn.pad %a, %b low [2] high [1] interior [0] : tensor<0xf64>, tensor<f64> -> tensor<3xf64>", {{"0xf64"}, {"f64"}}},
    {"nn.gather %a, %b dim 0 : tensor<5x2xf64>, tensor<0xi64> -> tensor<0x2xf64>", {{"5x2xf64"}, {"0xi64", 0, 1}}},
    {"nn.scatter_add %a, %b dim 0 : tensor<0x2xf64>, tensor<0xi64> -> tensor<5x2xf64>", {{"0x2xf64"}, {"0xi64", 0, 1}}},
    {"nn.top_k %a dim 1 {k = 0 : i64} : tensor<2x3xf64> -> tensor<2x0xf64>, tensor<2x0xi64>", {{"2x3xf64"}}},
    {"nn.softmax %a dim 1 : tensor<0x4xf64>", {{"0x4xf64"}}},
    // Scalars, values passed through, values given twice.
    {"nn.add %a, %b : tensor<f64>", {{"f64"}, {"f64"}}},
    {R"("test.yield"(%a, %a) : (tensor<5xf64>, tensor<5xf64>) -> ())", {{"5xf64"}}},
    {R"(%x = nn.exp %a : tensor<5xf64> %c = nn.constant dense<2> : tensor<4xi32>
        "test.yield"(%x, %c, %x) : (tensor<5xf64>, tensor<4xi32>, tensor<5xf64>) -> ())", {{"5xf64"}}},
    // Updates.
    {R"(nn.update (%a, %b : tensor<33xf64>, tensor<33xf64>) scalars (%c : tensor<f64>) {
        ^bb0(%pi: tensor<f64>, %gi: tensor<f64>, %l: tensor<f64>):
          %d = nn.mul %l, %gi : tensor<f64>
          %n = nn.sub %pi, %d : tensor<f64>
          nn.yield %n : tensor<f64>
        } -> tensor<33xf64>)", {{"33xf64"}, {"33xf64"}, {"f64"}}},
    {R"(nn.update (%a, %b, %c : tensor<3x7xf64>, tensor<3x7xf64>, tensor<3x7xf64>) scalars (%d, %e : tensor<f64>, tensor<i1>) {
        ^bb0(%p: tensor<f64>, %m: tensor<f64>, %g: tensor<f64>, %l: tensor<f64>, %ok: tensor<i1>):
          %k = nn.constant dense<0.9> : tensor<f64>
          %x = nn.mul %k, %m : tensor<f64>
          %n = nn.add %x, %g : tensor<f64>
          %s = nn.mul %l, %n : tensor<f64>
          %q = nn.sub %p, %s : tensor<f64>
          %p1 = nn.select %ok, %q, %p : tensor<i1>, tensor<f64>
          nn.yield %p1, %n : tensor<f64>, tensor<f64>
        } -> tensor<3x7xf64>, tensor<3x7xf64>)", {{"3x7xf64"}, {"3x7xf64"}, {"3x7xf64"}, {"f64"}, {"i1", 0, 1}}},
    // Fused kernels.
    {R"(%0 = nn.broadcast %b [1] : tensor<33xf64> -> tensor<7x33xf64>
        %1 = nn.add %a, %0 : tensor<7x33xf64> nn.relu %1 : tensor<7x33xf64>)", {{"7x33xf64"}, {"33xf64"}}},
    {R"(%d = nn.dot %a, %c contract [1] [0] : tensor<7x5xf64>, tensor<5x33xf64> -> tensor<7x33xf64>
        %0 = nn.broadcast %b [1] : tensor<33xf64> -> tensor<7x33xf64>
        %1 = nn.add %d, %0 : tensor<7x33xf64> nn.gelu tanh %1 : tensor<7x33xf64>)", {{"7x5xf64"}, {"33xf64"}, {"5x33xf64"}}},
    {"nn.softmax %a dim 1 : tensor<33x65xf64>", {{"33x65xf64", -9, 9}}},
    {"nn.softmax %a dim 2 : tensor<3x1x1xf64>", {{"3x1x1xf64"}}},
    {"nn.log_softmax %a dim 2 : tensor<3x7x33xf64>", {{"3x7x33xf64"}}},
    {R"(%s = nn.constant dense<0.125> : tensor<2x3x9x9xf64> %low = nn.constant dense<-1.0e9> : tensor<2x3x9x9xf64>
        %r = nn.iota dim 2 : tensor<2x3x9x9xi64> %c = nn.iota dim 3 : tensor<2x3x9x9xi64>
        %m = nn.compare ge %r, %c : tensor<2x3x9x9xi64> -> tensor<2x3x9x9xi1>
        %x = nn.mul %a, %s : tensor<2x3x9x9xf64>
        %y = nn.select %m, %x, %low : tensor<2x3x9x9xi1>, tensor<2x3x9x9xf64>
        nn.softmax %y dim 3 : tensor<2x3x9x9xf64>)", {{"2x3x9x9xf64"}}},
    {R"(%0 = nn.mul %a, %b : tensor<7x33xf64> %1 = nn.reduce sum %0 [1] : tensor<7x33xf64> -> tensor<7xf64>
        %2 = nn.broadcast %1 [0] : tensor<7xf64> -> tensor<7x33xf64>
        %3 = nn.sub %a, %2 : tensor<7x33xf64> nn.mul %b, %3 : tensor<7x33xf64>)", {{"7x33xf64"}, {"7x33xf64"}}},
    {R"(%x = nn.add %a, %d : tensor<3x7x33xf64>
        %y, %m, %v = nn.normalize %x [2] epsilon 1.0e-5 : tensor<3x7x33xf64> -> tensor<3x7x33xf64>, tensor<3x7xf64>, tensor<3x7xf64>
        %g = nn.broadcast %b [2] : tensor<33xf64> -> tensor<3x7x33xf64>
        %h = nn.broadcast %c [2] : tensor<33xf64> -> tensor<3x7x33xf64>
        %0 = nn.mul %y, %g : tensor<3x7x33xf64> %1 = nn.add %0, %h : tensor<3x7x33xf64>
        "test.yield"(%x, %1, %m, %v) : (tensor<3x7x33xf64>, tensor<3x7x33xf64>, tensor<3x7xf64>, tensor<3x7xf64>) -> ())",
     {{"3x7x33xf64"}, {"33xf64"}, {"33xf64"}, {"3x7x33xf64"}}},
    {R"(%y, %m, %v = nn.normalize %a [1] epsilon 1.0e-5 : tensor<7x33xf64> -> tensor<7x33xf64>, tensor<7xf64>, tensor<7xf64>
        %gb = nn.broadcast %b [1] : tensor<33xf64> -> tensor<7x33xf64>
        %gy = nn.mul %c, %gb : tensor<7x33xf64> %p = nn.mul %gy, %y : tensor<7x33xf64>
        %s1 = nn.reduce sum %gy [1] : tensor<7x33xf64> -> tensor<7xf64>
        %s2 = nn.reduce sum %p [1] : tensor<7x33xf64> -> tensor<7xf64>
        %n = nn.constant dense<33.0> : tensor<7xf64> %e = nn.constant dense<1.0e-5> : tensor<7xf64>
        %m1 = nn.div %s1, %n : tensor<7xf64> %m2 = nn.div %s2, %n : tensor<7xf64>
        %ve = nn.add %v, %e : tensor<7xf64> %r = nn.rsqrt %ve : tensor<7xf64>
        %b1 = nn.broadcast %m1 [0] : tensor<7xf64> -> tensor<7x33xf64>
        %b2 = nn.broadcast %m2 [0] : tensor<7xf64> -> tensor<7x33xf64>
        %br = nn.broadcast %r [0] : tensor<7xf64> -> tensor<7x33xf64>
        %0 = nn.sub %gy, %b1 : tensor<7x33xf64> %1 = nn.mul %y, %b2 : tensor<7x33xf64>
        %2 = nn.sub %0, %1 : tensor<7x33xf64> %dx = nn.mul %br, %2 : tensor<7x33xf64>
        %cy = nn.mul %c, %y : tensor<7x33xf64>
        %dg = nn.reduce sum %cy [0] : tensor<7x33xf64> -> tensor<33xf64>
        %db = nn.reduce sum %c [0] : tensor<7x33xf64> -> tensor<33xf64>
        "test.yield"(%dx, %dg, %db) : (tensor<7x33xf64>, tensor<33xf64>, tensor<33xf64>) -> ())",
     {{"7x33xf64"}, {"33xf64"}, {"7x33xf64"}}},
    {R"(%l, %s = nn.cross_entropy %a, %b dim 1 : tensor<9x33xf64>, tensor<9xi64> -> tensor<9xf64>, tensor<9xf64>
        %t = nn.reduce sum %l [0] : tensor<9xf64> -> tensor<f64>
        "test.yield"(%t, %s) : (tensor<f64>, tensor<9xf64>) -> ())", {{"9x33xf64"}, {"9xi64", 0, 32}}},
    // Long rows, which blocks of threads copy to shared memory: of f32 in pieces of 4 bytes.
    {R"(%m = nn.reduce max %a [1] : tensor<64x8201xf64> -> tensor<64xf64>
        %n = nn.broadcast %m [0] : tensor<64xf64> -> tensor<64x8201xf64>
        %d = nn.sub %a, %n : tensor<64x8201xf64> %e = nn.exp %d : tensor<64x8201xf64>
        %s = nn.reduce sum %e [1] : tensor<64x8201xf64> -> tensor<64xf64>
        "test.yield"(%s, %d) : (tensor<64xf64>, tensor<64x8201xf64>) -> ())", {{"64x8201xf64"}}},
    // Rows of padding behind those of a conversion, many enough that a thread computes neighbours.
    {R"(%c = nn.convert %a : tensor<65x4096xi32> -> tensor<65x4096xf64>
        nn.pad %c, %b low [0, 0] high [3, 0] interior [0, 0] : tensor<65x4096xf64>, tensor<f64> -> tensor<68x4096xf64>)",
     {{"65x4096xi32", 0, 9}, {"f64"}}},
    // A label that is no class, and is ignored.
    {R"(%l, %s = nn.cross_entropy %a, %b dim 1 {ignoreIndex = -1 : i64} : tensor<9x129xf64>, tensor<9xi64> -> tensor<9xf64>, tensor<9xf64>
        %t = nn.reduce sum %l [0] : tensor<9xf64> -> tensor<f64>
        "test.yield"(%t, %l) : (tensor<f64>, tensor<9xf64>) -> ())", {{"9x129xf64"}, {"9xi64", -1, 2}}},
    // A loss, its gradient by rows, and between them a sum over all rows.
    {R"(%l, %s = nn.cross_entropy %a, %b dim 1 {ignoreIndex = 3 : i64} : tensor<9x129xf64>, tensor<9xi64> -> tensor<9xf64>, tensor<9xf64>
        %t = nn.reduce sum %l [0] : tensor<9xf64> -> tensor<f64>
        %sb = nn.broadcast %s [0] : tensor<9xf64> -> tensor<9x129xf64> %x = nn.sub %a, %sb : tensor<9x129xf64>
        %p = nn.exp %x : tensor<9x129xf64> %i = nn.iota dim 1 : tensor<9x129xi64>
        %lb = nn.broadcast %b [0] : tensor<9xi64> -> tensor<9x129xi64>
        %h = nn.compare eq %i, %lb : tensor<9x129xi64> -> tensor<9x129xi1>
        %o = nn.convert %h : tensor<9x129xi1> -> tensor<9x129xf64> %g = nn.sub %p, %o : tensor<9x129xf64>
        "test.yield"(%t, %g) : (tensor<f64>, tensor<9x129xf64>) -> ())", {{"9x129xf64"}, {"9xi64", 0, 8}}},
    {R"(%s = nn.broadcast %b [0] : tensor<9xf64> -> tensor<9x33xf64> %x = nn.sub %a, %s : tensor<9x33xf64>
        %p = nn.exp %x : tensor<9x33xf64> %i = nn.iota dim 1 : tensor<9x33xi64>
        %l = nn.broadcast %c [0] : tensor<9xi64> -> tensor<9x33xi64>
        %h = nn.compare eq %i, %l : tensor<9x33xi64> -> tensor<9x33xi1>
        %o = nn.convert %h : tensor<9x33xi1> -> tensor<9x33xf64> nn.sub %p, %o : tensor<9x33xf64>)",
     {{"9x33xf64"}, {"9xf64"}, {"9xi64", 0, 32}}},
    {R"(%h = nn.gelu none %a : tensor<7x33xf64> %t = nn.tanh %h : tensor<7x33xf64>
        %z = nn.constant dense<0.0> : tensor<7x33xf64> %m = nn.compare gt %t, %z : tensor<7x33xf64> -> tensor<7x33xi1>
        "test.yield"(%t, %m) : (tensor<7x33xf64>, tensor<7x33xi1>) -> ())", {{"7x33xf64"}}},
    {R"(%0 = nn.reshape %a : tensor<3x5x8xf64> -> tensor<3x5x2x4xf64>
        %1 = nn.transpose %0 [0, 2, 1, 3] : tensor<3x5x2x4xf64> -> tensor<3x2x5x4xf64>
        %2 = nn.reshape %1 : tensor<3x2x5x4xf64> -> tensor<6x5x4xf64> nn.neg %2 : tensor<6x5x4xf64>)", {{"3x5x8xf64"}}},
    {R"(%0 = nn.reshape %b : tensor<6xf64> -> tensor<2x3xf64>
        %1 = nn.broadcast %0 [1, 2] : tensor<2x3xf64> -> tensor<4x2x3xf64>
        %2 = nn.reshape %1 : tensor<4x2x3xf64> -> tensor<8x3xf64> nn.add %a, %2 : tensor<8x3xf64>)", {{"8x3xf64"}, {"6xf64"}}},
    {R"(%0 = nn.reduce sum %a [0, 2, 3] : tensor<2x3x5x7xf64> -> tensor<3xf64>
        %1 = nn.broadcast %0 [1] : tensor<3xf64> -> tensor<2x3x5x7xf64> nn.sub %a, %1 : tensor<2x3x5x7xf64>)", {{"2x3x5x7xf64"}}},
    // Rows of several pieces: the channels of a batch normalization, of its gradient, and of two dimensions.
    {R"(%y, %m, %v = nn.normalize %a [0, 2, 3] epsilon 1.0e-5 : tensor<5x3x9x9xf64> -> tensor<5x3x9x9xf64>, tensor<3xf64>, tensor<3xf64>
        %g = nn.broadcast %b [1] : tensor<3xf64> -> tensor<5x3x9x9xf64> %0 = nn.mul %y, %g : tensor<5x3x9x9xf64>
        %h = nn.broadcast %c [1] : tensor<3xf64> -> tensor<5x3x9x9xf64> %1 = nn.add %0, %h : tensor<5x3x9x9xf64>
        %2 = nn.relu %1 : tensor<5x3x9x9xf64>
        "test.yield"(%y, %m, %v, %2) : (tensor<5x3x9x9xf64>, tensor<3xf64>, tensor<3xf64>, tensor<5x3x9x9xf64>) -> ())",
     {{"5x3x9x9xf64"}, {"3xf64"}, {"3xf64"}}},
    {R"(%z = nn.constant dense<0.0> : tensor<5x3x9x9xf64> %on = nn.compare gt %a, %z : tensor<5x3x9x9xf64> -> tensor<5x3x9x9xi1>
        %g = nn.select %on, %b, %z : tensor<5x3x9x9xi1>, tensor<5x3x9x9xf64> %gx = nn.mul %g, %a : tensor<5x3x9x9xf64>
        %s1 = nn.reduce sum %g [0, 2, 3] : tensor<5x3x9x9xf64> -> tensor<3xf64>
        %s2 = nn.reduce sum %gx [0, 2, 3] : tensor<5x3x9x9xf64> -> tensor<3xf64>
        %n = nn.constant dense<405.0> : tensor<3xf64> %m1 = nn.div %s1, %n : tensor<3xf64> %m2 = nn.div %s2, %n : tensor<3xf64>
        %b1 = nn.broadcast %m1 [1] : tensor<3xf64> -> tensor<5x3x9x9xf64> %b2 = nn.broadcast %m2 [1] : tensor<3xf64> -> tensor<5x3x9x9xf64>
        %0 = nn.sub %g, %b1 : tensor<5x3x9x9xf64> %1 = nn.mul %a, %b2 : tensor<5x3x9x9xf64> %dx = nn.sub %0, %1 : tensor<5x3x9x9xf64>
        "test.yield"(%dx, %s1, %s2) : (tensor<5x3x9x9xf64>, tensor<3xf64>, tensor<3xf64>) -> ())",
     {{"5x3x9x9xf64"}, {"5x3x9x9xf64"}}},
    {R"(%e = nn.exp %a : tensor<2x2x3x4x65xf64> %s = nn.reduce sum %e [0, 1, 4] : tensor<2x2x3x4x65xf64> -> tensor<3x4xf64>
        %t = nn.broadcast %s [2, 3] : tensor<3x4xf64> -> tensor<2x2x3x4x65xf64> %h = nn.broadcast %b [0, 2, 4] : tensor<2x3x65xf64> -> tensor<2x2x3x4x65xf64>
        %q = nn.div %e, %t : tensor<2x2x3x4x65xf64> nn.mul %q, %h : tensor<2x2x3x4x65xf64>)", {{"2x2x3x4x65xf64"}, {"2x3x65xf64"}}},
    {R"(%0 = nn.exp %a : tensor<6x4xf64> %1 = nn.transpose %0 [1, 0] : tensor<6x4xf64> -> tensor<4x6xf64>
        %2 = nn.reduce sum %1 [1] : tensor<4x6xf64> -> tensor<4xf64>
        %3 = nn.broadcast %2 [1] : tensor<4xf64> -> tensor<6x4xf64> nn.div %0, %3 : tensor<6x4xf64>)", {{"6x4xf64"}}},
    // Sums over columns beside the ops that have their terms: a rest of rows and of columns, two sums with terms of their own,
    // in rows that have sums too, over two dimensions, and terms in another order, which are read again.
    {R"(%e = nn.exp %a : tensor<67x39xf64> %s = nn.reduce sum %e [0] : tensor<67x39xf64> -> tensor<39xf64>
        "test.yield"(%e, %s) : (tensor<67x39xf64>, tensor<39xf64>) -> ())", {{"67x39xf64"}}},
    {R"(%p = nn.mul %a, %b : tensor<130x64xf64> %x = nn.tanh %a : tensor<130x64xf64> %y = nn.mul %x, %b : tensor<130x64xf64>
        %s = nn.reduce sum %p [0] : tensor<130x64xf64> -> tensor<64xf64> %t = nn.reduce sum %b [0] : tensor<130x64xf64> -> tensor<64xf64>
        %u = nn.reduce sum %y [0] : tensor<130x64xf64> -> tensor<64xf64>
        "test.yield"(%s, %y, %t, %u) : (tensor<64xf64>, tensor<130x64xf64>, tensor<64xf64>, tensor<64xf64>) -> ())",
     {{"130x64xf64"}, {"130x64xf64"}}},
    {R"(%y, %m, %v = nn.normalize %a [1] epsilon 1.0e-5 : tensor<97x36xf64> -> tensor<97x36xf64>, tensor<97xf64>, tensor<97xf64>
        %gb = nn.broadcast %b [1] : tensor<36xf64> -> tensor<97x36xf64>
        %gy = nn.mul %c, %gb : tensor<97x36xf64> %p = nn.mul %gy, %y : tensor<97x36xf64>
        %s2 = nn.reduce sum %p [1] : tensor<97x36xf64> -> tensor<97xf64>
        %b2 = nn.broadcast %s2 [0] : tensor<97xf64> -> tensor<97x36xf64>
        %1 = nn.mul %y, %b2 : tensor<97x36xf64> %dx = nn.sub %gy, %1 : tensor<97x36xf64>
        %cy = nn.mul %c, %y : tensor<97x36xf64>
        %dg = nn.reduce sum %cy [0] : tensor<97x36xf64> -> tensor<36xf64>
        %db = nn.reduce sum %c [0] : tensor<97x36xf64> -> tensor<36xf64>
        %ds = nn.reduce sum %dx [0] : tensor<97x36xf64> -> tensor<36xf64>
        "test.yield"(%dx, %dg, %db, %ds) : (tensor<97x36xf64>, tensor<36xf64>, tensor<36xf64>, tensor<36xf64>) -> ())",
     {{"97x36xf64"}, {"36xf64"}, {"97x36xf64"}}},
    {R"(%e = nn.neg %a : tensor<5x17x4x10xf64> %s = nn.reduce sum %e [0, 1] : tensor<5x17x4x10xf64> -> tensor<4x10xf64>
        %t = nn.broadcast %s [2, 3] : tensor<4x10xf64> -> tensor<5x17x4x10xf64> %d = nn.sub %e, %t : tensor<5x17x4x10xf64>
        "test.yield"(%d, %s) : (tensor<5x17x4x10xf64>, tensor<4x10xf64>) -> ())", {{"5x17x4x10xf64"}}},
    // Eight neighbouring columns of a thread, whose partial sums lie in pieces of 16 bytes; loops whose rows have a rest of them.
    {R"(%e = nn.neg %a : tensor<67x256xbf16> %m = nn.compare gt %a, %b : tensor<67x256xbf16> -> tensor<67x256xi1>
        %s = nn.reduce sum %e [0] : tensor<67x256xbf16> -> tensor<256xbf16>
        %t = nn.reduce sum %b [0] : tensor<67x256xbf16> -> tensor<256xbf16>
        "test.yield"(%e, %m, %s, %t) : (tensor<67x256xbf16>, tensor<67x256xi1>, tensor<256xbf16>, tensor<256xbf16>) -> ())",
     {{"67x256xbf16", 0, 1}, {"67x256xbf16", 0, 1}}},
    {R"(%g = nn.broadcast %b [1] : tensor<64xbf16> -> tensor<67x64x12xbf16> %e = nn.sub %a, %g : tensor<67x64x12xbf16>
        %m = nn.compare gt %a, %g : tensor<67x64x12xbf16> -> tensor<67x64x12xi1>
        %s = nn.reduce sum %e [0] : tensor<67x64x12xbf16> -> tensor<64x12xbf16>
        "test.yield"(%e, %m, %s) : (tensor<67x64x12xbf16>, tensor<67x64x12xi1>, tensor<64x12xbf16>) -> ())",
     {{"67x64x12xbf16", 0, 1}, {"64xbf16", 0, 1}}},
    // Many reductions, of which a part of a warp does each, with a rest of them; two in one launch.
    {"%m = nn.mul %a, %b : tensor<4101x72xf64> nn.reduce sum %m [1] : tensor<4101x72xf64> -> tensor<4101xf64>", {{"4101x72xf64"}, {"4101x72xf64"}}},
    {"nn.reduce max %a [1] : tensor<4101x64xbf16> -> tensor<4101xbf16>", {{"4101x64xbf16"}}},
    {R"(%s = nn.reduce sum %a [2] : tensor<3x1400x100xf64> -> tensor<3x1400xf64> %t = nn.reduce min %a [2] : tensor<3x1400x100xf64> -> tensor<3x1400xf64>
        "test.yield"(%s, %t) : (tensor<3x1400xf64>, tensor<3x1400xf64>) -> ())", {{"3x1400x100xf64"}}},
    // Rows that a pad makes longer: with sums over their columns, and in the place of the operand that they are sliced from.
    {R"(%m = nn.reduce max %a [1] : tensor<97x67xf64> -> tensor<97xf64> %b1 = nn.broadcast %m [0] : tensor<97xf64> -> tensor<97x67xf64>
        %d = nn.sub %a, %b1 : tensor<97x67xf64> %z = nn.constant dense<2.0> : tensor<f64>
        %p = nn.pad %d, %z low [0, 0] high [0, 5] interior [0, 0] : tensor<97x67xf64>, tensor<f64> -> tensor<97x72xf64>
        %s = nn.reduce sum %p [0] : tensor<97x72xf64> -> tensor<72xf64>
        "test.yield"(%p, %s) : (tensor<97x72xf64>, tensor<72xf64>) -> ())", {{"97x67xf64"}}},
    {R"(%l = nn.slice %a starts [0, 0] limits [97, 67] strides [1, 1] {nn.read_in_place} : tensor<97x72xf64> -> tensor<97x67xf64>
        %m = nn.reduce max %l [1] : tensor<97x67xf64> -> tensor<97xf64> %b1 = nn.broadcast %m [0] : tensor<97xf64> -> tensor<97x67xf64>
        %d = nn.sub %l, %b1 : tensor<97x67xf64> %z = nn.constant dense<2.0> : tensor<f64>
        %p = nn.pad %d, %z low [0, 0] high [0, 5] interior [0, 0] : tensor<97x67xf64>, tensor<f64> -> tensor<97x72xf64>
        "test.yield"(%p) : (tensor<97x72xf64>) -> ())", {{"97x72xf64"}}},
    // Neighbouring sums of few terms, in rows.
    {R"(%m = nn.reduce max %a [1, 2] : tensor<80x5x64xf64> -> tensor<80xf64> %b1 = nn.broadcast %m [0] : tensor<80xf64> -> tensor<80x5x64xf64>
        %d = nn.sub %a, %b1 : tensor<80x5x64xf64> %s = nn.reduce sum %d [1] : tensor<80x5x64xf64> -> tensor<80x64xf64>
        %t = nn.broadcast %m [0] : tensor<80xf64> -> tensor<80x64xf64> %r = nn.mul %s, %t : tensor<80x64xf64>
        "test.yield"(%r, %d) : (tensor<80x64xf64>, tensor<80x5x64xf64>) -> ())", {{"80x5x64xf64"}}},
    {R"(%e = nn.exp %a : tensor<80x80xf64> %r = nn.transpose %e [1, 0] : tensor<80x80xf64> -> tensor<80x80xf64>
        %p = nn.mul %r, %e : tensor<80x80xf64> %s = nn.reduce sum %p [0] : tensor<80x80xf64> -> tensor<80xf64>
        "test.yield"(%e, %s) : (tensor<80x80xf64>, tensor<80xf64>) -> ())", {{"80x80xf64"}}},
    // Pads whose neighbours need the operand together, and one whose do not.
    {R"(%z = nn.constant dense<0.0> : tensor<f64>
        %x = nn.pad %a, %z low [0, 0] high [0, 128] interior [0, 0] : tensor<67x64xf64>, tensor<f64> -> tensor<67x192xf64>
        %y = nn.pad %b, %z low [0, 64] high [0, 64] interior [0, 0] : tensor<67x64xf64>, tensor<f64> -> tensor<67x192xf64>
        %w = nn.pad %c, %z low [1, 129] high [0, 0] interior [0, 0] : tensor<66x63xf64>, tensor<f64> -> tensor<67x192xf64>
        %0 = nn.add %x, %y : tensor<67x192xf64> %s = nn.reduce sum %0 [0] : tensor<67x192xf64> -> tensor<192xf64>
        %1 = nn.add %w, %y : tensor<67x192xf64> %t = nn.reduce sum %1 [0] : tensor<67x192xf64> -> tensor<192xf64>
        "test.yield"(%0, %s, %1, %t) : (tensor<67x192xf64>, tensor<192xf64>, tensor<67x192xf64>, tensor<192xf64>) -> ())",
     {{"67x64xf64"}, {"67x64xf64"}, {"66x63xf64"}}},
    {R"(%0 = nn.reverse %a [0] : tensor<9xf64> %1 = nn.add %a, %0 : tensor<9xf64> nn.reverse %1 [0] : tensor<9xf64>)", {{"9xf64"}}},
    {R"(%t = nn.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf64>
        %1 = nn.gather %t, %a dim 0 : tensor<2x3xf64>, tensor<5xi64> -> tensor<5x3xf64> nn.mul %1, %1 : tensor<5x3xf64>)", {{"5xi64", 0, 1}}},
    {R"(%d = nn.iota dim 0 : tensor<33x7xi64> %e = nn.iota dim 1 : tensor<33x7xi64>
        %k = nn.constant dense<7> : tensor<33x7xi64> %f = nn.mul %d, %k : tensor<33x7xi64> %i = nn.add %f, %e : tensor<33x7xi64>
        %u = nn.random_uniform %b, %c, %i {ordinal = 5 : i64} : tensor<33x7xi64> -> tensor<33x7xf64>
        %h = nn.constant dense<0.5> : tensor<33x7xf64> %m = nn.compare ge %u, %h : tensor<33x7xf64> -> tensor<33x7xi1>
        %z = nn.constant dense<0.0> : tensor<33x7xf64> nn.select %m, %a, %z : tensor<33x7xi1>, tensor<33x7xf64>)",
     {{"33x7xf64"}, {"i64", 0, 99}, {"i64", 0, 99}}},
    // Elementwise ops that the last launch of reductions computes: of two reductions and of neighbours, with a rest of columns, in
    // one launch and in two, and a normalization over all but the last dimension. A sum over columns with a large value of its own.
    {R"(%s = nn.reduce max %a [0] : tensor<150x40xf64> -> tensor<40xf64> %t = nn.reduce max %b [0] : tensor<150x40xf64> -> tensor<40xf64>
        %d = nn.sub %s, %t : tensor<40xf64> %e = nn.exp %d : tensor<40xf64> %f = nn.mul %e, %c : tensor<40xf64>
        %w = nn.broadcast %d [1] : tensor<40xf64> -> tensor<150x40xf64> %x = nn.sub %a, %w : tensor<150x40xf64>
        "test.yield"(%x, %f, %s) : (tensor<150x40xf64>, tensor<40xf64>, tensor<40xf64>) -> ())", {{"150x40xf64"}, {"150x40xf64"}, {"40xf64"}}},
    {R"(%s = nn.reduce sum %a [0] : tensor<3000x21xf64> -> tensor<21xf64> %e = nn.neg %s : tensor<21xf64> %f = nn.mul %e, %b : tensor<21xf64>
        "test.yield"(%e, %f) : (tensor<21xf64>, tensor<21xf64>) -> ())", {{"3000x21xf64"}, {"21xf64"}}},
    {R"(%y, %m, %v = nn.normalize %a [0, 1] epsilon 1.0e-5 : tensor<30x31x24xf64> -> tensor<30x31x24xf64>, tensor<24xf64>, tensor<24xf64>
        %u = nn.add %m, %v : tensor<24xf64>
        "test.yield"(%y, %m, %u) : (tensor<30x31x24xf64>, tensor<24xf64>, tensor<24xf64>) -> ())", {{"30x31x24xf64"}}},
    {R"(%e = nn.mul %a, %b : tensor<67x39xf64> %p = nn.mul %e, %c : tensor<67x39xf64>
        %s = nn.reduce sum %e [0] : tensor<67x39xf64> -> tensor<39xf64> %t = nn.reduce sum %p [0] : tensor<67x39xf64> -> tensor<39xf64>
        "test.yield"(%e, %s, %t) : (tensor<67x39xf64>, tensor<39xf64>, tensor<39xf64>) -> ())", {{"67x39xf64"}, {"67x39xf64"}, {"67x39xf64"}}},
    // Threads that compute neighbours in the same loops and branches: windows over positions whose channels are neighbours, with ties and
    // dilations, and reductions under formulas.
    {R"(nn.max_pool %a kernel [3, 3, 1] strides [2, 2, 1] padLow [1, 1, 0] padHigh [1, 1, 0] dilations [1, 1, 1] : tensor<4x1x15x17x256xf64> ->
        tensor<4x1x8x9x256xf64>)", {{"4x1x15x17x256xf64"}}},
    {R"(nn.max_pool_grad %a, %b kernel [3, 3, 1] strides [2, 2, 1] padLow [1, 1, 0] padHigh [1, 1, 0] dilations [1, 1, 1] :
        tensor<2x1x8x9x256xi8>, tensor<2x1x8x9x256xf64> -> tensor<2x1x15x17x256xf64>)", {{"2x1x8x9x256xi8", -1, 8}, {"2x1x8x9x256xf64"}}},
    {R"(nn.max_pool_grad %a, %b kernel [5, 4, 1] strides [3, 1, 1] padLow [2, 1, 0] padHigh [1, 2, 0] dilations [1, 2, 1] :
        tensor<2x1x5x14x256xi8>, tensor<2x1x5x14x256xf64> -> tensor<2x1x15x17x256xf64>)", {{"2x1x5x14x256xi8", -1, 19}, {"2x1x5x14x256xf64"}}},
    {R"(nn.sum_pool_grad %a kernel [3, 2, 1] strides [2, 1, 1] padLow [1, 0, 0] padHigh [1, 1, 0] dilations [1, 2, 1] : tensor<2x1x8x16x256xf64> ->
        tensor<2x1x15x17x256xf64>)", {{"2x1x8x16x256xf64"}}},
    {R"(%s = nn.reduce sum %a [1] : tensor<16x49x4096xf64> -> tensor<16x4096xf64> %m = nn.reduce max %a [1] : tensor<16x49x4096xf64> ->
        tensor<16x4096xf64> %n = nn.neg %s : tensor<16x4096xf64> %p = nn.mul %n, %b : tensor<16x4096xf64> %q = nn.add %m, %p : tensor<16x4096xf64>
        "test.yield"(%p, %q) : (tensor<16x4096xf64>, tensor<16x4096xf64>) -> ())", {{"16x49x4096xf64"}, {"16x4096xf64"}}},
    // Neighbours that read their own elements of a value whose buffer the result may share.
    {R"(%w = nn.broadcast %b [0, 2] : tensor<16x4096xf64> -> tensor<16x3x4096xf64> %d = nn.sub %a, %w : tensor<16x3x4096xf64>
        %e = nn.exp %d : tensor<16x3x4096xf64> %s = nn.reduce sum %e [1] : tensor<16x3x4096xf64> -> tensor<16x4096xf64>
        %l = nn.log %s : tensor<16x4096xf64> nn.add %l, %b : tensor<16x4096xf64>)", {{"16x3x4096xf64"}, {"16x4096xf64"}}},
    // Elements of other places in a row, which threads read once for a sum and for the results.
    {R"(%r = nn.reverse %a [1] : tensor<5x256xf64> %s = nn.reduce sum %r [1] : tensor<5x256xf64> -> tensor<5xf64>
        %w = nn.broadcast %s [0] : tensor<5xf64> -> tensor<5x256xf64> nn.sub %r, %w : tensor<5x256xf64>)", {{"5x256xf64"}}},
    // Normalizations over rows and columns in memory, with a mean of many deviations: a run of terms per thread, and single terms.
    {R"(%y, %m, %v = nn.normalize %a [0, 2, 3] epsilon 1.0e-5 : tensor<6x5x48x64xf64> -> tensor<6x5x48x64xf64>, tensor<5xf64>, tensor<5xf64>
        "test.yield"(%y, %m, %v) : (tensor<6x5x48x64xf64>, tensor<5xf64>, tensor<5xf64>) -> ())", {{"6x5x48x64xf64"}}},
    {R"(%y, %m, %v = nn.normalize %a [0, 2] epsilon 1.0e-5 : tensor<3x5x4097xf64> -> tensor<3x5x4097xf64>, tensor<5xf64>, tensor<5xf64>
        "test.yield"(%m, %v) : (tensor<5xf64>, tensor<5xf64>) -> ())", {{"3x5x4097xf64", 1000, 1001}}},
    {R"(%y, %m, %v = nn.normalize %a [0] epsilon 1.0e-5 : tensor<3000x24xf64> -> tensor<3000x24xf64>, tensor<24xf64>, tensor<24xf64>
        "test.yield"(%m, %v) : (tensor<24xf64>, tensor<24xf64>) -> ())", {{"3000x24xf64", 1000, 1001}}},
    // Transpositions in boxes: with elementwise ops before and after them, of two values in one launch, of a value and itself,
    // with a result for each of two shapes, of more than two dimensions, with short innermost dimensions, and of other types.
    {R"(%e = nn.mul %a, %b : tensor<67x45xf64> %t = nn.transpose %e [1, 0] : tensor<67x45xf64> -> tensor<45x67xf64>
        %x = nn.exp %t : tensor<45x67xf64> nn.add %x, %c : tensor<45x67xf64>)", {{"67x45xf64"}, {"67x45xf64"}, {"45x67xf64"}}},
    {R"(%t = nn.transpose %a [1, 0] : tensor<64x64xf64> -> tensor<64x64xf64> %u = nn.transpose %b [1, 0] : tensor<64x64xf64> -> tensor<64x64xf64>
        %s = nn.add %t, %a : tensor<64x64xf64> nn.mul %s, %u : tensor<64x64xf64>)", {{"64x64xf64"}, {"64x64xf64"}}},
    {R"(%t = nn.transpose %a [0, 2, 1] : tensor<3x40x100xf64> -> tensor<3x100x40xf64> %r = nn.reshape %t : tensor<3x100x40xf64> -> tensor<300x40xf64>
        %w = nn.broadcast %b [1] : tensor<40xf64> -> tensor<300x40xf64> nn.add %r, %w : tensor<300x40xf64>)", {{"3x40x100xf64"}, {"40xf64"}}},
    {"nn.transpose %a [0, 2, 3, 1] : tensor<2x3x14x32xf64> -> tensor<2x14x32x3xf64>", {{"2x3x14x32xf64"}}},
    {"nn.transpose %a [0, 3, 1, 2] : tensor<2x14x33x5xf64> -> tensor<2x5x14x33xf64>", {{"2x14x33x5xf64"}}},
    {"nn.transpose %a [0, 2, 3, 1] : tensor<5x130x3x3xf64> -> tensor<5x3x3x130xf64>", {{"5x130x3x3xf64"}}},
    {"nn.transpose %a [4, 2, 0, 3, 1] : tensor<6x1x17x5x4xf64> -> tensor<4x17x6x5x1xf64>", {{"6x1x17x5x4xf64"}}},
    {"nn.transpose %a [3, 1, 2, 0] : tensor<20x3x6x16xf64> -> tensor<16x3x6x20xf64>", {{"20x3x6x16xf64"}}},
    {"nn.transpose %a [1, 0] : tensor<131x64xi64> -> tensor<64x131xi64>", {{"131x64xi64", -9, 9}}},
    {"nn.transpose %a [1, 0] : tensor<64x72xi1> -> tensor<72x64xi1>", {{"64x72xi1", 0, 1}}},
    {R"(%m = nn.transpose %a [1, 0] : tensor<80x72xi1> -> tensor<72x80xi1> %t = nn.transpose %b [1, 0] : tensor<80x72xf64> -> tensor<72x80xf64>
        nn.select %m, %t, %c : tensor<72x80xi1>, tensor<72x80xf64>)", {{"80x72xi1", 0, 1}, {"80x72xf64"}, {"72x80xf64"}}},
    {R"(%t = nn.transpose %a [1, 0] : tensor<128x136xi32> -> tensor<136x128xi32>
        nn.convert %t : tensor<136x128xi32> -> tensor<136x128xf64>)", {{"128x136xi32", -9, 9}}},
    // Numbers per column that a thread reads once for several rows. The result may lie on the operand.
    {R"(%w = nn.broadcast %b [1] : tensor<64xf64> -> tensor<8192x64xf64> %m = nn.mul %a, %w : tensor<8192x64xf64> nn.add %m, %w : tensor<8192x64xf64>)",
     {{"8192x64xf64"}, {"64xf64"}}},
    // A square transposition of one box.
    {"%t = nn.transpose %a [1, 0] : tensor<16x16xf64> -> tensor<16x16xf64> nn.mul %t, %b : tensor<16x16xf64>", {{"16x16xf64"}, {"16x16xf64"}}},
    // Taps of windows that tile the input, overlap, leave elements out, reach over the border; taps of unsigned integers, and numbers of taps
    // that need 16 bits.
    {"nn.max_pool_taps %a kernel [3, 2] strides [2, 1] padLow [1, 0] padHigh [0, 1] dilations [1, 2] : tensor<2x3x5x5xf64> -> tensor<2x3x2x4xi8>", {{"2x3x5x5xf64"}}},
    {"nn.max_pool_taps %a kernel [2, 2] strides [2, 2] padLow [0, 0] padHigh [0, 0] dilations [1, 1] : tensor<2x3x8x36xf64> -> tensor<2x3x4x18xi8>", {{"2x3x8x36xf64"}}},
    {"nn.max_pool_taps %a kernel [2, 2] strides [2, 2] padLow [0, 0] padHigh [0, 0] dilations [1, 1] : tensor<2x3x8x14xf32> -> tensor<2x3x4x7xi8>", {{"2x3x8x14xf32"}}},
    {"nn.max_pool_taps %a kernel [5, 6] strides [5, 6] padLow [0, 0] padHigh [0, 0] dilations [1, 1] : tensor<2x3x10x12xf64> -> tensor<2x3x2x2xi8>", {{"2x3x10x12xf64"}}},
    {"nn.max_pool_taps %a kernel [2, 3] strides [2, 3] padLow [0, 0] padHigh [0, 0] dilations [1, 1] : tensor<2x3x7x9xf64> -> tensor<2x3x3x3xi8>", {{"2x3x7x9xf64", 0, 3}}},
    {"nn.max_pool_taps %a kernel [3, 3] strides [2, 2] padLow [1, 1] padHigh [1, 1] dilations [1, 1] : tensor<2x2x9x37xf64> -> tensor<2x2x5x19xi8>", {{"2x2x9x37xf64"}}},
    {"nn.max_pool_taps %a kernel [2, 2] strides [3, 3] padLow [1, 0] padHigh [0, 2] dilations [1, 1] : tensor<1x2x11x12xf64> -> tensor<1x2x4x5xi8>", {{"1x2x11x12xf64"}}},
    {"nn.max_pool_taps %a kernel [3, 2] strides [3, 2] padLow [2, 1] padHigh [1, 3] dilations [1, 1] : tensor<2x2x9x10xf64> -> tensor<2x2x4x7xi8>", {{"2x2x9x10xf64"}}},
    {"nn.max_pool_taps %a kernel [5, 5] strides [1, 1] padLow [2, 2] padHigh [2, 2] dilations [1, 1] : tensor<1x2x12x13xf64> -> tensor<1x2x12x13xi8>", {{"1x2x12x13xf64"}}},
    {"nn.max_pool_taps %a kernel [2] strides [4] padLow [0] padHigh [0] dilations [3] : tensor<2x3x21xf64> -> tensor<2x3x5xi8>", {{"2x3x21xf64"}}},
    {"nn.max_pool_taps %a kernel [2, 2, 2] strides [2, 1, 2] padLow [0, 1, 0] padHigh [0, 1, 0] dilations [1, 1, 1] : tensor<1x1x4x5x6xf64> -> tensor<1x1x2x6x3xi8>", {{"1x1x4x5x6xf64"}}},
    {"nn.max_pool_taps %a kernel [3, 3] strides [2, 4] padLow [1, 3] padHigh [1, 2] dilations [1, 1] : tensor<1x2x6x3xf64> -> tensor<1x2x3x2xi8>", {{"1x2x6x3xf64"}}},
    {"nn.max_pool_taps %a kernel [3, 3, 1] strides [2, 2, 1] padLow [1, 1, 0] padHigh [1, 1, 0] dilations [1, 1, 1] : tensor<2x1x15x17x256xf64> -> tensor<2x1x8x9x256xi8>", {{"2x1x15x17x256xf64", 0, 3}}},
    {"nn.max_pool_taps %a kernel [5, 4, 1] strides [3, 1, 1] padLow [2, 1, 0] padHigh [1, 2, 0] dilations [1, 2, 1] : tensor<2x1x15x17x256xf64> -> tensor<2x1x5x14x256xi8>", {{"2x1x15x17x256xf64", 0, 3}}},
    {"nn.max_pool_taps %a kernel [2, 3] strides [1, 2] padLow [1, 0] padHigh [0, 1] dilations [1, 1] : tensor<2x3x6x9xui8> -> tensor<2x3x6x4xi8>", {{"2x3x6x9xui8", 250, 255}}},
    {"nn.max_pool_taps %a kernel [12, 12] strides [3, 4] padLow [5, 0] padHigh [2, 4] dilations [1, 1] : tensor<2x2x15x20xf64> -> tensor<2x2x4x4xi16>", {{"2x2x15x20xf64"}}},
    {"nn.max_pool_grad %a, %b kernel [12, 12] strides [3, 4] padLow [5, 0] padHigh [2, 4] dilations [1, 1] : tensor<2x2x4x4xi16>, tensor<2x2x4x4xf64> -> tensor<2x2x15x20xf64>", {{"2x2x4x4xi16", -1, 143}, {"2x2x4x4xf64"}}},
};
// clang-format on

const std::vector<dpc::test::OpCase> &dpc::test::kernelCases() { return kernels; }
