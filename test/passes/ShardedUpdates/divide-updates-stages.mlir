// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-divide-updates="stage=3 axes=data" | FileCheck %s
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-divide-updates="stage=1 axes=data" | FileCheck %s --check-prefix=ONE
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-divide-updates="stage=0" | FileCheck %s --check-prefix=NONE

// At stage 3 parameters are cut like optimizer state. Each function gathers them where
// it first reads them, and the step returns shards.
// NONE-LABEL: module @stage_three_shards_parameters
// NONE-NOT: dist.storage
module @stage_three_shards_parameters {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @stage_three_shards_parameters
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<8xf32> {{.*}}input "x"
// CHECK-SAME: %[[P:.*]]: tensor<16xf32> {dist.storage = #dist.storage<"parameter.0.0" [<#nn.arg<parameter "w">, tensor<4x2xf32>, <"[4], [2]"> at 0>] over ["data"]>}
// CHECK-SAME: -> (tensor<f32> {{.*}}, tensor<16xf32> {dist.storage = #dist.storage<"parameter.0.0" [<#nn.arg<parameter "w">, tensor<4x2xf32>, <"[4], [2]"> at 0>] over ["data"]>}
// CHECK-NEXT: nn.reduce sum %[[X]]
// CHECK-NEXT: %[[A:.*]] = dist.all_gather %[[P]] on @mesh ["data"] : tensor<16xf32> -> tensor<2x16xf32>
// CHECK-NEXT: %[[ALL:.*]] = nn.reshape %[[A]] : tensor<2x16xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[W:.*]] = dist.unpack %[[ALL]] at [0] : tensor<32xf32> -> tensor<4x2xf32>
// CHECK-NEXT: nn.mul %[[W]], %[[W]]
// CHECK: dist.reduce_scatter
// CHECK: %[[U:.*]] = nn.update(%[[P]],
// CHECK-NOT: dist.all_gather
// CHECK: return %{{.*}}, %[[U]]
// ONE-LABEL: module @stage_three_shards_parameters
// ONE: dist.reduce_scatter
// ONE: nn.update
// ONE: dist.all_gather
func.func @step(%w: tensor<4x2xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[4], [2]">},
                %x: tensor<8xf32> {nn.arg = #nn.arg<input "x", batch = 0>, dist.layout = #dist.layout<"[(16: data)]">})
    -> (tensor<4x2xf32> {nn.result = #nn.result<state "w">}, tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %l = nn.reduce sum %x [0] : tensor<8xf32> -> tensor<f32>
  %g = nn.mul %w, %w : tensor<4x2xf32>
  %s = dist.all_reduce sum %g on @mesh ["data"] : tensor<4x2xf32>
  %u = nn.update(%w, %s : tensor<4x2xf32>, tensor<4x2xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>):
    %1 = nn.sub %p, %d : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4x2xf32>
  return %u, %l : tensor<4x2xf32>, tensor<f32>
}
// CHECK-LABEL: @eval
// CHECK-SAME: %[[P:.*]]: tensor<16xf32> {dist.storage
// CHECK: dist.all_gather %[[P]]
// CHECK: nn.mul
func.func @eval(%w: tensor<4x2xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[4], [2]">})
    -> (tensor<4x2xf32> {nn.result = #nn.result<output "y">}) {
  %y = nn.mul %w, %w : tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}
}

// -----

// A gradient that all ranks have is not exchanged: each takes its part.
module @replicated_gradient_is_sliced {
dist.mesh @mesh axes ["data"] sizes [2]
// ONE-LABEL: module @replicated_gradient_is_sliced
// ONE: %[[B:.*]] = dist.pack
// ONE-NOT: dist.reduce_scatter
// ONE: %[[G:.*]] = dist.shard %[[B]] on @mesh ["data"]
// ONE: nn.update(%{{.*}}, %[[G]] : tensor<16xf32>, tensor<16xf32>)
func.func @step(%w: tensor<4x2xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[4], [2]">})
    -> (tensor<4x2xf32> {nn.result = #nn.result<state "w">}) {
  %g = nn.mul %w, %w : tensor<4x2xf32>
  %u = nn.update(%w, %g : tensor<4x2xf32>, tensor<4x2xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>):
    %1 = nn.sub %p, %d : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4x2xf32>
  return %u : tensor<4x2xf32>
}
}

// -----

// Of a sum over more ranks than share the update each shard is summed once more over
// the others (hybrid sharding).
module @hybrid_sharding_reduces_shards {
dist.mesh @mesh axes ["replica", "data"] sizes [2, 2]
// ONE-LABEL: module @hybrid_sharding_reduces_shards
// ONE: %[[S:.*]] = dist.reduce_scatter sum %{{.*}} on @mesh ["data"]
// ONE: %[[R:.*]] = dist.all_reduce sum %[[S]] on @mesh ["replica"] : tensor<16xf32>
// ONE: nn.update(%{{.*}}, %[[R]] :
// ONE: dist.all_gather %{{.*}} on @mesh ["data"]
func.func @step(%w: tensor<4x2xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[4], [2]">})
    -> (tensor<4x2xf32> {nn.result = #nn.result<state "w">}) {
  %g = nn.mul %w, %w : tensor<4x2xf32>
  %s = dist.all_reduce sum %g on @mesh ["replica", "data"] : tensor<4x2xf32>
  %u = nn.update(%w, %s : tensor<4x2xf32>, tensor<4x2xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>):
    %1 = nn.sub %p, %d : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4x2xf32>
  return %u : tensor<4x2xf32>
}
}

// -----

// State that is cut over the axis already stays as it is.
module @keeps_sharded_state {
dist.mesh @mesh axes ["data"] sizes [2]
// ONE-LABEL: module @keeps_sharded_state
// ONE-NOT: dist.storage
func.func @step(%w: tensor<2x2xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[(4: data)], [2]">})
    -> (tensor<2x2xf32> {nn.result = #nn.result<state "w">}) {
  %g = nn.mul %w, %w : tensor<2x2xf32>
  %u = nn.update(%w, %g : tensor<2x2xf32>, tensor<2x2xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>):
    %1 = nn.sub %p, %d : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<2x2xf32>
  return %u : tensor<2x2xf32>
}
}

// -----

// Of a gradient that is a sum over ranks and something that all of them have (a tied
// weight's), only the first is exchanged, and each takes its part of the second.
module @scatters_only_reduced_term {
dist.mesh @mesh axes ["data"] sizes [2]
// ONE-LABEL: module @scatters_only_reduced_term
// ONE-NOT: dist.all_reduce
// ONE: %[[S:.*]] = dist.reduce_scatter sum
// ONE: %[[P:.*]] = dist.shard %{{.*}} on @mesh ["data"]
// ONE: %[[G:.*]] = nn.add %[[S]], %[[P]] : tensor<16xf32>
// ONE: nn.update(%{{.*}}, %[[G]] :
func.func @step(%w: tensor<4x2xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[4], [2]">})
    -> (tensor<4x2xf32> {nn.result = #nn.result<state "w">}) {
  %g = nn.mul %w, %w : tensor<4x2xf32>
  %h = nn.exp %w : tensor<4x2xf32>
  %s = dist.all_reduce sum %g on @mesh ["data"] : tensor<4x2xf32>
  %t = nn.add %s, %h : tensor<4x2xf32>
  %u = nn.update(%w, %t : tensor<4x2xf32>, tensor<4x2xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>):
    %1 = nn.sub %p, %d : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4x2xf32>
  return %u : tensor<4x2xf32>
}
}

// -----

// Not where somebody else reads all of it.
module @other_reader_keeps_all_reduce {
dist.mesh @mesh axes ["data"] sizes [2]
// ONE-LABEL: module @other_reader_keeps_all_reduce
// ONE: %[[S:.*]] = dist.all_reduce sum
// ONE: nn.exp %[[S]]
// ONE: dist.shard
func.func @step(%w: tensor<4x2xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[4], [2]">})
    -> (tensor<4x2xf32> {nn.result = #nn.result<state "w">}, tensor<4x2xf32> {nn.result = #nn.result<output "y">}) {
  %g = nn.mul %w, %w : tensor<4x2xf32>
  %s = dist.all_reduce sum %g on @mesh ["data"] : tensor<4x2xf32>
  %y = nn.exp %s : tensor<4x2xf32>
  %u = nn.update(%w, %s : tensor<4x2xf32>, tensor<4x2xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>):
    %1 = nn.sub %p, %d : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4x2xf32>
  return %u, %y : tensor<4x2xf32>, tensor<4x2xf32>
}
}

// -----

// From stage 2 on, gradients that a loop over microbatches sums are divided in its body,
// so that shards add up; at stage 3 the body gathers what it reads, for the forward pass
// and again behind it. At stage 1 the sum of the loop is divided.
module @loop_body_scatters_gradients {
dist.mesh @mesh axes ["micro", "data"] sizes [2, 2] sequential ["micro"]
// CHECK-LABEL: module @loop_body_scatters_gradients
// CHECK-LABEL: func.func @step(%{{.*}}: tensor<2x4x2xf32>
// CHECK-SAME: %[[P:[a-z0-9]*]]: tensor<16xf32> {dist.storage
// CHECK: %[[L:.*]]:2 = dist.micro 2 "micro"(%{{.*}}, %[[P]] : tensor<2x4x2xf32>, tensor<16xf32>) operands [sliced, whole] {
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<4x2xf32>, %[[S:.*]]: tensor<16xf32>):
// CHECK-NEXT: dist.all_gather %[[S]]
// CHECK-NEXT: nn.reshape
// CHECK-NEXT: %[[W:.*]] = dist.unpack
// CHECK-NEXT: nn.mul %[[X]], %[[W]]
// CHECK-NEXT: %[[LOSS:.*]] = nn.reduce sum
// CHECK-NEXT: dist.all_gather %[[S]]
// CHECK-NEXT: nn.reshape
// CHECK-NEXT: %[[AGAIN:.*]] = dist.unpack
// CHECK-NEXT: %[[G:.*]] = nn.add %[[X]], %[[AGAIN]]
// CHECK-NEXT: dist.pack %[[G]] at [0]
// CHECK: %[[R:.*]] = dist.reduce_scatter
// CHECK-NEXT: dist.yield %[[LOSS]], %[[R]]
// CHECK-NEXT: } -> (tensor<f32>, tensor<16xf32>) results [summed, summed]
// CHECK: nn.update(%[[P]], %[[L]]#1
// ONE-LABEL: module @loop_body_scatters_gradients
// ONE-LABEL: func.func @step(%{{.*}}: tensor<2x4x2xf32>
// ONE: dist.micro
// ONE-NOT: dist.reduce_scatter
// ONE: } -> (tensor<f32>, tensor<4x2xf32>) results [summed, summed]
// ONE: dist.reduce_scatter
func.func @step(%w: tensor<4x2xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[4], [2]">},
                %x: tensor<2x4x2xf32> {nn.arg = #nn.arg<input "x", batch = 0>, dist.layout = #dist.layout<"[(2: micro)], [(8: data)], [2]">})
    -> (tensor<4x2xf32> {nn.result = #nn.result<state "w">}, tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %l, %g = dist.micro 2 "micro" (%x, %w : tensor<2x4x2xf32>, tensor<4x2xf32>) operands [sliced, whole] {
  ^bb0(%xm: tensor<4x2xf32>, %wm: tensor<4x2xf32>):
    %0 = nn.mul %xm, %wm : tensor<4x2xf32>
    %1 = nn.reduce sum %0 [0, 1] : tensor<4x2xf32> -> tensor<f32>
    %2 = nn.add %xm, %wm : tensor<4x2xf32>
    dist.yield %1, %2 : tensor<f32>, tensor<4x2xf32>
  } -> (tensor<f32>, tensor<4x2xf32>) results [summed, summed]
  %s = dist.all_reduce sum %g on @mesh ["data"] : tensor<4x2xf32>
  %u = nn.update(%w, %s : tensor<4x2xf32>, tensor<4x2xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>):
    %1 = nn.sub %p, %d : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4x2xf32>
  return %u, %l : tensor<4x2xf32>, tensor<f32>
}
}

// -----

// A loop that divides one gradient in its body is made anew: what stays outside, as its
// gradient has a term that no loop makes, reads the sum of the new one.
module @remade_loop_keeps_outer_gradient {
dist.mesh @mesh axes ["micro", "data"] sizes [2, 2] sequential ["micro"]
// CHECK-LABEL: module @remade_loop_keeps_outer_gradient
// CHECK-LABEL: func.func @step(%{{.*}}: tensor<2x4xf32>
// CHECK: %[[L:.*]]:2 = dist.micro
// CHECK: %[[R:.*]] = dist.reduce_scatter
// CHECK: dist.yield %{{.*}}, %[[R]]
// CHECK: %[[G:.*]] = dist.pack %[[L]]#0 at [0]
// CHECK-NEXT: %[[S:.*]] = nn.reshape %[[G]]
// CHECK-NEXT: dist.reduce_scatter sum %[[S]]
// CHECK: nn.update(%{{.*}}, %[[L]]#1 :
func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[4]">},
                %v: tensor<4xf32> {nn.arg = #nn.arg<parameter "v">, dist.layout = #dist.layout<"[4]">},
                %t: tensor<4xf32> {nn.arg = #nn.arg<input "t">, dist.layout = #dist.layout<"[4]">},
                %x: tensor<2x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>, dist.layout = #dist.layout<"[(2: micro)], [4]">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "w">}, tensor<4xf32> {nn.result = #nn.result<state "v">}) {
  %g, %h = dist.micro 2 "micro" (%x : tensor<2x4xf32>) operands [sliced] {
  ^bb0(%xm: tensor<4xf32>):
    %0 = nn.exp %xm : tensor<4xf32>
    %1 = nn.neg %xm : tensor<4xf32>
    dist.yield %0, %1 : tensor<4xf32>, tensor<4xf32>
  } -> (tensor<4xf32>, tensor<4xf32>) results [summed, summed]
  %s = dist.all_reduce sum %g on @mesh ["data"] : tensor<4xf32>
  %both = nn.add %s, %t : tensor<4xf32>
  %u = nn.update(%w, %both : tensor<4xf32>, tensor<4xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>):
    %1 = nn.sub %p, %d : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4xf32>
  %r = dist.all_reduce sum %h on @mesh ["data"] : tensor<4xf32>
  %q = nn.update(%v, %r : tensor<4xf32>, tensor<4xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>):
    %1 = nn.sub %p, %d : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4xf32>
  return %u, %q : tensor<4xf32>, tensor<4xf32>
}
}
