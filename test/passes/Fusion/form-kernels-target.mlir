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

// The sum over a channel and its readers share loops over channels, unless a channel's
// elements in a sample are few. A sum that the readers know only after all samples
// of another dimension has a kernel of its own.
// SCALAR-LABEL: @channels
// CPU-LABEL: @channels
// CPU: nn.kernel
// CPU: nn.reduce
// CPU-NEXT: nn.mul
// CPU-NEXT: nn.broadcast
// CPU-NEXT: nn.sub
// CPU-NEXT: nn.yield
// CPU-NOT: nn.kernel
func.func @channels(%x: tensor<4x3x8x8xf32>, %k: tensor<3xf32>) -> (tensor<4x3x8x8xf32>, tensor<3xf32>) {
  %0 = nn.reduce sum %x [0, 2, 3] : tensor<4x3x8x8xf32> -> tensor<3xf32>
  %1 = nn.mul %0, %k : tensor<3xf32>
  %2 = nn.broadcast %1 [1] : tensor<3xf32> -> tensor<4x3x8x8xf32>
  %3 = nn.sub %x, %2 : tensor<4x3x8x8xf32>
  return %3, %0 : tensor<4x3x8x8xf32>, tensor<3xf32>
}

// CPU-LABEL: @short_pieces
// CPU: nn.kernel
// CPU: nn.kernel
func.func @short_pieces(%x: tensor<4x3x4x4xf32>) -> tensor<4x3x4x4xf32> {
  %0 = nn.reduce sum %x [0, 2, 3] : tensor<4x3x4x4xf32> -> tensor<3xf32>
  %1 = nn.broadcast %0 [1] : tensor<3xf32> -> tensor<4x3x4x4xf32>
  %2 = nn.sub %x, %1 : tensor<4x3x4x4xf32>
  return %2 : tensor<4x3x4x4xf32>
}

// CPU-LABEL: @other_rows
// CPU: nn.kernel
// CPU: nn.kernel
func.func @other_rows(%x: tensor<8x8x8x8xf32>) -> tensor<8x8x8x8xf32> {
  %0 = nn.reduce sum %x [0, 2, 3] : tensor<8x8x8x8xf32> -> tensor<8xf32>
  %1 = nn.broadcast %0 [2] : tensor<8xf32> -> tensor<8x8x8x8xf32>
  %2 = nn.sub %x, %1 : tensor<8x8x8x8xf32>
  return %2 : tensor<8x8x8x8xf32>
}
