// RUN: dpc-opt %s --dpc-describe-machine=processor=x86-64-v3 --dpc-outline-kernels --dpc-describe-kernels --dpc-generate-code | FileCheck %s

// Every kernel gets a body in @code, in a module of its own name.
// CHECK: func.func private @kernel.0
// CHECK: module @code
// CHECK: module @kernel.0 attributes {exec.ops = "add"}
// CHECK: llvm.func internal @kernel.0.body({{.*}}) attributes
// CHECK: llvm.load
// CHECK: arith.addf
// CHECK: llvm.store
// CHECK: llvm.func @kernel.0(
func.func @kernel_gets_module_of_code(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.kernel (%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %s = nn.add %a, %a : tensor<4xf32>
    nn.yield %s : tensor<4xf32>
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
