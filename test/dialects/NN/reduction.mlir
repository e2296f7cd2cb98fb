// RUN: dpc-opt %s | dpc-opt | FileCheck %s
// RUN: dpc-opt %s --mlir-print-op-generic | dpc-opt | FileCheck %s

// Every reduction prints what it parses.
// CHECK-LABEL: @reduction_ops_round_trip
func.func @reduction_ops_round_trip(%x: tensor<4x5x6xf32>) {
  // CHECK: nn.reduce sum %{{.*}} [0, 2] : tensor<4x5x6xf32> -> tensor<5xf32>
  %sum = nn.reduce sum %x [0, 2] : tensor<4x5x6xf32> -> tensor<5xf32>
  // CHECK: nn.reduce max %{{.*}} [0, 2] : tensor<4x5x6xf32> -> tensor<5xf32>
  %max = nn.reduce max %x [0, 2] : tensor<4x5x6xf32> -> tensor<5xf32>
  // CHECK: nn.reduce max %{{.*}} [1] {first} : tensor<4x5x6xf32> -> tensor<4x6xf32>
  %first = nn.reduce max %x [1] {first} : tensor<4x5x6xf32> -> tensor<4x6xf32>
  // CHECK: nn.reduce min %{{.*}} [0, 2] : tensor<4x5x6xf32> -> tensor<5xf32>
  %min = nn.reduce min %x [0, 2] : tensor<4x5x6xf32> -> tensor<5xf32>
  // CHECK: nn.reduce prod %{{.*}} [0, 2] : tensor<4x5x6xf32> -> tensor<5xf32>
  %prod = nn.reduce prod %x [0, 2] : tensor<4x5x6xf32> -> tensor<5xf32>
  // CHECK: nn.arg_reduce max %{{.*}} dim 1 : tensor<4x5x6xf32> -> tensor<4x6xi64>
  %0 = nn.arg_reduce max %x dim 1 : tensor<4x5x6xf32> -> tensor<4x6xi64>
  // CHECK: nn.arg_reduce min %{{.*}} dim 2 {selectLast} : tensor<4x5x6xf32> -> tensor<4x5xi32>
  %1 = nn.arg_reduce min %x dim 2 {selectLast} : tensor<4x5x6xf32> -> tensor<4x5xi32>
  // CHECK: nn.cumsum %{{.*}} dim 1 : tensor<4x5x6xf32>
  %2 = nn.cumsum %x dim 1 : tensor<4x5x6xf32>
  // CHECK: nn.cumsum %{{.*}} dim 1 {exclusive, reverse} : tensor<4x5x6xf32>
  %3 = nn.cumsum %x dim 1 {exclusive, reverse} : tensor<4x5x6xf32>
  return
}
