// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-lower-to-exec | FileCheck %s
// Entries share persistent buffers; scratch memory is a buffer; controls are
// filled by the host, those that nobody reads are not there.
module @entries_share_persistent_buffers {
func.func private @k(%a: tensor<4xf32>, %s: tensor<i64>) -> tensor<f32> attributes {exec.scratch_bytes = 128 : i64} {
  %0 = nn.reduce sum %a [0] : tensor<4xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
// CHECK-LABEL: module @entries_share_persistent_buffers
// CHECK: exec.persistent @state.w
// CHECK-NOT: exec.persistent @state.w
// CHECK: exec.persistent @control.step #nn.arg<control "step"> arena : memref<i64>
// CHECK-NOT: exec.persistent @control.seed
// CHECK: exec.persistent @metric.loss
// CHECK: exec.persistent @control.valid_rows
// CHECK-LABEL: exec.entry @step
// CHECK: %[[C:[0-9]+]] = exec.get @control.step
// CHECK: %[[T:.*]] = exec.buffer arena : memref<f32>
// CHECK: %[[S:.*]] = exec.buffer arena : memref<128xi8>
// CHECK: exec.launch @k(%{{.*}}, %[[C]]) into(%[[T]]) scratch(%[[S]])
// CHECK: %[[L:.*]] = exec.get @metric.loss
// CHECK: exec.copy %[[T]] to %[[L]]
// CHECK-LABEL: exec.entry @eval
func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}, %s: tensor<i64> {nn.arg = #nn.arg<control "step">},
                %seed: tensor<i64> {nn.arg = #nn.arg<control "seed">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %0 = call @k(%w, %s) : (tensor<4xf32>, tensor<i64>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @eval(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}, %s: tensor<i64> {nn.arg = #nn.arg<control "valid_rows">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %0 = call @k(%w, %s) : (tensor<4xf32>, tensor<i64>) -> tensor<f32>
  return %0 : tensor<f32>
}
}

// -----
// Two states that change places are saved before either is overwritten.
// CHECK-LABEL: module @saves_swapped_states
// CHECK-LABEL: exec.entry @step
// CHECK: %[[A:.*]] = exec.get @state.a
// CHECK: %[[B:.*]] = exec.get @state.b
// CHECK: exec.copy %[[B]] to %[[T0:.*]] :
// CHECK: exec.copy %[[A]] to %[[T1:.*]] :
// CHECK: exec.copy %[[T0]] to %[[A]]
// CHECK: exec.copy %[[T1]] to %[[B]]
module @saves_swapped_states {
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">}, %b: tensor<4xf32> {nn.arg = #nn.arg<parameter "b">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "a">}, tensor<4xf32> {nn.result = #nn.result<state "b">}) {
  return %b, %a : tensor<4xf32>, tensor<4xf32>
}
}

// -----
// A rank's coordinate is a persistent buffer, also inside a loop; the number of
// the microbatch is written where it is needed.
module @coordinates_are_persistent_buffers {
dist.mesh @mesh axes ["micro", "data"] sizes [2, 2] sequential ["micro"]
func.func private @k(%x: tensor<4xf32>, %i: tensor<i64>, %j: tensor<i64>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// CHECK-LABEL: module @coordinates_are_persistent_buffers
// CHECK: exec.persistent @coordinate.data #exec.coordinate<"data"> arena : memref<i64>
// CHECK-NOT: exec.persistent @coordinate.micro
// CHECK-LABEL: exec.entry @eval
// CHECK: exec.loop 2 {
// CHECK: exec.microbatch into %[[I:[0-9]+]]
// CHECK: %[[J:[0-9]+]] = exec.get @coordinate.data
// CHECK: exec.launch @k(%{{.*}}, %[[I]], %[[J]])
func.func @eval(%x: tensor<2x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>}) -> (tensor<2x4xf32> {nn.result = #nn.result<output "y">}) {
  %0 = dist.micro 2 "micro"(%x : tensor<2x4xf32>) operands [sliced] {
  ^bb0(%m: tensor<4xf32>):
    %i = dist.axis_index "micro" : tensor<i64>
    %j = dist.axis_index "data" : tensor<i64>
    %1 = func.call @k(%m, %i, %j) : (tensor<4xf32>, tensor<i64>, tensor<i64>) -> tensor<4xf32>
    dist.yield %1 : tensor<4xf32>
  } -> (tensor<2x4xf32>) results [stacked]
  return %0 : tensor<2x4xf32>
}
}

// -----
module @refuses_op_outside_kernel {
func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}) -> (tensor<4xf32> {nn.result = #nn.result<state "w">}) {
  // expected-error @+1 {{is outside a kernel and has no buffer form}}
  %0 = nn.relu %w : tensor<4xf32>
  return %0 : tensor<4xf32>
}
}

// -----
module @refuses_state_without_argument {
// expected-error @+1 {{returns the state w but does not take it}}
func.func @step(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x">}) -> (tensor<4xf32> {nn.result = #nn.result<state "w">}) {
  return %x : tensor<4xf32>
}
}

// -----

// A value has a buffer of its own, and results are copied to where they live.
module @copies_result_to_state {
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {exec.may_alias = [array<i64: 0>]} { return %a : tensor<4xf32> }
// CHECK-LABEL: module @copies_result_to_state
// CHECK-LABEL: exec.entry @step
// CHECK: %[[W:.*]] = exec.get @state.w
// CHECK: exec.launch @k(%[[W]]) into(%[[T:[0-9]+]])
// CHECK: exec.copy %[[T]] to %[[W]]
func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}) -> (tensor<4xf32> {nn.result = #nn.result<state "w">}) {
  %0 = call @k(%w) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
}

// -----

// A collective is waited for at once. What it reads lies where peers see it: state
// that one reads does so everywhere, an argument of a loop is copied.
module @waits_for_collective_at_once {
dist.mesh @mesh axes ["micro", "data"] sizes [2, 2] sequential ["micro"]
// CHECK-LABEL: module @waits_for_collective_at_once
// CHECK: exec.persistent @state.a {{.*}} shared
// CHECK: exec.persistent @input.x {{.*}} arena
// CHECK-LABEL: exec.entry @step
// CHECK: %[[A:[0-9]+]] = exec.get @state.a
// CHECK: %[[B:[0-9]+]] = exec.buffer shared : memref<2x4xf32>
// CHECK-NEXT: %[[E:[0-9]+]] = exec.start all_gather sum over ["data"] %[[A]] to %[[B]] id 0
// CHECK-NEXT: exec.wait %[[E]]
// CHECK: exec.loop 2 {
// CHECK: %[[S:[0-9]+]] = exec.buffer shared : memref<4xf32>
// CHECK-NEXT: exec.copy %{{.*}} to %[[S]]
// CHECK-NEXT: %[[O:[0-9]+]] = exec.buffer shared : memref<4xf32>
// CHECK-NEXT: exec.start all_reduce max over ["data"] %[[S]] to %[[O]] id 1
// CHECK-NEXT: exec.wait
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">}, %x: tensor<2x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<2x4xf32> {nn.result = #nn.result<output "y">}, tensor<2x4xf32> {nn.result = #nn.result<output "z">}) {
  %0 = dist.all_gather %a on @mesh ["data"] : tensor<4xf32> -> tensor<2x4xf32>
  %1 = dist.micro 2 "micro"(%x : tensor<2x4xf32>) operands [sliced] {
  ^bb0(%m: tensor<4xf32>):
    %2 = dist.all_reduce max %m on @mesh ["data"] : tensor<4xf32>
    dist.yield %2 : tensor<4xf32>
  } -> (tensor<2x4xf32>) results [stacked]
  return %0, %1 : tensor<2x4xf32>, tensor<2x4xf32>
}
}

// -----

// An all-to-all and a reduce-scatter are collectives like any other, in a loop too.
module @lowers_all_to_all_and_reduce_scatter {
dist.mesh @mesh axes ["micro", "data"] sizes [2, 2] sequential ["micro"]
// CHECK-LABEL: module @lowers_all_to_all_and_reduce_scatter
// CHECK-LABEL: exec.entry @step
// CHECK: %[[A:[0-9]+]] = exec.get @state.a
// CHECK: %[[B:[0-9]+]] = exec.buffer shared : memref<2x4xf32>
// CHECK-NEXT: %[[E:[0-9]+]] = exec.start all_to_all sum over ["data"] %[[A]] to %[[B]] id 0
// CHECK-NEXT: exec.wait %[[E]]
// CHECK: exec.loop 2 {
// CHECK: %[[O:[0-9]+]] = exec.buffer shared : memref<4xf32>
// CHECK-NEXT: exec.start reduce_scatter max over ["data"] %{{.*}} to %[[O]] id 1 : memref<2x4xf32>, memref<4xf32>
// CHECK-NEXT: exec.wait
func.func @step(%a: tensor<2x4xf32> {nn.arg = #nn.arg<parameter "a">}, %x: tensor<2x2x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<2x4xf32> {nn.result = #nn.result<output "y">}, tensor<2x4xf32> {nn.result = #nn.result<output "z">}) {
  %0 = dist.all_to_all %a on @mesh ["data"] : tensor<2x4xf32>
  %1 = dist.micro 2 "micro"(%x : tensor<2x2x4xf32>) operands [sliced] {
  ^bb0(%m: tensor<2x4xf32>):
    %2 = dist.reduce_scatter max %m on @mesh ["data"] : tensor<2x4xf32> -> tensor<4xf32>
    dist.yield %2 : tensor<4xf32>
  } -> (tensor<2x4xf32>) results [stacked]
  return %0, %1 : tensor<2x4xf32>, tensor<2x4xf32>
}
}

// -----

// Between members, and after the last, there are zeros for whoever reads a pack
// whole; where only its members are read, anything may lie there.
module @clears_gaps_of_whole_packs {
dist.mesh @mesh axes ["data"] sizes [2]
// CHECK-LABEL: module @clears_gaps_of_whole_packs
// CHECK-LABEL: exec.entry @step
// CHECK: exec.buffer shared : memref<32xf32>
// CHECK: exec.copy
// CHECK: %[[Z0:[0-9]+]] = exec.view %{{.*}} at 16 : memref<32xf32> to memref<12xf32>
// CHECK-NEXT: exec.zero %[[Z0]]
// CHECK: exec.copy
// CHECK: %[[Z1:[0-9]+]] = exec.view %{{.*}} at 80 : memref<32xf32> to memref<12xf32>
// CHECK-NEXT: exec.zero %[[Z1]]
// CHECK-LABEL: exec.entry @eval
// CHECK-NOT: exec.zero
// CHECK-LABEL: exec.entry @infer
// CHECK-COUNT-2: exec.zero
func.func @step(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x", batch = 0>}) -> (tensor<16xf32> {nn.result = #nn.result<output "a">}) {
  %0 = dist.pack %x, %x at [0, 16] : tensor<4xf32>, tensor<4xf32> -> tensor<32xf32>
  %1 = nn.reshape %0 : tensor<32xf32> -> tensor<2x16xf32>
  %2 = dist.reduce_scatter sum %1 on @mesh ["data"] : tensor<2x16xf32> -> tensor<16xf32>
  return %2 : tensor<16xf32>
}
func.func @eval(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x", batch = 0>}) -> (tensor<4xf32> {nn.result = #nn.result<output "b">}) {
  %0 = dist.pack %x, %x at [0, 16] : tensor<4xf32>, tensor<4xf32> -> tensor<32xf32>
  %1 = dist.all_reduce sum %0 on @mesh ["data"] : tensor<32xf32>
  %2:2 = dist.unpack %1 at [0, 16] : tensor<32xf32> -> tensor<4xf32>, tensor<4xf32>
  return %2#0 : tensor<4xf32>
}
func.func @infer(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x", batch = 0>}) -> (tensor<4xf32> {nn.result = #nn.result<output "b">}) {
  %0 = dist.pack %x, %x at [0, 16] : tensor<4xf32>, tensor<4xf32> -> tensor<32xf32>
  %2:2 = dist.unpack %0 at [0, 8] : tensor<32xf32> -> tensor<4xf32>, tensor<4xf32>
  return %2#0 : tensor<4xf32>
}
}

// -----

// A microbatch loop reads slices, copies to slices, and adds to sums set to zero.
module @loop_copies_slices_and_sums {
func.func private @k(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) { return %a, %a : tensor<4xf32>, tensor<4xf32> }
func.func private @accumulate.f32.4(%s: tensor<4xf32>, %v: tensor<4xf32>) -> tensor<4xf32> { return %s : tensor<4xf32> }
// CHECK-LABEL: module @loop_copies_slices_and_sums
// CHECK-LABEL: exec.entry @step
// CHECK: exec.zero %[[SUM:[0-9]+]] : memref<4xf32>
// CHECK: exec.loop 2 {
// CHECK: %[[X:[0-9]+]] = exec.view %{{.*}} at 0 stride 16 : memref<2x4xf32> to memref<4xf32>
// CHECK: exec.launch @k(%[[X]]) into(%[[Y:[0-9]+]], %[[T:[0-9]+]])
// CHECK: %[[YS:[0-9]+]] = exec.view %{{.*}} at 0 stride 16 : memref<2x4xf32> to memref<4xf32>
// CHECK: exec.copy %[[Y]] to %[[YS]]
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

// A sum over microbatches needs a kernel that adds.
module @refuses_sum_without_kernel {
func.func @step(%x: tensor<2x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>}) -> (tensor<4xf32> {nn.result = #nn.result<output "z">}) {
  // expected-error @+1 {{sums 'tensor<4xf32>', but nothing was outlined for that}}
  %0 = dist.micro 2 "micro"(%x : tensor<2x4xf32>) operands [sliced] {
  ^bb0(%m: tensor<4xf32>):
    dist.yield %m : tensor<4xf32>
  } -> (tensor<4xf32>) results [summed]
  return %0 : tensor<4xf32>
}
}

// -----
// Messages and sums over stages keep their numbers. Their buffers are in shared memory: a slice of a
// microbatch is copied there first.
// CHECK-LABEL: module @lowers_messages
// CHECK-LABEL: exec.entry @step
// CHECK: exec.loop 2
// CHECK: %[[V:.*]] = exec.view
// CHECK: %[[C:.*]] = exec.buffer shared : memref<4xf32>
// CHECK: exec.copy %[[V]] to %[[C]]
// CHECK: %[[S:.*]] = exec.start_send %[[C]] to 1 over "pipe" id 3
// CHECK-NEXT: exec.wait %[[S]]
// CHECK: %[[B:.*]] = exec.buffer shared : memref<4xf32>
// CHECK-NEXT: %[[R:.*]] = exec.start_recv %[[B]] from 1 over "pipe" id 4
// CHECK-NEXT: exec.wait %[[R]]
// CHECK: %[[E:.*]] = exec.start all_reduce sum over ["pipe"] of [0, 1] %{{.*}} to %{{.*}} id 5
// CHECK-NEXT: exec.wait %[[E]]
module @lowers_messages {
dist.mesh @mesh axes ["micro", "pipe"] sizes [2, 2] sequential ["micro"]
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
func.func private @accumulate.f32.4(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
func.func @step(%x: tensor<2x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>}, %w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "w">}) {
  %g = dist.micro 2 "micro" (%x : tensor<2x4xf32>) operands [sliced] {
  ^bb0(%xm: tensor<4xf32>):
    dist.send %xm to 1 on @mesh "pipe" number 3 : tensor<4xf32>
    %0 = dist.recv from 1 on @mesh "pipe" number 4 : tensor<4xf32>
    %1 = func.call @k(%0) : (tensor<4xf32>) -> tensor<4xf32>
    dist.yield %1 : tensor<4xf32>
  } -> (tensor<4xf32>) results [summed]
  %s = dist.stage_reduce %g among [0, 1] on @mesh "pipe" number 5 : tensor<4xf32>
  return %s : tensor<4xf32>
}
}
