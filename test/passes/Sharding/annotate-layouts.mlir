// RUN: split-file %s %t
// RUN: dpc-opt %t/two.mlir --dpc-annotate-layouts='shards=fc.weight=-;model,*.weight=model;-,*.bias=data+model' | FileCheck %t/two.mlir
// RUN: dpc-opt %t/two.mlir --dpc-annotate-layouts='shards=x=data;model' | FileCheck %t/two.mlir --check-prefix=INPUT
// RUN: not dpc-opt %t/two.mlir --dpc-annotate-layouts='specs=fc.weight=[4]x' 2>&1 | FileCheck %s --check-prefix=LAYOUT
// RUN: dpc-opt %t/two.mlir --dpc-annotate-layouts='specs=fc.weight=-;data,x=data;-,gone=- shards=*x=-;-' | FileCheck %t/two.mlir --check-prefix=SPEC
// RUN: dpc-opt %t/nodes.mlir --dpc-annotate-layouts='shards=/h.?/Add=data;model' | FileCheck %t/nodes.mlir
// RUN: dpc-opt %t/moments.mlir --dpc-annotate-layouts='shards=w=data' | FileCheck %t/moments.mlir
// RUN: dpc-opt %t/loss.mlir --dpc-add-loss=loss=cross-entropy --dpc-annotate-layouts='shards=/head/Gemm=-;model' | FileCheck %t/loss.mlir
// RUN: not dpc-opt %t/nodes.mlir --dpc-annotate-layouts='shards=/h.0/Split=-' 2>&1 | FileCheck %s --check-prefix=NODERANK
// RUN: not dpc-opt %t/nodes.mlir --dpc-annotate-layouts='shards=/gradient/Only=-;-' 2>&1 | FileCheck %s --check-prefix=GRADIENT
// RUN: not dpc-opt %t/two.mlir --dpc-annotate-layouts='shards=fc*=-;model' 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not dpc-opt %t/two.mlir --dpc-annotate-layouts='shards=y=data;-' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not dpc-opt %t/two.mlir --dpc-annotate-layouts='shards=fc.weight=-;' 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not dpc-opt %t/two.mlir --dpc-annotate-layouts='shards=fc.weight=*;model' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not dpc-opt %t/two.mlir --dpc-annotate-layouts='shards=[z-a]=-' 2>&1 | FileCheck %s --check-prefix=GLOB

// RANK: error: shard fc* has 2 entries, but fc.bias has 1 dimensions
// NONE: error: shard y names no parameter, buffer or input, and no node whose value is left (what is folded or fused has none)
// ENTRY: error: shard fc.weight: '' is neither - nor AXIS+AXIS..
// NAME: error: shard fc.weight: '*' is neither - nor AXIS+AXIS..
// LAYOUT: error: spec of 'fc.weight': column
// NODERANK: shard /h.0/Split has 1 entries, but /h.0/Split has 2 dimensions
// GRADIENT: error: shard /gradient/Only names no parameter, buffer or input, and no node whose value is left (what is folded or fused has none)
// GLOB: error: shard '[z-a]': invalid glob pattern

//--- two.mlir
// An exact name wins over a glob, whatever stands later; both functions get the layout.
// CHECK-LABEL: module @exact_name_wins_over_glob
// CHECK-LABEL: @step
// CHECK-SAME: tensor<4x6xf32> {dist.request = {{\[\[\]}}, ["model"]], nn.arg = #nn.arg<parameter "fc.weight">}
// CHECK-SAME: tensor<6xf32> {dist.request = {{\[\[}}"data", "model"]], nn.arg = #nn.arg<parameter "fc.bias">}
// CHECK-SAME: tensor<2x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>}
// CHECK-LABEL: @eval
// CHECK-SAME: tensor<4x6xf32> {dist.request = {{\[\[\]}}, ["model"]], nn.arg = #nn.arg<parameter "fc.weight">}
// An input is asked for like state.
// INPUT-LABEL: module @exact_name_wins_over_glob
// INPUT-LABEL: @step
// INPUT-SAME: tensor<2x4xf32> {dist.request = {{\[\[}}"data"], ["model"]], nn.arg = #nn.arg<input "x", batch = 0>}
// What the file asks for gives way to options; what names nothing there is no error.
// SPEC-LABEL: module @exact_name_wins_over_glob
// SPEC-LABEL: @step
// SPEC-SAME: tensor<4x6xf32> {dist.request = {{\[\[}}], ["data"]], nn.arg = #nn.arg<parameter "fc.weight">}
// SPEC-SAME: tensor<2x4xf32> {dist.request = {{\[\[}}], []], nn.arg = #nn.arg<input "x", batch = 0>}
module @exact_name_wins_over_glob {
func.func @step(%w: tensor<4x6xf32> {nn.arg = #nn.arg<parameter "fc.weight">},
                %b: tensor<6xf32> {nn.arg = #nn.arg<parameter "fc.bias">},
                %x: tensor<2x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>}) {
  return
}
func.func @eval(%w: tensor<4x6xf32> {nn.arg = #nn.arg<parameter "fc.weight">}) {
  return
}
}

//--- loss.mlir
// What computes the loss has the name of the last node, and is none of its values.
// CHECK-LABEL: module @loss_op_takes_no_node_request
// CHECK: nn.dot {{.*}} {dist.request = {{\[\[}}], ["model"]]}
// CHECK-NOT: dist.request
// CHECK-LABEL: @eval
module @loss_op_takes_no_node_request {
func.func @forward(%x: tensor<2x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                   %w: tensor<4x6xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<2x6xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<2x4xf32>, tensor<4x6xf32> -> tensor<2x6xf32> loc("/head/Gemm")
  return %0 : tensor<2x6xf32>
}
}

//--- nodes.mlir
// The value of a node is the largest that leaves it: not the mean, nor what it was
// broadcast to, nor the gradient that has its node's name. CHECK-LABEL: @largest_value_takes_node_request
func.func @largest_value_takes_node_request(%x: tensor<2x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                %b: tensor<4xf32> {nn.arg = #nn.arg<parameter "b">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">},
        tensor<2x4xf32> {nn.result = #nn.result<gradient "b">}) {
  // CHECK: nn.broadcast {{.*}} [1] :
  // CHECK: nn.add {{.*}} {dist.request = {{\[\[}}"data"], ["model"]]}
  // CHECK-NOT: dist.request
  %0 = nn.broadcast %b [1] : tensor<4xf32> -> tensor<2x4xf32> loc("/h.0/Add")
  %1 = nn.add %x, %0 : tensor<2x4xf32> loc("/h.0/Add")
  %2 = nn.tanh %1 : tensor<2x4xf32> loc("/h.0/Split")
  %3 = nn.reduce sum %2 [0, 1] : tensor<2x4xf32> -> tensor<f32> loc("loss")
  %4 = nn.add %1, %1 : tensor<2x4xf32> loc("/h.0/Add")
  %5 = nn.add %4, %4 : tensor<2x4xf32> loc("/gradient/Only")
  return %3, %5 : tensor<f32>, tensor<2x4xf32>
}

//--- moments.mlir
// What an optimizer keeps lies like its parameter, unless it is of another rank.
// CHECK-LABEL: @moments_follow_their_parameter
// CHECK-SAME: tensor<4xf32> {dist.request = {{\[\[}}"data"]], nn.arg = #nn.arg<optimizer "m|w">}
// CHECK-SAME: tensor<f32> {nn.arg = #nn.arg<optimizer "t|w">}
func.func @moments_follow_their_parameter(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}, %m: tensor<4xf32> {nn.arg = #nn.arg<optimizer "m|w">},
                %t: tensor<f32> {nn.arg = #nn.arg<optimizer "t|w">}) {
  return
}
