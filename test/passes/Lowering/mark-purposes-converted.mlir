// RUN: dpc-opt %s --dpc-lower-to-exec --dpc-compute-in-place --dpc-mark-purposes | FileCheck %s

// What is gathered of parameters is theirs where each rank converts its part of them first, but not where it computes
// something else with an input.
// CHECK-LABEL: exec.entry @infer
// CHECK: %[[B:[0-9]+]] = exec.buffer shared {exec.purpose = #exec.purpose<gathered>} : memref<2x16xbf16>
// CHECK: exec.start all_gather sum over ["data"] %{{[0-9]+}} to %[[B]] id {{[0-9]+}} {exec.purpose = #exec.purpose<gathered>}
// CHECK: %[[C:[0-9]+]] = exec.buffer shared : memref<2x16xbf16>
// CHECK: exec.start all_gather sum over ["data"] %{{[0-9]+}} to %[[C]] id {{[0-9]+}} :
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
