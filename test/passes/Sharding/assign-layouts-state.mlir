// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=micro=2,data=2 sequential-axes=micro batch-axes=micro,data' | FileCheck %s

// A parameter with a row for each sample (a batch baked into an export) is cut
// like the samples over data, and whole over microbatches: a turn takes its rows.
// CHECK-LABEL: module @shards_parameter_with_sample_rows
// CHECK-LABEL: @step
// CHECK-SAME: tensor<8x6xf32> {dist.layout = #dist.layout<"[(2: micro)(4: data)], [6]">
// CHECK-SAME: tensor<8x6xf32> {dist.layout = #dist.layout<"[(2)(4: data)], [6]">
module @shards_parameter_with_sample_rows {
func.func @step(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                %w: tensor<8x6xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  // CHECK: dist.reshard
  %0 = nn.add %x, %w : tensor<8x6xf32>
  %1 = nn.tanh %0 : tensor<8x6xf32>
  %2 = nn.reduce sum %1 [0, 1] : tensor<8x6xf32> -> tensor<f32>
  return %2 : tensor<f32>
}
}

// -----

// One without such rows is not touched by either.
// CHECK-LABEL: module @keeps_parameter_without_samples_whole
// CHECK-LABEL: @step
// CHECK-SAME: tensor<6xf32> {dist.layout = #dist.layout<"[6]">
// CHECK-NOT: dist.reshard %arg1
module @keeps_parameter_without_samples_whole {
func.func @step(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                %w: tensor<6xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
  %0 = nn.broadcast %w [1] : tensor<6xf32> -> tensor<8x6xf32>
  %1 = nn.add %x, %0 : tensor<8x6xf32>
  %2 = nn.reduce sum %1 [0, 1] : tensor<8x6xf32> -> tensor<f32>
  return %2 : tensor<f32>
}
}
