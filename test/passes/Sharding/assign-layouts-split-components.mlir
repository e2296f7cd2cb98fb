// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=model=4 auto-axes=model' | FileCheck %s

// Idle ops that read each other's values are divided along one loop, the one with which the step gets shortest: here the
// second op's. Three rows are too few for four devices, and the first op, whose other loop is not that one, stays whole.
// CHECK-LABEL: module @component_takes_loop_of_last
// CHECK: nn.exp {{.*}}dist.results = [#dist.layout<"[3], [4096]">]
// CHECK: nn.tanh {{.*}}dist.results = [#dist.layout<"[3], [(65536: model)]">]
module @component_takes_loop_of_last attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.1}, memory_GB_per_s = 10}, levels = [{name = "flat", GB_per_s = 100000, start_us = 0.001}]}>} {
  func.func @infer(%x: tensor<3x4096xf32> {nn.arg = #nn.arg<input "x">})
      -> (tensor<3x65536xf32> {nn.result = #nn.result<metric "y">}) {
    %0 = nn.exp %x : tensor<3x4096xf32>
    %1 = nn.reduce sum %0 [1] : tensor<3x4096xf32> -> tensor<3xf32>
    %2 = nn.broadcast %1 [0] : tensor<3xf32> -> tensor<3x65536xf32>
    %3 = nn.tanh %2 : tensor<3x65536xf32>
    return %3 : tensor<3x65536xf32>
  }
}

// -----

// Here it is the first op's.
// CHECK-LABEL: module @component_takes_loop_of_first
// CHECK: nn.exp {{.*}}dist.results = [#dist.layout<"[3], [(65536: model)]">]
// CHECK: nn.reduce sum {{.*}}dist.results = [#dist.layout<"[3] partial sum(model)">]
// CHECK: nn.tanh {{.*}}dist.results = [#dist.layout<"[3], [4096]">]
module @component_takes_loop_of_first attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.1}, memory_GB_per_s = 10}, levels = [{name = "flat", GB_per_s = 100000, start_us = 0.001}]}>} {
  func.func @infer(%x: tensor<3x65536xf32> {nn.arg = #nn.arg<input "x">})
      -> (tensor<3x4096xf32> {nn.result = #nn.result<metric "y">}) {
    %0 = nn.exp %x : tensor<3x65536xf32>
    %1 = nn.reduce sum %0 [1] : tensor<3x65536xf32> -> tensor<3xf32>
    %2 = nn.broadcast %1 [0] : tensor<3xf32> -> tensor<3x4096xf32>
    %3 = nn.tanh %2 : tensor<3x4096xf32>
    return %3 : tensor<3x4096xf32>
  }
}

// -----

// Ops that read the same sum over the axis have one loop, too, though they read nothing of each other's: it is scattered once.
// CHECK-LABEL: module @readers_of_one_sum_share_loop
// CHECK: %[[ROWS:.*]] = dist.reshard {{.*}} from <"[256], [64] partial sum(model)"> to <"[(256: model)], [64]">
// CHECK: nn.cumsum %[[ROWS]]
// CHECK: nn.reduce max %[[ROWS]] {{.*}}dist.results = [#dist.layout<"[64] partial max(model)">]
module @readers_of_one_sum_share_loop {
func.func @infer(%x: tensor<256x64xf32> {nn.arg = #nn.arg<input "x">},
                 %w: tensor<64x512xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[64], [(512: model)]">},
                 %v: tensor<512x64xf32> {nn.arg = #nn.arg<parameter "v">, dist.layout = #dist.layout<"[(512: model)], [64]">})
    -> (tensor<256x64xf32> {nn.result = #nn.result<output "y">}, tensor<64xf32> {nn.result = #nn.result<metric "z">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<256x64xf32>, tensor<64x512xf32> -> tensor<256x512xf32>
  %1 = nn.dot %0, %v contract [1] [0] : tensor<256x512xf32>, tensor<512x64xf32> -> tensor<256x64xf32>
  %2 = nn.cumsum %1 dim 1 : tensor<256x64xf32>
  %3 = nn.reduce max %1 [0] : tensor<256x64xf32> -> tensor<64xf32>
  return %2, %3 : tensor<256x64xf32>, tensor<64xf32>
}
}

// -----

// Of two sums each reader has its own loop.
// CHECK-LABEL: module @readers_of_two_sums_differ
// CHECK: nn.cumsum {{.*}}dist.results = [#dist.layout<"[(256: model)], [64]">]
// CHECK: nn.reduce max {{.*}}dist.results = [#dist.layout<"[(64: model)]">]
module @readers_of_two_sums_differ {
func.func @infer(%x: tensor<256x64xf32> {nn.arg = #nn.arg<input "x">},
                 %w: tensor<64x512xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[64], [(512: model)]">},
                 %v: tensor<512x64xf32> {nn.arg = #nn.arg<parameter "v">, dist.layout = #dist.layout<"[(512: model)], [64]">},
                 %u: tensor<512x64xf32> {nn.arg = #nn.arg<parameter "u">, dist.layout = #dist.layout<"[(512: model)], [64]">})
    -> (tensor<256x64xf32> {nn.result = #nn.result<output "y">}, tensor<64xf32> {nn.result = #nn.result<metric "z">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<256x64xf32>, tensor<64x512xf32> -> tensor<256x512xf32>
  %1 = nn.dot %0, %v contract [1] [0] : tensor<256x512xf32>, tensor<512x64xf32> -> tensor<256x64xf32>
  %2 = nn.dot %0, %u contract [1] [0] : tensor<256x512xf32>, tensor<512x64xf32> -> tensor<256x64xf32>
  %3 = nn.cumsum %1 dim 1 : tensor<256x64xf32>
  %4 = nn.reduce max %2 [0] : tensor<256x64xf32> -> tensor<64xf32>
  return %3, %4 : tensor<256x64xf32>, tensor<64xf32>
}
}

// -----

// A single number joins nothing: each has a loop of its own.
// CHECK-LABEL: module @single_number_joins_no_loops
// CHECK: nn.exp {{.*}}dist.results = [#dist.layout<"[1], [(4096: model)]">]
// CHECK: nn.tanh {{.*}}dist.results = [#dist.layout<"[1], [(65536: model)]">]
module @single_number_joins_no_loops attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.1}, memory_GB_per_s = 10}, levels = [{name = "flat", GB_per_s = 100000, start_us = 0.001}]}>} {
  func.func @infer(%x: tensor<1x4096xf32> {nn.arg = #nn.arg<input "x">})
      -> (tensor<1x65536xf32> {nn.result = #nn.result<metric "y">}) {
    %0 = nn.exp %x : tensor<1x4096xf32>
    %1 = nn.reduce sum %0 [1] : tensor<1x4096xf32> -> tensor<1xf32>
    %2 = nn.broadcast %1 [0] : tensor<1xf32> -> tensor<1x65536xf32>
    %3 = nn.tanh %2 : tensor<1x65536xf32>
    return %3 : tensor<1x65536xf32>
  }
}
