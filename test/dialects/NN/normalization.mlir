// RUN: dpc-opt %s | dpc-opt | FileCheck %s
// RUN: dpc-opt %s --mlir-print-op-generic | dpc-opt | FileCheck %s

// Every normalisation prints what it parses.
// CHECK-LABEL: @normalization_ops_round_trip
func.func @normalization_ops_round_trip(%x: tensor<8x3x4xf32>, %s: tensor<3xf32>) {
  // CHECK: nn.softmax %{{.*}} dim 1 : tensor<8x3x4xf32>
  %0 = nn.softmax %x dim 1 : tensor<8x3x4xf32>
  // CHECK: nn.log_softmax %{{.*}} dim 2 : tensor<8x3x4xf32>
  %1 = nn.log_softmax %x dim 2 : tensor<8x3x4xf32>
  // CHECK: nn.normalize %{{.*}} [1, 2] epsilon 1.000000e-05 : tensor<8x3x4xf32> -> tensor<8x3x4xf32>, tensor<8xf32>, tensor<8xf32>
  %2, %3, %4 = nn.normalize %x [1, 2] epsilon 1.000000e-05 : tensor<8x3x4xf32> -> tensor<8x3x4xf32>, tensor<8xf32>, tensor<8xf32>
  // CHECK: nn.normalize %{{.*}} [2] epsilon 0.000000e+00 uncentered : tensor<8x3x4xf32> -> tensor<8x3x4xf32>, tensor<8x3xf32>, tensor<8x3xf32>
  %5, %6, %7 = nn.normalize %x [2] epsilon 0.000000e+00 uncentered : tensor<8x3x4xf32> -> tensor<8x3x4xf32>, tensor<8x3xf32>, tensor<8x3xf32>
  // CHECK: nn.batch_norm %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64, momentum = 9.000000e-01 : f64, unbiased = true} : tensor<8x3x4xf32>, tensor<3xf32>
  %8, %9, %10 = nn.batch_norm %x, %s, %s, %s, %s {epsilon = 1.000000e-05 : f64, momentum = 9.000000e-01 : f64, unbiased = true} : tensor<8x3x4xf32>, tensor<3xf32>
  return
}
