// RUN: dpc-opt %s --split-input-file --pass-pipeline='builtin.module(builtin.module(dpc-form-pieces))' | FileCheck %s
// RUN: dpc-opt %s --split-input-file --pass-pipeline='builtin.module(builtin.module(dpc-form-pieces{splits-weights}))' | FileCheck %s --check-prefix=SPLIT

// What depends on a message from the later stage is the backward piece. It keeps what the forward
// piece computes, and repeats constants and views. With three pieces, what no message needs is the
// last one.
module @divides_an_iteration {
dist.mesh @mesh axes ["micro", "pipe"] sizes [2, 3] sequential ["micro"]
module @stage.1 attributes {dist.stage = 1 : i64} {
dist.mesh @mesh axes ["micro", "pipe"] sizes [2, 3] sequential ["micro"]
// CHECK-LABEL: module @divides_an_iteration
// CHECK: %[[X:.*]] = dist.recv from 0 {{.*}} number 0
// CHECK-NEXT: %[[F:.*]]:2 = dist.piece "F" chunk 1 {
// CHECK: nn.tanh
// CHECK: nn.exp
// CHECK: dist.yield
// CHECK: dist.send %[[F]]#{{[01]}} to 2 {{.*}} number 1
// CHECK-NEXT: %[[G:.*]] = dist.recv from 2 {{.*}} number 2
// CHECK-NEXT: %[[B:.*]]:2 = dist.piece "B" chunk 1 {
// CHECK: nn.mul %[[G]]
// CHECK: nn.reshape
// CHECK: nn.reduce
// CHECK: dist.send %[[B]]#{{[01]}} to 0 {{.*}} number 3
// CHECK-NEXT: dist.yield %[[B]]#{{[01]}}
// SPLIT-LABEL: module @divides_an_iteration
// SPLIT: dist.piece "B" chunk 1 {
// SPLIT-NEXT: nn.mul
// SPLIT-NEXT: dist.yield
// SPLIT: dist.send {{.*}} number 3
// SPLIT-NEXT: %[[W:.*]] = dist.piece "W" chunk 1 {
// SPLIT: nn.reduce
// SPLIT: dist.yield %[[W]]
func.func @step(%w: tensor<8xf32> {nn.arg = #nn.arg<parameter "w">}) -> (tensor<4xf32> {nn.result = #nn.result<state "w">}) {
  %s = dist.micro 2 "micro" (%w : tensor<8xf32>) operands [whole] {
  ^bb0(%wm: tensor<8xf32>):
    %x = dist.recv from 0 on @mesh "pipe" number 0 : tensor<8xf32>
    %t = nn.tanh %x : tensor<8xf32>
    %e = nn.exp %t : tensor<8xf32>
    %v = nn.reshape %t : tensor<8xf32> -> tensor<2x4xf32>
    dist.send %e to 2 on @mesh "pipe" number 1 : tensor<8xf32>
    %g = dist.recv from 2 backward on @mesh "pipe" number 2 : tensor<8xf32>
    %d = nn.mul %g, %wm : tensor<8xf32>
    dist.send %d to 0 backward on @mesh "pipe" number 3 : tensor<8xf32>
    %r = nn.reshape %g : tensor<8xf32> -> tensor<2x4xf32>
    %m = nn.mul %r, %v : tensor<2x4xf32>
    %a = nn.reduce sum %m [0] : tensor<2x4xf32> -> tensor<4xf32>
    dist.yield %a : tensor<4xf32>
  } -> (tensor<4xf32>) results [summed]
  return %s : tensor<4xf32>
}
}
}

// -----

// The gather of a parameter that only the backward pass reads belongs to it: its result would
// otherwise be kept. What saves bytes when it runs early stays.
module @moves_gathers_to_their_readers {
dist.mesh @mesh axes ["micro", "data", "pipe"] sizes [2, 2, 2] sequential ["micro"]
module @stage.0 attributes {dist.stage = 0 : i64} {
dist.mesh @mesh axes ["micro", "data", "pipe"] sizes [2, 2, 2] sequential ["micro"]
// CHECK-LABEL: module @moves_gathers_to_their_readers
// CHECK: dist.piece "F" chunk 0 {
// CHECK-NOT: dist.all_gather
// CHECK: nn.compare
// CHECK: dist.piece "B" chunk 0 {
// CHECK: dist.all_gather
func.func @step(%x: tensor<2x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>}, %w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<8xf32> {nn.result = #nn.result<state "w">}) {
  %s = dist.micro 2 "micro" (%x, %w : tensor<2x8xf32>, tensor<4xf32>) operands [sliced, whole] {
  ^bb0(%xm: tensor<8xf32>, %wm: tensor<4xf32>):
    %h = nn.exp %xm : tensor<8xf32>
    %z = nn.constant dense<0.0> : tensor<8xf32>
    %mask = nn.compare gt %h, %z : tensor<8xf32> -> tensor<8xi1>
    %all = dist.all_gather %wm on @mesh ["data"] : tensor<4xf32> -> tensor<2x4xf32>
    dist.send %h to 1 on @mesh "pipe" number 0 : tensor<8xf32>
    %g = dist.recv from 1 backward on @mesh "pipe" number 1 : tensor<8xf32>
    %flat = nn.reshape %all : tensor<2x4xf32> -> tensor<8xf32>
    %p = nn.mul %g, %flat : tensor<8xf32>
    %d = nn.select %mask, %p, %z : tensor<8xi1>, tensor<8xf32>
    dist.yield %d : tensor<8xf32>
  } -> (tensor<8xf32>) results [summed]
  return %s : tensor<8xf32>
}
}
}

// -----

// A stage without a backward pass, e.g. one that trains no parameter, has forward pieces. A loop
// without messages stays as it is.
module @divides_loops_of_one_direction {
dist.mesh @mesh axes ["micro", "pipe"] sizes [2, 2] sequential ["micro"]
module @stage.0 attributes {dist.stage = 0 : i64} {
dist.mesh @mesh axes ["micro", "pipe"] sizes [2, 2] sequential ["micro"]
// CHECK-LABEL: module @divides_loops_of_one_direction
// CHECK: dist.micro
// CHECK-NOT: dist.piece
// CHECK: dist.micro
// CHECK: dist.piece "F" chunk 0
// CHECK-NOT: dist.piece
func.func @step(%x: tensor<2x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>}) -> (tensor<8xf32> {nn.result = #nn.result<metric "m">}) {
  %s = dist.micro 2 "micro" (%x : tensor<2x8xf32>) operands [sliced] {
  ^bb0(%xm: tensor<8xf32>):
    %h = nn.tanh %xm : tensor<8xf32>
    dist.yield %h : tensor<8xf32>
  } -> (tensor<8xf32>) results [summed]
  dist.micro 2 "micro" (%x : tensor<2x8xf32>) operands [sliced] {
  ^bb0(%xm: tensor<8xf32>):
    %h = nn.exp %xm : tensor<8xf32>
    dist.send %h to 1 on @mesh "pipe" number 0 : tensor<8xf32>
    dist.yield
  } -> () results []
  return %s : tensor<8xf32>
}
}
}

// -----

// A stage with two chunks has two forward pieces and, in the opposite order, two backward pieces. The
// last chunk computes its backward pass with its forward pass. The value that a chunk keeps for
// another one of the same stage needs no message.
module @divides_chunks {
dist.mesh @mesh axes ["micro", "pipe"] sizes [2, 2] sequential ["micro"]
module @stage.1 attributes {dist.stage = 1 : i64} {
dist.mesh @mesh axes ["micro", "pipe"] sizes [2, 2] sequential ["micro"]
// CHECK-LABEL: module @divides_chunks
// CHECK: dist.recv from 0 for chunk 1 on
// CHECK-NEXT: %[[F:.*]]:2 = dist.piece "F" chunk 1 {
// CHECK: nn.exp
// CHECK: dist.send %[[F]]#{{[01]}} to 0 on
// CHECK-NEXT: %[[Y:.*]] = dist.recv from 0 for chunk 3 on
// CHECK-NEXT: %[[L:.*]]:2 = dist.piece "F" chunk 3 {
// CHECK: nn.mul %[[Y]], %[[F]]#
// CHECK: dist.send %[[L]]#{{[01]}} to 0 backward on
// CHECK-NEXT: %[[G:.*]] = dist.recv from 0 for chunk 1 backward on
// CHECK-NEXT: dist.piece "B" chunk 1 {
// CHECK-NEXT: nn.mul %[[G]]
// CHECK: dist.send {{.*}} to 0 backward on
// SPLIT-LABEL: module @divides_chunks
// SPLIT: dist.piece "F" chunk 3 {
// SPLIT-NEXT: nn.mul
// SPLIT-NEXT: dist.yield
// SPLIT: dist.send {{.*}} number 2
// SPLIT-NEXT: dist.piece "W" chunk 3 {
// SPLIT: dist.piece "B" chunk 1 {
// SPLIT: dist.piece "W" chunk 1 {
func.func @step() -> (tensor<8xf32> {nn.result = #nn.result<state "v">}, tensor<8xf32> {nn.result = #nn.result<state "w">}) {
  %s:2 = dist.micro 2 "micro" () operands [] {
    %x = dist.recv from 0 for chunk 1 on @mesh "pipe" number 0 : tensor<8xf32>
    %t = nn.tanh %x : tensor<8xf32>
    %e = nn.exp %t : tensor<8xf32>
    dist.send %e to 0 on @mesh "pipe" number 1 : tensor<8xf32>
    %y = dist.recv from 0 for chunk 3 on @mesh "pipe" number 3 : tensor<8xf32>
    %m = nn.mul %y, %t : tensor<8xf32>
    dist.send %m to 0 backward on @mesh "pipe" number 2 : tensor<8xf32>
    %a = nn.tanh %m : tensor<8xf32>
    %g = dist.recv from 0 for chunk 1 backward on @mesh "pipe" number 4 : tensor<8xf32>
    %d = nn.mul %g, %t : tensor<8xf32>
    dist.send %d to 0 backward on @mesh "pipe" number 5 : tensor<8xf32>
    %b = nn.sqrt %d : tensor<8xf32>
    dist.yield %a, %b : tensor<8xf32>, tensor<8xf32>
  } -> (tensor<8xf32>, tensor<8xf32>) results [summed, summed]
  return %s#0, %s#1 : tensor<8xf32>, tensor<8xf32>
}
}
}
