// RUN: dpc-opt %s --dpc-describe-machine --dpc-remat=explain 2>&1 | FileCheck %s

// Without a metric `loss` there is no forward pass, so nothing is made again, and the report
// has nothing to say.
// CHECK-LABEL: module @no_loss_means_no_forward
// CHECK-NOT: keeps
// CHECK-LABEL: @step
// CHECK: nn.tanh
// CHECK-NOT: nn.tanh
// CHECK: nn.update
module @no_loss_means_no_forward {
func.func @step(%w: tensor<4x4xf32> {nn.arg = #nn.arg<parameter "w">},
                %x: tensor<8x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<4x4xf32> {nn.result = #nn.result<state "w">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x4xf32>, tensor<4x4xf32> -> tensor<8x4xf32>
  %1 = nn.tanh %0 : tensor<8x4xf32>
  %2 = nn.dot %x, %1 contract [0] [0] : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
  %3 = nn.update(%w, %2 : tensor<4x4xf32>, tensor<4x4xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %g: tensor<f32>):
    %4 = nn.sub %p, %g : tensor<f32>
    nn.yield %4 : tensor<f32>
  } -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
}
