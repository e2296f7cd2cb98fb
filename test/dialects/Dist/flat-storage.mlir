// RUN: dpc-opt %s | dpc-opt | FileCheck %s
// RUN: dpc-opt %s --mlir-print-op-generic | dpc-opt | FileCheck %s

// Every op of the family prints what it parses.

dist.mesh @mesh axes ["data", "model"] sizes [4, 2]

// CHECK-LABEL: @storage_ops_round_trip
func.func @storage_ops_round_trip(%g: tensor<4x3xf32>, %h: tensor<5xf32>) {
  // CHECK: %[[B:.*]] = dist.pack %{{.*}}, %{{.*}} at [0, 64] : tensor<4x3xf32>, tensor<5xf32> -> tensor<128xf32>
  %b = dist.pack %g, %h at [0, 64] : tensor<4x3xf32>, tensor<5xf32> -> tensor<128xf32>
  // CHECK: dist.unpack %[[B]] at [0, 64] : tensor<128xf32> -> tensor<4x3xf32>, tensor<5xf32>
  %u:2 = dist.unpack %b at [0, 64] : tensor<128xf32> -> tensor<4x3xf32>, tensor<5xf32>
  // CHECK: dist.shard %[[B]] on @mesh ["data", "model"] : tensor<128xf32> -> tensor<16xf32>
  %s = dist.shard %b on @mesh ["data", "model"] : tensor<128xf32> -> tensor<16xf32>
  return
}

// Whole storage, and storage that is cut over an axis.
// CHECK-LABEL: @whole_and_sharded_storage
// CHECK-SAME: dist.storage = #dist.storage<"parameter.0" [<#nn.arg<parameter "w">, tensor<4x3xf32>, <"[4], [3]"> at 0>, <#nn.arg<parameter "b">, tensor<5xf32>, <"[5]"> at 16>]>
// CHECK-SAME: dist.storage = #dist.storage<"momentum.0" [<#nn.arg<optimizer "momentum|w", of = "w">, tensor<4x3xf32>, <"[4], [3]"> at 0>] over ["data"]>
func.func @whole_and_sharded_storage(
    %p: tensor<32xf32> {dist.storage = #dist.storage<"parameter.0" [<#nn.arg<parameter "w">, tensor<4x3xf32>, <"[4], [3]"> at 0>, <#nn.arg<parameter "b">, tensor<5xf32>, <"[5]"> at 16>]>},
    %m: tensor<4xf32> {dist.storage = #dist.storage<"momentum.0" [<#nn.arg<optimizer "momentum|w", of = "w">, tensor<4x3xf32>, <"[4], [3]"> at 0>] over ["data"]>}) {
  return
}
