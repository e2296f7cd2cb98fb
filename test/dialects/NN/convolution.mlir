// RUN: dpc-opt %s | dpc-opt | FileCheck %s
// RUN: dpc-opt %s --mlir-print-op-generic | dpc-opt | FileCheck %s

// CHECK-LABEL: @three_ops
func.func @three_ops(%x: tensor<8x4x32x32xf32>, %w: tensor<16x2x3x3xf32>, %g: tensor<8x16x16x15xf32>) {
  // CHECK: nn.conv %{{.*}}, %{{.*}} strides [2, 2] padLow [1, 0] padHigh [1, 1] dilations [1, 2] groups 2 : tensor<8x4x32x32xf32>, tensor<16x2x3x3xf32> -> tensor<8x16x16x15xf32>
  %y = nn.conv %x, %w strides [2, 2] padLow [1, 0] padHigh [1, 1] dilations [1, 2] groups 2
      : tensor<8x4x32x32xf32>, tensor<16x2x3x3xf32> -> tensor<8x16x16x15xf32>
  // CHECK: nn.conv_input_grad %{{.*}}, %{{.*}} strides [2, 2] padLow [1, 0] padHigh [1, 1] dilations [1, 2] groups 2 : tensor<8x16x16x15xf32>, tensor<16x2x3x3xf32> -> tensor<8x4x32x32xf32>
  %dx = nn.conv_input_grad %g, %w strides [2, 2] padLow [1, 0] padHigh [1, 1] dilations [1, 2] groups 2
      : tensor<8x16x16x15xf32>, tensor<16x2x3x3xf32> -> tensor<8x4x32x32xf32>
  // CHECK: nn.conv_weight_grad %{{.*}}, %{{.*}} strides [2, 2] padLow [1, 0] padHigh [1, 1] dilations [1, 2] groups 2 : tensor<8x4x32x32xf32>, tensor<8x16x16x15xf32> -> tensor<16x2x3x3xf32>
  %dw = nn.conv_weight_grad %x, %g strides [2, 2] padLow [1, 0] padHigh [1, 1] dilations [1, 2] groups 2
      : tensor<8x4x32x32xf32>, tensor<8x16x16x15xf32> -> tensor<16x2x3x3xf32>
  return
}

// One and three spatial dimensions; negative padding cuts off; a kernel as large as the padded extent gives one output.
// CHECK-LABEL: @accepts_ranks_three_to_five
func.func @accepts_ranks_three_to_five(%x1: tensor<2x3x9xf64>, %w1: tensor<5x3x2xf64>, %x3: tensor<1x1x4x4x4xf32>, %w3: tensor<1x1x4x4x4xf32>) {
  // CHECK: -> tensor<2x5x7xf64>
  %y1 = nn.conv %x1, %w1 strides [1] padLow [-1] padHigh [0] dilations [1] groups 1
      : tensor<2x3x9xf64>, tensor<5x3x2xf64> -> tensor<2x5x7xf64>
  // CHECK: -> tensor<1x1x1x1x1xf32>
  %y3 = nn.conv %x3, %w3 strides [1, 1, 1] padLow [0, 0, 0] padHigh [0, 0, 0] dilations [1, 1, 1] groups 1
      : tensor<1x1x4x4x4xf32>, tensor<1x1x4x4x4xf32> -> tensor<1x1x1x1x1xf32>
  return
}

// A result may be wider than the operands.
// CHECK-LABEL: @accepts_wider_result
func.func @accepts_wider_result(%x: tensor<2x3x9xbf16>, %w: tensor<5x3x2xbf16>, %g: tensor<2x5x8xbf16>) {
  // CHECK: nn.conv {{.*}} : tensor<2x3x9xbf16>, tensor<5x3x2xbf16> -> tensor<2x5x8xf32>
  %y = nn.conv %x, %w strides [1] padLow [0] padHigh [0] dilations [1] groups 1
      : tensor<2x3x9xbf16>, tensor<5x3x2xbf16> -> tensor<2x5x8xf32>
  // CHECK: nn.conv_input_grad {{.*}} : tensor<2x5x8xbf16>, tensor<5x3x2xbf16> -> tensor<2x3x9xf32>
  %dx = nn.conv_input_grad %g, %w strides [1] padLow [0] padHigh [0] dilations [1] groups 1
      : tensor<2x5x8xbf16>, tensor<5x3x2xbf16> -> tensor<2x3x9xf32>
  // CHECK: nn.conv_weight_grad {{.*}} : tensor<2x3x9xbf16>, tensor<2x5x8xbf16> -> tensor<5x3x2xf32>
  %dw = nn.conv_weight_grad %x, %g strides [1] padLow [0] padHigh [0] dilations [1] groups 1
      : tensor<2x3x9xbf16>, tensor<2x5x8xbf16> -> tensor<5x3x2xf32>
  return
}

// Channels may be after the spatial dimensions, in all three tensors.
// CHECK-LABEL: @channels_last
func.func @channels_last(%x: tensor<8x32x32x4xf32>, %w: tensor<16x3x3x2xf32>, %g: tensor<8x16x15x16xf32>) {
  // CHECK: nn.conv %{{.*}}, %{{.*}} strides [2, 2] padLow [1, 0] padHigh [1, 1] dilations [1, 2] groups 2 channelsLast : tensor<8x32x32x4xf32>, tensor<16x3x3x2xf32> -> tensor<8x16x15x16xf32>
  %y = nn.conv %x, %w strides [2, 2] padLow [1, 0] padHigh [1, 1] dilations [1, 2] groups 2 channelsLast
      : tensor<8x32x32x4xf32>, tensor<16x3x3x2xf32> -> tensor<8x16x15x16xf32>
  // CHECK: nn.conv_input_grad {{.*}} channelsLast : tensor<8x16x15x16xf32>, tensor<16x3x3x2xf32> -> tensor<8x32x32x4xf32>
  %dx = nn.conv_input_grad %g, %w strides [2, 2] padLow [1, 0] padHigh [1, 1] dilations [1, 2] groups 2 channelsLast
      : tensor<8x16x15x16xf32>, tensor<16x3x3x2xf32> -> tensor<8x32x32x4xf32>
  // CHECK: nn.conv_weight_grad {{.*}} channelsLast : tensor<8x32x32x4xf32>, tensor<8x16x15x16xf32> -> tensor<16x3x3x2xf32>
  %dw = nn.conv_weight_grad %x, %g strides [2, 2] padLow [1, 0] padHigh [1, 1] dilations [1, 2] groups 2 channelsLast
      : tensor<8x32x32x4xf32>, tensor<8x16x15x16xf32> -> tensor<16x3x3x2xf32>
  return
}
