// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=micro=3,model=2 sequential-axes=micro batch-axes=micro auto-axes=model' | FileCheck %s
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=micro=3,model=2 sequential-axes=micro batch-axes=micro auto-axes=model split-atoms=false' | FileCheck %s --check-prefix=WHOLE

// An op that the axis would leave idle, and whose result is wanted cut, is divided by
// itself: those around it do not run along that dimension, and have another one.
// CHECK-LABEL: module @requested_op_has_own_loop
// CHECK: nn.cumsum {{.*}}dist.results = [#dist.layout<"[16], [64]">]
// CHECK: nn.exp {{.*}}dist.results = [#dist.layout<"[(16: model)], [64]">]
// CHECK: dist.reshard {{.*}} from <"[(16: model)], [64]"> to <"[16], [(64: model)]">
// CHECK-COUNT-3: nn.cumsum {{.*}}dist.results = [#dist.layout<"[16], [(64: model)]">]
module @requested_op_has_own_loop {
func.func @infer(%x: tensor<16x64xf32> {nn.arg = #nn.arg<input "x">})
    -> (tensor<16x64xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.cumsum %x dim 0 : tensor<16x64xf32>
  %1 = nn.exp %0 {dist.request = [["model"], []]} : tensor<16x64xf32>
  %2 = nn.cumsum %1 dim 0 : tensor<16x64xf32>
  %3 = nn.cumsum %2 dim 0 : tensor<16x64xf32>
  %4 = nn.cumsum %3 dim 0 : tensor<16x64xf32>
  return %4 : tensor<16x64xf32>
}
}

// -----

// Without a request all of them have that one.
// CHECK-LABEL: module @unrequested_op_shares_loop
// CHECK-COUNT-2: nn.cumsum {{.*}}dist.results = [#dist.layout<"[16], [(64: model)]">]
module @unrequested_op_shares_loop {
func.func @infer(%x: tensor<16x64xf32> {nn.arg = #nn.arg<input "x">})
    -> (tensor<16x64xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.cumsum %x dim 0 : tensor<16x64xf32>
  %1 = nn.exp %0 : tensor<16x64xf32>
  %2 = nn.cumsum %1 dim 0 : tensor<16x64xf32>
  return %2 : tensor<16x64xf32>
}
}

// -----

// Each sample with each: the samples are both dimensions, and microbatches cut one of
// them, the one that they cut where the value is made, which nobody has to ask for.
// CHECK-LABEL: module @microbatches_shard_one_sample_dimension
// CHECK: nn.dot {{.*}}dist.results = [#dist.layout<"[(3: micro)(2: model)], [6]">]
// WHOLE: nn.dot {{.*}}dist.results = [#dist.layout<"[(3: micro)(2)], [6]">]
// WHOLE: dist.reshard {{.*}} from <"[(3: micro)(2)], [6]"> to <"[(3: micro)(2: model)], [6]">
module @microbatches_shard_one_sample_dimension {
func.func @infer(%x: tensor<6xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<6x6xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %x contract [] [] {dist.request = [["model"], []]} : tensor<6xf32>, tensor<6xf32> -> tensor<6x6xf32>
  return %0 : tensor<6x6xf32>
}
}

// -----

// Rows of a parameter are asked for, and columns are what it is computed with: it is turned, since the sum that rows take is
// larger than it. Where atoms are not split what is asked for is the only cut.
// CHECK-LABEL: module @reshards_requested_weight
// CHECK: %[[W:.*]] = dist.reshard %arg1 from <"[(64: model)], [512]"> to <"[64], [(512: model)]">
// CHECK: nn.dot {{.*}}%[[W]] {{.*}}dist.results = [#dist.layout<"[4096], [(512: model)]">]
// WHOLE: @infer(%arg0: tensor<4096x64xf32>
// WHOLE-NOT: dist.reshard
// WHOLE: nn.dot {{.*}}dist.results = [#dist.layout<"[4096], [512] partial sum(model)">]
module @reshards_requested_weight {
func.func @infer(%x: tensor<4096x64xf32> {nn.arg = #nn.arg<input "x">},
                 %w: tensor<64x512xf32> {nn.arg = #nn.arg<parameter "w">, dist.request = [["model"], []]})
    -> (tensor<4096x512xf32> {nn.result = #nn.result<metric "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<4096x64xf32>, tensor<64x512xf32> -> tensor<4096x512xf32>
  return %0 : tensor<4096x512xf32>
}
}
