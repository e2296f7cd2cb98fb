// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cuda --dpc-form-kernels | FileCheck %s

// A convolution in 16 bits stores its result in 16 bits alone, although its kernel also widens it. The norm widens it, and the
// other reader makes the rectified value again.
// CHECK-LABEL: @stores_narrow
// CHECK: %[[C:.*]]:2 = nn.kernel(%arg0, %arg1
// CHECK: %[[Y:.*]] = nn.conv
// CHECK: nn.relu
// CHECK: nn.yield %[[Y]], %{{.*}} : tensor<2x4x16x16xbf16>, tensor<4xf32>
// CHECK: nn.kernel(%[[C]]#0
// CHECK: nn.convert %{{.*}} : tensor<2x4x16x16xbf16> -> tensor<2x4x16x16xf32>
// CHECK: nn.normalize
// CHECK: nn.kernel(%[[C]]#0, %{{.*}} : tensor<2x4x16x16xbf16>, tensor<4xf32>)
// CHECK: nn.relu
// CHECK: nn.reduce
func.func @stores_narrow(%x: tensor<2x4x16x16xbf16>, %w: tensor<4x4x1x1xbf16>, %g: tensor<4xf32>) -> (tensor<2x4x16x16xf32>, tensor<4xf32>) {
  %y = nn.conv %x, %w strides [1, 1] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : tensor<2x4x16x16xbf16>, tensor<4x4x1x1xbf16> -> tensor<2x4x16x16xbf16>
  %f = nn.convert %y : tensor<2x4x16x16xbf16> -> tensor<2x4x16x16xf32>
  %p = nn.relu %f : tensor<2x4x16x16xf32>
  %s = nn.reduce sum %p [0, 2, 3] : tensor<2x4x16x16xf32> -> tensor<4xf32>
  %n, %mean, %variance = nn.normalize %f [0, 2, 3] epsilon 1.0e-5 : tensor<2x4x16x16xf32> -> tensor<2x4x16x16xf32>, tensor<4xf32>, tensor<4xf32>
  %a = nn.add %s, %mean : tensor<4xf32>
  %b = nn.broadcast %a [1] : tensor<4xf32> -> tensor<2x4x16x16xf32>
  %m = nn.mul %p, %b : tensor<2x4x16x16xf32>
  %t = nn.reduce sum %m [0, 2, 3] : tensor<2x4x16x16xf32> -> tensor<4xf32>
  return %n, %t : tensor<2x4x16x16xf32>, tensor<4xf32>
}

// -----

// A product of 16 bits whose widened value another product reads stores the wide value: that reader needs it in memory.
// CHECK-LABEL: @stores_wide
// CHECK: nn.conv
// CHECK: nn.convert
// CHECK: nn.yield %{{.*}} : tensor<2x4x16x16xf32>
func.func @stores_wide(%x: tensor<2x4x16x16xbf16>, %w: tensor<4x4x1x1xbf16>, %v: tensor<4x4x1x1xf32>) -> (tensor<2x4x16x16xf32>, tensor<2x4x16x16xf32>) {
  %y = nn.conv %x, %w strides [1, 1] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : tensor<2x4x16x16xbf16>, tensor<4x4x1x1xbf16> -> tensor<2x4x16x16xbf16>
  %f = nn.convert %y : tensor<2x4x16x16xbf16> -> tensor<2x4x16x16xf32>
  %z = nn.conv %f, %v strides [1, 1] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : tensor<2x4x16x16xf32>, tensor<4x4x1x1xf32> -> tensor<2x4x16x16xf32>
  %n, %mean, %variance = nn.normalize %f [0, 2, 3] epsilon 1.0e-5 : tensor<2x4x16x16xf32> -> tensor<2x4x16x16xf32>, tensor<4xf32>, tensor<4xf32>
  return %z, %n : tensor<2x4x16x16xf32>, tensor<2x4x16x16xf32>
}
