// RUN: dpc-opt %s --split-input-file --dpc-lower-to-exec --dpc-compute-in-place --dpc-delay-waits | FileCheck %s

// The new value of a state goes where the old one was when the kernel may compute
// in place.
module @kernel_overwrites_old_state {
func.func private @k(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> attributes {exec.may_alias = [array<i64: 0>]} {
  return %a : tensor<4xf32>
}
// CHECK-LABEL: module @kernel_overwrites_old_state
// CHECK-LABEL: exec.entry @step
// CHECK: %[[W:.*]] = exec.get @state.w
// CHECK: %[[X:.*]] = exec.get @input.x
// CHECK: exec.launch @k(%[[W]], %[[X]]) into(%[[W]])
// CHECK-NOT: exec.copy
func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}, %x: tensor<4xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<4xf32> {nn.result = #nn.result<state "w">}) {
  %0 = call @k(%w, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
}

// -----
// It is copied there when the kernel may not: the state is its second operand.
module @copies_unaliased_state {
func.func private @k(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> attributes {exec.may_alias = [array<i64: 0>]} {
  return %a : tensor<4xf32>
}
// CHECK-LABEL: module @copies_unaliased_state
// CHECK-LABEL: exec.entry @step
// CHECK: exec.launch @k(%[[X:[0-9]+]], %[[W:[0-9]+]]) into(%[[T:[0-9]+]])
// CHECK: exec.copy %[[T]] to %[[W]]
func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}, %x: tensor<4xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<4xf32> {nn.result = #nn.result<state "w">}) {
  %0 = call @k(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
}

// -----
// And when something reads the old value later, through a view even.
module @later_reader_keeps_old_state {
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {exec.may_alias = [array<i64: 0>]} {
  return %a : tensor<4xf32>
}
func.func private @sum(%a: tensor<2x2xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %a [0, 1] : tensor<2x2xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
// CHECK-LABEL: module @later_reader_keeps_old_state
// CHECK-LABEL: exec.entry @step
// CHECK: %[[W:.*]] = exec.get @state.w
// CHECK: exec.launch @k(%[[W]]) into(%[[T:[0-9]+]]) :
// CHECK: exec.launch @sum
// CHECK: exec.copy %[[T]] to %[[W]]
func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "w">}, tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %0 = call @k(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = nn.reshape %w : tensor<4xf32> -> tensor<2x2xf32>
  %2 = call @sum(%1) : (tensor<2x2xf32>) -> tensor<f32>
  return %0, %2 : tensor<4xf32>, tensor<f32>
}
}

// -----
// A microbatch loop reads slices, writes slices, and adds to sums set to zero.
module @loop_views_slices_and_sums {
func.func private @k(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) { return %a, %a : tensor<4xf32>, tensor<4xf32> }
func.func private @accumulate.f32.4(%s: tensor<4xf32>, %v: tensor<4xf32>) -> tensor<4xf32> { return %s : tensor<4xf32> }
// CHECK-LABEL: module @loop_views_slices_and_sums
// CHECK-LABEL: exec.entry @step
// CHECK: exec.zero %[[SUM:[0-9]+]] : memref<4xf32>
// CHECK: exec.loop 2 {
// CHECK: %[[X:[0-9]+]] = exec.view %{{.*}} at 0 stride 16 : memref<2x4xf32> to memref<4xf32>
// CHECK: %[[Y:[0-9]+]] = exec.view %{{.*}} at 0 stride 16 : memref<2x4xf32> to memref<4xf32>
// CHECK: exec.launch @k(%[[X]]) into(%[[Y]], %[[T:[0-9]+]])
// CHECK: %[[A:[0-9]+]] = exec.view %[[SUM]] at 0
// CHECK: %[[V:[0-9]+]] = exec.view %[[T]] at 0
// CHECK: exec.launch @accumulate.f32.4(%[[A]], %[[V]]) into(%[[A]])
func.func @step(%x: tensor<2x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<2x4xf32> {nn.result = #nn.result<output "y">}, tensor<4xf32> {nn.result = #nn.result<output "z">}) {
  %0:2 = dist.micro 2 "micro"(%x : tensor<2x4xf32>) operands [sliced] {
  ^bb0(%m: tensor<4xf32>):
    %1:2 = func.call @k(%m) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    dist.yield %1#0, %1#1 : tensor<4xf32>, tensor<4xf32>
  } -> (tensor<2x4xf32>, tensor<4xf32>) results [stacked, summed]
  return %0#0, %0#1 : tensor<2x4xf32>, tensor<4xf32>
}
}

// -----
// What a collective reads is computed where peers can read it, behind a reshape
// too, and state that one reads lies there: nothing is copied. Others may read what
// a collective reads; its result, and writing what it reads, wait for it.
module @collective_operand_is_shared_memory {
dist.mesh @mesh axes ["data"] sizes [2]
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
// CHECK-LABEL: module @collective_operand_is_shared_memory
// CHECK: exec.persistent @state.a {{.*}} shared
// CHECK: exec.persistent @output.y {{.*}} arena
// CHECK-LABEL: exec.entry @step
// CHECK: %[[A:[0-9]+]] = exec.get @state.a
// CHECK: %[[B:[0-9]+]] = exec.buffer shared : memref<2x4xf32>
// CHECK-NEXT: %[[E:[0-9]+]] = exec.start all_gather sum over ["data"] %[[A]] to %[[B]] id 0
// CHECK-NEXT: %[[C:[0-9]+]] = exec.buffer shared : memref<2x2x2xf32>
// CHECK-NEXT: %[[R:[0-9]+]] = exec.view %[[C]] at 0 stride 16 over ["data"] : memref<2x2x2xf32> to memref<2x2xf32>
// CHECK-NEXT: %[[K:[0-9]+]] = exec.view %[[R]] at 0 : memref<2x2xf32> to memref<4xf32>
// CHECK-NEXT: exec.launch @k(%[[A]]) into(%[[K]])
// CHECK: exec.start all_gather sum over ["data"] %{{.*}} to %[[C]] id 1
// CHECK: exec.wait %[[E]]
// CHECK-NEXT: exec.copy %[[B]]
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">})
    -> (tensor<2x4xf32> {nn.result = #nn.result<output "y">}, tensor<2x2x2xf32> {nn.result = #nn.result<output "z">}) {
  %0 = dist.all_gather %a on @mesh ["data"] : tensor<4xf32> -> tensor<2x4xf32>
  %1 = call @k(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = nn.reshape %1 : tensor<4xf32> -> tensor<2x2xf32>
  %3 = dist.all_gather %2 on @mesh ["data"] : tensor<2x2xf32> -> tensor<2x2x2xf32>
  return %0, %3 : tensor<2x4xf32>, tensor<2x2x2xf32>
}
}

// -----
// An argument of a loop does not lie there: it is copied, and reduced in place.
module @loop_argument_is_copied {
dist.mesh @mesh axes ["micro", "data"] sizes [2, 2] sequential ["micro"]
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
// CHECK-LABEL: module @loop_argument_is_copied
// CHECK-LABEL: exec.entry @step
// CHECK: exec.loop 2 {
// CHECK: exec.copy %{{.*}} to %[[S:[0-9]+]]
// CHECK: exec.start all_reduce sum over ["data"] %[[S]] to %[[S]]
func.func @step(%x: tensor<2x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<2x4xf32> {nn.result = #nn.result<output "y">}) {
  %0 = dist.micro 2 "micro"(%x : tensor<2x4xf32>) operands [sliced] {
  ^bb0(%m: tensor<4xf32>):
    %1 = dist.all_reduce sum %m on @mesh ["data"] : tensor<4xf32>
    %2 = func.call @k(%1) : (tensor<4xf32>) -> tensor<4xf32>
    dist.yield %2 : tensor<4xf32>
  } -> (tensor<2x4xf32>) results [stacked]
  return %0 : tensor<2x4xf32>
}
}

// -----
// Nor does the slice of a microbatch, wherever that is, for those who gather or clear:
// it is copied, and what is gathered or cleared is no slice either.
module @microbatch_slice_is_copied {
dist.mesh @mesh axes ["micro", "data"] sizes [2, 2] sequential ["micro"]
func.func private @k(%a: tensor<2x4xf32>) -> tensor<2x4xf32> { return %a : tensor<2x4xf32> }
// CHECK-LABEL: module @microbatch_slice_is_copied
// CHECK-LABEL: exec.entry @step
// CHECK: exec.launch @k(
// CHECK: exec.loop 2 {
// CHECK: %[[X:[0-9]+]] = exec.view %{{.*}} at 0 stride 16
// CHECK: exec.copy %[[X]] to %[[C:[0-9]+]]
// CHECK: exec.start all_gather sum over ["data"] %[[C]] to %[[G:[0-9]+]]
// CHECK: exec.copy %[[G]]
func.func @step(%x: tensor<2x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<2x2x4xf32> {nn.result = #nn.result<output "y">},
        tensor<2x2x4xf32> {nn.result = #nn.result<output "z">}) {
  %0 = call @k(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = dist.all_gather %0 on @mesh ["data"] : tensor<2x4xf32> -> tensor<2x2x4xf32>
  %2 = dist.micro 2 "micro"(%0 : tensor<2x4xf32>) operands [sliced] {
  ^bb0(%m: tensor<4xf32>):
    %3 = dist.all_gather %m on @mesh ["data"] : tensor<4xf32> -> tensor<2x4xf32>
    dist.yield %3 : tensor<2x4xf32>
  } -> (tensor<2x2x4xf32>) results [stacked]
  return %1, %2 : tensor<2x2x4xf32>, tensor<2x2x4xf32>
}
}

// -----
// A sum over microbatches that is gathered after their loop is not made in the shard of
// what it is gathered into: it has to be cleared first.
module @summed_value_is_no_shard {
dist.mesh @mesh axes ["micro", "data"] sizes [2, 2] sequential ["micro"]
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
func.func private @accumulate.f32.4(%s: tensor<4xf32>, %v: tensor<4xf32>) -> tensor<4xf32> { return %s : tensor<4xf32> }
// CHECK-LABEL: module @summed_value_is_no_shard
// CHECK-LABEL: exec.entry @step
// CHECK: %[[SUM:[0-9]+]] = exec.buffer shared : memref<4xf32>
// CHECK: exec.zero %[[SUM]]
// CHECK: exec.start all_gather sum over ["data"] %[[SUM]] to
func.func @step(%x: tensor<2x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<2x4xf32> {nn.result = #nn.result<output "y">}) {
  %0 = dist.micro 2 "micro"(%x : tensor<2x4xf32>) operands [sliced] {
  ^bb0(%m: tensor<4xf32>):
    %2 = func.call @k(%m) : (tensor<4xf32>) -> tensor<4xf32>
    dist.yield %2 : tensor<4xf32>
  } -> (tensor<4xf32>) results [summed]
  %1 = dist.all_gather %0 on @mesh ["data"] : tensor<4xf32> -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
}

// -----
// What a collective still reads is not overwritten before it has ended.
module @waits_before_overwriting_operand {
dist.mesh @mesh axes ["data"] sizes [2]
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {exec.may_alias = [array<i64: 0>]} { return %a : tensor<4xf32> }
// CHECK-LABEL: module @waits_before_overwriting_operand
// CHECK-LABEL: exec.entry @step
// CHECK: %[[A:[0-9]+]] = exec.get @state.a
// CHECK: %[[E:[0-9]+]] = exec.start all_gather sum over ["data"] %[[A]] to
// CHECK-NEXT: exec.wait %[[E]]
// CHECK-NEXT: exec.launch @k(%[[A]]) into(%[[A]])
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "a">}, tensor<2x4xf32> {nn.result = #nn.result<output "y">}) {
  %0 = dist.all_gather %a on @mesh ["data"] : tensor<4xf32> -> tensor<2x4xf32>
  %1 = call @k(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %0 : tensor<4xf32>, tensor<2x4xf32>
}
}

// -----
// A divided update: gradients are computed into one buffer, zero where there is
// none, of which a rank's share of the sum takes the place; the share of the parameters is updated in
// place and gathered from where it lies. Readers of the old parameters come
// before.
module @divided_update_copies_nothing {
dist.mesh @mesh axes ["data"] sizes [2]
func.func private @grad(%w: tensor<4xf32>) -> tensor<4xf32> { return %w : tensor<4xf32> }
func.func private @update(%p: tensor<16xf32>, %g: tensor<16xf32>, %m: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
    attributes {exec.may_alias = [array<i64: 0>, array<i64: 2>]} { return %p, %m : tensor<16xf32>, tensor<16xf32> }
// CHECK-LABEL: module @divided_update_copies_nothing
// CHECK: exec.persistent @storage.p #dist.storage<"p"{{.*}}> shared : memref<32xf32>
// CHECK: exec.persistent @storage.m #dist.storage<"m"{{.*}}> arena : memref<16xf32>
// CHECK-LABEL: exec.entry @step
// CHECK-DAG: %[[P:.*]] = exec.get @storage.p
// CHECK-DAG: %[[M:.*]] = exec.get @storage.m
// CHECK-DAG: %[[B:.*]] = exec.buffer shared : memref<32xf32>
// CHECK-DAG: %[[G:.*]] = exec.view %[[B]] at 0 : memref<32xf32> to memref<4xf32>
// CHECK-DAG: %[[W:.*]] = exec.view %[[P]] at 0 : memref<32xf32> to memref<4xf32>
// CHECK: exec.launch @grad(%[[W]]) into(%[[G]])
// CHECK: %[[Z:.*]] = exec.view %[[B]] at 16 : memref<32xf32> to memref<28xf32>
// CHECK: exec.zero %[[Z]]
// CHECK: %[[BB:.*]] = exec.view %[[B]] at 0 : memref<32xf32> to memref<2x16xf32>
// CHECK: %[[GS:.*]] = exec.view %[[BB]] at 0 stride 64 over ["data"] : memref<2x16xf32> to memref<16xf32>
// CHECK: %[[E:.*]] = exec.start reduce_scatter sum over ["data"] %[[BB]] to %[[GS]]
// CHECK: %[[WHOLE:.*]] = exec.view %[[P]] at 0 : memref<32xf32> to memref<2x16xf32>
// CHECK: %[[SHARE:.*]] = exec.view %[[WHOLE]] at 0 stride 64 over ["data"] : memref<2x16xf32> to memref<16xf32>
// CHECK: exec.wait %[[E]]
// CHECK: exec.launch @update(%{{.*}}, %[[GS]], %[[M]]) into(%[[SHARE]], %[[M]])
// CHECK: exec.start all_gather sum over ["data"] %[[SHARE]] to %[[WHOLE]]
// CHECK-NOT: exec.copy
func.func @step(%p: tensor<32xf32> {dist.storage = #dist.storage<"p" [<#nn.arg<parameter "w">, tensor<4xf32>, <"[4]"> at 0>]>},
                %m: tensor<16xf32> {dist.storage = #dist.storage<"m" [<#nn.arg<optimizer "m|w", of = "w">, tensor<4xf32>, <"[4]"> at 0>] over ["data"]>})
    -> (tensor<32xf32> {dist.storage = #dist.storage<"p" [<#nn.arg<parameter "w">, tensor<4xf32>, <"[4]"> at 0>]>},
        tensor<16xf32> {dist.storage = #dist.storage<"m" [<#nn.arg<optimizer "m|w", of = "w">, tensor<4xf32>, <"[4]"> at 0>] over ["data"]>}) {
  %w = dist.unpack %p at [0] : tensor<32xf32> -> tensor<4xf32>
  %g = call @grad(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %b = dist.pack %g at [0] : tensor<4xf32> -> tensor<32xf32>
  %bb = nn.reshape %b : tensor<32xf32> -> tensor<2x16xf32>
  %gs = dist.reduce_scatter sum %bb on @mesh ["data"] : tensor<2x16xf32> -> tensor<16xf32>
  %s = dist.shard %p on @mesh ["data"] : tensor<32xf32> -> tensor<16xf32>
  %u:2 = call @update(%s, %gs, %m) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  %a = dist.all_gather %u#0 on @mesh ["data"] : tensor<16xf32> -> tensor<2x16xf32>
  %n = nn.reshape %a : tensor<2x16xf32> -> tensor<32xf32>
  return %n, %u#1 : tensor<32xf32>, tensor<16xf32>
}
}

// -----
// What is computed elsewhere is copied into the flat buffer, and an update that
// something reads the old parameters after is gathered beside them.
module @gathers_beside_old_parameters {
dist.mesh @mesh axes ["data"] sizes [2]
func.func private @update(%p: tensor<16xf32>, %g: tensor<16xf32>) -> tensor<16xf32> attributes {exec.may_alias = [array<i64: 0>]} { return %p : tensor<16xf32> }
func.func private @norm(%w: tensor<4xf32>, %p: tensor<16xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %w [0] : tensor<4xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
// CHECK-LABEL: module @gathers_beside_old_parameters
// CHECK-LABEL: exec.entry @step
// CHECK: %[[P:.*]] = exec.get @storage.p
// CHECK: exec.copy %{{.*}} to %{{.*}} : memref<4xf32>
// CHECK: exec.start reduce_scatter
// CHECK: %[[A:.*]] = exec.buffer shared : memref<2x16xf32>
// CHECK: %[[S:.*]] = exec.view %[[A]] at 0 stride 64 over ["data"]
// CHECK: exec.launch @update(%{{.*}}) into(%[[S]])
// CHECK: exec.start all_gather sum over ["data"] %[[S]] to %[[A]]
// CHECK: %[[N:.*]] = exec.view %[[A]] at 0 : memref<2x16xf32> to memref<32xf32>
// CHECK: exec.launch @norm
// CHECK: exec.copy %[[N]] to %[[P]] : memref<32xf32>
func.func @step(%p: tensor<32xf32> {dist.storage = #dist.storage<"p" [<#nn.arg<parameter "w">, tensor<4xf32>, <"[4]"> at 0>]>},
                %x: tensor<4xf32> {nn.arg = #nn.arg<input "x">})
    -> (tensor<32xf32> {dist.storage = #dist.storage<"p" [<#nn.arg<parameter "w">, tensor<4xf32>, <"[4]"> at 0>]>},
        tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %w = dist.unpack %p at [0] : tensor<32xf32> -> tensor<4xf32>
  %b = dist.pack %x at [0] : tensor<4xf32> -> tensor<32xf32>
  %bb = nn.reshape %b : tensor<32xf32> -> tensor<2x16xf32>
  %gs = dist.reduce_scatter sum %bb on @mesh ["data"] : tensor<2x16xf32> -> tensor<16xf32>
  %s = dist.shard %p on @mesh ["data"] : tensor<32xf32> -> tensor<16xf32>
  %u = call @update(%s, %gs) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %a = dist.all_gather %u on @mesh ["data"] : tensor<16xf32> -> tensor<2x16xf32>
  %n = nn.reshape %a : tensor<2x16xf32> -> tensor<32xf32>
  %l = call @norm(%w, %u) : (tensor<4xf32>, tensor<16xf32>) -> tensor<f32>
  return %n, %l : tensor<32xf32>, tensor<f32>
}
}

// -----
// State that no peer can reach is gathered beside it, and copied.
module @gathers_beside_unshared_state {
dist.mesh @mesh axes ["data"] sizes [2]
func.func private @k(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }
// CHECK-LABEL: module @gathers_beside_unshared_state
// CHECK-LABEL: exec.entry @step
// CHECK: %[[W:.*]] = exec.get @state.w
// CHECK: %[[A:.*]] = exec.buffer shared : memref<2x2xf32>
// CHECK: exec.start all_gather sum over ["data"] %{{.*}} to %[[A]]
// CHECK: %[[N:.*]] = exec.view %[[A]] at 0 : memref<2x2xf32> to memref<4xf32>
// CHECK: exec.copy %[[N]] to %[[W]]
func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}, %x: tensor<2xf32> {nn.arg = #nn.arg<input "x">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "w">}) {
  %0 = call @k(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = dist.all_gather %0 on @mesh ["data"] : tensor<2xf32> -> tensor<2x2xf32>
  %2 = nn.reshape %1 : tensor<2x2xf32> -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
}

// -----

// Two states that change places: one of them must be saved.
// CHECK-LABEL: module @saves_one_of_swapped_states
// CHECK-LABEL: exec.entry @step
// CHECK: %[[A:.*]] = exec.get @state.a
// CHECK: %[[B:.*]] = exec.get @state.b
// CHECK: exec.copy %[[B]] to %[[T:.*]] :
// CHECK: exec.copy %[[A]] to %[[B]]
// CHECK: exec.copy %[[T]] to %[[A]]
// CHECK-NOT: exec.copy
module @saves_one_of_swapped_states {
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">}, %b: tensor<4xf32> {nn.arg = #nn.arg<parameter "b">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "a">}, tensor<4xf32> {nn.result = #nn.result<state "b">}) {
  return %b, %a : tensor<4xf32>, tensor<4xf32>
}
}

// -----

// An operand is computed where it is summed, even if its sum is summed again; a
// value that others read after the sum is summed beside it.
module @reduces_in_place_of_operand {
dist.mesh @mesh axes ["data"] sizes [2]
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
// CHECK-LABEL: module @reduces_in_place_of_operand
// CHECK-LABEL: exec.entry @step
// CHECK: %[[B:[0-9]+]] = exec.buffer shared : memref<4xf32>
// CHECK-NEXT: exec.launch @k(%{{.*}}) into(%[[B]])
// CHECK-NEXT: exec.start all_reduce sum over ["data"] %[[B]] to %[[B]] id 0
// CHECK-NEXT: exec.wait
// CHECK-NEXT: exec.start all_reduce sum over ["data"] %[[B]] to %[[B]] id 1
// CHECK: exec.copy %[[B]]
// CHECK-LABEL: exec.entry @eval
// CHECK: exec.launch @k(%{{.*}}) into(%[[I:[0-9]+]])
// CHECK: exec.start all_reduce sum over ["data"] %[[I]] to %[[O:[0-9]+]] id 0
// CHECK: exec.launch @k(%[[I]])
// CHECK: exec.copy %[[O]]
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "a">}) {
  %0 = call @k(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dist.all_reduce sum %0 on @mesh ["data"] : tensor<4xf32>
  %2 = dist.all_reduce sum %1 on @mesh ["data"] : tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func @eval(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">})
    -> (tensor<4xf32> {nn.result = #nn.result<output "y">}, tensor<4xf32> {nn.result = #nn.result<output "z">}) {
  %0 = call @k(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dist.all_reduce sum %0 on @mesh ["data"] : tensor<4xf32>
  %2 = call @k(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
}

// -----

// The members of a bucket are computed in their places. One that is read after the
// bucket was summed has a buffer of its own.
module @kernels_fill_bucket_members {
dist.mesh @mesh axes ["data"] sizes [2]
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
// CHECK-LABEL: module @kernels_fill_bucket_members
// CHECK-LABEL: exec.entry @step
// CHECK: %[[B:[0-9]+]] = exec.buffer shared : memref<32xf32>
// CHECK-NEXT: %[[V:[0-9]+]] = exec.view %[[B]] at 0 : memref<32xf32> to memref<4xf32>
// CHECK-NEXT: exec.launch @k(%{{.*}}) into(%[[V]])
// CHECK: %[[O:[0-9]+]] = exec.buffer arena : memref<4xf32>
// CHECK-NEXT: exec.launch @k(%{{.*}}) into(%[[O]])
// CHECK: %[[W:[0-9]+]] = exec.view %[[B]] at 64 : memref<32xf32> to memref<4xf32>
// CHECK-NEXT: exec.copy %[[O]] to %[[W]]
// CHECK-NEXT: exec.start all_reduce sum over ["data"] %[[B]] to %[[B]]
// CHECK: exec.launch @k(%[[O]])
func.func @step(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<4xf32> {nn.result = #nn.result<output "a">}, tensor<4xf32> {nn.result = #nn.result<output "b">}, tensor<4xf32> {nn.result = #nn.result<output "c">}) {
  %0 = call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = dist.pack %0, %1 at [0, 16] : tensor<4xf32>, tensor<4xf32> -> tensor<32xf32>
  %3 = dist.all_reduce sum %2 on @mesh ["data"] : tensor<32xf32>
  %4:2 = dist.unpack %3 at [0, 16] : tensor<32xf32> -> tensor<4xf32>, tensor<4xf32>
  %5 = call @k(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %4#0, %4#1, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
}

// -----

// The kernel may write over the state, but another operand of the launch reads a
// part of it.
module @aliased_operand_keeps_state {
func.func private @k(%a: tensor<4xf32>, %b: tensor<2xf32>) -> tensor<4xf32> attributes {exec.may_alias = [array<i64: 0>]} {
  return %a : tensor<4xf32>
}
// CHECK-LABEL: module @aliased_operand_keeps_state
// CHECK-LABEL: exec.entry @step
// CHECK: exec.launch @k(%[[W:[0-9]+]], %{{.*}}) into(%[[T:[0-9]+]])
// CHECK: exec.copy %[[T]] to %[[W]]
func.func @step(%w: tensor<4xf32> {dist.storage = #dist.storage<"p" [<#nn.arg<parameter "w">, tensor<4xf32>, <"[4]"> at 0>]>})
    -> (tensor<4xf32> {dist.storage = #dist.storage<"p" [<#nn.arg<parameter "w">, tensor<4xf32>, <"[4]"> at 0>]>}) {
  %0 = dist.unpack %w at [2] : tensor<4xf32> -> tensor<2xf32>
  %1 = call @k(%w, %0) : (tensor<4xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
}

// -----

// A value that is two states is computed into one of them and copied to the other.
module @copies_value_to_second_state {
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {exec.may_alias = [array<i64: 0>]} { return %a : tensor<4xf32> }
// CHECK-LABEL: module @copies_value_to_second_state
// CHECK-LABEL: exec.entry @step
// CHECK: %[[A:.*]] = exec.get @state.a
// CHECK: %[[B:.*]] = exec.get @state.b
// CHECK: exec.launch @k(%[[A]]) into(%[[A]])
// CHECK-NEXT: exec.copy %[[A]] to %[[B]]
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">}, %b: tensor<4xf32> {nn.arg = #nn.arg<parameter "b">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "a">}, tensor<4xf32> {nn.result = #nn.result<state "b">}) {
  %0 = call @k(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %0 : tensor<4xf32>, tensor<4xf32>
}
}

// -----

// The operand of a reduce-scatter that is read again keeps its value.
module @reread_operand_keeps_value {
dist.mesh @mesh axes ["data"] sizes [2]
func.func private @k(%a: tensor<4xf32>) -> tensor<2x2xf32> { %0 = nn.reshape %a : tensor<4xf32> -> tensor<2x2xf32> return %0 : tensor<2x2xf32> }
func.func private @s(%a: tensor<2x2xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %a [0, 1] : tensor<2x2xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
// CHECK-LABEL: module @reread_operand_keeps_value
// CHECK-LABEL: exec.entry @step
// CHECK: exec.launch @k(%{{.*}}) into(%[[I:[0-9]+]])
// CHECK: %[[O:[0-9]+]] = exec.buffer shared : memref<2xf32>
// CHECK: exec.start reduce_scatter sum over ["data"] %[[I]] to %[[O]]
// CHECK: exec.launch @s(%[[I]])
func.func @step(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<2xf32> {nn.result = #nn.result<output "y">}, tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %0 = call @k(%x) : (tensor<4xf32>) -> tensor<2x2xf32>
  %1 = dist.reduce_scatter sum %0 on @mesh ["data"] : tensor<2x2xf32> -> tensor<2xf32>
  %2 = call @s(%0) : (tensor<2x2xf32>) -> tensor<f32>
  return %1, %2 : tensor<2xf32>, tensor<f32>
}
}

// -----
// What is gathered over one axis is summed over another before: it cannot be a shard
// of the result, as the sum would be over the wrong ranks. The shard of a shard has no
// place either: what is gathered twice is gathered beside the first result.
module @reduced_value_is_no_shard {
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
// CHECK-LABEL: module @reduced_value_is_no_shard
// CHECK-LABEL: exec.entry @step
// CHECK: exec.launch @k(%{{.*}}) into(%[[S:[0-9]+]])
// CHECK: exec.start all_reduce sum over ["data"] %[[S]] to %[[S]]
// CHECK: exec.start all_gather sum over ["model"] %[[S]] to
// CHECK-LABEL: exec.entry @eval
// CHECK: %[[A:[0-9]+]] = exec.buffer shared : memref<2x4xf32>
// CHECK: %[[V:[0-9]+]] = exec.view %[[A]] at 0 stride 16 over ["model"]
// CHECK: exec.launch @k(%{{.*}}) into(%[[V]])
// CHECK: exec.start all_gather sum over ["model"] %[[V]] to %[[A]]
// CHECK: exec.start all_gather sum over ["data"] %[[A]] to
func.func @step(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x", batch = 0>}) -> (tensor<2x4xf32> {nn.result = #nn.result<output "y">}) {
  %0 = call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dist.all_reduce sum %0 on @mesh ["data"] : tensor<4xf32>
  %2 = dist.all_gather %1 on @mesh ["model"] : tensor<4xf32> -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}
func.func @eval(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x", batch = 0>}) -> (tensor<2x2x4xf32> {nn.result = #nn.result<output "z">}) {
  %0 = call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dist.all_gather %0 on @mesh ["model"] : tensor<4xf32> -> tensor<2x4xf32>
  %2 = dist.all_gather %1 on @mesh ["data"] : tensor<2x4xf32> -> tensor<2x2x4xf32>
  return %2 : tensor<2x2x4xf32>
}
}

// -----
// What an all-to-all brings lies apart from what it sends, until that is sent.
module @all_to_all_result_is_apart {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @all_to_all_result_is_apart
// CHECK-LABEL: exec.entry @step
// CHECK: %[[W:.*]] = exec.get @state.w
// CHECK: %[[N:.*]] = exec.buffer shared : memref<2x4xf32>
// CHECK: %[[E:.*]] = exec.start all_to_all sum over ["data"] %[[W]] to %[[N]]
// CHECK: exec.wait %[[E]]
// CHECK: exec.copy %[[N]] to %[[W]]
func.func @step(%w: tensor<2x4xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<2x4xf32> {nn.result = #nn.result<state "w">}) {
  %0 = dist.all_to_all %w on @mesh ["data"] : tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
}

// -----
// The shard of a bucket that is read when two later buckets have been filled gets memory of its own, so that theirs
// can be the first one's; those of the last two lie in their buckets.
module @early_shard_leaves_its_bucket {
dist.mesh @mesh axes ["data"] sizes [2]
func.func private @grad(%x: tensor<4xf32>) -> tensor<2x16xf32> {
  %0 = nn.constant dense<1.0> : tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}
func.func private @use(%a: tensor<16xf32>, %b: tensor<16xf32>, %c: tensor<16xf32>) -> tensor<16xf32> { return %a : tensor<16xf32> }
// CHECK-LABEL: module @early_shard_leaves_its_bucket
// CHECK-LABEL: exec.entry @step
// CHECK: %[[A:.*]] = exec.buffer shared : memref<2x16xf32>
// CHECK: exec.launch @grad(%{{.*}}) into(%[[A]])
// CHECK: %[[AS:.*]] = exec.buffer shared : memref<16xf32>
// CHECK: exec.start reduce_scatter sum over ["data"] %[[A]] to %[[AS]]
// CHECK: exec.launch @grad(%{{.*}}) into(%[[B:[0-9]+]])
// CHECK: %[[BS:.*]] = exec.view %[[B]] at 0 stride 64 over ["data"]
// CHECK: exec.start reduce_scatter sum over ["data"] %[[B]] to %[[BS]]
// CHECK: exec.launch @grad(%{{.*}}) into(%[[C:[0-9]+]])
// CHECK: %[[CS:.*]] = exec.view %[[C]] at 0 stride 64 over ["data"]
// CHECK: exec.start reduce_scatter sum over ["data"] %[[C]] to %[[CS]]
// CHECK: exec.launch @use(%[[AS]], %[[BS]], %[[CS]])
func.func @step(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x">}) -> (tensor<16xf32> {nn.result = #nn.result<output "y">}) {
  %a = call @grad(%x) : (tensor<4xf32>) -> tensor<2x16xf32>
  %as = dist.reduce_scatter sum %a on @mesh ["data"] : tensor<2x16xf32> -> tensor<16xf32>
  %b = call @grad(%x) : (tensor<4xf32>) -> tensor<2x16xf32>
  %bs = dist.reduce_scatter sum %b on @mesh ["data"] : tensor<2x16xf32> -> tensor<16xf32>
  %c = call @grad(%x) : (tensor<4xf32>) -> tensor<2x16xf32>
  %cs = dist.reduce_scatter sum %c on @mesh ["data"] : tensor<2x16xf32> -> tensor<16xf32>
  %u = call @use(%as, %bs, %cs) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %u : tensor<16xf32>
}
}
