// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cuda --dpc-narrow-sums | FileCheck %s
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cuda --dpc-narrow-sums=products=library | FileCheck %s --check-prefixes=CHECK,LIBRARY
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cuda --dpc-narrow-sums=products=generated | FileCheck %s --check-prefix=NONE
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cuda --dpc-narrow-sums='ordered-sums products=auto' | FileCheck %s --check-prefix=NONE
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cpu --dpc-narrow-sums=products=library | FileCheck %s --check-prefix=NONE

// Where kernels compute convolutions, sums keep their order, and on a target without such a library,
// all sums stay f32.
// NONE-NOT: nn.convert

// A large gradient of a weight becomes narrow, and its readers get the converted one.
// CHECK-LABEL: @large_weight_gradient
// CHECK: %[[N:.*]] = nn.conv_weight_grad {{.*}} -> tensor<64x64x3x3xbf16>
// CHECK: %[[W:.*]] = nn.convert %[[N]] : tensor<64x64x3x3xbf16> -> tensor<64x64x3x3xf32>
// CHECK: return %[[W]]
func.func @large_weight_gradient(%x: tensor<8x64x28x28xbf16>, %g: tensor<8x64x28x28xbf16>) -> tensor<64x64x3x3xf32> {
  %d = nn.conv_weight_grad %x, %g strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<8x64x28x28xbf16>, tensor<8x64x28x28xbf16> -> tensor<64x64x3x3xf32>
  return %d : tensor<64x64x3x3xf32>
}

// -----

// A small one is the kernel's, unless the library is to compute all that it can.
// CHECK-LABEL: @small_weight_gradient
// LIBRARY: nn.conv_weight_grad {{.*}} -> tensor<16x16x3x3xbf16>
func.func @small_weight_gradient(%x: tensor<2x16x8x8xbf16>, %g: tensor<2x16x8x8xbf16>) -> tensor<16x16x3x3xf32> {
  %d = nn.conv_weight_grad %x, %g strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<2x16x8x8xbf16>, tensor<2x16x8x8xbf16> -> tensor<16x16x3x3xf32>
  return %d : tensor<16x16x3x3xf32>
}

// -----

// Products have results of f32 in the library. A convolution of few channels is no library's.
// CHECK-LABEL: @others_stay
// CHECK-NOT: nn.convert
func.func @others_stay(%a: tensor<512x512xbf16>, %x: tensor<8x8x56x56xbf16>, %g: tensor<8x8x56x56xbf16>) -> (tensor<512x512xf32>, tensor<8x8x3x3xf32>) {
  %p = nn.dot %a, %a contract [1] [0] : tensor<512x512xbf16>, tensor<512x512xbf16> -> tensor<512x512xf32>
  %d = nn.conv_weight_grad %x, %g strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<8x8x56x56xbf16>, tensor<8x8x56x56xbf16> -> tensor<8x8x3x3xf32>
  return %p, %d : tensor<512x512xf32>, tensor<8x8x3x3xf32>
}

// -----

// In f32 there is nothing to narrow.
// CHECK-LABEL: @f32_stays
// CHECK-NOT: nn.convert
func.func @f32_stays(%x: tensor<8x64x28x28xf32>, %g: tensor<8x64x28x28xf32>) -> tensor<64x64x3x3xf32> {
  %d = nn.conv_weight_grad %x, %g strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<8x64x28x28xf32>, tensor<8x64x28x28xf32> -> tensor<64x64x3x3xf32>
  return %d : tensor<64x64x3x3xf32>
}
