// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-describe-machine --dpc-lower-to-exec | FileCheck %s

// The new value of a state goes where the old one was when the kernel may compute
// in place.
func.func private @k(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> attributes {exec.may_alias = [array<i64: 0>]} {
  return %a : tensor<4xf32>
}
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

// -----
// It is copied there when the kernel may not: the state is its second operand.
func.func private @k(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> attributes {exec.may_alias = [array<i64: 0>]} {
  return %a : tensor<4xf32>
}
// CHECK-LABEL: exec.entry @step
// CHECK: exec.launch @k(%[[X:[0-9]+]], %[[W:[0-9]+]]) into(%[[T:[0-9]+]])
// CHECK: exec.copy %[[T]] to %[[W]]
func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}, %x: tensor<4xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<4xf32> {nn.result = #nn.result<state "w">}) {
  %0 = call @k(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----
// And when something reads the old value later, through a view even.
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {exec.may_alias = [array<i64: 0>]} {
  return %a : tensor<4xf32>
}
func.func private @sum(%a: tensor<2x2xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %a [0, 1] : tensor<2x2xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
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

// -----
// Two states that change places are saved before either is overwritten.
// CHECK-LABEL: exec.entry @step
// CHECK: %[[A:.*]] = exec.get @state.a
// CHECK: %[[B:.*]] = exec.get @state.b
// CHECK: exec.copy %[[B]] to %[[T0:.*]] :
// CHECK: exec.copy %[[A]] to %[[T1:.*]] :
// CHECK: exec.copy %[[T0]] to %[[A]]
// CHECK: exec.copy %[[T1]] to %[[B]]
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">}, %b: tensor<4xf32> {nn.arg = #nn.arg<parameter "b">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "a">}, tensor<4xf32> {nn.result = #nn.result<state "b">}) {
  return %b, %a : tensor<4xf32>, tensor<4xf32>
}

// -----
// Entries share residents; scratch memory is a buffer; controls are read once.
func.func private @k(%a: tensor<4xf32>, %s: tensor<i64>) -> tensor<f32> attributes {exec.scratch_bytes = 128 : i64} {
  %0 = nn.reduce sum %a [0] : tensor<4xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
// CHECK: exec.resident @state.w
// CHECK-NOT: exec.resident @state.w
// CHECK: exec.resident @metric.loss
// CHECK-LABEL: exec.entry @step
// CHECK: exec.control "step" into %[[C:.*]] :
// CHECK: %[[L:.*]] = exec.get @metric.loss
// CHECK: %[[S:.*]] = exec.buffer arena : memref<128xi8>
// CHECK: exec.launch @k(%{{.*}}, %[[C]]) into(%[[L]]) scratch(%[[S]])
// CHECK-LABEL: exec.entry @eval
func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}, %s: tensor<i64> {nn.arg = #nn.arg<control "step">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %0 = call @k(%w, %s) : (tensor<4xf32>, tensor<i64>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @eval(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}, %s: tensor<i64> {nn.arg = #nn.arg<control "valid_rows">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %0 = call @k(%w, %s) : (tensor<4xf32>, tensor<i64>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----
func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}) -> (tensor<4xf32> {nn.result = #nn.result<state "w">}) {
  // expected-error @+1 {{is outside a kernel and has no buffer form}}
  %0 = nn.relu %w : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----
// expected-error @+1 {{returns the state w but does not take it}}
func.func @step(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x">}) -> (tensor<4xf32> {nn.result = #nn.result<state "w">}) {
  return %x : tensor<4xf32>
}

// -----
// All-reduces that do not wait for each other are one collective on one buffer,
// into whose parts their operands are computed; it starts when the last is there
// and is waited for before the first use.
dist.mesh @mesh axes ["data"] sizes [2]
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
func.func private @u(%a: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> attributes {exec.may_alias = [array<i64: 0, 1>]} { return %a : tensor<4xf32> }
// CHECK-LABEL: exec.entry @step
// CHECK: %[[B:[0-9]+]] = exec.buffer shared : memref<32xf32>
// CHECK: %[[V0:[0-9]+]] = exec.view %[[B]] at 0 : memref<32xf32> to memref<4xf32>
// CHECK: %[[V1:[0-9]+]] = exec.view %[[B]] at 64 : memref<32xf32> to memref<4xf32>
// CHECK: exec.launch @k(%{{.*}}) into(%[[V0]])
// CHECK: exec.launch @k(%{{.*}}) into(%[[V1]])
// CHECK-NEXT: %[[E:[0-9]+]] = exec.start all_reduce sum over ["data"] %[[B]] to %[[B]] id 0
// CHECK-NEXT: exec.wait %[[E]]
// CHECK-NEXT: exec.launch @u(%[[A:[0-9]+]], %[[V0]]) into(%[[A]])
// CHECK-NEXT: exec.launch @u(%[[C:[0-9]+]], %[[V1]]) into(%[[C]])
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">}, %b: tensor<4xf32> {nn.arg = #nn.arg<parameter "b">},
                %x: tensor<4xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<4xf32> {nn.result = #nn.result<state "a">}, tensor<4xf32> {nn.result = #nn.result<state "b">}) {
  %0 = call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dist.all_reduce sum %0 on @mesh ["data"] : tensor<4xf32>
  %2 = call @u(%a, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = dist.all_reduce sum %3 on @mesh ["data"] : tensor<4xf32>
  %5 = call @u(%b, %4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2, %5 : tensor<4xf32>, tensor<4xf32>
}

// -----
// Sums over other ranks are other collectives.
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
// CHECK-LABEL: exec.entry @step
// CHECK-DAG: exec.start all_reduce sum over ["data"]
// CHECK-DAG: exec.start all_reduce sum over ["model"]
func.func @step(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<4xf32> {nn.result = #nn.result<output "a">}, tensor<4xf32> {nn.result = #nn.result<output "b">}) {
  %0 = call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dist.all_reduce sum %0 on @mesh ["data"] : tensor<4xf32>
  %2 = call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = dist.all_reduce sum %2 on @mesh ["model"] : tensor<4xf32>
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----
// One that waits for another is a collective of its own; its operand, which lies
// in shared memory already, is not copied and stays what it is.
dist.mesh @mesh axes ["data"] sizes [2]
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
// CHECK-LABEL: exec.entry @step
// CHECK: %[[V:[0-9]+]] = exec.view
// CHECK: exec.start all_reduce sum over ["data"] %{{.*}} id 0
// CHECK-NEXT: exec.wait
// CHECK-NEXT: %[[S:[0-9]+]] = exec.buffer shared
// CHECK-NEXT: exec.start all_reduce sum over ["data"] %[[V]] to %[[S]] id 1
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "a">}) {
  %0 = call @k(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dist.all_reduce sum %0 on @mesh ["data"] : tensor<4xf32>
  %2 = dist.all_reduce sum %1 on @mesh ["data"] : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----
// A microbatch loop reads slices, writes slices, and adds to sums set to zero.
func.func private @k(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) { return %a, %a : tensor<4xf32>, tensor<4xf32> }
func.func private @accumulate.f32.4(%s: tensor<4xf32>, %v: tensor<4xf32>) -> tensor<4xf32> { return %s : tensor<4xf32> }
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

// -----
// What a collective reads is computed where peers can read it, behind a reshape
// too, and state that one reads lies there: nothing is copied. Others may read what
// a collective reads; its result, and writing what it reads, wait for it.
dist.mesh @mesh axes ["data"] sizes [2]
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
// CHECK: exec.resident @state.a {{.*}} shared
// CHECK: exec.resident @output.y {{.*}} arena
// CHECK-LABEL: exec.entry @step
// CHECK: %[[A:[0-9]+]] = exec.get @state.a
// CHECK: %[[B:[0-9]+]] = exec.buffer shared : memref<2x4xf32>
// CHECK-NEXT: %[[E:[0-9]+]] = exec.start all_gather sum over ["data"] %[[A]] to %[[B]] id 0
// CHECK-NEXT: %[[K:[0-9]+]] = exec.buffer shared : memref<4xf32>
// CHECK: exec.launch @k(%[[A]]) into(%[[K]])
// CHECK-NEXT: %[[R:[0-9]+]] = exec.view %[[K]] at 0 : memref<4xf32> to memref<2x2xf32>
// CHECK-NEXT: %[[C:[0-9]+]] = exec.buffer shared : memref<2x2x2xf32>
// CHECK-NEXT: exec.start all_gather sum over ["data"] %[[R]] to %[[C]] id 1
// CHECK-NEXT: exec.wait %[[E]]
// CHECK-NEXT: exec.copy %[[B]]
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">})
    -> (tensor<2x4xf32> {nn.result = #nn.result<output "y">}, tensor<2x2x2xf32> {nn.result = #nn.result<output "z">}) {
  %0 = dist.all_gather %a on @mesh ["data"] : tensor<4xf32> -> tensor<2x4xf32>
  %1 = call @k(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = nn.reshape %1 : tensor<4xf32> -> tensor<2x2xf32>
  %3 = dist.all_gather %2 on @mesh ["data"] : tensor<2x2xf32> -> tensor<2x2x2xf32>
  return %0, %3 : tensor<2x4xf32>, tensor<2x2x2xf32>
}

// -----
// An argument of a loop does not lie there: it is copied, and reduced in place.
dist.mesh @mesh axes ["micro", "data"] sizes [2, 2] sequential ["micro"]
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
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

// -----
// What a collective still reads is not overwritten before it has ended.
dist.mesh @mesh axes ["data"] sizes [2]
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {exec.may_alias = [array<i64: 0>]} { return %a : tensor<4xf32> }
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

// -----
// Updates come where they wait least: that of the large gradient, which stands
// first, while its collective is under way the small one's result is used. What
// reads the old value of a state stays before its update.
dist.mesh @mesh axes ["data"] sizes [2]
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
func.func private @K(%a: tensor<1048576xf32>) -> tensor<1048576xf32> { return %a : tensor<1048576xf32> }
func.func private @u(%a: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> attributes {exec.may_alias = [array<i64: 0>]} { return %a : tensor<4xf32> }
func.func private @U(%a: tensor<1048576xf32>, %g: tensor<1048576xf32>) -> tensor<1048576xf32> attributes {exec.may_alias = [array<i64: 0>]} { return %a : tensor<1048576xf32> }
// CHECK-LABEL: exec.entry @step
// CHECK: exec.launch @k
// CHECK: %[[E0:[0-9]+]] = exec.start {{.*}} memref<16xf32>
// CHECK: exec.launch @K
// CHECK: %[[E1:[0-9]+]] = exec.start {{.*}} memref<1048576xf32>
// CHECK: exec.wait %[[E0]]
// CHECK-NEXT: exec.launch @u
// CHECK-NEXT: exec.wait %[[E1]]
// CHECK-NEXT: exec.launch @U
func.func @step(%a: tensor<1048576xf32> {nn.arg = #nn.arg<parameter "a">}, %b: tensor<4xf32> {nn.arg = #nn.arg<parameter "b">})
    -> (tensor<1048576xf32> {nn.result = #nn.result<state "a">}, tensor<4xf32> {nn.result = #nn.result<state "b">}) {
  %0 = call @k(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dist.all_reduce max %0 on @mesh ["data"] : tensor<4xf32>
  %2 = call @K(%a) : (tensor<1048576xf32>) -> tensor<1048576xf32>
  %3 = dist.all_reduce sum %2 on @mesh ["data"] : tensor<1048576xf32>
  %4 = call @U(%a, %3) : (tensor<1048576xf32>, tensor<1048576xf32>) -> tensor<1048576xf32>
  %5 = call @u(%b, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %4, %5 : tensor<1048576xf32>, tensor<4xf32>
}

// -----
// A sum that another collective waits for is not kept back by one that is only
// reported: it starts at once, and what does not need it is computed meanwhile.
dist.mesh @mesh axes ["data"] sizes [2]
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
// CHECK-LABEL: exec.entry @step
// CHECK: exec.launch @k
// CHECK-NEXT: %[[E0:[0-9]+]] = exec.start all_reduce
// CHECK: exec.launch @k
// CHECK-NEXT: %[[E1:[0-9]+]] = exec.start all_reduce
// CHECK: exec.wait %[[E0]]
// CHECK: exec.launch @k
// CHECK-NEXT: exec.start all_reduce
func.func @step(%a: tensor<4xf32> {nn.arg = #nn.arg<parameter "a">})
    -> (tensor<4xf32> {nn.result = #nn.result<metric "loss">}, tensor<4xf32> {nn.result = #nn.result<output "y">}) {
  %0 = call @k(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @k(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = dist.all_reduce sum %0 on @mesh ["data"] : tensor<4xf32>
  %3 = dist.all_reduce sum %1 on @mesh ["data"] : tensor<4xf32>
  %4 = call @k(%2) : (tensor<4xf32>) -> tensor<4xf32>
  %5 = dist.all_reduce sum %4 on @mesh ["data"] : tensor<4xf32>
  return %3, %5 : tensor<4xf32>, tensor<4xf32>
}

// -----
// A divided update: gradients are computed into one buffer, zero where there is
// none, of which a rank's share of the sum takes the place; the share of the parameters is updated in
// place and gathered from where it lies. Readers of the old parameters come
// before.
dist.mesh @mesh axes ["data"] sizes [2]
func.func private @grad(%w: tensor<4xf32>) -> tensor<4xf32> { return %w : tensor<4xf32> }
func.func private @update(%p: tensor<16xf32>, %g: tensor<16xf32>, %m: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
    attributes {exec.may_alias = [array<i64: 0>, array<i64: 2>]} { return %p, %m : tensor<16xf32>, tensor<16xf32> }
// CHECK: exec.resident @storage.p #dist.storage<"p"{{.*}}> shared : memref<32xf32>
// CHECK: exec.resident @storage.m #dist.storage<"m"{{.*}}> arena : memref<16xf32>
// CHECK-LABEL: exec.entry @step
// CHECK-DAG: %[[P:.*]] = exec.get @storage.p
// CHECK-DAG: %[[M:.*]] = exec.get @storage.m
// CHECK-DAG: %[[B:.*]] = exec.buffer shared : memref<32xf32>
// CHECK-DAG: %[[G:.*]] = exec.view %[[B]] at 0 : memref<32xf32> to memref<4xf32>
// CHECK-DAG: %[[WHOLE:.*]] = exec.view %[[P]] at 0 : memref<32xf32> to memref<2x16xf32>
// CHECK-DAG: %[[SHARE:.*]] = exec.view %[[P]] at 0 stride 64 over ["data"] : memref<32xf32> to memref<16xf32>
// CHECK-DAG: %[[W:.*]] = exec.view %[[P]] at 0 : memref<32xf32> to memref<4xf32>
// CHECK: exec.launch @grad(%[[W]]) into(%[[G]])
// CHECK: %[[Z:.*]] = exec.view %[[B]] at 16 : memref<32xf32> to memref<28xf32>
// CHECK: exec.zero %[[Z]]
// CHECK: %[[BB:.*]] = exec.view %[[B]] at 0 : memref<32xf32> to memref<2x16xf32>
// CHECK: %[[GS:.*]] = exec.view %[[BB]] at 0 stride 64 over ["data"] : memref<2x16xf32> to memref<16xf32>
// CHECK: %[[E:.*]] = exec.start reduce_scatter sum over ["data"] %[[BB]] to %[[GS]]
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
  %s = dist.share %p on @mesh ["data"] : tensor<32xf32> -> tensor<16xf32>
  %u:2 = call @update(%s, %gs, %m) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  %a = dist.all_gather %u#0 on @mesh ["data"] : tensor<16xf32> -> tensor<2x16xf32>
  %n = nn.reshape %a : tensor<2x16xf32> -> tensor<32xf32>
  return %n, %u#1 : tensor<32xf32>, tensor<16xf32>
}

// -----
// What is computed elsewhere is copied into the flat buffer, and an update that
// something reads the old parameters after is gathered beside them.
dist.mesh @mesh axes ["data"] sizes [2]
func.func private @update(%p: tensor<16xf32>, %g: tensor<16xf32>) -> tensor<16xf32> attributes {exec.may_alias = [array<i64: 0>]} { return %p : tensor<16xf32> }
func.func private @norm(%w: tensor<4xf32>, %p: tensor<16xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %w [0] : tensor<4xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
// CHECK-LABEL: exec.entry @step
// CHECK: %[[P:.*]] = exec.get @storage.p
// CHECK: exec.copy %{{.*}} to %{{.*}} : memref<4xf32>
// CHECK: exec.start reduce_scatter
// CHECK: exec.launch @update
// CHECK: %[[A:.*]] = exec.buffer shared : memref<2x16xf32>
// CHECK: exec.start all_gather sum over ["data"] %{{.*}} to %[[A]]
// CHECK: exec.launch @norm
// CHECK: %[[N:.*]] = exec.view %[[A]] at 0 : memref<2x16xf32> to memref<32xf32>
// CHECK: exec.copy %[[N]] to %[[P]] : memref<32xf32>
func.func @step(%p: tensor<32xf32> {dist.storage = #dist.storage<"p" [<#nn.arg<parameter "w">, tensor<4xf32>, <"[4]"> at 0>]>},
                %x: tensor<4xf32> {nn.arg = #nn.arg<input "x">})
    -> (tensor<32xf32> {dist.storage = #dist.storage<"p" [<#nn.arg<parameter "w">, tensor<4xf32>, <"[4]"> at 0>]>},
        tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %w = dist.unpack %p at [0] : tensor<32xf32> -> tensor<4xf32>
  %b = dist.pack %x at [0] : tensor<4xf32> -> tensor<32xf32>
  %bb = nn.reshape %b : tensor<32xf32> -> tensor<2x16xf32>
  %gs = dist.reduce_scatter sum %bb on @mesh ["data"] : tensor<2x16xf32> -> tensor<16xf32>
  %s = dist.share %p on @mesh ["data"] : tensor<32xf32> -> tensor<16xf32>
  %u = call @update(%s, %gs) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %a = dist.all_gather %u on @mesh ["data"] : tensor<16xf32> -> tensor<2x16xf32>
  %n = nn.reshape %a : tensor<2x16xf32> -> tensor<32xf32>
  %l = call @norm(%w, %u) : (tensor<4xf32>, tensor<16xf32>) -> tensor<f32>
  return %n, %l : tensor<32xf32>, tensor<f32>
}

// -----
// State that no peer can reach is gathered beside it, and copied.
dist.mesh @mesh axes ["data"] sizes [2]
func.func private @k(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }
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
