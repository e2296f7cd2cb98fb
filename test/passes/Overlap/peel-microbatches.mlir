// RUN: dpc-opt %s --split-input-file --dpc-peel-microbatches="smallest-bytes=0" | FileCheck %s
// RUN: dpc-opt %s --split-input-file --dpc-peel-microbatches | FileCheck %s --check-prefix=SMALL
// RUN: dpc-opt %s --split-input-file --dpc-peel-microbatches="smallest-bytes=0 explain" 2>&1 | FileCheck %s --check-prefix=EXPLAIN

// EXPLAIN: remark: sums of 32 bytes over ranks start in the last of 4 microbatches

// The last microbatch follows the loop; each of its sums is made as soon as what
// it adds is. It reads the last slice, and gives the last one.
// By itself the pass leaves so little alone.
// SMALL-LABEL: @peels_last_microbatch
// SMALL: dist.micro 4
// CHECK-LABEL: @peels_last_microbatch
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8xf32>
// CHECK: %[[FLAT:.*]] = nn.reshape %[[X]] : tensor<4x8xf32> -> tensor<32xf32>
// CHECK: %[[PART:.*]]:2 = dist.unpack %[[FLAT]] at [0, 24] : tensor<32xf32> -> tensor<3x8xf32>, tensor<8xf32>
// CHECK: %[[HEAD:.*]]:2 = dist.micro 3 "micro"(%[[PART]]#0, %[[W]] : tensor<3x8xf32>, tensor<8xf32>) operands [sliced, whole]
// CHECK: dist.axis_index "micro"
// CHECK: results [summed, stacked]
// CHECK: %[[TURN:.*]] = nn.constant dense<3> : tensor<i64>
// CHECK: nn.convert %[[TURN]]
// CHECK: %[[G:.*]] = nn.mul %[[PART]]#1, %[[W]]
// CHECK-NEXT: %[[SUM:.*]] = nn.add %[[HEAD]]#0, %[[G]]
// CHECK-NEXT: %[[E:.*]] = nn.exp %[[G]]
// CHECK: %[[ALL:.*]] = dist.pack %[[HEAD]]#1, %{{.*}} at [0, 24] : tensor<3x8xf32>, tensor<8xf32> -> tensor<32xf32>
// CHECK: %[[STACK:.*]] = nn.reshape %[[ALL]] : tensor<32xf32> -> tensor<4x8xf32>
// CHECK: %[[R:.*]] = dist.all_reduce sum %[[SUM]]
// CHECK: return %[[R]], %[[STACK]]
dist.mesh @mesh axes ["data"] sizes [2]
func.func @peels_last_microbatch(%x: tensor<4x8xf32>, %w: tensor<8xf32>) -> (tensor<8xf32>, tensor<4x8xf32>) {
  %0:2 = dist.micro 4 "micro" (%x, %w : tensor<4x8xf32>, tensor<8xf32>) operands [sliced, whole] {
  ^bb0(%xm: tensor<8xf32>, %wm: tensor<8xf32>):
    %i = dist.axis_index "micro" : tensor<i64>
    %f = nn.convert %i : tensor<i64> -> tensor<f32>
    %b = nn.broadcast %f [] : tensor<f32> -> tensor<8xf32>
    %g = nn.mul %xm, %wm : tensor<8xf32>
    %e = nn.exp %g : tensor<8xf32>
    %h = nn.add %e, %b : tensor<8xf32>
    dist.yield %g, %h : tensor<8xf32>, tensor<8xf32>
  } -> (tensor<8xf32>, tensor<4x8xf32>) results [summed, stacked]
  %1 = dist.all_reduce sum %0#0 on @mesh ["data"] : tensor<8xf32>
  return %1, %0#1 : tensor<8xf32>, tensor<4x8xf32>
}

// -----

// A device's own coordinate is no turn; a sum that ranks see reshaped counts.
// CHECK-LABEL: @peels_for_reshaped_sum
// CHECK: dist.micro 1
// CHECK: dist.axis_index "data"
// CHECK: }
// CHECK: dist.axis_index "data"
dist.mesh @mesh axes ["data"] sizes [2]
func.func @peels_for_reshaped_sum(%x: tensor<2x8xf32>) -> tensor<2x4xf32> {
  %0 = dist.micro 2 "micro" (%x : tensor<2x8xf32>) operands [sliced] {
  ^bb0(%xm: tensor<8xf32>):
    %i = dist.axis_index "data" : tensor<i64>
    %f = nn.convert %i : tensor<i64> -> tensor<f32>
    %b = nn.broadcast %f [] : tensor<f32> -> tensor<8xf32>
    %g = nn.mul %xm, %b : tensor<8xf32>
    dist.yield %g : tensor<8xf32>
  } -> (tensor<8xf32>) results [summed]
  %1 = nn.reshape %0 : tensor<8xf32> -> tensor<2x4xf32>
  %2 = dist.all_reduce sum %1 on @mesh ["data"] : tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// -----

// Left alone: what ranks sum is not what the loop sums.
// CHECK-LABEL: @keeps_loop_of_other_sum
// CHECK: dist.micro 2
// CHECK-NOT: nn.add
dist.mesh @mesh axes ["data"] sizes [2]
func.func @keeps_loop_of_other_sum(%x: tensor<2x8xf32>) -> (tensor<8xf32>, tensor<2x8xf32>) {
  %0:2 = dist.micro 2 "micro" (%x : tensor<2x8xf32>) operands [sliced] {
  ^bb0(%xm: tensor<8xf32>):
    %g = nn.exp %xm : tensor<8xf32>
    dist.yield %g, %g : tensor<8xf32>, tensor<8xf32>
  } -> (tensor<8xf32>, tensor<2x8xf32>) results [summed, stacked]
  %1 = dist.all_reduce sum %0#1 on @mesh ["data"] : tensor<2x8xf32>
  return %0#0, %1 : tensor<8xf32>, tensor<2x8xf32>
}

// -----

// Left alone: a loop of one turn.
// CHECK-LABEL: @keeps_loop_of_one_turn
// CHECK: dist.micro 1
// CHECK-NOT: nn.add
dist.mesh @mesh axes ["data"] sizes [2]
func.func @keeps_loop_of_one_turn(%x: tensor<1x8xf32>) -> tensor<8xf32> {
  %0 = dist.micro 1 "micro" (%x : tensor<1x8xf32>) operands [sliced] {
  ^bb0(%xm: tensor<8xf32>):
    %g = nn.exp %xm : tensor<8xf32>
    dist.yield %g : tensor<8xf32>
  } -> (tensor<8xf32>) results [summed]
  %1 = dist.all_reduce sum %0 on @mesh ["data"] : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// A slice that is summed as it is was there before the loop: the sum comes behind
// the loop all the same.
// CHECK-LABEL: @adds_summed_slice_after_loop
// CHECK: %[[PART:.*]]:2 = dist.unpack
// CHECK: %[[HEAD:.*]] = dist.micro 3
// CHECK: nn.add %[[HEAD]], %[[PART]]#1
dist.mesh @mesh axes ["data"] sizes [2]
func.func @adds_summed_slice_after_loop(%x: tensor<4x8xf32>) -> tensor<8xf32> {
  %0 = dist.micro 4 "micro" (%x : tensor<4x8xf32>) operands [sliced] {
  ^bb0(%xm: tensor<8xf32>):
    dist.yield %xm : tensor<8xf32>
  } -> (tensor<8xf32>) results [summed]
  %1 = dist.all_reduce sum %0 on @mesh ["data"] : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// A sum that ranks see in another type counts too (--grad-reduce).
// CHECK-LABEL: @peels_for_converted_sum
// CHECK: dist.micro 1
// CHECK: %[[SUM:.*]] = nn.add
// CHECK: %[[N:.*]] = nn.convert %[[SUM]] : tensor<8xf32> -> tensor<8xbf16>
// CHECK: dist.all_reduce sum %[[N]]
dist.mesh @mesh axes ["data"] sizes [2]
func.func @peels_for_converted_sum(%x: tensor<2x8xf32>) -> tensor<8xbf16> {
  %0 = dist.micro 2 "micro" (%x : tensor<2x8xf32>) operands [sliced] {
  ^bb0(%xm: tensor<8xf32>):
    %g = nn.exp %xm : tensor<8xf32>
    dist.yield %g : tensor<8xf32>
  } -> (tensor<8xf32>) results [summed]
  %1 = nn.convert %0 : tensor<8xf32> -> tensor<8xbf16>
  %2 = dist.all_reduce sum %1 on @mesh ["data"] : tensor<8xbf16>
  return %2 : tensor<8xbf16>
}
