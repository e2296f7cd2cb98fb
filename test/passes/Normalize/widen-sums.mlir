// RUN: dpc-opt %s --split-input-file --dpc-widen-sums | FileCheck %s

// A weight's gradient is an f32 sum of narrow products, through what moves it.
// CHECK-LABEL: func.func @widens_weight_gradient
func.func @widens_weight_gradient(%x: tensor<4x8xbf16>, %g: tensor<4x2xbf16>) -> tensor<2x8xf32> {
  // CHECK: %[[W:.+]] = nn.dot %{{.*}}, %{{.*}} contract [0] [0] : tensor<4x8xbf16>, tensor<4x2xbf16> -> tensor<8x2xf32>
  // CHECK: %[[T:.+]] = nn.transpose %[[W]] [1, 0] : tensor<8x2xf32> -> tensor<2x8xf32>
  // CHECK: return %[[T]]
  %w = nn.dot %x, %g contract [0] [0] : tensor<4x8xbf16>, tensor<4x2xbf16> -> tensor<8x2xbf16>
  %t = nn.transpose %w [1, 0] : tensor<8x2xbf16> -> tensor<2x8xbf16>
  %y = nn.convert %t : tensor<2x8xbf16> -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

// Convolutions too.
// CHECK-LABEL: func.func @widens_convolution_gradient
func.func @widens_convolution_gradient(%x: tensor<1x1x4x4xf16>, %g: tensor<1x1x2x2xf16>) -> tensor<1x1x3x3xf32> {
  // CHECK: nn.conv_weight_grad {{.*}} -> tensor<1x1x3x3xf32>
  // CHECK-NOT: nn.convert
  %w = nn.conv_weight_grad %x, %g strides [1, 1] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1
      : tensor<1x1x4x4xf16>, tensor<1x1x2x2xf16> -> tensor<1x1x3x3xf16>
  %y = nn.convert %w : tensor<1x1x3x3xf16> -> tensor<1x1x3x3xf32>
  return %y : tensor<1x1x3x3xf32>
}

// -----

// What another product reads stays narrow, as does what something else reads narrow.
// CHECK-LABEL: func.func @read_again
func.func @read_again(%x: tensor<4x4xbf16>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xbf16>) {
  // CHECK-COUNT-3: nn.dot {{.*}} -> tensor<4x4xbf16>
  %a = nn.dot %x, %x contract [1] [0] : tensor<4x4xbf16>, tensor<4x4xbf16> -> tensor<4x4xbf16>
  %b = nn.convert %a : tensor<4x4xbf16> -> tensor<4x4xf32>
  %c = nn.tanh %b : tensor<4x4xf32>
  %d = nn.convert %c : tensor<4x4xf32> -> tensor<4x4xbf16>
  %e = nn.dot %d, %x contract [1] [0] : tensor<4x4xbf16>, tensor<4x4xbf16> -> tensor<4x4xbf16>
  %f = nn.convert %e : tensor<4x4xbf16> -> tensor<4x4xf32>
  %g = nn.dot %x, %x contract [0] [0] : tensor<4x4xbf16>, tensor<4x4xbf16> -> tensor<4x4xbf16>
  %h = nn.convert %g : tensor<4x4xbf16> -> tensor<4x4xf32>
  %i = nn.add %h, %b : tensor<4x4xf32>
  %j = nn.convert %i : tensor<4x4xf32> -> tensor<4x4xbf16>
  return %f, %b, %e : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xbf16>
}
