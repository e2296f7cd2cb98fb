// RUN: dpc-opt %s --dpc-assign-stages=chunks-per-stage=2 | FileCheck %s --check-prefixes=CHECK,FORTH
// RUN: dpc-opt %s '--dpc-assign-stages=chunks-per-stage=2 schedule=zero-bubble' | FileCheck %s --check-prefixes=CHECK,TURNS
// RUN: not dpc-opt %s --dpc-assign-stages=chunks-per-stage=3 2>&1 | FileCheck %s --check-prefix=FEW

// Each stage runs several chunks.
// FORTH: module @cuts_into_chunks
// FORTH-SAME: dist.stages = array<i64: 0, 1, 0, 1>
// TURNS: module @cuts_into_chunks
// TURNS-SAME: dist.stages = array<i64: 0, 1, 1, 0>
// CHECK: nn.dot {{.*}} {dist.chunks = array<i64: 0>}
// CHECK: nn.dot {{.*}} {dist.chunks = array<i64: 1>}
// CHECK: nn.dot {{.*}} {dist.chunks = array<i64: 2>}
// CHECK: nn.dot {{.*}} {dist.chunks = array<i64: 3>}
// FEW: error: pipe=2 with 3 chunks per stage: a forward pass of 4 ops cannot be cut into 6 chunks
module @cuts_into_chunks attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.1}, memory_GB_per_s = 20}, levels = [{name = "flat", GB_per_s = 3, start_us = 5}]}>} {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  func.func @infer(%x: tensor<4x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>, dist.layout = #dist.layout<"[4], [8]">},
                   %w: tensor<8x8xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[8], [8]">})
      -> (tensor<4x8xf32> {nn.result = #nn.result<output "y">}) {
    %0 = nn.dot %x, %w contract [1] [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    %1 = nn.dot %0, %w contract [1] [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    %2 = nn.dot %1, %w contract [1] [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    %3 = nn.dot %2, %w contract [1] [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    return %3 : tensor<4x8xf32>
  }
}
