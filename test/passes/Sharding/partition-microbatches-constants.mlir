// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=micro=2 sequential-axes=micro batch-axes=micro' --dpc-partition --canonicalize --cse | FileCheck %s
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=micro=2 sequential-axes=micro batch-axes=micro' | FileCheck %s --check-prefix=PLACED

// Zeros that samples and tokens share, 8 of each, tie none to the other: what is computed of the parameter alone is
// whole, and comes before the loop. Equal copies are one constant again.
// CHECK-LABEL: module @shared_constant_ties_no_dimensions
// CHECK-LABEL: @step(
// CHECK-SAME: %[[X:.*]]: tensor<8x8xf32>
// CHECK-SAME: %[[W:.*]]: tensor<8xf32>
// CHECK: %[[BIAS:.*]] = nn.reduce sum
// CHECK: dist.micro 2 "micro"
// CHECK-SAME: %[[BIAS]]
// CHECK-SAME: operands [{{.*}}whole{{.*}}]
// PLACED-LABEL: module @shared_constant_ties_no_dimensions
// PLACED-COUNT-2: nn.constant
// PLACED-NOT: nn.constant
module @shared_constant_ties_no_dimensions {
func.func @step(%x: tensor<8x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                %w: tensor<8xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<8x8xf32> {nn.result = #nn.result<output "y">}) {
  %zeros = nn.constant dense<0.0> : tensor<8x8xf32>
  %positive = nn.max %x, %zeros : tensor<8x8xf32>
  %negative = nn.min %x, %zeros : tensor<8x8xf32>
  %0 = nn.broadcast %w [0] : tensor<8xf32> -> tensor<8x8xf32>
  %1 = nn.max %0, %zeros : tensor<8x8xf32>
  %bias = nn.reduce sum %1 [1] : tensor<8x8xf32> -> tensor<8xf32>
  %2 = nn.broadcast %bias [1] : tensor<8xf32> -> tensor<8x8xf32>
  %3 = nn.mul %positive, %2 : tensor<8x8xf32>
  %4 = nn.add %3, %negative : tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}
}

// -----

// So do positions that are computed from a constant.
// CHECK-LABEL: module @shared_positions_tie_no_dimensions
// CHECK: %[[BIAS:.*]] = nn.reduce sum
// CHECK: dist.micro 2 "micro"
// CHECK-SAME: %[[BIAS]]
// PLACED-LABEL: module @shared_positions_tie_no_dimensions
// PLACED-COUNT-2: nn.iota
// PLACED-NOT: nn.iota
module @shared_positions_tie_no_dimensions {
func.func @step(%x: tensor<8x8xi64> {nn.arg = #nn.arg<input "x", batch = 0>},
                %w: tensor<8xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<8x8xf32> {nn.result = #nn.result<output "y">}) {
  %places = nn.iota dim 0 : tensor<8x8xi64>
  %two = nn.constant dense<2> : tensor<8x8xi64>
  %doubled = nn.mul %places, %two : tensor<8x8xi64>
  %sums = nn.add %x, %doubled : tensor<8x8xi64>
  %scale = nn.convert %sums : tensor<8x8xi64> -> tensor<8x8xf32>
  %0 = nn.broadcast %w [0] : tensor<8xf32> -> tensor<8x8xf32>
  %weights = nn.convert %doubled : tensor<8x8xi64> -> tensor<8x8xf32>
  %1 = nn.mul %0, %weights : tensor<8x8xf32>
  %bias = nn.reduce sum %1 [1] : tensor<8x8xf32> -> tensor<8xf32>
  %2 = nn.broadcast %bias [1] : tensor<8xf32> -> tensor<8x8xf32>
  %3 = nn.mul %scale, %2 : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}
}
