// RUN: dpc-opt %s --dpc-assign-stages=microbatches=2 | FileCheck %s --check-prefixes=CHECK,FREE
// RUN: dpc-opt %s '--dpc-assign-stages=microbatches=2 stage-bytes=1000' | FileCheck %s --check-prefixes=CHECK,LIMIT
// RUN: dpc-opt %s '--dpc-assign-stages=microbatches=2 stage-bytes=10' | FileCheck %s --check-prefixes=CHECK,LIMIT

#machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.1}, memory_GB_per_s = 20}, levels = [{name = "flat", GB_per_s = 3, start_us = 5}]}>
// Without a limit, the first two products are a chunk, because the message after them is the
// smallest one. The chunk holds 1024 bytes, and a limit moves the cut. If no cut keeps the limit,
// it is the one that needs the fewest bytes.
// FREE: dist.cut_bytes = array<i64: 1024, 256>
// LIMIT: dist.cut_bytes = array<i64: 512, 768>
module @by_bytes attributes {dist.machine = #machine} {
  dist.mesh @mesh axes ["pipe"] sizes [2]
  // CHECK: @infer
  func.func @infer(%x: tensor<4x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>, dist.layout = #dist.layout<"[4], [8]">},
                   %u: tensor<8x16xf32> {nn.arg = #nn.arg<parameter "u">, dist.layout = #dist.layout<"[8], [16]">},
                   %v: tensor<16x8xf32> {nn.arg = #nn.arg<parameter "v">, dist.layout = #dist.layout<"[16], [8]">},
                   %w: tensor<8x8xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[8], [8]">})
      -> (tensor<4x8xf32> {nn.result = #nn.result<output "y">}) {
    // CHECK: nn.dot {{.*}} {dist.chunks = array<i64: 0>}
    %0 = nn.dot %x, %u contract [1] [0] : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32>
    // FREE: nn.dot {{.*}} {dist.chunks = array<i64: 0>}
    // LIMIT: nn.dot {{.*}} {dist.chunks = array<i64: 1>}
    %1 = nn.dot %0, %v contract [1] [0] : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
    // CHECK: nn.dot {{.*}} {dist.chunks = array<i64: 1>}
    %2 = nn.dot %1, %w contract [1] [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    // CHECK: nn.dot {{.*}} {dist.chunks = array<i64: 1>}
    %3 = nn.dot %2, %w contract [1] [0] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    return %3 : tensor<4x8xf32>
  }
}
