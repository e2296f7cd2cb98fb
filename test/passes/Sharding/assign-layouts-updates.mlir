// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=data=2 batch-axes=data' | FileCheck %s

// An update whose gradient is summed over devices that have the state alike is divided
// among them later, and priced so: 2.6 ms at 10 GB/s, 3.2 were it made whole by each.
// CHECK-LABEL: @step
// CHECK-SAME: dist.cost = #dist.cost<computing = 25{{[0-9][0-9][0-9][0-9][0-9]}}, moving
func.func @step(%x: tensor<8x1024x1024xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                %w: tensor<1024x1024xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<1024x1024xf32> {nn.result = #nn.result<state "w">}) {
  %0 = nn.reduce sum %x [0] : tensor<8x1024x1024xf32> -> tensor<1024x1024xf32>
  %1 = nn.update (%w, %0 : tensor<1024x1024xf32>, tensor<1024x1024xf32>) scalars () {
  ^bb0(%a: tensor<f32>, %g: tensor<f32>):
    %2 = nn.sub %a, %g : tensor<f32>
    nn.yield %2 : tensor<f32>
  } -> tensor<1024x1024xf32>
  return %1 : tensor<1024x1024xf32>
}

// -----

// One whose gradient is not a sum over devices is made by each of them: 12 MiB, 1.3 ms.
// CHECK-LABEL: @step
// CHECK-SAME: dist.cost = #dist.cost<computing = 12{{[0-9][0-9][0-9][0-9][0-9]}}, moving = 0
func.func @step(%g: tensor<1024x1024xf32> {nn.arg = #nn.arg<input "g">},
                %w: tensor<1024x1024xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<1024x1024xf32> {nn.result = #nn.result<state "w">}) {
  %1 = nn.update (%w, %g : tensor<1024x1024xf32>, tensor<1024x1024xf32>) scalars () {
  ^bb0(%a: tensor<f32>, %e: tensor<f32>):
    %2 = nn.sub %a, %e : tensor<f32>
    nn.yield %2 : tensor<f32>
  } -> tensor<1024x1024xf32>
  return %1 : tensor<1024x1024xf32>
}
