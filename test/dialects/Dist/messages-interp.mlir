// The stages of a pipeline in the interpreter.
// RUN: split-file %s %t
// RUN: dpc-interp %t/exchange.mlir --steps=2 | FileCheck %s
// RUN: not dpc-interp %t/waits.mlir 2>&1 | FileCheck %s --check-prefix=WAITS
// RUN: not dpc-interp %t/ended.mlir 2>&1 | FileCheck %s --check-prefix=WAITS
// RUN: not dpc-interp %t/state.mlir 2>&1 | FileCheck %s --check-prefix=STATE

// Stage 0 sends 1, 2, 3 in three turns. Stage 1 adds 10 to each and sends it back. The sum of both stages is 6 + 36.
// CHECK: {"step": 1, "loss": 42,
// CHECK: {"step": 2, "loss": 42,
// WAITS: error: {{.*}} waits for another device, but all devices wait or have ended
// STATE: error: {{.*}} two stages compute different new values of 'w'

//--- exchange.mlir
dist.mesh @mesh axes ["micro", "pipe"] sizes [3, 2] sequential ["micro"]
module @stage.0 attributes {dist.stage = 0} {
  dist.mesh @mesh axes ["micro", "pipe"] sizes [3, 2] sequential ["micro"]
  func.func @step() -> (tensor<f64> {nn.result = #nn.result<metric "loss">}) {
    %v = nn.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf64>
    %s = dist.micro 3 "micro" (%v : tensor<3xf64>) operands [sliced] {
    ^bb0(%m: tensor<f64>):
      dist.send %m to 1 on @mesh "pipe" number 1 : tensor<f64>
      %b = dist.recv from 1 on @mesh "pipe" number 2 : tensor<f64>
      dist.yield %b : tensor<f64>
    } -> (tensor<f64>) results [summed]
    %r = dist.stage_reduce %s among [0, 1] on @mesh "pipe" number 3 : tensor<f64>
    return %r : tensor<f64>
  }
}
module @stage.1 attributes {dist.stage = 1} {
  dist.mesh @mesh axes ["micro", "pipe"] sizes [3, 2] sequential ["micro"]
  func.func @step() {
    %ten = nn.constant dense<10.0> : tensor<f64>
    %s = dist.micro 3 "micro" (%ten : tensor<f64>) operands [whole] {
    ^bb0(%t: tensor<f64>):
      %m = dist.recv from 0 on @mesh "pipe" number 1 : tensor<f64>
      %a = nn.add %m, %t : tensor<f64>
      dist.send %a to 0 on @mesh "pipe" number 2 : tensor<f64>
      dist.yield %m : tensor<f64>
    } -> (tensor<f64>) results [summed]
    %r = dist.stage_reduce %s among [0, 1] on @mesh "pipe" number 3 : tensor<f64>
    return
  }
}

//--- waits.mlir
dist.mesh @mesh axes ["pipe"] sizes [2]
module @stage.0 attributes {dist.stage = 0} {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  func.func @step() -> (tensor<f64> {nn.result = #nn.result<metric "loss">}) {
    %b = dist.recv from 1 on @mesh "pipe" number 2 : tensor<f64>
    dist.send %b to 1 on @mesh "pipe" number 1 : tensor<f64>
    return %b : tensor<f64>
  }
}
module @stage.1 attributes {dist.stage = 1} {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  func.func @step() {
    %b = dist.recv from 0 on @mesh "pipe" number 1 : tensor<f64>
    dist.send %b to 0 on @mesh "pipe" number 2 : tensor<f64>
    return
  }
}

//--- ended.mlir
dist.mesh @mesh axes ["pipe"] sizes [2]
module @stage.0 attributes {dist.stage = 0} {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  func.func @step() -> (tensor<f64> {nn.result = #nn.result<metric "loss">}) {
    %b = dist.recv from 1 on @mesh "pipe" number 2 : tensor<f64>
    return %b : tensor<f64>
  }
}
module @stage.1 attributes {dist.stage = 1} {
  dist.mesh @mesh axes ["pipe"] sizes [2]
}

//--- state.mlir
dist.mesh @mesh axes ["pipe"] sizes [2]
nn.variable @w = dense<1.0> : tensor<f64>
module @stage.0 attributes {dist.stage = 0} {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  func.func @step(%w: tensor<f64> {nn.arg = #nn.arg<parameter "w">}) -> (tensor<f64> {nn.result = #nn.result<state "w">}) {
    %n = nn.exp %w : tensor<f64>
    return %n : tensor<f64>
  }
}
module @stage.1 attributes {dist.stage = 1} {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  func.func @step(%w: tensor<f64> {nn.arg = #nn.arg<parameter "w">}) -> (tensor<f64> {nn.result = #nn.result<state "w">}) {
    return %w : tensor<f64>
  }
}
