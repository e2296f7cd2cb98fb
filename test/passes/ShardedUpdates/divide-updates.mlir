// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-divide-updates="smallest-bytes=0" | FileCheck %s
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-divide-updates | FileCheck %s --check-prefix=SMALL
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-divide-updates="smallest-bytes=17 explain" 2>&1 | FileCheck %s --check-prefix=EXPLAIN

// EXPLAIN: remark: divides the update of 1 tensors, 32 bytes, among 2 ranks
// EXPLAIN: remark: divides the update of 2 tensors, 32 bytes, among 2 ranks
// EXPLAIN: remark: makes 2 updates whole on every rank that has the tensor

// A parameter and its slot: the gradient is scattered, the shard updated, the
// parameter gathered. Optimizer state is a shard; evaluation takes the storage.
// By itself the pass leaves so little alone.
// SMALL-LABEL: module @divides_parameter_and_slot
// SMALL: dist.all_reduce sum
// SMALL-NOT: dist.storage
module @divides_parameter_and_slot {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @divides_parameter_and_slot
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<8xf32> {{.*}}input "x"
// CHECK-SAME: %[[P:.*]]: tensor<32xf32> {dist.storage = #dist.storage<"parameter.0.0" [<#nn.arg<parameter "w">, tensor<4x2xf32>, <"[4], [2]"> at 0>]>}
// CHECK-SAME: %[[M:.*]]: tensor<16xf32> {dist.storage = #dist.storage<"momentum.0.1" [<#nn.arg<optimizer "momentum|w", of = "w">, tensor<4x2xf32>, <"[4], [2]"> at 0>] over ["data"]>}
// CHECK-SAME: -> (tensor<f32> {{.*}}, tensor<32xf32> {dist.storage = #dist.storage<"parameter.0.0"{{.*}}}, tensor<16xf32> {dist.storage = #dist.storage<"momentum.0.1"
// CHECK: %[[W:.*]] = dist.unpack %[[P]] at [0] : tensor<32xf32> -> tensor<4x2xf32>
// CHECK: %[[G:.*]] = nn.mul %[[W]], %[[W]] : tensor<4x2xf32>
// CHECK: %[[B:.*]] = dist.pack %[[G]] at [0] : tensor<4x2xf32> -> tensor<32xf32>
// CHECK: %[[BB:.*]] = nn.reshape %[[B]] : tensor<32xf32> -> tensor<2x16xf32>
// CHECK: %[[GS:.*]] = dist.reduce_scatter sum %[[BB]] on @mesh ["data"] : tensor<2x16xf32> -> tensor<16xf32>
// CHECK: %[[S:.*]] = dist.shard %[[P]] on @mesh ["data"] : tensor<32xf32> -> tensor<16xf32>
// CHECK: %[[U:.*]]:2 = nn.update(%[[S]], %[[GS]], %[[M]] : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) scalars(%{{.*}} : tensor<f32>)
// CHECK: %[[A:.*]] = dist.all_gather %[[U]]#0 on @mesh ["data"] : tensor<16xf32> -> tensor<2x16xf32>
// CHECK: %[[N:.*]] = nn.reshape %[[A]] : tensor<2x16xf32> -> tensor<32xf32>
// CHECK: return %{{.*}}, %[[N]], %[[U]]#1
func.func @step(%w: tensor<4x2xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[4], [2]">},
                %m: tensor<4x2xf32> {nn.arg = #nn.arg<optimizer "momentum|w", of = "w">, dist.layout = #dist.layout<"[4], [2]">},
                %x: tensor<8xf32> {nn.arg = #nn.arg<input "x", batch = 0>, dist.layout = #dist.layout<"[(16: data)]">})
    -> (tensor<4x2xf32> {nn.result = #nn.result<state "w">}, tensor<4x2xf32> {nn.result = #nn.result<state "momentum|w">}, tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %l = nn.reduce sum %x [0] : tensor<8xf32> -> tensor<f32>
  %g = nn.mul %w, %w : tensor<4x2xf32>
  %s = dist.all_reduce sum %g on @mesh ["data"] : tensor<4x2xf32>
  %u:2 = nn.update(%w, %s, %m : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) scalars(%l : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>, %v: tensor<f32>, %r: tensor<f32>):
    %0 = nn.add %v, %d : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1, %0 : tensor<f32>, tensor<f32>
  } -> tensor<4x2xf32>, tensor<4x2xf32>
  return %u#0, %u#1, %l : tensor<4x2xf32>, tensor<4x2xf32>, tensor<f32>
}
// CHECK-LABEL: @eval
// CHECK-SAME: %[[P:.*]]: tensor<32xf32> {dist.storage = #dist.storage<"parameter.0.0"
// CHECK: dist.unpack %[[P]]
func.func @eval(%w: tensor<4x2xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[4], [2]">})
    -> (tensor<4x2xf32> {nn.result = #nn.result<output "y">}) {
  %y = nn.mul %w, %w : tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}
}

// -----

// Equal updates shard a bucket, in the order in which gradients become ready,
// each on a cache line; reshapes of gradients do not matter.
module @equal_updates_share_bucket {
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
// CHECK-LABEL: module @equal_updates_share_bucket
// CHECK: dist.pack %[[GB:.*]], %[[GA:.*]] at [0, 16] : tensor<4xf32>, tensor<2x2xf32> -> tensor<32xf32>
// CHECK: dist.reduce_scatter
// CHECK: nn.update
// CHECK-NOT: nn.update
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">, dist.layout = #dist.layout<"[(8: model)]">},
                %b: tensor<4xf32> {nn.arg = #nn.arg<parameter "b">, dist.layout = #dist.layout<"[4]">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "a">}, tensor<4xf32> {nn.result = #nn.result<state "b">}) {
  %gb = nn.mul %b, %b : tensor<4xf32>
  %a2 = nn.reshape %a : tensor<4xf32> -> tensor<2x2xf32>
  %ga2 = nn.mul %a2, %a2 : tensor<2x2xf32>
  %ga = nn.reshape %ga2 : tensor<2x2xf32> -> tensor<4xf32>
  %sa = dist.all_reduce sum %ga on @mesh ["data"] : tensor<4xf32>
  %sb = dist.all_reduce sum %gb on @mesh ["data"] : tensor<4xf32>
  %ua = nn.update(%a, %sa : tensor<4xf32>, tensor<4xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>):
    %1 = nn.sub %p, %d : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4xf32>
  %ub = nn.update(%b, %sb : tensor<4xf32>, tensor<4xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>):
    %1 = nn.sub %p, %d : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4xf32>
  return %ua, %ub : tensor<4xf32>, tensor<4xf32>
}
}

// -----

// Other regions make another bucket.
module @different_updates_split_buckets {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @different_updates_split_buckets
// CHECK: dist.storage<"parameter.0.0" [<#nn.arg<parameter "a">
// CHECK: dist.storage<"parameter.1.0" [<#nn.arg<parameter "b">
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">, dist.layout = #dist.layout<"[4]">},
                %b: tensor<4xf32> {nn.arg = #nn.arg<parameter "b">, dist.layout = #dist.layout<"[4]">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "a">}, tensor<4xf32> {nn.result = #nn.result<state "b">}) {
  %ga = nn.mul %a, %a : tensor<4xf32>
  %gb = nn.mul %b, %b : tensor<4xf32>
  %sa = dist.all_reduce sum %ga on @mesh ["data"] : tensor<4xf32>
  %sb = dist.all_reduce sum %gb on @mesh ["data"] : tensor<4xf32>
  %ua = nn.update(%a, %sa : tensor<4xf32>, tensor<4xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>):
    %1 = nn.sub %p, %d : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4xf32>
  %ub = nn.update(%b, %sb : tensor<4xf32>, tensor<4xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>):
    %1 = nn.add %p, %d : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4xf32>
  return %ua, %ub : tensor<4xf32>, tensor<4xf32>
}
}

// -----

// A norm that clips is summed from the squares of the shards: the first of its
// last reader's terms is the ranks' sum, the other is zero.
module @norm_sums_squares_of_shards {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @norm_sums_squares_of_shards
// CHECK: %[[ZERO:.*]] = nn.constant dense<0.000000e+00>
// CHECK: %[[GS:.*]] = dist.reduce_scatter
// CHECK-NOT: dist.reduce_scatter
// CHECK: %[[GG:.*]] = nn.mul %[[GS]], %[[GS]]
// CHECK-NEXT: %[[Q:.*]] = nn.reduce sum %[[GG]] [0]
// CHECK: %[[S:.*]] = dist.all_reduce sum %[[Q]] on @mesh ["data"] : tensor<f32>
// CHECK: %[[T:.*]] = nn.add %[[S]], %[[ZERO]]
// CHECK: %[[N:.*]] = nn.sqrt %[[T]]
// CHECK: nn.update(%{{.*}}, %[[GS]] : {{.*}}) scalars(%[[N]] : tensor<f32>)
// CHECK-NOT: nn.update
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">, dist.layout = #dist.layout<"[4]">},
                %b: tensor<2x2xf32> {nn.arg = #nn.arg<parameter "b">, dist.layout = #dist.layout<"[2], [2]">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "a">}, tensor<2x2xf32> {nn.result = #nn.result<state "b">}) {
  %ga = nn.mul %a, %a : tensor<4xf32>
  %gb = nn.mul %b, %b : tensor<2x2xf32>
  %sa = dist.all_reduce sum %ga on @mesh ["data"] : tensor<4xf32>
  %qa_0 = nn.mul %sa, %sa : tensor<4xf32>
  %qa = nn.reduce sum %qa_0 [0] : tensor<4xf32> -> tensor<f32>
  %sb = dist.all_reduce sum %gb on @mesh ["data"] : tensor<2x2xf32>
  %qb_0 = nn.mul %sb, %sb : tensor<2x2xf32>
  %qb = nn.reduce sum %qb_0 [0, 1] : tensor<2x2xf32> -> tensor<f32>
  %n_0 = nn.add %qa, %qb : tensor<f32>
  %n = nn.sqrt %n_0 : tensor<f32>
  %ua = nn.update(%a, %sa : tensor<4xf32>, tensor<4xf32>) scalars(%n : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>, %c: tensor<f32>):
    %0 = nn.mul %d, %c : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4xf32>
  %ub = nn.update(%b, %sb : tensor<2x2xf32>, tensor<2x2xf32>) scalars(%n : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>, %c: tensor<f32>):
    %0 = nn.mul %d, %c : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<2x2xf32>
  return %ua, %ub : tensor<4xf32>, tensor<2x2xf32>
}
}

// -----

// Terms that are not added to each other are of two norms: two buckets, and a sum
// over ranks each.
module @two_norms_split_buckets {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @two_norms_split_buckets
// CHECK: dist.reduce_scatter
// CHECK: dist.reduce_scatter
// CHECK: dist.all_reduce sum
// CHECK: dist.all_reduce sum
// CHECK-NOT: dist.all_reduce
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">, dist.layout = #dist.layout<"[4]">},
                %b: tensor<4xf32> {nn.arg = #nn.arg<parameter "b">, dist.layout = #dist.layout<"[4]">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "a">}, tensor<4xf32> {nn.result = #nn.result<state "b">}) {
  %ga = nn.mul %a, %a : tensor<4xf32>
  %gb = nn.mul %b, %b : tensor<4xf32>
  %sa = dist.all_reduce sum %ga on @mesh ["data"] : tensor<4xf32>
  %qa_0 = nn.mul %sa, %sa : tensor<4xf32>
  %qa = nn.reduce sum %qa_0 [0] : tensor<4xf32> -> tensor<f32>
  %sb = dist.all_reduce sum %gb on @mesh ["data"] : tensor<4xf32>
  %qb_0 = nn.mul %sb, %sb : tensor<4xf32>
  %qb = nn.reduce sum %qb_0 [0] : tensor<4xf32> -> tensor<f32>
  %n_0 = nn.sqrt %qa : tensor<f32>
  %n = nn.mul %n_0, %qb : tensor<f32>
  %ua = nn.update(%a, %sa : tensor<4xf32>, tensor<4xf32>) scalars(%n : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>, %c: tensor<f32>):
    %0 = nn.mul %d, %c : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4xf32>
  %ub = nn.update(%b, %sb : tensor<4xf32>, tensor<4xf32>) scalars(%n : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>, %c: tensor<f32>):
    %0 = nn.mul %d, %c : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4xf32>
  return %ua, %ub : tensor<4xf32>, tensor<4xf32>
}
}

// -----

// Left alone: what is summed are no squares.
module @keeps_sum_without_squares {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @keeps_sum_without_squares
// CHECK-NOT: dist.reduce_scatter
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">, dist.layout = #dist.layout<"[4]">},
                %b: tensor<4xf32> {nn.arg = #nn.arg<parameter "b">, dist.layout = #dist.layout<"[4]">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "a">}, tensor<4xf32> {nn.result = #nn.result<state "b">}) {
  %ga = nn.mul %a, %a : tensor<4xf32>
  %gb = nn.mul %b, %b : tensor<4xf32>
  %sa = dist.all_reduce sum %ga on @mesh ["data"] : tensor<4xf32>
  %qa_0 = nn.abs %sa : tensor<4xf32>
  %qa = nn.reduce sum %qa_0 [0] : tensor<4xf32> -> tensor<f32>
  %sb = dist.all_reduce sum %gb on @mesh ["data"] : tensor<4xf32>
  %qb_0 = nn.abs %sb : tensor<4xf32>
  %qb = nn.reduce sum %qb_0 [0] : tensor<4xf32> -> tensor<f32>
  %n = nn.add %qa, %qb : tensor<f32>
  %ua = nn.update(%a, %sa : tensor<4xf32>, tensor<4xf32>) scalars(%n : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>, %c: tensor<f32>):
    %0 = nn.mul %d, %c : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4xf32>
  %ub = nn.update(%b, %sb : tensor<4xf32>, tensor<4xf32>) scalars(%n : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>, %c: tensor<f32>):
    %0 = nn.mul %d, %c : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4xf32>
  return %ua, %ub : tensor<4xf32>, tensor<4xf32>
}
}

// -----

// Left alone: the largest square is no sum.
module @keeps_largest_square {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @keeps_largest_square
// CHECK-NOT: dist.reduce_scatter
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">, dist.layout = #dist.layout<"[4]">},
                %b: tensor<4xf32> {nn.arg = #nn.arg<parameter "b">, dist.layout = #dist.layout<"[4]">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "a">}, tensor<4xf32> {nn.result = #nn.result<state "b">}) {
  %ga = nn.mul %a, %a : tensor<4xf32>
  %gb = nn.mul %b, %b : tensor<4xf32>
  %sa = dist.all_reduce sum %ga on @mesh ["data"] : tensor<4xf32>
  %qa_0 = nn.mul %sa, %sa : tensor<4xf32>
  %qa = nn.reduce max %qa_0 [0] : tensor<4xf32> -> tensor<f32>
  %sb = dist.all_reduce sum %gb on @mesh ["data"] : tensor<4xf32>
  %qb_0 = nn.mul %sb, %sb : tensor<4xf32>
  %qb = nn.reduce max %qb_0 [0] : tensor<4xf32> -> tensor<f32>
  %n = nn.add %qa, %qb : tensor<f32>
  %ua = nn.update(%a, %sa : tensor<4xf32>, tensor<4xf32>) scalars(%n : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>, %c: tensor<f32>):
    %0 = nn.mul %d, %c : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4xf32>
  %ub = nn.update(%b, %sb : tensor<4xf32>, tensor<4xf32>) scalars(%n : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>, %c: tensor<f32>):
    %0 = nn.mul %d, %c : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4xf32>
  return %ua, %ub : tensor<4xf32>, tensor<4xf32>
}
}

// -----

// Left alone: each reader of a term needs it.
module @keeps_terms_of_two_readers {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @keeps_terms_of_two_readers
// CHECK-NOT: dist.reduce_scatter
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">, dist.layout = #dist.layout<"[4]">},
                %b: tensor<4xf32> {nn.arg = #nn.arg<parameter "b">, dist.layout = #dist.layout<"[4]">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "a">}, tensor<4xf32> {nn.result = #nn.result<state "b">}) {
  %ga = nn.mul %a, %a : tensor<4xf32>
  %gb = nn.mul %b, %b : tensor<4xf32>
  %sa = dist.all_reduce sum %ga on @mesh ["data"] : tensor<4xf32>
  %qa_0 = nn.mul %sa, %sa : tensor<4xf32>
  %qa = nn.reduce sum %qa_0 [0] : tensor<4xf32> -> tensor<f32>
  %sb = dist.all_reduce sum %gb on @mesh ["data"] : tensor<4xf32>
  %qb_0 = nn.mul %sb, %sb : tensor<4xf32>
  %qb = nn.reduce sum %qb_0 [0] : tensor<4xf32> -> tensor<f32>
  %n_0 = nn.mul %qa, %qb : tensor<f32>
  %n_2 = nn.add %qa, %qb : tensor<f32>
  %n = nn.add %n_0, %n_2 : tensor<f32>
  %ua = nn.update(%a, %sa : tensor<4xf32>, tensor<4xf32>) scalars(%n : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>, %c: tensor<f32>):
    %0 = nn.mul %d, %c : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4xf32>
  %ub = nn.update(%b, %sb : tensor<4xf32>, tensor<4xf32>) scalars(%n : tensor<f32>) {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>, %c: tensor<f32>):
    %0 = nn.mul %d, %c : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4xf32>
  return %ua, %ub : tensor<4xf32>, tensor<4xf32>
}
}

// -----

// Left alone: the sum is read elsewhere too.
module @keeps_sum_read_elsewhere {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @keeps_sum_read_elsewhere
// CHECK: dist.all_reduce
// CHECK-NOT: dist.reduce_scatter
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">, dist.layout = #dist.layout<"[4]">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "a">}, tensor<f32> {nn.result = #nn.result<metric "norm">}) {
  %g = nn.mul %a, %a : tensor<4xf32>
  %s = dist.all_reduce sum %g on @mesh ["data"] : tensor<4xf32>
  %n = nn.reduce sum %s [0] : tensor<4xf32> -> tensor<f32>
  %u = nn.update(%a, %s : tensor<4xf32>, tensor<4xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>):
    %1 = nn.sub %p, %d : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4xf32>
  return %u, %n : tensor<4xf32>, tensor<f32>
}
}

// -----

// Left alone: the largest is no sum.
module @keeps_all_reduce_max {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @keeps_all_reduce_max
// CHECK-NOT: dist.reduce_scatter
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">, dist.layout = #dist.layout<"[4]">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "a">}) {
  %g = nn.mul %a, %a : tensor<4xf32>
  %s = dist.all_reduce max %g on @mesh ["data"] : tensor<4xf32>
  %u = nn.update(%a, %s : tensor<4xf32>, tensor<4xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>):
    %1 = nn.sub %p, %d : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4xf32>
  return %u : tensor<4xf32>
}
}

// -----

// Left alone: the state is cut over the axis of the sum already.
module @keeps_state_sharded_over_axis {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @keeps_state_sharded_over_axis
// CHECK-NOT: dist.reduce_scatter
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">, dist.layout = #dist.layout<"[(8: data)]">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "a">}) {
  %g = nn.mul %a, %a : tensor<4xf32>
  %s = dist.all_reduce sum %g on @mesh ["data"] : tensor<4xf32>
  %u = nn.update(%a, %s : tensor<4xf32>, tensor<4xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>):
    %1 = nn.sub %p, %d : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4xf32>
  return %u : tensor<4xf32>
}
}

// -----

// Left alone: something but the end reads the new value.
module @keeps_new_value_read_elsewhere {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @keeps_new_value_read_elsewhere
// CHECK-NOT: dist.reduce_scatter
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">, dist.layout = #dist.layout<"[4]">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "a">}, tensor<f32> {nn.result = #nn.result<metric "norm">}) {
  %g = nn.mul %a, %a : tensor<4xf32>
  %s = dist.all_reduce sum %g on @mesh ["data"] : tensor<4xf32>
  %u = nn.update(%a, %s : tensor<4xf32>, tensor<4xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>):
    %1 = nn.sub %p, %d : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4xf32>
  %n = nn.reduce sum %u [0] : tensor<4xf32> -> tensor<f32>
  return %u, %n : tensor<4xf32>, tensor<f32>
}
}

// -----

// Left alone: optimizer state that something else reads is needed whole.
module @keeps_optimizer_state_read_elsewhere {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @keeps_optimizer_state_read_elsewhere
// CHECK-NOT: dist.reduce_scatter
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">, dist.layout = #dist.layout<"[4]">},
                %m: tensor<4xf32> {nn.arg = #nn.arg<optimizer "m|a", of = "a">, dist.layout = #dist.layout<"[4]">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "a">}, tensor<4xf32> {nn.result = #nn.result<state "m|a">}) {
  %g = nn.mul %a, %m : tensor<4xf32>
  %s = dist.all_reduce sum %g on @mesh ["data"] : tensor<4xf32>
  %u:2 = nn.update(%a, %s, %m : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>, %v: tensor<f32>):
    %1 = nn.sub %p, %d : tensor<f32>
    nn.yield %1, %d : tensor<f32>, tensor<f32>
  } -> tensor<4xf32>, tensor<4xf32>
  return %u#0, %u#1 : tensor<4xf32>, tensor<4xf32>
}
}

// -----

// Left alone: so is optimizer state that another function reads.
module @keeps_optimizer_state_eval_reads {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @keeps_optimizer_state_eval_reads
// CHECK-NOT: dist.reduce_scatter
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">, dist.layout = #dist.layout<"[4]">},
                %m: tensor<4xf32> {nn.arg = #nn.arg<optimizer "m|a", of = "a">, dist.layout = #dist.layout<"[4]">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "a">}, tensor<4xf32> {nn.result = #nn.result<state "m|a">}) {
  %g = nn.mul %a, %a : tensor<4xf32>
  %s = dist.all_reduce sum %g on @mesh ["data"] : tensor<4xf32>
  %u:2 = nn.update(%a, %s, %m : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>, %v: tensor<f32>):
    %0 = nn.add %v, %d : tensor<f32>
    %1 = nn.sub %p, %0 : tensor<f32>
    nn.yield %1, %0 : tensor<f32>, tensor<f32>
  } -> tensor<4xf32>, tensor<4xf32>
  return %u#0, %u#1 : tensor<4xf32>, tensor<4xf32>
}
func.func @eval(%m: tensor<4xf32> {nn.arg = #nn.arg<optimizer "m|a", of = "a">, dist.layout = #dist.layout<"[4]">})
    -> (tensor<4xf32> {nn.result = #nn.result<metric "m">}) {
  %0 = nn.neg %m : tensor<4xf32>
  return %0 : tensor<4xf32>
}
}

// -----

// Left alone: one rank.
module @keeps_update_of_one_rank {
dist.mesh @mesh axes ["data"] sizes [1]
// CHECK-LABEL: module @keeps_update_of_one_rank
// CHECK-NOT: dist.reduce_scatter
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">, dist.layout = #dist.layout<"[4]">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "a">}) {
  %g = nn.mul %a, %a : tensor<4xf32>
  %s = dist.all_reduce sum %g on @mesh ["data"] : tensor<4xf32>
  %u = nn.update(%a, %s : tensor<4xf32>, tensor<4xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %d: tensor<f32>):
    %1 = nn.sub %p, %d : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<4xf32>
  return %u : tensor<4xf32>
}
}
