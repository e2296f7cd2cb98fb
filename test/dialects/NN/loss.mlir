// RUN: dpc-opt %s | dpc-opt | FileCheck %s
// RUN: dpc-opt %s --mlir-print-op-generic | dpc-opt | FileCheck %s

// Default attributes of the loss are not printed.
// CHECK-LABEL: @omits_default_attributes
func.func @omits_default_attributes(%x: tensor<8x10xf32>, %l: tensor<8xi64>) {
  // CHECK: nn.cross_entropy %{{.*}}, %{{.*}} dim 1 : tensor<8x10xf32>, tensor<8xi64> -> tensor<8xf32>, tensor<8xf32>
  %0, %1 = nn.cross_entropy %x, %l dim 1 : tensor<8x10xf32>, tensor<8xi64> -> tensor<8xf32>, tensor<8xf32>
  // CHECK: nn.cross_entropy %{{.*}}, %{{.*}} dim 1 {ignoreIndex = 0 : i64, labelSmoothing = 1.000000e-01 : f64} : tensor<8x10xf32>, tensor<8xi64> -> tensor<8xf32>, tensor<8xf32>
  %2, %3 = nn.cross_entropy %x, %l dim 1 {ignoreIndex = 0 : i64, labelSmoothing = 1.000000e-01 : f64} : tensor<8x10xf32>, tensor<8xi64> -> tensor<8xf32>, tensor<8xf32>
  return
}
