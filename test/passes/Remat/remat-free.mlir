// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-remat | FileCheck %s

// What elementwise ops make for each other stays in registers: the kernels that read %k compute
// it again of the argument, so there is nothing to repeat.
// CHECK-LABEL: module @registers_need_no_recomputation
// CHECK-NOT: nn.after
module @registers_need_no_recomputation {
func.func @step(%w: tensor<8x64xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[8], [64]">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<8x64xf32> {nn.result = #nn.result<state "w">}) {
  %h = nn.exp %w : tensor<8x64xf32>
  %k = nn.tanh %h : tensor<8x64xf32>
  %loss = nn.reduce sum %k [0, 1] : tensor<8x64xf32> -> tensor<f32>
  %d = nn.mul %k, %h : tensor<8x64xf32>
  %u = nn.update(%w, %d : tensor<8x64xf32>, tensor<8x64xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>):
    %1 = nn.sub %p, %t : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<8x64xf32>
  return %loss, %u : tensor<f32>, tensor<8x64xf32>
}
}

// -----

// Without an update there is no backward pass.
// CHECK-LABEL: module @no_update_means_no_backward
// CHECK-NOT: nn.after
module @no_update_means_no_backward {
func.func @step(%w: tensor<8xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[8]">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<8xf32> {nn.result = #nn.result<output "y">}) {
  %h = nn.exp %w : tensor<8xf32>
  %l = nn.reduce sum %h [0] : tensor<8xf32> -> tensor<f32>
  %m = nn.tanh %l : tensor<f32>
  %d = nn.mul %h, %w : tensor<8xf32>
  return %m, %d : tensor<f32>, tensor<8xf32>
}
}
