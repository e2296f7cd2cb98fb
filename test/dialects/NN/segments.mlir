// RUN: dpc-opt %s | dpc-opt | FileCheck %s

// Sums and values of the segments of a flat tensor.
// CHECK-LABEL: @segment_ops_round_trip
func.func @segment_ops_round_trip(%x: tensor<8xf32>, %v: tensor<2xf32>, %b: tensor<2xi64>, %e: tensor<2xi64>) {
  // CHECK: nn.segment_sum %{{.*}}, %{{.*}}, %{{.*}} : tensor<8xf32>, tensor<2xi64> -> tensor<2xf32>
  %s = nn.segment_sum %x, %b, %e : tensor<8xf32>, tensor<2xi64> -> tensor<2xf32>
  // CHECK: nn.segment_fill %{{.*}}, %{{.*}}, %{{.*}} : tensor<2xf32>, tensor<2xi64> -> tensor<8xf32>
  %y = nn.segment_fill %v, %b, %e : tensor<2xf32>, tensor<2xi64> -> tensor<8xf32>
  return
}
