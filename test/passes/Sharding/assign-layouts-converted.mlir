// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=model=4 auto-axes=model split-atoms=false' | FileCheck %s

// Under mixed precision products read conversions of weights.

// Such a weight is divided as if the product read it itself: what is held is f32, what is moved is narrow.
// CHECK-LABEL: module @shards_converted_weight
// CHECK-LABEL: @infer
// CHECK-SAME: tensor<64x64xf32> {dist.layout = #dist.layout<"[64], [(64: model)]">, nn.arg = #nn.arg<parameter "w">}
// CHECK: nn.convert %arg1 {{.*}}dist.results = [#dist.layout<"[64], [(64: model)]">]
// CHECK: dist.reshard {{.*}} from <"[8], [(64: model)]"> to <"[8], [64]"> : tensor<8x64xbf16>
module @shards_converted_weight {
func.func @infer(%x: tensor<8x64xbf16> {nn.arg = #nn.arg<input "x">},
                 %w: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<8x64xbf16> {nn.result = #nn.result<metric "y">}) {
  %n = nn.convert %w : tensor<64x64xf32> -> tensor<64x64xbf16>
  %0 = nn.dot %x, %n contract [1] [0] : tensor<8x64xbf16>, tensor<64x64xbf16> -> tensor<8x64xbf16>
  return %0 : tensor<8x64xbf16>
}
}

// -----

// Through any number of conversions.
// CHECK-LABEL: module @shards_through_several_conversions
// CHECK-LABEL: @infer
// CHECK-SAME: dist.layout = #dist.layout<"[64], [(64: model)]">, nn.arg = #nn.arg<parameter "w">
module @shards_through_several_conversions {
func.func @infer(%x: tensor<8x64xbf16> {nn.arg = #nn.arg<input "x">},
                 %w: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<8x64xf16> {nn.result = #nn.result<metric "y">}) {
  %m = nn.convert %w : tensor<64x64xf32> -> tensor<64x64xbf16>
  %n = nn.convert %m : tensor<64x64xbf16> -> tensor<64x64xf16>
  %h = nn.convert %x : tensor<8x64xbf16> -> tensor<8x64xf16>
  %0 = nn.dot %h, %n contract [1] [0] : tensor<8x64xf16>, tensor<64x64xf16> -> tensor<8x64xf16>
  return %0 : tensor<8x64xf16>
}
}

// -----

// A product with the conversion of a weight that is asked for whole is whole; the conversion is, too: nothing is gathered.
// CHECK-LABEL: module @keeps_converted_weight_whole
// CHECK-LABEL: @infer
// CHECK-SAME: dist.layout = #dist.layout<"[64], [64]">, nn.arg = #nn.arg<parameter "w">
// CHECK-NOT: dist.reshard
// CHECK: nn.dot {{.*}}dist.results = [#dist.layout<"[8], [64]">]
module @keeps_converted_weight_whole {
func.func @infer(%x: tensor<8x64xbf16> {nn.arg = #nn.arg<input "x">},
                 %w: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w">, dist.request = [[], []]},
                 %v: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "v">, dist.request = [["model"], []]})
    -> (tensor<8x64xbf16> {nn.result = #nn.result<metric "y">}) {
  %n = nn.convert %w : tensor<64x64xf32> -> tensor<64x64xbf16>
  %m = nn.convert %v : tensor<64x64xf32> -> tensor<64x64xbf16>
  %0 = nn.dot %x, %n contract [1] [0] : tensor<8x64xbf16>, tensor<64x64xbf16> -> tensor<8x64xbf16>
  %1 = nn.dot %0, %m contract [1] [0] : tensor<8x64xbf16>, tensor<64x64xbf16> -> tensor<8x64xbf16>
  return %1 : tensor<8x64xbf16>
}
}
