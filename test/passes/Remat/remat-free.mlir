// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-remat | FileCheck %s

// What elementwise ops make for each other stays in registers: the kernels that read %k compute
// it again of the argument, so there is nothing to repeat.
// CHECK-LABEL: @step
// CHECK-NOT: nn.after
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

// -----

// Of a product that is made again, what the kernels compute is computed again too: %k of the
// second product, not of the first, which nobody keeps.
// CHECK-LABEL: @step
// CHECK: nn.dot
// CHECK: nn.tanh
// CHECK: %[[AFTER:.*]] = nn.after %arg0,
// CHECK: %[[X:.*]] = nn.dot %[[AFTER]],
// CHECK: %[[K:.*]] = nn.tanh %[[X]]
// CHECK-NEXT: nn.mul %{{.*}}, %[[K]]
func.func @step(%w: tensor<8x16xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[8], [16]">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<8x16xf32> {nn.result = #nn.result<state "w">}) {
  %a = nn.constant dense<2.0> : tensor<16x64xf32>
  %b = nn.constant dense<3.0> : tensor<64x2xf32>
  %x = nn.dot %w, %a contract [1] [0] : tensor<8x16xf32>, tensor<16x64xf32> -> tensor<8x64xf32>
  %k = nn.tanh %x : tensor<8x64xf32>
  %y = nn.mul %k, %x : tensor<8x64xf32>
  %z = nn.dot %y, %b contract [1] [0] : tensor<8x64xf32>, tensor<64x2xf32> -> tensor<8x2xf32>
  %loss = nn.reduce sum %z [0, 1] : tensor<8x2xf32> -> tensor<f32>
  %c = nn.mul %z, %z : tensor<8x2xf32>
  %d = nn.dot %c, %b contract [1] [1] : tensor<8x2xf32>, tensor<64x2xf32> -> tensor<8x64xf32>
  %e = nn.mul %d, %k : tensor<8x64xf32>
  %dw = nn.dot %e, %a contract [1] [1] : tensor<8x64xf32>, tensor<16x64xf32> -> tensor<8x16xf32>
  %u = nn.update(%w, %dw : tensor<8x16xf32>, tensor<8x16xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>):
    %1 = nn.sub %p, %t : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<8x16xf32>
  return %loss, %u : tensor<f32>, tensor<8x16xf32>
}
