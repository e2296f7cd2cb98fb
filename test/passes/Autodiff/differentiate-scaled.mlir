// RUN: dpc-opt %s --dpc-differentiate=loss-scale=1024 | FileCheck %s

// The walk starts with the scale, which is state of the optimizer, in f32 whatever the loss has; the metric is the loss.
// CHECK-LABEL: module @walk_starts_with_loss_scale
// CHECK: nn.variable @loss_scale = dense<1.024000e+03> : tensor<f32>
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[SCALE:[a-z0-9]+]]: tensor<f32> {nn.arg = #nn.arg<optimizer "loss_scale">})
module @walk_starts_with_loss_scale {
func.func @step(%w: tensor<4xf64> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<f64> {nn.result = #nn.result<metric "loss">}) {
  // CHECK: %[[LOSS:[a-z0-9]+]] = nn.reduce sum
  %loss = nn.reduce sum %w [0] : tensor<4xf64> -> tensor<f64>
  // CHECK: %[[SEED:[a-z0-9]+]] = nn.convert %[[SCALE]] : tensor<f32> -> tensor<f64>
  // CHECK: %[[G:[a-z0-9]+]] = nn.broadcast %[[SEED]] [] : tensor<f64> -> tensor<4xf64>
  // CHECK: return %[[LOSS]], %[[G]]
  return %loss : tensor<f64>
}
}
