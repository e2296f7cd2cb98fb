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

// -----

// A sum with a bias that nothing narrows later is not rounded, and neither is its product.
// CHECK-LABEL: func.func @drops_rounding_of_sum
func.func @drops_rounding_of_sum(%x: tensor<4x8xbf16>, %w: tensor<8x6xbf16>, %b: tensor<6xf32>) -> tensor<4x6xf32> {
  // CHECK: %[[D:.+]] = nn.dot {{.+}} : tensor<4x8xbf16>, tensor<8x6xbf16> -> tensor<4x6xf32>
  // CHECK-NOT: nn.convert
  // CHECK: %[[S:.+]] = nn.add %[[D]]
  // CHECK-NEXT: return %[[S]]
  %n = nn.dot %x, %w contract [1] [0] : tensor<4x8xbf16>, tensor<8x6xbf16> -> tensor<4x6xbf16>
  %y = nn.convert %n : tensor<4x6xbf16> -> tensor<4x6xf32>
  %c = nn.broadcast %b [1] : tensor<6xf32> -> tensor<4x6xf32>
  %s = nn.add %y, %c : tensor<4x6xf32>
  %r = nn.convert %s : tensor<4x6xf32> -> tensor<4x6xbf16>
  %z = nn.convert %r : tensor<4x6xbf16> -> tensor<4x6xf32>
  return %z : tensor<4x6xf32>
}

// -----

// The gradient of a bias is a sum in f32. A rounding of what is no sum stays, and so does one before a product.
// CHECK-LABEL: func.func @drops_rounding_of_bias_gradient
func.func @drops_rounding_of_bias_gradient(%g: tensor<4x6xf32>, %w: tensor<6x6xbf16>) -> (tensor<6xf32>, tensor<4x6xf32>, tensor<4x6xbf16>) {
  // CHECK: %[[B:.+]] = nn.reduce sum
  // CHECK: %[[T:.+]] = nn.tanh
  // CHECK: %[[N:.+]] = nn.convert %[[T]]
  // CHECK: %[[W:.+]] = nn.convert %[[N]] : tensor<4x6xbf16> -> tensor<4x6xf32>
  // CHECK: %[[S:.+]] = nn.add
  // CHECK: %[[R:.+]] = nn.convert %[[S]] : tensor<4x6xf32> -> tensor<4x6xbf16>
  // CHECK: nn.dot %[[R]]
  // CHECK: return %[[B]], %[[W]]
  %b = nn.reduce sum %g [0] : tensor<4x6xf32> -> tensor<6xf32>
  %c = nn.convert %b : tensor<6xf32> -> tensor<6xbf16>
  %d = nn.convert %c : tensor<6xbf16> -> tensor<6xf32>
  %t = nn.tanh %g : tensor<4x6xf32>
  %n = nn.convert %t : tensor<4x6xf32> -> tensor<4x6xbf16>
  %e = nn.convert %n : tensor<4x6xbf16> -> tensor<4x6xf32>
  %s = nn.add %g, %g : tensor<4x6xf32>
  %p = nn.convert %s : tensor<4x6xf32> -> tensor<4x6xbf16>
  %z = nn.dot %p, %w contract [1] [0] : tensor<4x6xbf16>, tensor<6x6xbf16> -> tensor<4x6xbf16>
  return %d, %e, %z : tensor<6xf32>, tensor<4x6xf32>, tensor<4x6xbf16>
}
