// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=model=2 auto-axes=model' | FileCheck %s

// An axis that is not one of the batch does not cut samples where a parameter is summed
// over: the parameter is divided instead.
// CHECK-LABEL: module @parameter_sum_keeps_samples_whole
// CHECK: nn.exp {{.*}}dist.results = [#dist.layout<"[256], [64]">]
// CHECK: nn.dot {{.*}}dist.results = [#dist.layout<"[256], [(64: model)]">]
// CHECK: nn.tanh {{.*}}dist.results = [#dist.layout<"[256], [(64: model)]">]
module @parameter_sum_keeps_samples_whole {
func.func @infer(%x: tensor<256x64xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                 %w: tensor<64x512xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[64], [(512: model)]">},
                 %v: tensor<512x64xf32> {nn.arg = #nn.arg<parameter "v">, dist.layout = #dist.layout<"[(512: model)], [64]">},
                 %t: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "t">, dist.layout = #dist.layout<"[64], [64]">})
    -> (tensor<256x64xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<256x64xf32>, tensor<64x512xf32> -> tensor<256x512xf32>
  %1 = nn.dot %0, %v contract [1] [0] : tensor<256x512xf32>, tensor<512x64xf32> -> tensor<256x64xf32>
  %2 = nn.exp %1 : tensor<256x64xf32>
  %3 = nn.dot %2, %t contract [1] [0] : tensor<256x64xf32>, tensor<64x64xf32> -> tensor<256x64xf32>
  %4 = nn.tanh %3 : tensor<256x64xf32>
  return %4 : tensor<256x64xf32>
}
}

// -----

// A dimension that does not count samples is cut through the whole component.
// CHECK-LABEL: module @shards_rows_through_component
// CHECK: nn.exp {{.*}}dist.results = [#dist.layout<"[(256: model)], [64]">]
// CHECK: nn.dot {{.*}}dist.results = [#dist.layout<"[(256: model)], [64]">]
// CHECK: nn.tanh {{.*}}dist.results = [#dist.layout<"[(256: model)], [64]">]
module @shards_rows_through_component {
func.func @infer(%x: tensor<256x64xf32> {nn.arg = #nn.arg<input "x">},
                 %w: tensor<64x512xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[64], [(512: model)]">},
                 %v: tensor<512x64xf32> {nn.arg = #nn.arg<parameter "v">, dist.layout = #dist.layout<"[(512: model)], [64]">},
                 %t: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "t">, dist.layout = #dist.layout<"[64], [64]">})
    -> (tensor<256x64xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<256x64xf32>, tensor<64x512xf32> -> tensor<256x512xf32>
  %1 = nn.dot %0, %v contract [1] [0] : tensor<256x512xf32>, tensor<512x64xf32> -> tensor<256x64xf32>
  %2 = nn.exp %1 : tensor<256x64xf32>
  %3 = nn.dot %2, %t contract [1] [0] : tensor<256x64xf32>, tensor<64x64xf32> -> tensor<256x64xf32>
  %4 = nn.tanh %3 : tensor<256x64xf32>
  return %4 : tensor<256x64xf32>
}
}

// -----

// Who asks for the result so gets it, computed so.
// CHECK-LABEL: module @request_shards_rows
// CHECK: nn.dot {{.*}}dist.results = [#dist.layout<"[(256: model)], [64]">]
// CHECK-NOT: dist.reshard
// CHECK: return
module @request_shards_rows {
func.func @infer(%x: tensor<256x64xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                 %t: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "t">, dist.layout = #dist.layout<"[64], [64]">})
    -> (tensor<256x64xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %t contract [1] [0] {dist.request = [["model"], []]} : tensor<256x64xf32>, tensor<64x64xf32> -> tensor<256x64xf32>
  return %0 : tensor<256x64xf32>
}
}
