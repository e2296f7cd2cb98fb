// RUN: dpc-opt %s --pass-pipeline='builtin.module(dpc-describe-machine{target=cpu},func.func(dpc-form-kernels))' | FileCheck %s --check-prefix=CPU
// RUN: dpc-opt %s --pass-pipeline='builtin.module(dpc-describe-machine{target=scalar},func.func(dpc-form-kernels))' | FileCheck %s --check-prefix=SCALAR

// RUN: dpc-opt %s --pass-pipeline='builtin.module(dpc-describe-machine{target=cuda},func.func(dpc-form-kernels))' | FileCheck %s --check-prefix=CUDA

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

// A device computes the elements of a padded value as it stores them. A processor stores the value
// first. Each kernel reads its part of %p in place, where the slice says so.
// CPU-LABEL: @padded_value
// CPU: nn.slice
// CPU: nn.exp
// CPU-NEXT: nn.yield
// CPU: nn.kernel
// CPU: nn.pad
// CUDA-LABEL: @padded_value
// CUDA: nn.slice {{.*}} {nn.read_in_place}
// CUDA-NEXT: nn.exp
// CUDA-NEXT: nn.constant
// CUDA-NEXT: nn.pad
// CUDA-NEXT: nn.yield
// CUDA-NOT: nn.kernel
func.func @padded_value(%p: tensor<32x40xf32>) -> tensor<32x40xf32> {
  %z = nn.constant dense<0.0> : tensor<f32>
  %s = nn.slice %p starts [0, 0] limits [32, 37] strides [1, 1] {nn.read_in_place} : tensor<32x40xf32> -> tensor<32x37xf32>
  %e = nn.exp %s : tensor<32x37xf32>
  %y = nn.pad %e, %z low [0, 0] high [0, 3] interior [0, 0] : tensor<32x37xf32>, tensor<f32> -> tensor<32x40xf32>
  return %y : tensor<32x40xf32>
}

// A tile of a product has only elements of the product, so another kernel pads it.
// CUDA-LABEL: @padded_tile
// CUDA: nn.dot
// CUDA-NEXT: nn.yield
// CUDA: nn.kernel
// CUDA: nn.pad
func.func @padded_tile(%x: tensor<32x32xf32>, %w: tensor<32x37xf32>) -> tensor<32x40xf32> {
  %z = nn.constant dense<0.0> : tensor<f32>
  %e = nn.dot %x, %w contract [1] [0] : tensor<32x32xf32>, tensor<32x37xf32> -> tensor<32x37xf32>
  %y = nn.pad %e, %z low [0, 0] high [0, 3] interior [0, 0] : tensor<32x37xf32>, tensor<f32> -> tensor<32x40xf32>
  return %y : tensor<32x40xf32>
}

// Kernels that read a slice in place have a copy of it each; a result is stored.
// CUDA-LABEL: @slice_in_two_kernels
// CUDA: nn.kernel
// CUDA: nn.slice
// CUDA-NEXT: nn.reduce max
// CUDA: nn.kernel
// CUDA: nn.slice
// CUDA-NEXT: nn.dot
func.func @slice_in_two_kernels(%p: tensor<32x40xf32>, %w: tensor<37x32xf32>) -> (tensor<37xf32>, tensor<32x32xf32>) {
  %s = nn.slice %p starts [0, 0] limits [32, 37] strides [1, 1] {nn.read_in_place} : tensor<32x40xf32> -> tensor<32x37xf32>
  %m = nn.reduce max %s [0] : tensor<32x37xf32> -> tensor<37xf32>
  %d = nn.dot %s, %w contract [1] [0] : tensor<32x37xf32>, tensor<37x32xf32> -> tensor<32x32xf32>
  return %m, %d : tensor<37xf32>, tensor<32x32xf32>
}

// Two sums over columns join the kernel that reads their terms, though none of them computes
// anything for the other.
// CUDA-LABEL: @sums_of_columns
// CUDA: nn.kernel
// CUDA: nn.mul
// CUDA: nn.reduce sum %{{.*}} [0]
// CUDA: nn.tanh
// CUDA: nn.reduce sum %{{.*}} [0]
// CUDA: nn.yield
// CUDA-NOT: nn.kernel
// CPU-LABEL: @sums_of_columns
// CPU-COUNT-3: nn.kernel
func.func @sums_of_columns(%x: tensor<128x64xf32>, %y: tensor<128x64xf32>)
    -> (tensor<128x64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %0 = nn.mul %x, %y : tensor<128x64xf32>
  %1 = nn.reduce sum %0 [0] : tensor<128x64xf32> -> tensor<64xf32>
  %2 = nn.add %x, %y : tensor<128x64xf32>
  %3 = nn.tanh %2 : tensor<128x64xf32>
  %4 = nn.reduce sum %y [0] : tensor<128x64xf32> -> tensor<64xf32>
  return %3, %1, %4 : tensor<128x64xf32>, tensor<64xf32>, tensor<64xf32>
}

// The other loops do not read %z, so a sum with this term is a kernel.
// CUDA-LABEL: @sums_of_other_columns
// CUDA-COUNT-2: nn.kernel
func.func @sums_of_other_columns(%x: tensor<128x64xf32>, %z: tensor<128x64xf32>)
    -> (tensor<128x64xf32>, tensor<64xf32>) {
  %0 = nn.mul %x, %z : tensor<128x64xf32>
  %1 = nn.reduce sum %0 [0] : tensor<128x64xf32> -> tensor<64xf32>
  %2 = nn.tanh %x : tensor<128x64xf32>
  return %2, %1 : tensor<128x64xf32>, tensor<64xf32>
}
