// RUN: split-file %s %t
// RUN: dpc-opt %t/two.mlir --dpc-annotate-layouts='shards=fc.weight=-;model,*.weight=model;-,*.bias=data+model' | FileCheck %t/two.mlir
// RUN: not dpc-opt %t/two.mlir --dpc-annotate-layouts='shards=fc*=-;model' 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not dpc-opt %t/two.mlir --dpc-annotate-layouts='shards=x=data;-' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not dpc-opt %t/two.mlir --dpc-annotate-layouts='shards=fc.weight=-;' 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not dpc-opt %t/two.mlir --dpc-annotate-layouts='shards=fc.weight=*;model' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not dpc-opt %t/two.mlir --dpc-annotate-layouts='shards=[z-a]=-' 2>&1 | FileCheck %s --check-prefix=GLOB

// RANK: error: shard fc* has 2 entries, but fc.bias has 1 dimensions
// Inputs follow what state and batch say; a request for one is none.
// NONE: error: shard x names no parameter or buffer
// ENTRY: error: shard fc.weight: '' is neither - nor AXIS+AXIS..
// NAME: error: shard fc.weight: '*' is neither - nor AXIS+AXIS..
// GLOB: error: shard '[z-a]': invalid glob pattern

//--- two.mlir
// An exact name wins over a glob, whatever stands later; both functions get the layout.
// CHECK-LABEL: @step
// CHECK-SAME: tensor<4x6xf32> {dist.layout = #dist.layout<"[4], [(6: model)]">, nn.arg = #nn.arg<parameter "fc.weight">}
// CHECK-SAME: tensor<6xf32> {dist.layout = #dist.layout<"[(6: data,model)]">, nn.arg = #nn.arg<parameter "fc.bias">}
// CHECK-SAME: tensor<2x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>}
// CHECK-LABEL: @eval
// CHECK-SAME: tensor<4x6xf32> {dist.layout = #dist.layout<"[4], [(6: model)]">, nn.arg = #nn.arg<parameter "fc.weight">}
func.func @step(%w: tensor<4x6xf32> {nn.arg = #nn.arg<parameter "fc.weight">},
                %b: tensor<6xf32> {nn.arg = #nn.arg<parameter "fc.bias">},
                %x: tensor<2x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>}) {
  return
}
func.func @eval(%w: tensor<4x6xf32> {nn.arg = #nn.arg<parameter "fc.weight">}) {
  return
}
