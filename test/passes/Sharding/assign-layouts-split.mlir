// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=model=2 auto-axes=model' | FileCheck %s
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=model=2 auto-axes=model split-atoms=false' | FileCheck %s --check-prefix=WHOLE

// What stands between two cut products is divided along a loop of its own: the sum
// over devices becomes cut, and is gathered where the next product reads it.
// CHECK-LABEL: module @shards_ops_between_products
// CHECK-LABEL: @infer
// CHECK-SAME: tensor<64x512xf32> {dist.layout = #dist.layout<"[64], [(512: model)]">
// CHECK-SAME: dist.cost = #dist.cost<
// CHECK: nn.dot {{.*}}partial sum(model)
// CHECK: dist.reshard {{.*}} from <"[4096], [64] partial sum(model)"> to <"[(4096: model)], [64]">
// CHECK: nn.exp {{.*}}dist.results = [#dist.layout<"[(4096: model)], [64]">]
// CHECK: nn.tanh {{.*}}dist.results = [#dist.layout<"[(4096: model)], [64]">]
// CHECK: dist.reshard {{.*}} from <"[(4096: model)], [64]"> to <"[4096], [64]">
// CHECK: nn.dot {{.*}}dist.results = [#dist.layout<"[4096], [(512: model)]">]
// With one atom for all of it, every device computes it.
// WHOLE-LABEL: module @shards_ops_between_products
// WHOLE: nn.exp {{.*}}dist.results = [#dist.layout<"[4096], [64]">]
// WHOLE: nn.tanh {{.*}}dist.results = [#dist.layout<"[4096], [64]">]
module @shards_ops_between_products {
func.func @infer(%x: tensor<4096x64xf32> {nn.arg = #nn.arg<input "x">},
                 %w: tensor<64x512xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[64], [(512: model)]">},
                 %v: tensor<512x64xf32> {nn.arg = #nn.arg<parameter "v">, dist.layout = #dist.layout<"[(512: model)], [64]">},
                 %u: tensor<64x512xf32> {nn.arg = #nn.arg<parameter "u">, dist.layout = #dist.layout<"[64], [(512: model)]">})
    -> (tensor<4096x512xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<4096x64xf32>, tensor<64x512xf32> -> tensor<4096x512xf32>
  %1 = nn.relu %0 : tensor<4096x512xf32>
  %2 = nn.dot %1, %v contract [1] [0] : tensor<4096x512xf32>, tensor<512x64xf32> -> tensor<4096x64xf32>
  %3 = nn.exp %2 : tensor<4096x64xf32>
  %4 = nn.tanh %3 : tensor<4096x64xf32>
  %5 = nn.dot %4, %u contract [1] [0] : tensor<4096x64xf32>, tensor<64x512xf32> -> tensor<4096x512xf32>
  return %5 : tensor<4096x512xf32>
}
}

// -----

// Sums of sums are reduced once: what each device has of two products is added up
// before it goes anywhere.
// CHECK-LABEL: module @reduces_sum_of_sums_once
// CHECK-COUNT-2: nn.dot {{.*}}partial sum(model)
// CHECK: nn.add {{.*}}dist.results = [#dist.layout<"[256], [64] partial sum(model)">]
// CHECK: dist.reshard {{.*}}partial sum(model)
// CHECK-NOT: dist.reshard {{.*}}partial sum(model)
// CHECK: return
// WHOLE-LABEL: module @reduces_sum_of_sums_once
module @reduces_sum_of_sums_once {
func.func @infer(%x: tensor<256x512xf32> {nn.arg = #nn.arg<input "x">},
                 %w: tensor<512x64xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[(512: model)], [64]">},
                 %v: tensor<512x64xf32> {nn.arg = #nn.arg<parameter "v">, dist.layout = #dist.layout<"[(512: model)], [64]">})
    -> (tensor<256x64xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<256x512xf32>, tensor<512x64xf32> -> tensor<256x64xf32>
  %1 = nn.exp %x : tensor<256x512xf32>
  %2 = nn.dot %1, %v contract [1] [0] : tensor<256x512xf32>, tensor<512x64xf32> -> tensor<256x64xf32>
  %3 = nn.add %0, %2 : tensor<256x64xf32>
  %4 = nn.exp %3 : tensor<256x64xf32>
  return %4 : tensor<256x64xf32>
}
}

// -----

// It is divided only where the step gets shorter. What every device has and all need whole stays so: the gather would take
// longer than half of the op ...
// CHECK-LABEL: module @keeps_whole_on_slow_links
// CHECK-NOT: dist.reshard
// CHECK: nn.exp {{.*}}dist.results = [#dist.layout<"[256], [512]">]
// CHECK-NOT: dist.reshard
// CHECK: return
// WHOLE-LABEL: module @keeps_whole_on_slow_links
module @keeps_whole_on_slow_links {
func.func @infer(%x: tensor<256x512xf32> {nn.arg = #nn.arg<input "x">},
                 %w: tensor<512x512xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[512], [(512: model)]">})
    -> (tensor<256x512xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.exp %x : tensor<256x512xf32>
  %1 = nn.dot %0, %w contract [1] [0] : tensor<256x512xf32>, tensor<512x512xf32> -> tensor<256x512xf32>
  return %1 : tensor<256x512xf32>
}
}

// -----

// ... on this machine's links, not on faster ones.
// CHECK-LABEL: module @shards_on_fast_links
// CHECK: nn.exp {{.*}}dist.results = [#dist.layout<"[(256: model)], [512]">]
// CHECK: dist.reshard {{.*}} from <"[(256: model)], [512]"> to <"[256], [512]">
// WHOLE-LABEL: module @shards_on_fast_links
module @shards_on_fast_links attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.1}, memory_GB_per_s = 10}, levels = [{name = "flat", GB_per_s = 100000, start_us = 0.001}]}>} {
  func.func @infer(%x: tensor<256x512xf32> {nn.arg = #nn.arg<input "x">},
                   %w: tensor<512x512xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[512], [(512: model)]">})
      -> (tensor<256x512xf32> {nn.result = #nn.result<output "y">}) {
    %0 = nn.exp %x : tensor<256x512xf32>
    %1 = nn.dot %0, %w contract [1] [0] : tensor<256x512xf32>, tensor<512x512xf32> -> tensor<256x512xf32>
    return %1 : tensor<256x512xf32>
  }
}

// -----

// What is a small part of the step is looked at, ...
// CHECK-LABEL: module @shards_small_part_of_step
// CHECK: nn.exp {{.*}}dist.results = [#dist.layout<"[(2: model)], [2048]">]
// WHOLE-LABEL: module @shards_small_part_of_step
module @shards_small_part_of_step attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.1}, memory_GB_per_s = 10}, levels = [{name = "flat", GB_per_s = 100000, start_us = 0.001}]}>} {
  func.func @infer(%x: tensor<2x2048xf32> {nn.arg = #nn.arg<input "x">},
                   %w: tensor<2048x65536xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[2048], [(65536: model)]">})
      -> (tensor<2x65536xf32> {nn.result = #nn.result<output "y">}) {
    %0 = nn.exp %x : tensor<2x2048xf32>
    %1 = nn.dot %0, %w contract [1] [0] : tensor<2x2048xf32>, tensor<2048x65536xf32> -> tensor<2x65536xf32>
    return %1 : tensor<2x65536xf32>
  }
}

// -----

// ... what is less than a ten thousandth of it is not.
// CHECK-LABEL: module @skips_negligible_part_of_step
// CHECK: nn.exp {{.*}}dist.results = [#dist.layout<"[2], [2048]">]
// WHOLE-LABEL: module @skips_negligible_part_of_step
module @skips_negligible_part_of_step attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.1}, memory_GB_per_s = 10}, levels = [{name = "flat", GB_per_s = 100000, start_us = 0.001}]}>} {
  func.func @infer(%x: tensor<2x2048xf32> {nn.arg = #nn.arg<input "x">},
                   %w: tensor<2048x131072xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[2048], [(131072: model)]">})
      -> (tensor<2x131072xf32> {nn.result = #nn.result<output "y">}) {
    %0 = nn.exp %x : tensor<2x2048xf32>
    %1 = nn.dot %0, %w contract [1] [0] : tensor<2x2048xf32>, tensor<2048x131072xf32> -> tensor<2x131072xf32>
    return %1 : tensor<2x131072xf32>
  }
}

// -----

// A row that there is once is no loop to divide: columns are.
// CHECK-LABEL: module @shards_columns_of_single_row
// CHECK: dist.reshard {{.*}} from <"[1], [65536] partial sum(model)"> to <"[1], [(65536: model)]">
// CHECK: nn.exp {{.*}}dist.results = [#dist.layout<"[1], [(65536: model)]">]
// CHECK: dist.reshard {{.*}} from <"[1], [(65536: model)]"> to <"[1], [65536]">
// WHOLE-LABEL: module @shards_columns_of_single_row
// WHOLE: nn.exp {{.*}}dist.results = [#dist.layout<"[1], [65536]">]
module @shards_columns_of_single_row {
func.func @infer(%x: tensor<1x512xf32> {nn.arg = #nn.arg<input "x">},
                 %w: tensor<512x65536xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[(512: model)], [65536]">},
                 %v: tensor<65536x64xf32> {nn.arg = #nn.arg<parameter "v">, dist.layout = #dist.layout<"[65536], [(64: model)]">})
    -> (tensor<1x64xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<1x512xf32>, tensor<512x65536xf32> -> tensor<1x65536xf32>
  %1 = nn.exp %0 : tensor<1x65536xf32>
  %2 = nn.dot %1, %v contract [1] [0] : tensor<1x65536xf32>, tensor<65536x64xf32> -> tensor<1x64xf32>
  return %2 : tensor<1x64xf32>
}
}

// -----

// An op that all devices compute of whole state is divided, where links are fast, ...
// CHECK-LABEL: module @shards_op_on_whole_state
// CHECK: nn.sub {{.*}}dist.results = [#dist.layout<"[(1024: model)], [1024]">]
// WHOLE-LABEL: module @shards_op_on_whole_state
module @shards_op_on_whole_state attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.1}, memory_GB_per_s = 10}, levels = [{name = "flat", GB_per_s = 100000, start_us = 0.001}]}>} {
  func.func @step(%g: tensor<1024x1024xf32> {nn.arg = #nn.arg<input "g">},
                  %w: tensor<1024x1024xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[1024], [1024]">})
      -> (tensor<1024x1024xf32> {nn.result = #nn.result<state "w">}) {
    %0 = nn.sub %w, %g : tensor<1024x1024xf32>
    return %0 : tensor<1024x1024xf32>
  }
}

// -----

// ... but an update is not idle: it is divided later, in flat storage.
// CHECK-LABEL: module @keeps_update_for_flat_storage
// CHECK-NOT: dist.reshard
// CHECK: nn.update{{.*}}dist.results = [#dist.layout<"[1024], [1024]">]
// CHECK-NOT: dist.reshard
// CHECK: return
// WHOLE-LABEL: module @keeps_update_for_flat_storage
module @keeps_update_for_flat_storage attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.1}, memory_GB_per_s = 10}, levels = [{name = "flat", GB_per_s = 100000, start_us = 0.001}]}>} {
  func.func @step(%g: tensor<1024x1024xf32> {nn.arg = #nn.arg<input "g">},
                  %w: tensor<1024x1024xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[1024], [1024]">})
      -> (tensor<1024x1024xf32> {nn.result = #nn.result<state "w">}) {
    %0 = nn.update (%w, %g : tensor<1024x1024xf32>, tensor<1024x1024xf32>) scalars () {
    ^bb0(%a: tensor<f32>, %e: tensor<f32>):
      %1 = nn.sub %a, %e : tensor<f32>
      nn.yield %1 : tensor<f32>
    } -> tensor<1024x1024xf32>
    return %0 : tensor<1024x1024xf32>
  }
}
