// RUN: dpc-opt %s --split-input-file --dpc-outline-kernels | FileCheck %s

// Equal kernels share a function; another constant makes another one.
// CHECK-LABEL: @equal_kernels_share_function
// CHECK: call @kernel.0
// CHECK: call @kernel.0
// CHECK: call @kernel.1
// CHECK: func.func private @kernel.0
// CHECK: func.func private @kernel.1
// CHECK-NOT: @kernel.2
func.func @equal_kernels_share_function(%x: tensor<4xf32>) -> tensor<4xf32> {
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

// -----

// A sum over microbatches gets a kernel that adds, on flat tensors, one for all
// sums of a size and type; what iterations stack needs none.
// CHECK-LABEL: @sums_share_accumulate_kernel
// CHECK: func.func private @accumulate.f32.8(%[[S:.*]]: tensor<8xf32>, %[[V:.*]]: tensor<8xf32>) -> tensor<8xf32>
// CHECK: nn.kernel(%[[S]], %[[V]] :
// CHECK: ^bb0(%[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>):
// CHECK: nn.add %[[A]], %[[B]]
// CHECK-NOT: @accumulate
func.func @sums_share_accumulate_kernel(%x: tensor<3x2x4xf32>) -> (tensor<2x4xf32>, tensor<8xf32>, tensor<3x2x4xf32>) {
  %0:3 = dist.micro 3 "micro"(%x : tensor<3x2x4xf32>) operands [sliced] {
  ^bb0(%m: tensor<2x4xf32>):
    %f = nn.reshape %m : tensor<2x4xf32> -> tensor<8xf32>
    dist.yield %m, %f, %m : tensor<2x4xf32>, tensor<8xf32>, tensor<2x4xf32>
  } -> (tensor<2x4xf32>, tensor<8xf32>, tensor<3x2x4xf32>) results [summed, summed, stacked]
  return %0#0, %0#1, %0#2 : tensor<2x4xf32>, tensor<8xf32>, tensor<3x2x4xf32>
}
