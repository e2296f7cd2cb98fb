// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=data=4 batch-axes=data' | FileCheck %s

// Indices that have no batch dimension, but pick rows out of all samples, are divided over the batch's axis too: what is
// computed of the rows is, then. Rows are gathered for that, once.
// CHECK-LABEL: module @shards_indices_into_samples
// CHECK-LABEL: @step
// CHECK-SAME: tensor<32xi64> {dist.layout = #dist.layout<"[(32: data)]">
// CHECK: dist.reshard {{.*}} from <"[(64: data)], [256]"> to <"[64], [256]">
// CHECK: nn.gather {{.*}}dist.results = [#dist.layout<"[(32: data)], [256]">]
// CHECK: nn.dot {{.*}}dist.results = [#dist.layout<"[(32: data)], [256]">]
module @shards_indices_into_samples {
func.func @step(%x: tensor<64x256xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                %i: tensor<32xi64> {nn.arg = #nn.arg<input "i">},
                %w: tensor<256x256xf32> {nn.arg = #nn.arg<constant "w">})
    -> (tensor<32x256xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.gather %x, %i dim 0 : tensor<64x256xf32>, tensor<32xi64> -> tensor<32x256xf32>
  %1 = nn.dot %0, %w contract [1] [0] : tensor<32x256xf32>, tensor<256x256xf32> -> tensor<32x256xf32>
  return %1 : tensor<32x256xf32>
}
}

// -----

// One index cannot be.
// CHECK-LABEL: module @keeps_single_index_whole
// CHECK-LABEL: @step
// CHECK-SAME: tensor<1xi64> {dist.layout = #dist.layout<"[1]">
// CHECK: nn.gather {{.*}}dist.results = [#dist.layout<"[1], [256] partial sum(data)">]
module @keeps_single_index_whole {
func.func @step(%x: tensor<64x256xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                %i: tensor<1xi64> {nn.arg = #nn.arg<input "i">},
                %w: tensor<256x256xf32> {nn.arg = #nn.arg<constant "w">})
    -> (tensor<1x256xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.gather %x, %i dim 0 : tensor<64x256xf32>, tensor<1xi64> -> tensor<1x256xf32>
  %1 = nn.dot %0, %w contract [1] [0] : tensor<1x256xf32>, tensor<256x256xf32> -> tensor<1x256xf32>
  return %1 : tensor<1x256xf32>
}
}

// -----

// Weights of the samples, in the place of numbers, are values: their rows count nothing, and stay whole.
// CHECK-LABEL: module @keeps_rows_of_sample_weights_whole
// CHECK-LABEL: @step
// CHECK-SAME: tensor<32x64xf32> {dist.layout = #dist.layout<"[32], [(64: data)]">
// CHECK: nn.dot {{.*}}dist.results = [#dist.layout<"[32], [256] partial sum(data)">]
module @keeps_rows_of_sample_weights_whole {
func.func @step(%x: tensor<64x256xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                %i: tensor<32x64xf32> {nn.arg = #nn.arg<input "i">},
                %w: tensor<256x256xf32> {nn.arg = #nn.arg<constant "w">})
    -> (tensor<32x256xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %i, %x contract [1] [0] : tensor<32x64xf32>, tensor<64x256xf32> -> tensor<32x256xf32>
  %1 = nn.dot %0, %w contract [1] [0] : tensor<32x256xf32>, tensor<256x256xf32> -> tensor<32x256xf32>
  return %1 : tensor<32x256xf32>
}
}
