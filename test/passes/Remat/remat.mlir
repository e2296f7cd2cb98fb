// RUN: dpc-opt %s --dpc-describe-machine --dpc-remat=saved-bytes=1 | FileCheck %s
// RUN: dpc-opt %s --dpc-describe-machine '--dpc-remat=nodes=expo*,sec*' | FileCheck %s --check-prefix=NODES
// RUN: dpc-opt %s --dpc-describe-machine '--dpc-remat=nodes=expo*,sec*' 2>&1 >/dev/null | FileCheck %s --check-prefix=NOTHING
// RUN: dpc-opt %s --dpc-describe-machine --dpc-remat=saved-bytes=0 | FileCheck %s --check-prefix=NONE

// The backward pass begins with %h, so %h is there anyway; %x is read later, and made again of
// the argument when the value of the backward pass is there that is multiplied with it. A
// constant is no value that is kept.
// CHECK-LABEL: module @recomputes_from_kept_values
// CHECK-LABEL: @step
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<8x16xf32>
// CHECK: %[[X:.*]] = nn.dot %[[W]],
// CHECK: %[[H:.*]] = nn.exp %[[X]]
// CHECK: %[[F:.*]] = nn.dot %{{.*}}, %[[H]] contract [1] [1]
// CHECK-NEXT: %[[A:.*]] = nn.constant
// CHECK-NEXT: %[[AFTER:.*]] = nn.after %[[W]], %[[F]] : tensor<8x16xf32>, tensor<8x8xf32>
// CHECK-NEXT: %[[AGAIN:.*]] = nn.dot %[[AFTER]], %[[A]]
// CHECK-NEXT: nn.dot %[[F]], %[[AGAIN]]

// Of named nodes what they make is made again, also where several nodes became one op (%h), of
// what is kept (%x). Nobody reads %y in the backward pass.
// NODES-LABEL: module @recomputes_from_kept_values
// NODES: %[[X:.*]] = nn.dot
// NODES: nn.exp %[[X]]
// NODES: %[[E:.*]] = nn.dot %{{.*}} contract [1] [1] : tensor<8x8xf32>
// NODES-NEXT: %[[AFTER:.*]] = nn.after %[[X]], %[[E]]
// NODES-NEXT: %[[AGAIN:.*]] = nn.exp %[[AFTER]]
// NODES-NEXT: %[[F:.*]] = nn.dot %[[E]], %[[AGAIN]]
// NODES-NEXT: nn.dot %[[F]], %[[X]]
// NODES-NOT: nn.after

// NOTHING-NOT: --remat=expo*
// NOTHING: --remat=sec*: nothing is computed again, as the backward pass reads nothing that these nodes compute
// NOTHING-NOT: --remat=expo*

// NONE-LABEL: module @recomputes_from_kept_values
// NONE-NOT: nn.after

module @recomputes_from_kept_values {
func.func @step(%w: tensor<8x16xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[8], [16]">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<8x16xf32> {nn.result = #nn.result<state "w">}) {
  %a = nn.constant dense<2.0> : tensor<16x64xf32>
  %b = nn.constant dense<3.0> : tensor<64x8xf32>
  %x = nn.dot %w, %a contract [1] [0] : tensor<8x16xf32>, tensor<16x64xf32> -> tensor<8x64xf32> loc("product")
  %h = nn.exp %x : tensor<8x64xf32> loc(fused["first", "exponential"])
  %y = nn.dot %h, %b contract [1] [0] : tensor<8x64xf32>, tensor<64x8xf32> -> tensor<8x8xf32> loc("second")
  %m = nn.tanh %y : tensor<8x8xf32>
  %loss = nn.reduce sum %m [0, 1] : tensor<8x8xf32> -> tensor<f32>
  %d = nn.mul %m, %m : tensor<8x8xf32>
  %e = nn.dot %d, %b contract [1] [1] : tensor<8x8xf32>, tensor<64x8xf32> -> tensor<8x64xf32>
  %f = nn.dot %e, %h contract [1] [1] : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<8x8xf32>
  %g = nn.dot %f, %x contract [1] [0] : tensor<8x8xf32>, tensor<8x64xf32> -> tensor<8x64xf32>
  %dw = nn.dot %g, %a contract [1] [1] : tensor<8x64xf32>, tensor<16x64xf32> -> tensor<8x16xf32>
  %u = nn.update(%w, %dw : tensor<8x16xf32>, tensor<8x16xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>):
    %1 = nn.sub %p, %t : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<8x16xf32>
  return %loss, %u : tensor<f32>, tensor<8x16xf32>
}
}
