// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=data=2,model=2 batch-axes=data auto-axes=model' | FileCheck %s

// Samples that data has divided are divided once more, among those that compute the same, ...
// CHECK-LABEL: module @shards_samples_twice
// CHECK: dist.reshard {{.*}} from <"[(256: data)], [512] partial sum(model)"> to <"[(256: data,model)], [512]">
// CHECK: nn.exp {{.*}}dist.results = [#dist.layout<"[(256: data,model)], [512]">]
// CHECK: dist.reshard {{.*}} from <"[(256: data,model)], [512]"> to <"[(256: data)], [512]">
module @shards_samples_twice {
func.func @infer(%x: tensor<256x4096xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                 %w: tensor<4096x512xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[(4096: model)], [512]">},
                 %v: tensor<512x64xf32> {nn.arg = #nn.arg<parameter "v">, dist.layout = #dist.layout<"[512], [(64: model)]">})
    -> (tensor<256x64xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<256x4096xf32>, tensor<4096x512xf32> -> tensor<256x512xf32>
  %1 = nn.exp %0 : tensor<256x512xf32>
  %2 = nn.dot %1, %v contract [1] [0] : tensor<256x512xf32>, tensor<512x64xf32> -> tensor<256x64xf32>
  return %2 : tensor<256x64xf32>
}
}

// -----

// ... but of two samples each has one: columns are divided.
// CHECK-LABEL: module @shards_columns_of_few_samples
// CHECK: nn.exp {{.*}}dist.results = [#dist.layout<"[(2: data)], [(65536: model)]">]
module @shards_columns_of_few_samples {
func.func @infer(%x: tensor<2x512xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                 %w: tensor<512x65536xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[(512: model)], [65536]">},
                 %v: tensor<65536x64xf32> {nn.arg = #nn.arg<parameter "v">, dist.layout = #dist.layout<"[65536], [(64: model)]">})
    -> (tensor<2x64xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<2x512xf32>, tensor<512x65536xf32> -> tensor<2x65536xf32>
  %1 = nn.exp %0 : tensor<2x65536xf32>
  %2 = nn.dot %1, %v contract [1] [0] : tensor<2x65536xf32>, tensor<65536x64xf32> -> tensor<2x64xf32>
  return %2 : tensor<2x64xf32>
}
}
