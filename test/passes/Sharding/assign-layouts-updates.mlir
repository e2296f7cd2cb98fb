// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=data=2 batch-axes=data' | FileCheck %s

// An update whose gradient is summed over devices that have the state alike is divided
// among them later, and priced so: 1.3 ms at 20 GB/s, 1.6 were it made whole by each.
// CHECK-LABEL: module @prices_divided_update
// CHECK-LABEL: @step
// CHECK-SAME: dist.cost = #dist.cost<computing = 12{{[0-9][0-9][0-9][0-9][0-9]}}, moving
module @prices_divided_update {
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
}

// -----

// One whose gradient is not a sum over devices is made by each of them: 12 MiB, 0.6 ms.
// CHECK-LABEL: module @prices_replicated_update
// CHECK-LABEL: @step
// CHECK-SAME: dist.cost = #dist.cost<computing = 62{{[0-9][0-9][0-9][0-9]}}, moving = 0
module @prices_replicated_update {
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
}

// -----

// An update is made where the state lies, though an operand that it also reads was brought elsewhere: its gradient is
// brought there, 2 exchanges with that of %w; of %w, %m and both results it would be 4.
// CHECK-LABEL: module @update_stays_at_its_state
// CHECK: dist.reshard %arg1 from <"[64], [(64: data)]"> to <"[(64: data)], [64]">
// CHECK: %[[G:.*]] = nn.mul
// CHECK-NEXT: %[[H:.*]] = dist.reshard %[[G]] from <"[(64: data)], [64]"> to <"[64], [(64: data)]">
// CHECK-NEXT: nn.update(%arg1, %[[H]], %arg2
// CHECK-NOT: dist.reshard
// CHECK: return
module @update_stays_at_its_state {
func.func @step(%x: tensor<64x64xf32> {nn.arg = #nn.arg<buffer "x">, dist.layout = #dist.layout<"[(64: data)], [64]">},
                %w: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[64], [(64: data)]">},
                %m: tensor<64x64xf32> {nn.arg = #nn.arg<buffer "m">, dist.layout = #dist.layout<"[64], [(64: data)]">})
    -> (tensor<64x64xf32> {nn.result = #nn.result<state "w">}, tensor<64x64xf32> {nn.result = #nn.result<state "m">}) {
  %0 = nn.mul %x, %w : tensor<64x64xf32>
  %1:2 = nn.update (%w, %0, %m : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) scalars () {
  ^bb0(%a: tensor<f32>, %g: tensor<f32>, %b: tensor<f32>):
    %2 = nn.add %g, %b : tensor<f32>
    %3 = nn.sub %a, %2 : tensor<f32>
    nn.yield %3, %2 : tensor<f32>, tensor<f32>
  } -> tensor<64x64xf32>, tensor<64x64xf32>
  return %1#0, %1#1 : tensor<64x64xf32>, tensor<64x64xf32>
}
}

// -----

// Outputs may lie anywhere: the same update is made where its gradient is.
// CHECK-LABEL: module @outputs_move_update_to_gradient
// CHECK: %[[W:.*]] = dist.reshard %arg1 from <"[64], [(64: data)]"> to <"[(64: data)], [64]">
// CHECK: %[[G:.*]] = nn.mul
// CHECK: %[[M:.*]] = dist.reshard %arg2 from <"[64], [(64: data)]"> to <"[(64: data)], [64]">
// CHECK-NEXT: nn.update(%[[W]], %[[G]], %[[M]]
// CHECK-NOT: dist.reshard
// CHECK: return
module @outputs_move_update_to_gradient {
func.func @step(%x: tensor<64x64xf32> {nn.arg = #nn.arg<buffer "x">, dist.layout = #dist.layout<"[(64: data)], [64]">},
                %w: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[64], [(64: data)]">},
                %m: tensor<64x64xf32> {nn.arg = #nn.arg<buffer "m">, dist.layout = #dist.layout<"[64], [(64: data)]">})
    -> (tensor<64x64xf32> {nn.result = #nn.result<output "w">}, tensor<64x64xf32> {nn.result = #nn.result<output "m">}) {
  %0 = nn.mul %x, %w : tensor<64x64xf32>
  %1:2 = nn.update (%w, %0, %m : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) scalars () {
  ^bb0(%a: tensor<f32>, %g: tensor<f32>, %b: tensor<f32>):
    %2 = nn.add %g, %b : tensor<f32>
    %3 = nn.sub %a, %2 : tensor<f32>
    nn.yield %3, %2 : tensor<f32>, tensor<f32>
  } -> tensor<64x64xf32>, tensor<64x64xf32>
  return %1#0, %1#1 : tensor<64x64xf32>, tensor<64x64xf32>
}
}
