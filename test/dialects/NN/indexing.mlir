// RUN: dpc-opt %s | dpc-opt | FileCheck %s
// RUN: dpc-opt %s --mlir-print-op-generic | dpc-opt | FileCheck %s

// Every gather, scatter and top-k prints what it parses.
// CHECK-LABEL: @indexing_ops_round_trip
func.func @indexing_ops_round_trip(%x: tensor<4x8xf32>, %i: tensor<4x2xi64>, %u: tensor<4x2xf32>, %v: tensor<4xf32>) {
  // CHECK: nn.gather %{{.*}}, %{{.*}} dim 0 : tensor<4x8xf32>, tensor<4x2xi64> -> tensor<4x2x8xf32>
  %0 = nn.gather %x, %i dim 0 : tensor<4x8xf32>, tensor<4x2xi64> -> tensor<4x2x8xf32>
  // CHECK: nn.scatter_add %{{.*}}, %{{.*}} dim 0 : tensor<4x2x8xf32>, tensor<4x2xi64> -> tensor<4x8xf32>
  %1 = nn.scatter_add %0, %i dim 0 : tensor<4x2x8xf32>, tensor<4x2xi64> -> tensor<4x8xf32>
  // CHECK: nn.gather_elements %{{.*}}, %{{.*}} dim 1 : tensor<4x8xf32>, tensor<4x2xi64> -> tensor<4x2xf32>
  %2 = nn.gather_elements %x, %i dim 1 : tensor<4x8xf32>, tensor<4x2xi64> -> tensor<4x2xf32>
  // CHECK: nn.scatter_elements none %{{.*}}, %{{.*}}, %{{.*}} dim 1 : tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32>
  %snone = nn.scatter_elements none %x, %i, %u dim 1 : tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32>
  // CHECK: nn.scatter_elements add %{{.*}}, %{{.*}}, %{{.*}} dim 1 : tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32>
  %sadd = nn.scatter_elements add %x, %i, %u dim 1 : tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32>
  // CHECK: nn.scatter_elements mul %{{.*}}, %{{.*}}, %{{.*}} dim 1 : tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32>
  %smul = nn.scatter_elements mul %x, %i, %u dim 1 : tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32>
  // CHECK: nn.scatter_elements max %{{.*}}, %{{.*}}, %{{.*}} dim 1 : tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32>
  %smax = nn.scatter_elements max %x, %i, %u dim 1 : tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32>
  // CHECK: nn.scatter_elements min %{{.*}}, %{{.*}}, %{{.*}} dim 1 : tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32>
  %smin = nn.scatter_elements min %x, %i, %u dim 1 : tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32>
  // CHECK: nn.gather_nd %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4x2xi64> -> tensor<4xf32>
  %3 = nn.gather_nd %x, %i : tensor<4x8xf32>, tensor<4x2xi64> -> tensor<4xf32>
  // CHECK: nn.scatter_nd none %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4x2xi64>, tensor<4xf32>
  %4 = nn.scatter_nd none %x, %i, %v : tensor<4x8xf32>, tensor<4x2xi64>, tensor<4xf32>
  // CHECK: nn.top_k %{{.*}} dim 1 {k = 3 : i64} : tensor<4x8xf32> -> tensor<4x3xf32>, tensor<4x3xi64>
  %5, %6 = nn.top_k %x dim 1 {k = 3 : i64} : tensor<4x8xf32> -> tensor<4x3xf32>, tensor<4x3xi64>
  // CHECK: nn.top_k %{{.*}} dim 1 {k = 3 : i64, largest = false, sorted = false} : tensor<4x8xf32> -> tensor<4x3xf32>, tensor<4x3xi64>
  %7, %8 = nn.top_k %x dim 1 {k = 3 : i64, largest = false, sorted = false} : tensor<4x8xf32> -> tensor<4x3xf32>, tensor<4x3xi64>
  return
}
