// RUN: dpc-opt %s | dpc-opt | FileCheck %s
// RUN: dpc-opt %s --mlir-print-op-generic | dpc-opt | FileCheck %s

// CHECK-LABEL: @five_ops
func.func @five_ops(%x: tensor<8x4x32x32xf32>, %g: tensor<8x4x16x15xf32>) {
  // CHECK: nn.max_pool %{{.*}} kernel [3, 3] strides [2, 2] padLow [1, 0] padHigh [1, 1] dilations [1, 2] : tensor<8x4x32x32xf32> -> tensor<8x4x16x15xf32>
  %m = nn.max_pool %x kernel [3, 3] strides [2, 2] padLow [1, 0] padHigh [1, 1] dilations [1, 2]
      : tensor<8x4x32x32xf32> -> tensor<8x4x16x15xf32>
  // CHECK: nn.max_pool_taps %{{.*}} kernel [3, 3] strides [2, 2] padLow [1, 0] padHigh [1, 1] dilations [1, 2] : tensor<8x4x32x32xf32> -> tensor<8x4x16x15xi8>
  %t = nn.max_pool_taps %x kernel [3, 3] strides [2, 2] padLow [1, 0] padHigh [1, 1] dilations [1, 2]
      : tensor<8x4x32x32xf32> -> tensor<8x4x16x15xi8>
  // CHECK: nn.max_pool_grad %{{.*}}, %{{.*}} kernel [3, 3] strides [2, 2] padLow [1, 0] padHigh [1, 1] dilations [1, 2] : tensor<8x4x16x15xi8>, tensor<8x4x16x15xf32> -> tensor<8x4x32x32xf32>
  %dm = nn.max_pool_grad %t, %g kernel [3, 3] strides [2, 2] padLow [1, 0] padHigh [1, 1] dilations [1, 2]
      : tensor<8x4x16x15xi8>, tensor<8x4x16x15xf32> -> tensor<8x4x32x32xf32>
  // CHECK: nn.sum_pool %{{.*}} kernel [3, 3] strides [2, 2] padLow [1, 0] padHigh [1, 1] dilations [1, 2] : tensor<8x4x32x32xf32> -> tensor<8x4x16x15xf32>
  %s = nn.sum_pool %x kernel [3, 3] strides [2, 2] padLow [1, 0] padHigh [1, 1] dilations [1, 2]
      : tensor<8x4x32x32xf32> -> tensor<8x4x16x15xf32>
  // CHECK: nn.sum_pool_grad %{{.*}} kernel [3, 3] strides [2, 2] padLow [1, 0] padHigh [1, 1] dilations [1, 2] : tensor<8x4x16x15xf32> -> tensor<8x4x32x32xf32>
  %ds = nn.sum_pool_grad %g kernel [3, 3] strides [2, 2] padLow [1, 0] padHigh [1, 1] dilations [1, 2]
      : tensor<8x4x16x15xf32> -> tensor<8x4x32x32xf32>
  return
}

// One and three spatial dimensions, integers.
// CHECK-LABEL: @accepts_ranks_three_to_five
func.func @accepts_ranks_three_to_five(%x1: tensor<2x3x9xui8>, %x3: tensor<1x1x4x4x4xi32>) {
  // CHECK: -> tensor<2x3x4xui8>
  %y1 = nn.max_pool %x1 kernel [2] strides [2] padLow [0] padHigh [0] dilations [1] : tensor<2x3x9xui8> -> tensor<2x3x4xui8>
  // CHECK: -> tensor<1x1x1x1x1xi32>
  %y3 = nn.sum_pool %x3 kernel [4, 4, 4] strides [1, 1, 1] padLow [0, 0, 0] padHigh [0, 0, 0] dilations [1, 1, 1]
      : tensor<1x1x4x4x4xi32> -> tensor<1x1x1x1x1xi32>
  return
}

// The narrowest type that has the numbers of 128 and of 129 taps.
// CHECK-LABEL: @type_of_taps
func.func @type_of_taps(%x: tensor<2x3x256xf32>) {
  // CHECK: -> tensor<2x3x2xi8>
  %t0 = nn.max_pool_taps %x kernel [128] strides [128] padLow [0] padHigh [0] dilations [1] : tensor<2x3x256xf32> -> tensor<2x3x2xi8>
  // CHECK: -> tensor<2x3x1xi16>
  %t1 = nn.max_pool_taps %x kernel [129] strides [128] padLow [0] padHigh [0] dilations [1] : tensor<2x3x256xf32> -> tensor<2x3x1xi16>
  return
}
