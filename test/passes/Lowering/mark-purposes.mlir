// RUN: dpc-opt %s --dpc-lower-to-exec --dpc-compute-in-place --dpc-mark-purposes | FileCheck %s

// What an update reads is gradients, also on its way between ranks; the loss is a number; what the model computes is not marked.
// CHECK-LABEL: module @marks_gradients_metrics_and_gathers
// CHECK-LABEL: exec.entry @step
// CHECK-DAG: %[[H:[0-9]+]] = exec.buffer shared : memref<8xf32>
// CHECK-DAG: exec.start all_reduce sum over ["model"] %[[H]] to %[[H]] id {{[0-9]+}} :
// CHECK-DAG: %[[L:[0-9]+]] = exec.buffer shared {exec.purpose = #exec.purpose<metrics>} : memref<f32>
// CHECK-DAG: exec.start all_reduce sum over ["data"] %[[L]] to %[[L]] id {{[0-9]+}} {exec.purpose = #exec.purpose<metrics>}
// CHECK-DAG: %[[G:[0-9]+]] = exec.buffer shared {exec.purpose = #exec.purpose<gradients>} : memref<8xf32>
// CHECK-DAG: exec.start all_reduce sum over ["data"] %[[G]] to %[[G]] id {{[0-9]+}} {exec.purpose = #exec.purpose<gradients>}
module @marks_gradients_metrics_and_gathers {
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func private @forward(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>) {
  %0, %1 = nn.kernel(%x : tensor<8xf32>) {
  ^bb0(%a: tensor<8xf32>):
    %2 = nn.exp %a : tensor<8xf32>
    %3 = nn.reduce sum %a [0] : tensor<8xf32> -> tensor<f32>
    nn.yield %2, %3 : tensor<8xf32>, tensor<f32>
  } -> tensor<8xf32>, tensor<f32>
  return %0, %1 : tensor<8xf32>, tensor<f32>
}
func.func private @backward(%h: tensor<8xf32>) -> tensor<8xf32> {
  %0 = nn.kernel(%h : tensor<8xf32>) {
  ^bb0(%a: tensor<8xf32>):
    %1 = nn.exp %a : tensor<8xf32>
    nn.yield %1 : tensor<8xf32>
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @update(%w: tensor<8xf32>, %g: tensor<8xf32>) -> tensor<8xf32> {
  %0 = nn.update(%w, %g : tensor<8xf32>, tensor<8xf32>) scalars() {
  ^bb0(%wi: tensor<f32>, %gi: tensor<f32>):
    %1 = nn.sub %wi, %gi : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @step(%w: tensor<8xf32> {nn.arg = #nn.arg<parameter "w">}, %x: tensor<8xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<8xf32> {nn.result = #nn.result<state "w">}) {
  %h, %l = call @forward(%x) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>)
  %r = dist.all_reduce sum %h on @mesh ["model"] : tensor<8xf32>
  %g = call @backward(%r) : (tensor<8xf32>) -> tensor<8xf32>
  %gs = dist.all_reduce sum %g on @mesh ["data"] : tensor<8xf32>
  %ls = dist.all_reduce sum %l on @mesh ["data"] : tensor<f32>
  %n = call @update(%w, %gs) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %ls, %n : tensor<f32>, tensor<8xf32>
}

// Parameters that are held cut are gathered.
// CHECK-LABEL: exec.entry @eval
// CHECK: %[[B:[0-9]+]] = exec.buffer shared {exec.purpose = #exec.purpose<gathered>} : memref<2x16xf32>
// CHECK: exec.start all_gather sum over ["data"] %{{[0-9]+}} to %[[B]] id {{[0-9]+}} {exec.purpose = #exec.purpose<gathered>}
func.func @eval(%v: tensor<16xf32> {dist.storage = #dist.storage<"frozen.0" [<#nn.arg<parameter "v">, tensor<8xf32>, <"[8]"> at 0>] over ["data"]>})
    -> (tensor<8xf32> {nn.result = #nn.result<output "y">}) {
  %a = dist.all_gather %v on @mesh ["data"] : tensor<16xf32> -> tensor<2x16xf32>
  %f = nn.reshape %a : tensor<2x16xf32> -> tensor<32xf32>
  %u = dist.unpack %f at [0] : tensor<32xf32> -> tensor<8xf32>
  %y = call @backward(%u) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
}
