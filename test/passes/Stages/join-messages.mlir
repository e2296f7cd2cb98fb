// RUN: dpc-opt %s --split-input-file --dpc-join-messages | FileCheck %s

#machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.1}, memory_GB_per_s = 20}, levels = [{name = "flat", GB_per_s = 3, start_us = 5}]}>
// Small messages of one type travel together, to where the last one was received. A message of
// another type and a large one do not.
module attributes {dist.machine = #machine} {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0 : i64} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    // CHECK-LABEL: func.func @step(
    // CHECK-SAME: %[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<2x3xf32>, %[[I:.*]]: tensor<4xi64>, %[[L:.*]]: tensor<65536xf32>
    func.func @step(%a: tensor<f32>, %b: tensor<2x3xf32>, %i: tensor<4xi64>, %l: tensor<65536xf32>) {
      // CHECK-DAG: %[[FA:.*]] = nn.reshape %[[A]] : tensor<f32> -> tensor<1xf32>
      // CHECK-DAG: %[[FB:.*]] = nn.reshape %[[B]] : tensor<2x3xf32> -> tensor<6xf32>
      // CHECK-DAG: %[[C:.*]] = nn.concat %[[FA]], %[[FB]] dim 0
      // CHECK-DAG: dist.send %[[I]] to 1 on @mesh "pipe" number 1
      // CHECK-DAG: dist.send %[[L]] to 1 on @mesh "pipe" number 3
      // CHECK-DAG: dist.send %[[C]] to 1 on @mesh "pipe" number 2 : tensor<7xf32>
      dist.send %a to 1 on @mesh "pipe" number 0 : tensor<f32>
      dist.send %i to 1 on @mesh "pipe" number 1 : tensor<4xi64>
      dist.send %b to 1 on @mesh "pipe" number 2 : tensor<2x3xf32>
      dist.send %l to 1 on @mesh "pipe" number 3 : tensor<65536xf32>
      return
    }
  }
  module @stage.1 attributes {dist.stage = 1 : i64} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    // CHECK-LABEL: func.func @step(
    func.func @step() -> (tensor<f32>, tensor<4xi64>, tensor<2x3xf32>, tensor<65536xf32>) {
      // CHECK: %[[I:.*]] = dist.recv from 0 for chunk 1 on @mesh "pipe" number 1
      // CHECK: %[[R:.*]] = dist.recv from 0 for chunk 1 on @mesh "pipe" number 2 : tensor<7xf32>
      // CHECK: %[[SA:.*]] = nn.slice %[[R]] starts [0] limits [1] strides [1]
      // CHECK: %[[A:.*]] = nn.reshape %[[SA]] : tensor<1xf32> -> tensor<f32>
      // CHECK: %[[SB:.*]] = nn.slice %[[R]] starts [1] limits [7] strides [1]
      // CHECK: %[[B:.*]] = nn.reshape %[[SB]] : tensor<6xf32> -> tensor<2x3xf32>
      // CHECK: %[[L:.*]] = dist.recv from 0 for chunk 1 on @mesh "pipe" number 3
      // CHECK: return %[[A]], %[[I]], %[[B]], %[[L]]
      %a = dist.recv from 0 for chunk 1 on @mesh "pipe" number 0 : tensor<f32>
      %i = dist.recv from 0 for chunk 1 on @mesh "pipe" number 1 : tensor<4xi64>
      %b = dist.recv from 0 for chunk 1 on @mesh "pipe" number 2 : tensor<2x3xf32>
      %l = dist.recv from 0 for chunk 1 on @mesh "pipe" number 3 : tensor<65536xf32>
      return %a, %i, %b, %l : tensor<f32>, tensor<4xi64>, tensor<2x3xf32>, tensor<65536xf32>
    }
  }
}

// -----

#machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.1}, memory_GB_per_s = 20}, levels = [{name = "flat", GB_per_s = 3, start_us = 5}]}>
// The messages stay as they are: the sender waits for the receiver between the first two, the
// receiver reads the third one before the last one, and another chunk reads the last one.
module attributes {dist.machine = #machine} {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  module @stage.0 attributes {dist.stage = 0 : i64} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    // CHECK-LABEL: func.func @step(
    // CHECK-NOT: nn.concat
    func.func @step(%a: tensor<f32>) {
      dist.send %a to 1 on @mesh "pipe" number 0 : tensor<f32>
      %b = dist.recv from 1 for chunk 0 backward on @mesh "pipe" number 1 : tensor<f32>
      dist.send %b to 1 on @mesh "pipe" number 2 : tensor<f32>
      dist.send %a to 1 on @mesh "pipe" number 3 : tensor<f32>
      dist.send %b to 1 on @mesh "pipe" number 4 : tensor<f32>
      return
    }
  }
  module @stage.1 attributes {dist.stage = 1 : i64} {
    dist.mesh @mesh axes ["pipe"] sizes [2]
    // CHECK-LABEL: func.func @step(
    // CHECK-NOT: nn.slice
    func.func @step() -> (tensor<f32>, tensor<f32>, tensor<f32>) {
      %a = dist.recv from 0 for chunk 1 on @mesh "pipe" number 0 : tensor<f32>
      dist.send %a to 0 backward on @mesh "pipe" number 1 : tensor<f32>
      %b = dist.recv from 0 for chunk 1 on @mesh "pipe" number 2 : tensor<f32>
      %c = nn.neg %b : tensor<f32>
      %d = dist.recv from 0 for chunk 1 on @mesh "pipe" number 3 : tensor<f32>
      %e = dist.recv from 0 for chunk 3 on @mesh "pipe" number 4 : tensor<f32>
      return %c, %d, %e : tensor<f32>, tensor<f32>, tensor<f32>
    }
  }
}
