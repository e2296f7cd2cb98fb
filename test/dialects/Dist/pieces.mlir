// RUN: dpc-opt %s | dpc-opt | FileCheck %s

dist.mesh @mesh axes ["micro", "pipe"] sizes [2, 2] sequential ["micro"]
// CHECK-LABEL: @pieces
func.func @pieces(%x: tensor<2x8xf32>) {
  dist.micro 2 "micro" (%x : tensor<2x8xf32>) operands [sliced] {
  ^bb0(%xm: tensor<8xf32>):
    // CHECK: %[[H:.*]] = dist.piece "F" chunk 0 {
    // CHECK: dist.yield
    // CHECK: } -> tensor<8xf32>
    %h = dist.piece "F" chunk 0 {
      %0 = nn.exp %xm : tensor<8xf32>
      dist.yield %0 : tensor<8xf32>
    } -> tensor<8xf32>
    dist.send %h to 1 on @mesh "pipe" number 0 : tensor<8xf32>
    // CHECK: dist.piece "W" chunk 0 {
    dist.piece "W" chunk 0 {
      dist.yield
    }
    dist.yield
  } -> () results [] {dist.order = "r0.0 s0.0"}
  return
}
