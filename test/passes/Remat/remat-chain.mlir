// RUN: dpc-opt %s --dpc-describe-machine --dpc-remat=nodes=tangent | FileCheck %s

// Of %k that is made again, what kernels compute of it is computed again too: %q of the second
// %k, not of the first, which nobody keeps.
// CHECK-LABEL: module @recomputes_values_of_repeated_value
// CHECK: %[[X:.*]] = nn.dot
// CHECK: nn.tanh %[[X]]
// CHECK: %[[AFTER:.*]] = nn.after %[[X]],
// CHECK-NEXT: %[[K:.*]] = nn.tanh %[[AFTER]]
// CHECK-NEXT: %[[Q:.*]] = nn.exp %[[K]]
// CHECK-NEXT: nn.mul %{{.*}}, %[[Q]]
module @recomputes_values_of_repeated_value {
func.func @step(%w: tensor<8x16xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[8], [16]">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<8x16xf32> {nn.result = #nn.result<state "w">}) {
  %a = nn.constant dense<2.0> : tensor<16x64xf32>
  %b = nn.constant dense<3.0> : tensor<64x2xf32>
  %x = nn.dot %w, %a contract [1] [0] : tensor<8x16xf32>, tensor<16x64xf32> -> tensor<8x64xf32>
  %k = nn.tanh %x : tensor<8x64xf32> loc("tangent")
  %q = nn.exp %k : tensor<8x64xf32>
  %y = nn.mul %k, %q : tensor<8x64xf32>
  %z = nn.dot %y, %b contract [1] [0] : tensor<8x64xf32>, tensor<64x2xf32> -> tensor<8x2xf32>
  %loss = nn.reduce sum %z [0, 1] : tensor<8x2xf32> -> tensor<f32>
  %c = nn.mul %z, %z : tensor<8x2xf32>
  %d = nn.dot %c, %b contract [1] [1] : tensor<8x2xf32>, tensor<64x2xf32> -> tensor<8x64xf32>
  %e = nn.mul %d, %q : tensor<8x64xf32>
  %dw = nn.dot %e, %a contract [1] [1] : tensor<8x64xf32>, tensor<16x64xf32> -> tensor<8x16xf32>
  %u = nn.update(%w, %dw : tensor<8x16xf32>, tensor<8x16xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>):
    %1 = nn.sub %p, %t : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<8x16xf32>
  return %loss, %u : tensor<f32>, tensor<8x16xf32>
}
}
