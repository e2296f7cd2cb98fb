// RUN: dpc-opt %s | dpc-opt | FileCheck %s
// RUN: dpc-opt %s --mlir-print-op-generic | dpc-opt | FileCheck %s

// Every op of the dialect prints what it parses.

// CHECK: dist.mesh @mesh axes ["micro", "data", "model"] sizes [2, 4, 2] sequential ["micro"]
dist.mesh @mesh axes ["micro", "data", "model"] sizes [2, 4, 2] sequential ["micro"]
// CHECK: dist.mesh @flat axes ["data"] sizes [3]{{$}}
dist.mesh @flat axes ["data"] sizes [3]

// CHECK-LABEL: @collectives_round_trip
func.func @collectives_round_trip(%x: tensor<8x3xf32>, %i: tensor<2xi64>) {
  // CHECK: dist.axis_index "data" : tensor<i64>
  %0 = dist.axis_index "data" : tensor<i64>
  // CHECK: dist.all_reduce sum %{{.*}} on @mesh ["data"] : tensor<8x3xf32>
  %1 = dist.all_reduce sum %x on @mesh ["data"] : tensor<8x3xf32>
  // CHECK: dist.all_reduce max %{{.*}} on @mesh ["data", "model"] : tensor<2xi64>
  %2 = dist.all_reduce max %i on @mesh ["data", "model"] : tensor<2xi64>
  // CHECK: dist.all_reduce min %{{.*}} on @flat ["data"] : tensor<8x3xf32>
  %3 = dist.all_reduce min %x on @flat ["data"] : tensor<8x3xf32>
  // The group of two axes has 4 x 2 members.
  // CHECK: dist.all_gather %{{.*}} on @mesh ["model", "data"] : tensor<2xi64> -> tensor<8x2xi64>
  %4 = dist.all_gather %i on @mesh ["model", "data"] : tensor<2xi64> -> tensor<8x2xi64>
  // CHECK: dist.reduce_scatter sum %{{.*}} on @mesh ["model", "data"] : tensor<8x3xf32> -> tensor<3xf32>
  %5 = dist.reduce_scatter sum %x on @mesh ["model", "data"] : tensor<8x3xf32> -> tensor<3xf32>
  // CHECK: dist.all_to_all %{{.*}} on @mesh ["model", "data"] : tensor<8x3xf32>
  %6 = dist.all_to_all %x on @mesh ["model", "data"] : tensor<8x3xf32>
  return
}

// CHECK-LABEL: @reshards_round_trip
func.func @reshards_round_trip(%x: tensor<8x3xf32>) {
  // CHECK: dist.reshard %{{.*}} from <"[8], [3] partial sum(data)"> to <"[(8: micro,data)], [3]"> : tensor<8x3xf32>
  %0 = dist.reshard %x from <"[8], [3] partial sum(data)"> to <"[(8: micro,data)], [3]"> : tensor<8x3xf32>
  // A segment of each kind: cut, uncut, a product.
  // CHECK: dist.reshard %{{.*}} from <"[(2)(2: data) + 4], [(3: model)]"> to <"[8], [3]">
  %1 = dist.reshard %x from <"[(2)(2: data) + 4], [(3: model)]"> to <"[8], [3]"> : tensor<8x3xf32>
  return
}

// CHECK-LABEL: @micro_loop_round_trips
func.func @micro_loop_round_trips(%x: tensor<2x4xf32>, %w: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>) {
  // CHECK: dist.micro 2 "micro"(%{{.*}}, %{{.*}} : tensor<2x4xf32>, tensor<4xf32>) operands [sliced, whole] {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<4xf32>):
  // CHECK: dist.yield %{{.*}}, %[[W]] : tensor<4xf32>, tensor<4xf32>
  // CHECK-NEXT: } -> (tensor<2x4xf32>, tensor<4xf32>) results [stacked, summed]
  %0:2 = dist.micro 2 "micro" (%x, %w : tensor<2x4xf32>, tensor<4xf32>) operands [sliced, whole] {
  ^bb0(%xm: tensor<4xf32>, %wm: tensor<4xf32>):
    %y = nn.mul %xm, %wm : tensor<4xf32>
    dist.yield %y, %wm : tensor<4xf32>, tensor<4xf32>
  } -> (tensor<2x4xf32>, tensor<4xf32>) results [stacked, summed]
  // Neither operands nor results are needed.
  // CHECK: dist.micro 3 "micro"() operands [] {
  // CHECK: } -> () results []
  dist.micro 3 "micro" () operands [] {
    dist.yield
  } -> () results []
  return %0#0, %0#1 : tensor<2x4xf32>, tensor<4xf32>
}

// Layouts of arguments, results, and of what an op reads and gives.
// CHECK-LABEL: @layouts_round_trip
// CHECK-SAME: dist.layout = #dist.layout<"[(4: data)]">
// CHECK-SAME: -> (tensor<4xf32> {dist.layout = #dist.layout<"[4] partial max(data)">})
func.func @layouts_round_trip(%x: tensor<4xf32> {dist.layout = #dist.layout<"[(4: data)]">})
    -> (tensor<4xf32> {dist.layout = #dist.layout<"[4] partial max(data)">}) {
  // CHECK: nn.neg %{{.*}} {dist.operands = [#dist.layout<"[(4: data)]">], dist.results = [#dist.layout<"[(4: data)]">]}
  %0 = nn.neg %x {dist.operands = [#dist.layout<"[(4: data)]">], dist.results = [#dist.layout<"[(4: data)]">]} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
