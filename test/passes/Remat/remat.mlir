// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-remat | FileCheck %s

// The forward pass is cut where few bytes cross: the number %r is kept, %h and %k are computed
// again of the argument, when the gradient is there that goes back through them. What the
// last segment makes is still there. A constant is no value that crosses a cut.
// CHECK-LABEL: @step
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<8xf32>
// CHECK: nn.exp
// CHECK: %[[M:.*]] = nn.tanh
// CHECK: %[[D:.*]] = nn.mul %[[M]], %[[M]]
// CHECK-NEXT: nn.constant
// CHECK-NEXT: %[[AFTER:.*]] = nn.after %[[W]], %[[D]] : tensor<8xf32>, tensor<8x64xf32>
// CHECK-NEXT: %[[ALL:.*]] = nn.broadcast %[[AFTER]]
// CHECK-NEXT: %[[H:.*]] = nn.exp %[[ALL]]
// CHECK-NEXT: %[[K:.*]] = nn.mul %[[H]],
// CHECK-NEXT: %[[E:.*]] = nn.mul %[[D]], %[[K]]
// CHECK-NEXT: nn.mul %[[E]], %[[H]]
func.func @step(%w: tensor<8xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[8]">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<8xf32> {nn.result = #nn.result<state "w">}) {
  %two = nn.constant dense<2.0> : tensor<8x64xf32>
  %x = nn.broadcast %w [0] : tensor<8xf32> -> tensor<8x64xf32>
  %h = nn.exp %x : tensor<8x64xf32>
  %k = nn.mul %h, %two : tensor<8x64xf32>
  %r = nn.reduce sum %k [0, 1] : tensor<8x64xf32> -> tensor<f32>
  %y = nn.broadcast %r [] : tensor<f32> -> tensor<8x64xf32>
  %m = nn.tanh %y : tensor<8x64xf32>
  %loss = nn.reduce sum %m [0, 1] : tensor<8x64xf32> -> tensor<f32>
  %d = nn.mul %m, %m : tensor<8x64xf32>
  %e = nn.mul %d, %k : tensor<8x64xf32>
  %f = nn.mul %e, %h : tensor<8x64xf32>
  %dw = nn.reduce sum %f [1] : tensor<8x64xf32> -> tensor<8xf32>
  %u = nn.update(%w, %dw : tensor<8xf32>, tensor<8xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>):
    %1 = nn.sub %p, %t : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<8xf32>
  return %loss, %u : tensor<f32>, tensor<8xf32>
}

// -----

// Without an update there is no backward pass.
// CHECK-LABEL: @step
// CHECK-NOT: nn.after
func.func @step(%w: tensor<8xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[8]">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<8xf32> {nn.result = #nn.result<output "y">}) {
  %h = nn.exp %w : tensor<8xf32>
  %l = nn.reduce sum %h [0] : tensor<8xf32> -> tensor<f32>
  %m = nn.tanh %l : tensor<f32>
  %d = nn.mul %h, %w : tensor<8xf32>
  return %m, %d : tensor<f32>, tensor<8xf32>
}
