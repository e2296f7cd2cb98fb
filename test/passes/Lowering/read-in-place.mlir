// RUN: dpc-opt %s --dpc-describe-machine=target=cuda --dpc-read-in-place | FileCheck %s
// RUN: dpc-opt %s --dpc-describe-machine=target=cpu --dpc-read-in-place | FileCheck %s --check-prefix=CPU

// CPU-NOT: nn.read_in_place

// Queries, keys and values are parts of one tensor. It gets the dimensions of heads, and all parts are read in it.
// CHECK-LABEL: @parts
// CHECK: %[[V:.*]] = nn.reshape %arg0 : tensor<2x64x192xf32> -> tensor<2x64x6x32xf32>
// CHECK-NOT: nn.reshape
// CHECK-DAG: %[[Q:.*]] = nn.slice %[[V]] starts [0, 0, 0, 0] limits [2, 64, 2, 32] strides [1, 1, 1, 1] {nn.read_in_place}
// CHECK-DAG: %[[K:.*]] = nn.slice %[[V]] starts [0, 0, 2, 0] limits [2, 64, 4, 32] strides [1, 1, 1, 1] {nn.read_in_place}
// CHECK-DAG: %[[T:.*]] = nn.slice %[[V]] starts [0, 0, 4, 0] limits [2, 64, 6, 32] strides [1, 1, 1, 1] {nn.read_in_place}
// CHECK: nn.attention %[[Q]], %[[K]], %[[T]]
func.func @parts(%x: tensor<2x64x192xf32>) -> tensor<2x64x2x32xf32> {
  %q = nn.slice %x starts [0, 0, 0] limits [2, 64, 64] strides [1, 1, 1] : tensor<2x64x192xf32> -> tensor<2x64x64xf32>
  %k = nn.slice %x starts [0, 0, 64] limits [2, 64, 128] strides [1, 1, 1] : tensor<2x64x192xf32> -> tensor<2x64x64xf32>
  %v = nn.slice %x starts [0, 0, 128] limits [2, 64, 192] strides [1, 1, 1] : tensor<2x64x192xf32> -> tensor<2x64x64xf32>
  %a = nn.reshape %q : tensor<2x64x64xf32> -> tensor<2x64x2x32xf32>
  %b = nn.reshape %k : tensor<2x64x64xf32> -> tensor<2x64x2x32xf32>
  %c = nn.reshape %v : tensor<2x64x64xf32> -> tensor<2x64x2x32xf32>
  %r, %s = nn.attention %a, %b, %c rows 1 scale 1.0 causal : tensor<2x64x2x32xf32>, tensor<2x64x2x32xf32>, tensor<2x64x2x32xf32> -> tensor<2x64x2x32xf32>, tensor<2x2x64xf32>
  return %r : tensor<2x64x2x32xf32>
}

// A part that cuts a head, one that cuts the innermost rows and one with strides are copied.
// CHECK-LABEL: @copies
// CHECK-NOT: nn.read_in_place
// CHECK: return
func.func @copies(%x: tensor<2x64x176xf32>, %y: tensor<2x64x2x48xf32>, %z: tensor<2x128x2x32xf32>) -> tensor<2x64x2x32xf32> {
  %q = nn.slice %x starts [0, 0, 16] limits [2, 64, 80] strides [1, 1, 1] : tensor<2x64x176xf32> -> tensor<2x64x64xf32>
  %a = nn.reshape %q : tensor<2x64x64xf32> -> tensor<2x64x2x32xf32>
  %b = nn.slice %y starts [0, 0, 0, 0] limits [2, 64, 2, 32] strides [1, 1, 1, 1] : tensor<2x64x2x48xf32> -> tensor<2x64x2x32xf32>
  %c = nn.slice %z starts [0, 0, 0, 0] limits [2, 128, 2, 32] strides [1, 2, 1, 1] : tensor<2x128x2x32xf32> -> tensor<2x64x2x32xf32>
  %r, %s = nn.attention %a, %b, %c rows 1 scale 1.0 causal : tensor<2x64x2x32xf32>, tensor<2x64x2x32xf32>, tensor<2x64x2x32xf32> -> tensor<2x64x2x32xf32>, tensor<2x2x64xf32>
  return %r : tensor<2x64x2x32xf32>
}
