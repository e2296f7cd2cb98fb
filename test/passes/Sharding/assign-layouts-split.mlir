// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=model=2 auto-axes=model' | FileCheck %s
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=model=2 auto-axes=model split-atoms=false' | FileCheck %s --check-prefix=WHOLE

// What stands between two cut products is divided along a loop of its own: the sum
// over devices becomes cut, and is gathered where the next product reads it.
// CHECK-LABEL: @infer
// CHECK-SAME: tensor<64x512xf32> {dist.layout = #dist.layout<"[64], [(512: model)]">
// CHECK-SAME: dist.cost = #dist.cost<
// CHECK: nn.dot {{.*}}partial sum(model)
// CHECK: dist.reshard {{.*}} from <"[256], [64] partial sum(model)"> to <"[(256: model)], [64]">
// CHECK: nn.exp {{.*}}dist.results = [#dist.layout<"[(256: model)], [64]">]
// CHECK: nn.tanh {{.*}}dist.results = [#dist.layout<"[(256: model)], [64]">]
// CHECK: dist.reshard {{.*}} from <"[(256: model)], [64]"> to <"[256], [64]">
// CHECK: nn.dot {{.*}}dist.results = [#dist.layout<"[256], [(512: model)]">]
// With one atom for all of it, every device computes it.
// WHOLE-LABEL: @infer
// WHOLE: nn.exp {{.*}}dist.results = [#dist.layout<"[256], [64]">]
// WHOLE: nn.tanh {{.*}}dist.results = [#dist.layout<"[256], [64]">]
func.func @infer(%x: tensor<256x64xf32> {nn.arg = #nn.arg<input "x">},
                 %w: tensor<64x512xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[64], [(512: model)]">},
                 %v: tensor<512x64xf32> {nn.arg = #nn.arg<parameter "v">, dist.layout = #dist.layout<"[(512: model)], [64]">},
                 %u: tensor<64x512xf32> {nn.arg = #nn.arg<parameter "u">, dist.layout = #dist.layout<"[64], [(512: model)]">})
    -> (tensor<256x512xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<256x64xf32>, tensor<64x512xf32> -> tensor<256x512xf32>
  %1 = nn.relu %0 : tensor<256x512xf32>
  %2 = nn.dot %1, %v contract [1] [0] : tensor<256x512xf32>, tensor<512x64xf32> -> tensor<256x64xf32>
  %3 = nn.exp %2 : tensor<256x64xf32>
  %4 = nn.tanh %3 : tensor<256x64xf32>
  %5 = nn.dot %4, %u contract [1] [0] : tensor<256x64xf32>, tensor<64x512xf32> -> tensor<256x512xf32>
  return %5 : tensor<256x512xf32>
}

// -----

// Sums of sums are reduced once: what each device has of two products is added up
// before it goes anywhere.
// CHECK-LABEL: @infer
// CHECK-COUNT-2: nn.dot {{.*}}partial sum(model)
// CHECK: nn.add {{.*}}dist.results = [#dist.layout<"[256], [64] partial sum(model)">]
// CHECK: dist.reshard {{.*}}partial sum(model)
// CHECK-NOT: dist.reshard {{.*}}partial sum(model)
// CHECK: return
// WHOLE-LABEL: @infer
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
