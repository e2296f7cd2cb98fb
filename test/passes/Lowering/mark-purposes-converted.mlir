// RUN: dpc-opt %s --dpc-lower-to-exec --dpc-compute-in-place --dpc-mark-purposes | FileCheck %s

// What is gathered of parameters is theirs where each rank converts its part of them first, but not where it computes
// something else with an input.
// CHECK-LABEL: module @purposes_pass_conversions
// CHECK-LABEL: exec.entry @infer
// CHECK: %[[B:[0-9]+]] = exec.buffer shared {exec.purpose = #exec.purpose<gathered>} : memref<2x16xbf16>
// CHECK: exec.start all_gather sum over ["data"] %{{[0-9]+}} to %[[B]] id {{[0-9]+}} {exec.purpose = #exec.purpose<gathered>}
// CHECK: %[[C:[0-9]+]] = exec.buffer shared : memref<2x16xbf16>
// CHECK: exec.start all_gather sum over ["data"] %{{[0-9]+}} to %[[C]] id {{[0-9]+}} :
module @purposes_pass_conversions {
dist.mesh @mesh axes ["data"] sizes [2]
func.func private @narrow(%x: tensor<16xf32>) -> tensor<16xbf16> {
  %0 = nn.kernel(%x : tensor<16xf32>) {
  ^bb0(%a: tensor<16xf32>):
    %1 = nn.convert %a : tensor<16xf32> -> tensor<16xbf16>
    nn.yield %1 : tensor<16xbf16>
  } -> tensor<16xbf16>
  return %0 : tensor<16xbf16>
}
func.func @infer(%v: tensor<16xf32> {dist.storage = #dist.storage<"frozen.0" [<#nn.arg<parameter "v">, tensor<8xf32>, <"[8]"> at 0>] over ["data"]>},
                 %x: tensor<16xf32> {nn.arg = #nn.arg<input "x">})
    -> (tensor<2x16xbf16> {nn.result = #nn.result<output "y">}, tensor<2x16xbf16> {nn.result = #nn.result<output "z">}) {
  %n = call @narrow(%v) : (tensor<16xf32>) -> tensor<16xbf16>
  %a = dist.all_gather %n on @mesh ["data"] : tensor<16xbf16> -> tensor<2x16xbf16>
  %m = call @narrow(%x) : (tensor<16xf32>) -> tensor<16xbf16>
  %b = dist.all_gather %m on @mesh ["data"] : tensor<16xbf16> -> tensor<2x16xbf16>
  return %a, %b : tensor<2x16xbf16>, tensor<2x16xbf16>
}

// A shard that is summed and then converted for its update is a gradient; one whose conversion is returned is none.
// CHECK-LABEL: exec.entry @step
// CHECK: exec.start reduce_scatter {{.*}} {exec.purpose = #exec.purpose<gradients>}
// CHECK: exec.start reduce_scatter {{.*}} id {{[0-9]+}} :
func.func private @wide(%x: tensor<16xbf16>) -> tensor<16xf32> {
  %0 = nn.kernel(%x : tensor<16xbf16>) {
  ^bb0(%a: tensor<16xbf16>):
    %1 = nn.convert %a : tensor<16xbf16> -> tensor<16xf32>
    nn.yield %1 : tensor<16xf32>
  } -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func private @update(%w: tensor<16xf32>, %g: tensor<16xf32>) -> tensor<16xf32> {
  %0 = nn.update(%w, %g : tensor<16xf32>, tensor<16xf32>) scalars() {
  ^bb0(%wi: tensor<f32>, %gi: tensor<f32>):
    %1 = nn.sub %wi, %gi : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func @step(%w: tensor<16xf32> {nn.arg = #nn.arg<parameter "w">}, %x: tensor<2x16xbf16> {nn.arg = #nn.arg<input "parts">})
    -> (tensor<16xf32> {nn.result = #nn.result<output "shard">}, tensor<16xf32> {nn.result = #nn.result<state "w">}) {
  %s = dist.reduce_scatter sum %x on @mesh ["data"] : tensor<2x16xbf16> -> tensor<16xbf16>
  %g = call @wide(%s) : (tensor<16xbf16>) -> tensor<16xf32>
  %n = call @update(%w, %g) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %t = dist.reduce_scatter sum %x on @mesh ["data"] : tensor<2x16xbf16> -> tensor<16xbf16>
  %y = call @wide(%t) : (tensor<16xbf16>) -> tensor<16xf32>
  return %y, %n : tensor<16xf32>, tensor<16xf32>
}
}
