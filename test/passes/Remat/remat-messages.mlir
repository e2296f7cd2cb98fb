// RUN: dpc-opt %s --dpc-describe-machine --dpc-remat | FileCheck %s

// A message arrives once, so the backward pass keeps what it brings.
// CHECK-LABEL: func.func @step
// CHECK: dist.recv
// CHECK-NOT: dist.recv
module @stage.1 attributes {dist.stage = 1 : i64} {
dist.mesh @mesh axes ["pipe"] sizes [2]
func.func @step(%w: tensor<64x4xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[64], [4]">})
    -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<64x4xf32> {nn.result = #nn.result<state "w">}) {
  %b = nn.constant dense<3.0> : tensor<4x512xf32>
  %a = dist.recv from 0 on @mesh "pipe" number 1 : tensor<256x64xf32>
  %x = nn.dot %a, %w contract [1] [0] : tensor<256x64xf32>, tensor<64x4xf32> -> tensor<256x4xf32>
  %k = nn.tanh %x : tensor<256x4xf32>
  %z = nn.dot %k, %b contract [1] [0] : tensor<256x4xf32>, tensor<4x512xf32> -> tensor<256x512xf32>
  %loss = nn.reduce sum %z [0, 1] : tensor<256x512xf32> -> tensor<f32>
  %c = nn.mul %z, %z : tensor<256x512xf32>
  %d = nn.dot %c, %b contract [1] [1] : tensor<256x512xf32>, tensor<4x512xf32> -> tensor<256x4xf32>
  %e = nn.mul %d, %k : tensor<256x4xf32>
  %dw = nn.dot %a, %e contract [0] [0] : tensor<256x64xf32>, tensor<256x4xf32> -> tensor<64x4xf32>
  %u = nn.update(%w, %dw : tensor<64x4xf32>, tensor<64x4xf32>) scalars() {
  ^bb0(%p: tensor<f32>, %t: tensor<f32>):
    %1 = nn.sub %p, %t : tensor<f32>
    nn.yield %1 : tensor<f32>
  } -> tensor<64x4xf32>
  return %loss, %u : tensor<f32>, tensor<64x4xf32>
}
}
