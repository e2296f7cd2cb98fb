// RUN: dpc-opt %s | dpc-opt | FileCheck %s
// RUN: dpc-opt %s --mlir-print-op-generic | dpc-opt | FileCheck %s

// A contraction without batch dimensions does not print them.
// CHECK-LABEL: @omits_empty_batch_dimensions
func.func @omits_empty_batch_dimensions(%x: tensor<8x32xf32>, %w: tensor<32x16xf32>, %q: tensor<4x12x8xf32>) {
  // CHECK: nn.dot %{{.*}}, %{{.*}} contract [1] [0] : tensor<8x32xf32>, tensor<32x16xf32> -> tensor<8x16xf32>
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x32xf32>, tensor<32x16xf32> -> tensor<8x16xf32>
  // CHECK: nn.dot %{{.*}}, %{{.*}} batch [0] [0] contract [2] [2] : tensor<4x12x8xf32>, tensor<4x12x8xf32> -> tensor<4x12x12xf32>
  %1 = nn.dot %q, %q batch [0] [0] contract [2] [2] : tensor<4x12x8xf32>, tensor<4x12x8xf32> -> tensor<4x12x12xf32>
  return
}

// A result may be wider than the factors.
// CHECK-LABEL: @accepts_wider_result
func.func @accepts_wider_result(%x: tensor<8x32xbf16>, %w: tensor<32x16xbf16>, %h: tensor<8x32xf16>, %d: tensor<8x32xf32>) {
  // CHECK: nn.dot %{{.*}}, %{{.*}} contract [1] [0] : tensor<8x32xbf16>, tensor<32x16xbf16> -> tensor<8x16xf32>
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x32xbf16>, tensor<32x16xbf16> -> tensor<8x16xf32>
  // CHECK: nn.dot %{{.*}}, %{{.*}} contract [1] [1] : tensor<8x32xf16>, tensor<8x32xf16> -> tensor<8x8xf32>
  %1 = nn.dot %h, %h contract [1] [1] : tensor<8x32xf16>, tensor<8x32xf16> -> tensor<8x8xf32>
  // CHECK: nn.dot %{{.*}}, %{{.*}} contract [1] [1] : tensor<8x32xf32>, tensor<8x32xf32> -> tensor<8x8xf64>
  %2 = nn.dot %d, %d contract [1] [1] : tensor<8x32xf32>, tensor<8x32xf32> -> tensor<8x8xf64>
  return
}
