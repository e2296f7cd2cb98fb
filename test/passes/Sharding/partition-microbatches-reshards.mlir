// RUN: dpc-opt %s --dpc-verify-placed --dpc-partition --canonicalize --cse --dpc-verify-local -o %t
// RUN: FileCheck %s < %t
// RUN: dpc-opt %t --dpc-ordered-pipeline --dpc-scheduled-pipeline | FileCheck %s --check-prefix=SCHEDULED

// Reshards that change nothing about microbatches stand in their loop, and so do
// the collectives of the rank's program.

// CHECK-LABEL: module @reshards_stay_inside_loop
// CHECK: dist.micro 2
// CHECK: nn.dot
// CHECK: dist.reduce_scatter sum %{{.*}} on @mesh ["data"] : tensor<2x2x4x6xf32> -> tensor<2x4x6xf32>
// CHECK: nn.exp
// CHECK: dist.all_to_all %{{.*}} on @mesh ["data"] : tensor<2x2x4x3xf32>
// CHECK: nn.tanh
// CHECK: dist.all_to_all %{{.*}} on @mesh ["data"] : tensor<2x2x4x3xf32>
// CHECK: dist.yield

// SCHEDULED-LABEL: module @reshards_stay_inside_loop
// SCHEDULED: exec.loop 2 {
// SCHEDULED: exec.start reduce_scatter sum over ["data"]
// SCHEDULED: exec.start all_to_all sum over ["data"]
// SCHEDULED: exec.start all_to_all sum over ["data"]
module @reshards_stay_inside_loop attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.05}, memory_GB_per_s = 10}, levels = [{name = "flat", GB_per_s = 5, start_us = 5}]}>,
                   dist.plan = #dist.plan<mesh = ["data" = 2 batch], microbatches = 2>} {
  dist.mesh @mesh axes ["micro", "data"] sizes [2, 2] sequential ["micro"]
  nn.variable @w = dense<0.5> : tensor<4x6xf32>
  func.func @step(%x: tensor<4x8x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>, dist.layout = #dist.layout<"[(2: micro)(2)], [8], [(4: data)]">},
                 %w: tensor<4x6xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[(4: data)], [6]">})
      -> (tensor<4x8x6xf32> {nn.result = #nn.result<output "y">, dist.layout = #dist.layout<"[(2: micro)(2)], [(8: data)], [6]">},
          tensor<4x6xf32> {nn.result = #nn.result<state "w">, dist.layout = #dist.layout<"[(4: data)], [6]">}) {
    %y = nn.dot %x, %w contract [2] [0] {
        dist.operands = [#dist.layout<"[(2: micro)(2)], [8], [(4: data)]">, #dist.layout<"[(4: data)], [6]">],
        dist.results = [#dist.layout<"[(2: micro)(2)], [8], [6] partial sum(data)">]} : tensor<4x8x4xf32>, tensor<4x6xf32> -> tensor<4x8x6xf32>
    %z = dist.reshard %y from <"[(2: micro)(2)], [8], [6] partial sum(data)"> to <"[(2: micro)(2)], [(8: data)], [6]"> : tensor<4x8x6xf32>
    %e = nn.exp %z {dist.operands = [#dist.layout<"[(2: micro)(2)], [(8: data)], [6]">], dist.results = [#dist.layout<"[(2: micro)(2)], [(8: data)], [6]">]} : tensor<4x8x6xf32>
    %t = dist.reshard %e from <"[(2: micro)(2)], [(8: data)], [6]"> to <"[(2: micro)(2)], [8], [(6: data)]"> : tensor<4x8x6xf32>
    %u = nn.tanh %t {dist.operands = [#dist.layout<"[(2: micro)(2)], [8], [(6: data)]">], dist.results = [#dist.layout<"[(2: micro)(2)], [8], [(6: data)]">]} : tensor<4x8x6xf32>
    %v = dist.reshard %u from <"[(2: micro)(2)], [8], [(6: data)]"> to <"[(2: micro)(2)], [(8: data)], [6]"> : tensor<4x8x6xf32>
    return %v, %w : tensor<4x8x6xf32>, tensor<4x6xf32>
  }
}
