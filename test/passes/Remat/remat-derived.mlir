// RUN: dpc-opt %s --dpc-describe-machine --dpc-remat=saved-bytes=0 | FileCheck %s
// RUN: dpc-opt %s --dpc-describe-machine --dpc-remat=nodes=foot | FileCheck %s --check-prefix=NODES

// The derivative of the first layer's tanh is made of the forward pass alone. It is computed for the product that reads
// it, of what is there then: with the forward pass it would be kept. What the backward pass begins with (%d and the
// derivative that it is multiplied with) stays as it is.
// CHECK-LABEL: module @moves_derivative_to_its_reader
// CHECK: %[[H:.*]] = nn.tanh
// CHECK: %[[I:.*]] = nn.tanh
// CHECK: %[[D:.*]] = nn.mul %{{.*}}
// CHECK-NEXT: %[[E:.*]] = nn.dot %[[D]]
// CHECK-NEXT: %[[Q:.*]] = nn.mul %[[I]], %[[I]]
// CHECK-NEXT: %[[R:.*]] = nn.sub %{{.*}}, %[[Q]]
// CHECK-NEXT: %[[F:.*]] = nn.mul %[[E]], %[[R]]
// CHECK-NOT: nn.mul %[[H]]
// CHECK: %[[G:.*]] = nn.dot %[[F]]
// CHECK: %[[AFTER:.*]] = nn.after %[[H]], %[[F]]
// CHECK: %[[S:.*]] = nn.mul %[[AFTER]], %[[AFTER]]
// CHECK-NEXT: %[[T:.*]] = nn.sub %{{.*}}, %[[S]]
// CHECK-NEXT: nn.mul %[[G]], %[[T]]

// Where nodes are named nothing else changes.
// NODES-LABEL: module @moves_derivative_to_its_reader
// NODES: %[[H:.*]] = nn.tanh
// NODES: nn.mul %[[H]], %[[H]]
module @moves_derivative_to_its_reader {
func.func @step(%w: tensor<16x16xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[16], [16]">},
                %v: tensor<16x16xf32> {nn.arg = #nn.arg<parameter "v">, dist.layout = #dist.layout<"[16], [16]">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<16x16xf32> {nn.result = #nn.result<state "w">}) {
  %a = nn.constant dense<2.0> : tensor<64x16xf32>
  %one = nn.constant dense<1.0> : tensor<64x16xf32>
  %x = nn.dot %a, %w contract [1] [0] : tensor<64x16xf32>, tensor<16x16xf32> -> tensor<64x16xf32>
  %h = nn.tanh %x : tensor<64x16xf32>
  %y = nn.dot %h, %v contract [1] [0] : tensor<64x16xf32>, tensor<16x16xf32> -> tensor<64x16xf32> loc("foot")
  %i = nn.tanh %y : tensor<64x16xf32>
  %z = nn.dot %i, %v contract [1] [0] : tensor<64x16xf32>, tensor<16x16xf32> -> tensor<64x16xf32>
  %loss = nn.reduce sum %z [0, 1] : tensor<64x16xf32> -> tensor<f32>
  %d = nn.mul %z, %z : tensor<64x16xf32>
  %e = nn.dot %d, %v contract [1] [1] : tensor<64x16xf32>, tensor<16x16xf32> -> tensor<64x16xf32>
  %q = nn.mul %i, %i : tensor<64x16xf32>
  %r = nn.sub %one, %q : tensor<64x16xf32>
  %f = nn.mul %e, %r : tensor<64x16xf32>
  %g = nn.dot %f, %v contract [1] [1] : tensor<64x16xf32>, tensor<16x16xf32> -> tensor<64x16xf32>
  %s = nn.mul %h, %h : tensor<64x16xf32>
  %t = nn.sub %one, %s : tensor<64x16xf32>
  %k = nn.mul %g, %t : tensor<64x16xf32>
  %dw = nn.dot %a, %k contract [0] [0] : tensor<64x16xf32>, tensor<64x16xf32> -> tensor<16x16xf32>
  %u = nn.update(%w, %dw : tensor<16x16xf32>, tensor<16x16xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %m: tensor<f32>):
    %1 = nn.sub %p, %m : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<16x16xf32>
  return %loss, %u : tensor<f32>, tensor<16x16xf32>
}
}
