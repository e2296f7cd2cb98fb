// RUN: dpc-opt %s --dpc-outline-kernels | FileCheck %s

// Equal kernels share a function; another constant makes another one.
// CHECK-LABEL: @step
// CHECK: call @kernel.0
// CHECK: call @kernel.0
// CHECK: call @kernel.1
// CHECK: func.func private @kernel.0
// CHECK: func.func private @kernel.1
// CHECK-NOT: @kernel.2
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.kernel (%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %c = nn.constant dense<1.0> : tensor<4xf32>
    %s = nn.add %a, %c : tensor<4xf32>
    nn.yield %s : tensor<4xf32>
  } -> tensor<4xf32>
  %1 = nn.kernel (%0 : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %c = nn.constant dense<1.0> : tensor<4xf32>
    %s = nn.add %a, %c : tensor<4xf32>
    nn.yield %s : tensor<4xf32>
  } -> tensor<4xf32>
  %2 = nn.kernel (%1 : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %c = nn.constant dense<2.0> : tensor<4xf32>
    %s = nn.add %a, %c : tensor<4xf32>
    nn.yield %s : tensor<4xf32>
  } -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
