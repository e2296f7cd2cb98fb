// RUN: dpc-opt %s --dpc-drop-unit-dimensions | FileCheck %s

// CHECK-LABEL: @sums
// CHECK-SAME: %[[X:.*]]: tensor<8x4xf32>, %[[C:.*]]: tensor<1x4xf32>
// CHECK: %[[F:.*]] = nn.reshape %[[C]] : tensor<1x4xf32> -> tensor<4xf32>
// CHECK: %[[B:.*]] = nn.broadcast %[[F]] [1] : tensor<4xf32> -> tensor<8x4xf32>
// CHECK: %[[M:.*]] = nn.mul %[[X]], %[[B]] : tensor<8x4xf32>
// CHECK: %[[S:.*]] = nn.reduce sum %[[M]] [0] : tensor<8x4xf32> -> tensor<4xf32>
// CHECK: nn.reshape %[[S]] : tensor<4xf32> -> tensor<1x4xf32>
func.func @sums(%x: tensor<8x4xf32>, %c: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %r = nn.reshape %x : tensor<8x4xf32> -> tensor<1x8x4xf32>
  %b = nn.broadcast %c [0, 2] : tensor<1x4xf32> -> tensor<1x8x4xf32>
  %m = nn.mul %r, %b : tensor<1x8x4xf32>
  %s = nn.reduce sum %m [1] : tensor<1x8x4xf32> -> tensor<1x4xf32>
  return %s : tensor<1x4xf32>
}

// CHECK-LABEL: @normalization
// CHECK-SAME: %[[X:.*]]: tensor<8x4x5xf32>
// CHECK: nn.normalize %[[X]] [0, 2] {{.*}} : tensor<8x4x5xf32> -> tensor<8x4x5xf32>, tensor<4xf32>, tensor<4xf32>
func.func @normalization(%x: tensor<8x4x5xf32>) -> (tensor<1x8x4x5xf32>, tensor<1x4xf32>) {
  %r = nn.reshape %x : tensor<8x4x5xf32> -> tensor<1x8x4x5xf32>
  %y, %m, %v = nn.normalize %r [1, 3] epsilon 1.0e-5 : tensor<1x8x4x5xf32> -> tensor<1x8x4x5xf32>, tensor<1x4xf32>, tensor<1x4xf32>
  return %y, %m : tensor<1x8x4x5xf32>, tensor<1x4xf32>
}

// A splat has any shape, and a truth value another element type.
// CHECK-LABEL: @splat
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>
// CHECK: %[[Z:.*]] = nn.constant dense<0.000000e+00> : tensor<3xf32>
// CHECK: %[[G:.*]] = nn.compare gt %[[X]], %[[Z]] : tensor<3xf32> -> tensor<3xi1>
// CHECK: nn.reshape %[[G]] : tensor<3xi1> -> tensor<3x1xi1>
func.func @splat(%x: tensor<3xf32>) -> tensor<3x1xi1> {
  %r = nn.reshape %x : tensor<3xf32> -> tensor<3x1xf32>
  %z = nn.constant dense<0.0> : tensor<3x1xf32>
  %g = nn.compare gt %r, %z : tensor<3x1xf32> -> tensor<3x1xi1>
  return %g : tensor<3x1xi1>
}

// Operands with other dimensions stay as they are, and so do reshapes that do more.
// CHECK-LABEL: @others
// CHECK: nn.mul {{.*}} : tensor<1x6xf32>
// CHECK: nn.add {{.*}} : tensor<1x6xf32>
func.func @others(%x: tensor<6xf32>, %y: tensor<1x6xf32>, %z: tensor<2x3xf32>) -> tensor<1x6xf32> {
  %r = nn.reshape %x : tensor<6xf32> -> tensor<1x6xf32>
  %m = nn.mul %r, %y : tensor<1x6xf32>
  %s = nn.reshape %z : tensor<2x3xf32> -> tensor<1x6xf32>
  %a = nn.add %m, %s : tensor<1x6xf32>
  return %a : tensor<1x6xf32>
}

// A rewrite that fails leaves no new op.
// CHECK-LABEL: @unchanged
// CHECK-NOT: tensor<6xf32>
// CHECK: return
func.func @unchanged(%c: tensor<6xi1>, %y: tensor<1x6xf32>) -> tensor<1x6xf32> {
  %r = nn.reshape %c : tensor<6xi1> -> tensor<1x6xi1>
  %z = nn.constant dense<0.0> : tensor<1x6xf32>
  %s = nn.select %r, %z, %y : tensor<1x6xi1>, tensor<1x6xf32>
  return %s : tensor<1x6xf32>
}
