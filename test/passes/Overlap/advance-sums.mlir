// RUN: dpc-opt %s --split-input-file --dpc-advance-sums | FileCheck %s

// The term of a norm, and the sum over ranks that it needs, come right behind the gradient; the sum of the terms, a
// number, and the updates stay. What reads a value of the forward pass (%h) stays too.
module @norm_terms_follow_gradients {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @norm_terms_follow_gradients
// CHECK: %[[P:.*]] = nn.dot %{{.*}} contract [0] [0]
// CHECK-NEXT: %[[G:.*]] = dist.all_reduce sum %[[P]]
// CHECK-NEXT: %[[Q:.*]] = nn.mul %[[G]], %[[G]]
// CHECK-NEXT: %[[T:.*]] = nn.reduce sum %[[Q]]
// CHECK-NEXT: %[[E:.*]] = nn.dot %{{.*}} contract [1] [1]
// CHECK-NEXT: %[[V:.*]] = nn.dot %{{.*}}, %[[E]] contract [0] [0]
// CHECK-NEXT: %[[S:.*]] = nn.mul %[[V]], %[[V]]
// CHECK-NEXT: %[[R:.*]] = nn.reduce sum %[[S]]
// CHECK: nn.add %[[T]], %[[R]]
// CHECK: %[[X:.*]] = nn.mul %[[V]], %{{.*}}
// CHECK-NEXT: nn.update
func.func @step(%w: tensor<8x16xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[8], [16]">},
                %v: tensor<16x16xf32> {nn.arg = #nn.arg<parameter "v">, dist.layout = #dist.layout<"[16], [16]">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<8x16xf32> {nn.result = #nn.result<state "w">},
        tensor<16x16xf32> {nn.result = #nn.result<state "v">}) {
  %a = nn.constant dense<2.0> : tensor<4x8xf32>
  %x = nn.dot %a, %w contract [1] [0] : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
  %y = nn.dot %x, %v contract [1] [0] : tensor<4x16xf32>, tensor<16x16xf32> -> tensor<4x16xf32>
  %h = nn.dot %v, %v contract [1] [0] : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %o = nn.reduce sum %h [0, 1] : tensor<16x16xf32> -> tensor<f32>
  %l = nn.reduce sum %y [0, 1] : tensor<4x16xf32> -> tensor<f32>
  %loss = nn.add %l, %o : tensor<f32>
  %d = nn.mul %y, %y : tensor<4x16xf32>
  %p = nn.dot %a, %d contract [0] [0] : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<8x16xf32>
  %e = nn.dot %d, %v contract [1] [1] : tensor<4x16xf32>, tensor<16x16xf32> -> tensor<4x16xf32>
  %f = nn.dot %x, %e contract [0] [0] : tensor<4x16xf32>, tensor<4x16xf32> -> tensor<16x16xf32>
  %g = dist.all_reduce sum %p on @mesh ["data"] : tensor<8x16xf32>
  %q = nn.mul %g, %g : tensor<8x16xf32>
  %t = nn.reduce sum %q [0, 1] : tensor<8x16xf32> -> tensor<f32>
  %s = nn.mul %f, %f : tensor<16x16xf32>
  %r = nn.reduce sum %s [0, 1] : tensor<16x16xf32> -> tensor<f32>
  %n = nn.add %t, %r : tensor<f32>
  %c = nn.mul %f, %h : tensor<16x16xf32>
  %u = nn.update(%w, %g : tensor<8x16xf32>, tensor<8x16xf32>) scalars(%n : tensor<f32>) {
  ^bb0(%p0: tensor<f32>, %p1: tensor<f32>, %p2: tensor<f32>):
    %1 = nn.mul %p1, %p2 : tensor<f32>
    %2 = nn.sub %p0, %1 : tensor<f32>
    nn.yield %2 : tensor<f32>
  } -> tensor<8x16xf32>
  %z = nn.update(%v, %c : tensor<16x16xf32>, tensor<16x16xf32>) scalars(%n : tensor<f32>) {
  ^bb0(%p0: tensor<f32>, %p1: tensor<f32>, %p2: tensor<f32>):
    %1 = nn.mul %p1, %p2 : tensor<f32>
    %2 = nn.sub %p0, %1 : tensor<f32>
    nn.yield %2 : tensor<f32>
  } -> tensor<16x16xf32>
  return %loss, %u, %z : tensor<f32>, tensor<8x16xf32>, tensor<16x16xf32>
}
}

// -----

// Without updates there is no backward pass.
// CHECK-LABEL: module @no_update_means_no_backward
// CHECK: nn.exp
// CHECK-NEXT: nn.tanh
// CHECK-NEXT: nn.reduce
module @no_update_means_no_backward {
func.func @step(%x: tensor<4xf32>) -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %a = nn.exp %x : tensor<4xf32>
  %b = nn.tanh %x : tensor<4xf32>
  %c = nn.reduce sum %a [0] : tensor<4xf32> -> tensor<f32>
  return %c : tensor<f32>
}
}
