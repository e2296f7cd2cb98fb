// RUN: dpc-opt %s --pass-pipeline='builtin.module(dpc-describe-machine{target=cpu},func.func(dpc-form-kernels))' | FileCheck %s --check-prefix=CPU
// RUN: dpc-opt %s --pass-pipeline='builtin.module(dpc-describe-machine{target=scalar},func.func(dpc-form-kernels))' | FileCheck %s --check-prefix=SCALAR

// Two products share no kernel where the target makes them in tiles; a target
// that has no tiles makes their elements in the loops of the sum.
// CPU-LABEL: @tiles_keep_products_apart
// SCALAR-LABEL: @tiles_keep_products_apart
func.func @tiles_keep_products_apart(%x: tensor<32x32xf32>, %w: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // CPU: nn.kernel
  // CPU-NEXT: ^bb0
  // CPU-NEXT: nn.dot
  // CPU-NEXT: nn.yield
  // CPU: nn.kernel
  // CPU: nn.dot
  // CPU-NEXT: nn.add
  // CPU-NEXT: nn.yield
  // SCALAR: nn.kernel
  // SCALAR: nn.dot
  // SCALAR-NEXT: nn.dot
  // SCALAR-NEXT: nn.add
  // SCALAR-NEXT: nn.yield
  // SCALAR-NOT: nn.kernel
  %0 = nn.dot %x, %w batch [] [] contract [1] [0] : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %1 = nn.dot %w, %x batch [] [] contract [1] [0] : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %2 = nn.add %0, %1 : tensor<32x32xf32>
  return %2 : tensor<32x32xf32>
}
