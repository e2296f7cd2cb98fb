// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=micro=2 sequential-axes=micro batch-axes=micro' --dpc-partition --canonicalize --cse | FileCheck %s

// What the batch cuts is sliced and stacked, what it does not is whole, and sums
// over the batch are summed; the update stands outside. No data moves.
// CHECK-LABEL: module @loop_slices_stacks_and_sums
// CHECK-LABEL: @step(
// CHECK-SAME: %[[X:.*]]: tensor<8x3xf32>
// CHECK-SAME: %[[W:.*]]: tensor<3xf32>
// CHECK-NEXT: %[[XS:.*]] = nn.reshape %[[X]] : tensor<8x3xf32> -> tensor<2x4x3xf32>
// CHECK-NEXT: %[[L:.*]]:2 = dist.micro 2 "micro"(%[[XS]], %[[W]] : tensor<2x4x3xf32>, tensor<3xf32>) operands [sliced, whole] {
// CHECK-NEXT: ^bb0(%[[XM:.*]]: tensor<4x3xf32>, %[[WM:.*]]: tensor<3xf32>):
// CHECK: %[[Y:.*]] = nn.dot %[[XM]], %[[WM]]
// CHECK: %[[G:.*]] = nn.dot %[[Y]], %[[XM]]
// CHECK: dist.yield %[[Y]], %[[G]]
// CHECK-NEXT: } -> (tensor<2x4xf32>, tensor<3xf32>) results [stacked, summed]
// CHECK: nn.sub %[[W]], %[[L]]#1
module @loop_slices_stacks_and_sums {
func.func @step(%x: tensor<8x3xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                %w: tensor<3xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<8xf32> {nn.result = #nn.result<output "y">}, tensor<3xf32> {nn.result = #nn.result<state "w">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x3xf32>, tensor<3xf32> -> tensor<8xf32>
  %1 = nn.dot %0, %x contract [0] [0] : tensor<8xf32>, tensor<8x3xf32> -> tensor<3xf32>
  %2 = nn.sub %w, %1 : tensor<3xf32>
  return %0, %2 : tensor<8xf32>, tensor<3xf32>
}
}

// -----

// A sum over the batch that the loop needs whole gets a loop of its own before.
// CHECK-LABEL: module @needed_sum_has_own_loop
// CHECK: %[[SUM:.*]] = dist.micro 2
// CHECK: results [summed]
// CHECK: dist.micro 2 "micro"(%[[SUM]], %{{.*}} : tensor<f32>, tensor<2x4xf32>) operands [whole, sliced]
// CHECK: results [stacked]
module @needed_sum_has_own_loop {
func.func @step(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x", batch = 0>}, %w: tensor<8xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<8xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.reduce sum %x [0] : tensor<8xf32> -> tensor<f32>
  %1 = nn.broadcast %0 [] : tensor<f32> -> tensor<8xf32>
  %2 = nn.div %x, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
}

// -----

// Turns are summed, so the largest is taken outside.
// CHECK-LABEL: module @maximum_stays_outside_loop
// CHECK-LABEL: @step(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>
// CHECK-NOT: dist.micro
// CHECK: nn.reduce max %[[X]] [0]
module @maximum_stays_outside_loop {
func.func @step(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<f32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.reduce max %x [0] : tensor<8xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
}

// -----

// And so is the smallest.
// CHECK-LABEL: module @minimum_stays_outside_loop
// CHECK-LABEL: @step(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>
// CHECK-NOT: dist.micro
// CHECK: nn.reduce min %[[X]] [0]
module @minimum_stays_outside_loop {
func.func @step(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<f32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.reduce min %x [0] : tensor<8xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
}

// -----

// A sum that crosses into a later loop as a part of its sum counts once.
// CHECK-LABEL: module @whole_part_of_sum_counts_once
// CHECK: %[[SUM:.*]] = dist.micro 2
// CHECK: dist.micro 2
// CHECK: ^bb0({{.*}}):
// CHECK: %[[TURN:.*]] = dist.axis_index "micro"
// CHECK: %[[FIRST:.*]] = nn.compare eq %[[TURN]]
// CHECK: nn.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<3xi1>, tensor<3xf32>
module @whole_part_of_sum_counts_once {
func.func @step(%x: tensor<4x3xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<f32> {nn.result = #nn.result<output "s">}, tensor<4x3xf32> {nn.result = #nn.result<output "y">}) {
  %c = nn.constant dense<0.25> : tensor<3xf32>
  %0 = nn.reduce sum %x [0] : tensor<4x3xf32> -> tensor<3xf32>
  %1 = nn.mul %0, %c : tensor<3xf32>
  %2 = nn.broadcast %1 [1] : tensor<3xf32> -> tensor<4x3xf32>
  %3 = nn.sub %x, %2 : tensor<4x3xf32>
  %4 = nn.reduce sum %1 [0] : tensor<3xf32> -> tensor<f32>
  return %4, %3 : tensor<f32>, tensor<4x3xf32>
}
}

// -----

// A turn has one slice: what joins the batch with something else is outside.
// CHECK-LABEL: module @concat_with_batch_stays_outside
// CHECK-NOT: dist.micro
// CHECK: nn.concat {{.*}} -> tensor<11xf32>
module @concat_with_batch_stays_outside {
func.func @step(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x", batch = 0>}, %w: tensor<3xf32> {nn.arg = #nn.arg<constant "w">})
    -> (tensor<11xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.concat %x, %w dim 0 : tensor<8xf32>, tensor<3xf32> -> tensor<11xf32>
  return %0 : tensor<11xf32>
}
}

// -----

// A parameter may have one part for each sample, as a class token that its exporter expanded. The loop stacks the
// gradient of such a parameter, and sums its norm. The update needs the norm of all microbatches, so it follows the
// loop, as does what depends on the update.
// CHECK-LABEL: module @updates_follow_the_loop
// CHECK-LABEL: @step(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>{{.*}}, %[[W:.*]]: tensor<8xf32>
// CHECK: %[[L:.*]]:2 = dist.micro 2
// CHECK: results [{{stacked, summed|summed, stacked}}]
// CHECK-NOT: dist.micro
// CHECK: nn.update(%[[W]], %{{.*}} : tensor<8xf32>, tensor<8xf32>)
// CHECK-NOT: dist.micro
// CHECK: return
module @updates_follow_the_loop {
func.func @step(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x", batch = 0>}, %w: tensor<8xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<f32> {nn.result = #nn.result<output "sum">}, tensor<8xf32> {nn.result = #nn.result<state "w">}) {
  %0 = nn.mul %x, %w : tensor<8xf32>
  %1 = nn.mul %0, %x : tensor<8xf32>
  %2 = nn.mul %1, %1 : tensor<8xf32>
  %3 = nn.reduce sum %2 [0] : tensor<8xf32> -> tensor<f32>
  %4 = nn.update (%w, %1 : tensor<8xf32>, tensor<8xf32>) scalars (%3 : tensor<f32>) {
  ^bb0(%a: tensor<f32>, %g: tensor<f32>, %n: tensor<f32>):
    %5 = nn.div %g, %n : tensor<f32>
    %6 = nn.sub %a, %5 : tensor<f32>
    nn.yield %6 : tensor<f32>
  } -> tensor<8xf32>
  %7 = nn.reduce sum %4 [0] : tensor<8xf32> -> tensor<f32>
  return %7, %4 : tensor<f32>, tensor<8xf32>
}
}
