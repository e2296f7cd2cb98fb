// RUN: dpc-opt %s --dpc-describe-machine=processor=x86-64-v3 --dpc-outline-kernels --dpc-describe-kernels | FileCheck %s
// RUN: dpc-opt %s --dpc-describe-machine=processor=x86-64-v3 --dpc-outline-kernels --dpc-describe-kernels --dpc-generate-code | FileCheck %s --check-prefix=CODE
// RUN: not dpc-opt %s --dpc-describe-machine=processor=x86-64-v3 --dpc-outline-kernels --dpc-generate-code 2>&1 | FileCheck %s --check-prefix=NONE

// An element of the result is computed from the same element of the operand: they may share a buffer.
// There is no code yet.
// CHECK-NOT: module @code
// CHECK: func.func private @kernel.0(%{{.*}}: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {{{.*}}exec.may_alias = [array<i64: 0>], exec.scratch_bytes = 0 : i64
// An element of a transposition is another element of the operand.
// CHECK: func.func private @kernel.1(%{{.*}}: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {{{.*}}exec.may_alias = [array<i64>], exec.scratch_bytes = 0 : i64
// CODE: module @code
// NONE: error: its code needs other memory than the kernel was described with (dpc-describe-kernels)
func.func @elementwise_kernel_may_alias(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = nn.kernel (%x : tensor<4x4xf32>) {
  ^bb0(%a: tensor<4x4xf32>):
    %1 = nn.exp %a : tensor<4x4xf32>
    nn.yield %1 : tensor<4x4xf32>
  } -> tensor<4x4xf32>
  %2 = nn.kernel (%x : tensor<4x4xf32>) {
  ^bb0(%a: tensor<4x4xf32>):
    %3 = nn.transpose %a [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    nn.yield %3 : tensor<4x4xf32>
  } -> tensor<4x4xf32>
  return %0, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}
