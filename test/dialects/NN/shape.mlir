// RUN: dpc-opt %s | dpc-opt | FileCheck %s
// RUN: dpc-opt %s --mlir-print-op-generic | dpc-opt | FileCheck %s

// Every op that moves elements prints what it parses.
// CHECK-LABEL: @shape_ops_round_trip
func.func @shape_ops_round_trip(%x: tensor<4x6xf32>, %v: tensor<f32>, %b: tensor<6xf32>) {
  // CHECK: nn.reshape %{{.*}} : tensor<4x6xf32> -> tensor<2x2x6xf32>
  %0 = nn.reshape %x : tensor<4x6xf32> -> tensor<2x2x6xf32>
  // CHECK: nn.transpose %{{.*}} [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  %1 = nn.transpose %x [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  // CHECK: nn.broadcast %{{.*}} [1] : tensor<6xf32> -> tensor<4x6xf32>
  %2 = nn.broadcast %b [1] : tensor<6xf32> -> tensor<4x6xf32>
  // CHECK: nn.slice %{{.*}} starts [0, 2] limits [4, 6] strides [1, 2] : tensor<4x6xf32> -> tensor<4x2xf32>
  %3 = nn.slice %x starts [0, 2] limits [4, 6] strides [1, 2] : tensor<4x6xf32> -> tensor<4x2xf32>
  // CHECK: nn.pad %{{.*}}, %{{.*}} low [1] high [-1] interior [1] : tensor<6xf32>, tensor<f32> -> tensor<11xf32>
  %4 = nn.pad %b, %v low [1] high [-1] interior [1] : tensor<6xf32>, tensor<f32> -> tensor<11xf32>
  // CHECK: nn.concat %{{.*}}, %{{.*}} dim 1 : tensor<4x6xf32>, tensor<4x6xf32> -> tensor<4x12xf32>
  %5 = nn.concat %x, %x dim 1 : tensor<4x6xf32>, tensor<4x6xf32> -> tensor<4x12xf32>
  // CHECK: nn.reverse %{{.*}} [0, 1] : tensor<4x6xf32>
  %6 = nn.reverse %x [0, 1] : tensor<4x6xf32>
  // CHECK: nn.iota dim 1 : tensor<4x6xi64>
  %7 = nn.iota dim 1 : tensor<4x6xi64>
  return
}
