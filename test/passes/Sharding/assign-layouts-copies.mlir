// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=model=4 auto-axes=model split-atoms=false' | FileCheck %s

// Queries, keys and values in one dimension, of which each is read by itself: the three
// are one dimension of heads, which is cut through the reshape and the slices.
// CHECK-LABEL: module @shards_heads_of_sliced_copies
// CHECK-LABEL: @infer
// CHECK-SAME: tensor<48x32xf32> {dist.layout = #dist.layout<"[(3)(4: model)(4)], [32]">
// CHECK: nn.reshape {{.*}}dist.results = [#dist.layout<"[2], [8], [3], [(4: model)], [4]">]
// CHECK-COUNT-3: nn.slice {{.*}}dist.results = [#dist.layout<"[1], [2], [(4: model)], [8], [4]">]
// CHECK-NOT: dist.reshard
// CHECK: return
module @shards_heads_of_sliced_copies {
func.func @infer(%x: tensor<2x8x32xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                 %w: tensor<48x32xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<1x2x4x8x4xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [2] [1] : tensor<2x8x32xf32>, tensor<48x32xf32> -> tensor<2x8x48xf32>
  %1 = nn.reshape %0 : tensor<2x8x48xf32> -> tensor<2x8x3x4x4xf32>
  %2 = nn.transpose %1 [2, 0, 3, 1, 4] : tensor<2x8x3x4x4xf32> -> tensor<3x2x4x8x4xf32>
  %3 = nn.slice %2 starts [0, 0, 0, 0, 0] limits [1, 2, 4, 8, 4] strides [1, 1, 1, 1, 1] : tensor<3x2x4x8x4xf32> -> tensor<1x2x4x8x4xf32>
  %4 = nn.slice %2 starts [1, 0, 0, 0, 0] limits [2, 2, 4, 8, 4] strides [1, 1, 1, 1, 1] : tensor<3x2x4x8x4xf32> -> tensor<1x2x4x8x4xf32>
  %5 = nn.slice %2 starts [2, 0, 0, 0, 0] limits [3, 2, 4, 8, 4] strides [1, 1, 1, 1, 1] : tensor<3x2x4x8x4xf32> -> tensor<1x2x4x8x4xf32>
  %6 = nn.mul %3, %4 : tensor<1x2x4x8x4xf32>
  %7 = nn.mul %6, %5 : tensor<1x2x4x8x4xf32>
  return %7 : tensor<1x2x4x8x4xf32>
}
}

// -----

// What is read across the heads keeps them from being one dimension.
// CHECK-LABEL: module @slice_across_heads_reshards
// CHECK: dist.reshard
module @slice_across_heads_reshards {
func.func @infer(%x: tensor<2x8x32xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                 %w: tensor<48x32xf32> {nn.arg = #nn.arg<parameter "w">, dist.request = [["model"], []]})
    -> (tensor<2x8x20xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [2] [1] : tensor<2x8x32xf32>, tensor<48x32xf32> -> tensor<2x8x48xf32>
  %1 = nn.cumsum %0 dim 2 : tensor<2x8x48xf32>
  %2 = nn.slice %1 starts [0, 0, 5] limits [2, 8, 25] strides [1, 1, 1] : tensor<2x8x48xf32> -> tensor<2x8x20xf32>
  return %2 : tensor<2x8x20xf32>
}
}
