// RUN: dpc-opt %s --dpc-describe-machine --dpc-assign-layouts='axes=model=2 auto-axes=model' | FileCheck %s

// An input lies in one place, so all functions take it in the layout that @step
// chose: here cut like the parameter that it meets, which @eval does not read.
// CHECK-LABEL: module @eval_input_follows_step
// CHECK-LABEL: @step
// CHECK-SAME: tensor<8x6xf32> {dist.layout = #dist.layout<"[8], [(6: model)]">
module @eval_input_follows_step {
func.func @step(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                %w: tensor<6xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[(6: model)]">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %0 = nn.broadcast %w [1] : tensor<6xf32> -> tensor<8x6xf32>
  %1 = nn.add %x, %0 : tensor<8x6xf32>
  %2 = nn.reduce sum %1 [0, 1] : tensor<8x6xf32> -> tensor<f32>
  return %2 : tensor<f32>
}
// CHECK-LABEL: @eval
// CHECK-SAME: tensor<8x6xf32> {dist.layout = #dist.layout<"[8], [(6: model)]">
func.func @eval(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %0 = nn.tanh %x : tensor<8x6xf32>
  %1 = nn.reduce sum %0 [0, 1] : tensor<8x6xf32> -> tensor<f32>
  return %1 : tensor<f32>
}
}
