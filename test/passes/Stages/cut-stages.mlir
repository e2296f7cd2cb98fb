// RUN: dpc-opt %s --split-input-file --dpc-cut-stages --dpc-verify-stages | FileCheck %s

// A value goes to each stage that reads it, once per microbatch. A stage has the arguments that its
// ops read, and a part of the loop.
module @sends_values_of_a_loop {
  dist.mesh @mesh axes ["micro", "pipe"] sizes [2, 2] sequential ["micro"]
  // CHECK-LABEL: module @sends_values_of_a_loop
  // CHECK: module @stage.0 attributes {dist.stage = 0 : i64}
  // CHECK: dist.mesh @mesh
  // CHECK: @infer(%[[X:[^:]*]]: tensor<2x2x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>}) {
  // CHECK: dist.micro 2 "micro"(%[[X]] : tensor<2x2x8xf32>) operands [sliced]
  // CHECK: %[[H:.*]] = nn.exp
  // CHECK: dist.send %[[H]] to 1 on @mesh "pipe" number [[N:.*]] : tensor<2x8xf32>
  // CHECK: module @stage.1 attributes {dist.stage = 1 : i64}
  // CHECK: @infer() -> (tensor<2x2x8xf32> {nn.result = #nn.result<output "y">}) {
  // CHECK: dist.micro 2 "micro"() operands []
  // CHECK: %[[R:.*]] = dist.recv from 0 for chunk 1 on @mesh "pipe" number [[N]] : tensor<2x8xf32>
  // CHECK: %[[T:.*]] = nn.tanh %[[R]]
  // CHECK: %[[S:.*]] = nn.add %[[T]], %[[R]]
  // CHECK: dist.yield %[[S]]
  func.func @infer(%x: tensor<2x2x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>}) -> (tensor<2x2x8xf32> {nn.result = #nn.result<output "y">}) {
    %y = dist.micro 2 "micro" (%x : tensor<2x2x8xf32>) operands [sliced] {
    ^bb0(%xm: tensor<2x8xf32>):
      %0 = nn.exp %xm {dist.chunks = array<i64: 0>} : tensor<2x8xf32>
      %1 = nn.tanh %0 {dist.chunks = array<i64: 1>} : tensor<2x8xf32>
      %2 = nn.add %1, %0 {dist.chunks = array<i64: 1>} : tensor<2x8xf32>
      dist.yield %2 : tensor<2x8xf32>
    } -> (tensor<2x2x8xf32>) results [stacked]
    return %y : tensor<2x2x8xf32>
  }
}

// -----

// A value from outside of a loop is sent outside of the loop. An op that every chunk can run is on
// both stages. The stage in the middle has nothing to do.
module @sends_values_once_outside_of_loops {
  dist.mesh @mesh axes ["micro", "pipe"] sizes [2, 3] sequential ["micro"]
  // CHECK-LABEL: module @sends_values_once_outside_of_loops
  // CHECK: module @stage.0
  // CHECK: %[[E:.*]] = nn.exp
  // CHECK-NEXT: dist.send %[[E]] to 2
  // CHECK-NOT: dist.micro
  // CHECK: module @stage.1
  // CHECK-NOT: func.func
  // CHECK: module @stage.2
  // CHECK: %[[R:.*]] = dist.recv from 0
  // CHECK: dist.micro 2 "micro"(%{{.*}}, %[[R]] : {{.*}}) operands [sliced, whole]
  // CHECK-NOT: dist.recv
  func.func @infer(%x: tensor<2x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                   %w: tensor<8xf32> {nn.arg = #nn.arg<parameter "w">, dist.chunks = array<i64: 0>})
      -> (tensor<2x8xf32> {nn.result = #nn.result<output "y">}) {
    %e = nn.exp %w {dist.chunks = array<i64: 0>} : tensor<8xf32>
    %y = dist.micro 2 "micro" (%x, %e : tensor<2x8xf32>, tensor<8xf32>) operands [sliced, whole] {
    ^bb0(%xm: tensor<8xf32>, %em: tensor<8xf32>):
      %0 = nn.add %xm, %em {dist.chunks = array<i64: 2>} : tensor<8xf32>
      dist.yield %0 : tensor<8xf32>
    } -> (tensor<2x8xf32>) results [stacked]
    return %y : tensor<2x8xf32>
  }
}

// -----

// The stages with terms of a sum, and those that read the sum, reduce it together. A stage without
// terms adds zeros.
module @reduces_sums_over_stages {
  dist.mesh @mesh axes ["pipe"] sizes [3]
  // CHECK-LABEL: module @reduces_sums_over_stages
  // CHECK: module @stage.0
  // CHECK: %[[A:.*]] = nn.exp
  // CHECK: dist.stage_reduce %[[A]] among [0, 1, 2] on @mesh "pipe" number [[N:.*]] : tensor<f32>
  // CHECK: module @stage.1
  // CHECK: %[[B:.*]] = nn.tanh
  // CHECK: dist.stage_reduce %[[B]] among [0, 1, 2] on @mesh "pipe" number [[N]] : tensor<f32>
  // CHECK: module @stage.2
  // CHECK: %[[Z:.*]] = nn.constant dense<0.000000e+00>
  // CHECK: %[[S:.*]] = dist.stage_reduce %[[Z]] among [0, 1, 2] on @mesh "pipe" number [[N]] : tensor<f32>
  // CHECK: nn.sqrt %[[S]]
  func.func @infer(%x: tensor<f32> {nn.arg = #nn.arg<input "x">}) -> (tensor<f32> {nn.result = #nn.result<output "y">}) {
    %a = nn.exp %x {dist.chunks = array<i64: 0>} : tensor<f32>
    %b = nn.tanh %x {dist.chunks = array<i64: 1>} : tensor<f32>
    %s = dist.combine_stages %a, %b : tensor<f32>
    %y = nn.sqrt %s {dist.chunks = array<i64: 2>} : tensor<f32>
    return %y : tensor<f32>
  }
}

// -----

// Each stage that holds a state returns its new value, and no other stage does.
module @returns_state_on_each_holder {
  dist.mesh @mesh axes ["pipe"] sizes [3]
  // CHECK-LABEL: module @returns_state_on_each_holder
  // CHECK: module @stage.0
  // CHECK: @step(%{{.*}}: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}) -> (tensor<4xf32> {nn.result = #nn.result<state "w">})
  // CHECK: module @stage.1
  // CHECK-NOT: @step
  // CHECK: module @stage.2
  // CHECK: @step(%{{.*}}: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}) -> (tensor<4xf32> {nn.result = #nn.result<state "w">})
  func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">, dist.chunks = array<i64: 0, 2>}) -> (tensor<4xf32> {nn.result = #nn.result<state "w">}) {
    %0 = nn.exp %w {dist.chunks = array<i64: 0, 2>} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// A stage that reads a value and a view of it receives the value, and makes the view. It receives
// the narrow form of a value that it reads in a wide form.
module @repeats_views_and_wide_forms {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  // CHECK-LABEL: module @repeats_views_and_wide_forms
  // CHECK: module @stage.0
  // CHECK-COUNT-2: dist.send
  // CHECK-NOT: dist.send
  // CHECK: module @stage.1
  // CHECK-DAG: %[[A:.*]] = dist.recv from 0 {{.*}} : tensor<8xf32>
  // CHECK-DAG: %[[B:.*]] = dist.recv from 0 {{.*}} : tensor<2x4xbf16>
  // CHECK-DAG: nn.reshape %[[A]]
  // CHECK-DAG: nn.convert %[[B]]
  // CHECK-NOT: dist.recv
  func.func @infer(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x">}, %z: tensor<2x4xbf16> {nn.arg = #nn.arg<input "z">})
      -> (tensor<8xf32> {nn.result = #nn.result<output "y">}, tensor<2x4xf32> {nn.result = #nn.result<output "s">}) {
    %a = nn.exp %x {dist.chunks = array<i64: 0>} : tensor<8xf32>
    %b = nn.exp %z {dist.chunks = array<i64: 0>} : tensor<2x4xbf16>
    %v = nn.reshape %a {dist.chunks = array<i64: 0>} : tensor<8xf32> -> tensor<2x4xf32>
    %w = nn.convert %b {dist.chunks = array<i64: 0>} : tensor<2x4xbf16> -> tensor<2x4xf32>
    %y = nn.tanh %a {dist.chunks = array<i64: 1>} : tensor<8xf32>
    %s = nn.add %v, %w {dist.chunks = array<i64: 1>} : tensor<2x4xf32>
    return %y, %s : tensor<8xf32>, tensor<2x4xf32>
  }
}

// -----

// The attribute dist.stages says which stage runs a chunk. A chunk that follows another one of the
// same stage receives nothing from it, and both count as one chunk. A value of a later chunk is
// received for a backward pass.
module @places_chunks attributes {dist.stages = array<i64: 0, 1, 1, 0>} {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  // CHECK-LABEL: module @places_chunks
  // CHECK: module @stage.0
  // CHECK: %[[A:.*]] = nn.exp
  // CHECK: dist.send %[[A]] to 1 on
  // CHECK: %[[C:.*]] = dist.recv from 1 for chunk 3 on
  // CHECK: nn.tanh %[[C]]
  // CHECK: dist.send {{.*}} to 1 backward on
  // CHECK: %[[E:.*]] = dist.recv from 1 for chunk 0 backward on
  // CHECK: nn.exp %[[E]]
  // CHECK: module @stage.1
  // CHECK: dist.recv from 0 for chunk 1 on
  // CHECK: nn.sqrt
  // CHECK-NEXT: nn.exp
  // CHECK: dist.send {{.*}} to 0 on
  // CHECK: dist.recv from 0 for chunk 1 backward on
  // CHECK: nn.sqrt
  // CHECK: dist.send {{.*}} to 0 backward on
  func.func @step(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x">}) -> (tensor<8xf32> {nn.result = #nn.result<output "y">}) {
    %a = nn.exp %x {dist.chunks = array<i64: 0>} : tensor<8xf32>
    %b = nn.sqrt %a {dist.chunks = array<i64: 1>} : tensor<8xf32>
    %c = nn.exp %b {dist.chunks = array<i64: 2>} : tensor<8xf32>
    %d = nn.tanh %c {dist.chunks = array<i64: 3>} : tensor<8xf32>
    %e = nn.sqrt %d {dist.chunks = array<i64: 2>} : tensor<8xf32>
    %y = nn.exp %e {dist.chunks = array<i64: 0>} : tensor<8xf32>
    return %y : tensor<8xf32>
  }
}

// -----

// The first stage holds a state that no op reads: checkpoints have it.
module @keeps_states_without_readers {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  // CHECK-LABEL: module @keeps_states_without_readers
  // CHECK: module @stage.0
  // CHECK: @step(%{{.*}}: tensor<8xf32> {nn.arg = #nn.arg<input "x">}, %{{.*}}: tensor<4xf32> {nn.arg = #nn.arg<constant "table">})
  // CHECK: module @stage.1
  // CHECK-NOT: "table"
  func.func @step(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x">}, %t: tensor<4xf32> {nn.arg = #nn.arg<constant "table">})
      -> (tensor<8xf32> {nn.result = #nn.result<output "y">}) {
    %a = nn.exp %x {dist.chunks = array<i64: 0>} : tensor<8xf32>
    %y = nn.tanh %a {dist.chunks = array<i64: 1>} : tensor<8xf32>
    return %y : tensor<8xf32>
  }
  func.func @eval(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x">}, %t: tensor<4xf32> {nn.arg = #nn.arg<constant "table">})
      -> (tensor<8xf32> {nn.result = #nn.result<output "y">}) {
    %y = nn.exp %x {dist.chunks = array<i64: 1>} : tensor<8xf32>
    return %y : tensor<8xf32>
  }
}
