// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=micro=2,data=2 sequential-axes=micro batch-axes=micro,data' --dpc-partition --canonicalize --cse | FileCheck %s

// A sum over microbatches and ranks that is converted to fewer bits: microbatches are summed in all bits, and what ranks
// sum is converted.
// CHECK-LABEL: module @narrows_between_loop_and_reduction
// CHECK: %[[L:.*]] = dist.micro 2
// CHECK: nn.reduce sum %{{.*}} [0] : tensor<2x64xf32> -> tensor<64xf32>
// CHECK: results [summed]
// CHECK: %[[N:.*]] = nn.convert %[[L]] : tensor<64xf32> -> tensor<64xbf16>
// CHECK: dist.all_reduce sum %[[N]] on @mesh ["data"] : tensor<64xbf16>
module @narrows_between_loop_and_reduction {
func.func @step(%x: tensor<8x64xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<64xbf16> {nn.result = #nn.result<metric "y">}) {
  %0 = nn.reduce sum %x [0] : tensor<8x64xf32> -> tensor<64xf32>
  %1 = nn.convert %0 : tensor<64xf32> -> tensor<64xbf16>
  return %1 : tensor<64xbf16>
}
}

// -----

// One to more bits is what ranks have summed in few.
// CHECK-LABEL: module @widens_after_reduction
// CHECK: dist.micro 2
// CHECK: dist.all_reduce sum %{{.*}} on @mesh ["data"] : tensor<64xbf16>
// CHECK: nn.convert %{{.*}} : tensor<64xbf16> -> tensor<64xf32>
module @widens_after_reduction {
func.func @step(%x: tensor<8x64xbf16> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<64xf32> {nn.result = #nn.result<metric "y">}) {
  %0 = nn.reduce sum %x [0] : tensor<8x64xbf16> -> tensor<64xbf16>
  %1 = nn.convert %0 : tensor<64xbf16> -> tensor<64xf32>
  return %1 : tensor<64xf32>
}
}
