// RUN: dpc-opt %s | dpc-opt | FileCheck %s
// RUN: dpc-opt %s --mlir-print-op-generic | dpc-opt | FileCheck %s

// CHECK: nn.variable @fc.weight = dense<5.000000e-01> : tensor<4x16xf32>
nn.variable @"fc.weight" = dense<0.5> : tensor<4x16xf32>

// CHECK-LABEL: @program_round_trips
// CHECK-SAME: nn.arg = #nn.arg<parameter "fc.weight">
// CHECK-SAME: nn.arg = #nn.arg<input "x", batch = 0>
func.func @program_round_trips(%w: tensor<4x16xf32> {nn.arg = #nn.arg<parameter "fc.weight">},
                   %x: tensor<8x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<8x16xf32> {nn.result = #nn.result<output "y">}) {
  // CHECK: nn.dot %{{.*}}, %{{.*}} contract [1] [0]
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x4xf32>, tensor<4x16xf32> -> tensor<8x16xf32>
  // CHECK: nn.gelu tanh
  %1 = nn.gelu tanh %0 : tensor<8x16xf32>
  // CHECK: nn.reduce sum
  %2 = nn.reduce sum %1 [1] : tensor<8x16xf32> -> tensor<8xf32>
  // CHECK: nn.broadcast
  %3 = nn.broadcast %2 [0] : tensor<8xf32> -> tensor<8x16xf32>
  %4 = nn.compare lt %1, %3 : tensor<8x16xf32> -> tensor<8x16xi1>
  %5 = nn.select %4, %1, %3 : tensor<8x16xi1>, tensor<8x16xf32>
  // CHECK: nn.after %{{.*}}, %{{.*}} : tensor<8x16xf32>, tensor<8xf32>
  %after = nn.after %1, %2 : tensor<8x16xf32>, tensor<8xf32>
  %lr = nn.constant dense<0.1> : tensor<f32>
  // CHECK: nn.update
  %6 = nn.update (%5, %1 : tensor<8x16xf32>, tensor<8x16xf32>) scalars (%lr : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %g: tensor<f32>, %l: tensor<f32>):
    %d = nn.mul %l, %g : tensor<f32>
    %n = nn.sub %p, %d : tensor<f32>
    nn.yield %n : tensor<f32>
  } -> tensor<8x16xf32>
  return %6 : tensor<8x16xf32>
}
