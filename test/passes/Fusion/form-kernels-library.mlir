// RUN: dpc-opt %s --pass-pipeline="builtin.module(dpc-describe-machine{target=cuda},func.func(dpc-form-kernels{products=library}))" | FileCheck %s
// RUN: dpc-opt %s --pass-pipeline="builtin.module(dpc-describe-machine{target=cuda},func.func(dpc-form-kernels{products=generated}))" | FileCheck %s --check-prefix=TILES
// RUN: dpc-opt %s --pass-pipeline="builtin.module(dpc-describe-machine{target=cuda},func.func(dpc-form-kernels))" | FileCheck %s --check-prefix=TILES
// RUN: dpc-opt %s --pass-pipeline="builtin.module(dpc-describe-machine{target=cuda},func.func(dpc-form-kernels{products=library ordered-sums}))" | FileCheck %s --check-prefix=TILES

// A library adds the bias. The residual stream is added in the launch of the normalization, and so read once. A kernel of tiles adds both,
// also if the product is too small for a library, or if sums keep their order.
// CHECK-LABEL: @residual_joins_the_norm
// CHECK: %[[P:.*]] = nn.kernel
// CHECK: nn.dot
// CHECK: nn.add
// CHECK: nn.yield
// CHECK: nn.kernel({{.*}}%[[P]]
// CHECK: nn.add
// CHECK: nn.normalize
// TILES-LABEL: @residual_joins_the_norm
// TILES: nn.dot
// TILES: nn.add
// TILES: nn.add
// TILES: nn.yield
// TILES: nn.normalize
func.func @residual_joins_the_norm(%x: tensor<128x64xf32>, %w: tensor<64x128xf32>, %b: tensor<128xf32>, %stream: tensor<128x128xf32>) -> (tensor<128x128xf32>, tensor<128x128xf32>) {
  %p = nn.dot %x, %w contract [1] [0] : tensor<128x64xf32>, tensor<64x128xf32> -> tensor<128x128xf32>
  %v = nn.broadcast %b [1] : tensor<128xf32> -> tensor<128x128xf32>
  %0 = nn.add %p, %v : tensor<128x128xf32>
  %1 = nn.add %stream, %0 : tensor<128x128xf32>
  %n, %mean, %variance = nn.normalize %1 [1] epsilon 1.0e-5 : tensor<128x128xf32> -> tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>
  return %1, %n : tensor<128x128xf32>, tensor<128x128xf32>
}

// Without a bias, the library adds the residual stream. It computes no functions: they begin a kernel.
// CHECK-LABEL: @first_addition
// CHECK: nn.kernel
// CHECK: nn.dot
// CHECK-NEXT: nn.add
// CHECK-NEXT: nn.yield
// CHECK: nn.kernel
// CHECK: nn.tanh
// TILES-LABEL: @first_addition
// TILES: nn.dot
// TILES-NEXT: nn.add
// TILES-NEXT: nn.tanh
func.func @first_addition(%x: tensor<128x64xf32>, %w: tensor<64x128xf32>, %stream: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %p = nn.dot %x, %w contract [1] [0] : tensor<128x64xf32>, tensor<64x128xf32> -> tensor<128x128xf32>
  %0 = nn.add %stream, %p : tensor<128x128xf32>
  %1 = nn.tanh %0 : tensor<128x128xf32>
  return %1 : tensor<128x128xf32>
}

// The sum of a 16-bit product and a bias is rounded by the library. An f32 tensor is no addend of its.
// CHECK-LABEL: @sums_of_halves
// CHECK: %[[P:.*]] = nn.kernel
// CHECK: nn.dot
// CHECK: nn.add
// CHECK: nn.convert
// CHECK: nn.yield {{.*}} : tensor<128x128xbf16>
// CHECK: nn.kernel({{.*}}%[[P]]
// CHECK: nn.add
// CHECK: nn.kernel
// CHECK: nn.dot
// CHECK-NOT: nn.add
// CHECK: nn.yield {{.*}} : tensor<128x128xbf16>
// CHECK: nn.kernel
// CHECK: nn.add
// TILES-LABEL: @sums_of_halves
func.func @sums_of_halves(%x: tensor<128x64xbf16>, %w: tensor<64x128xbf16>, %b: tensor<128xbf16>, %stream: tensor<128x128xf32>) -> (tensor<128x128xf32>, tensor<128x128xf32>) {
  %p = nn.dot %x, %w contract [1] [0] : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xbf16>
  %wide = nn.convert %p : tensor<128x128xbf16> -> tensor<128x128xf32>
  %v = nn.broadcast %b [1] : tensor<128xbf16> -> tensor<128x128xbf16>
  %vw = nn.convert %v : tensor<128x128xbf16> -> tensor<128x128xf32>
  %0 = nn.add %wide, %vw : tensor<128x128xf32>
  %1 = nn.convert %0 : tensor<128x128xf32> -> tensor<128x128xbf16>
  %2 = nn.convert %1 : tensor<128x128xbf16> -> tensor<128x128xf32>
  %3 = nn.add %stream, %2 : tensor<128x128xf32>
  %q = nn.dot %x, %w contract [1] [0] : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xbf16>
  %qw = nn.convert %q : tensor<128x128xbf16> -> tensor<128x128xf32>
  %4 = nn.add %stream, %qw : tensor<128x128xf32>
  return %3, %4 : tensor<128x128xf32>, tensor<128x128xf32>
}

// A library convolves, and no more.
// CHECK-LABEL: @convolution
// CHECK: nn.conv
// CHECK-NEXT: nn.yield
// CHECK: nn.kernel
// CHECK: nn.add
// CHECK: nn.relu
// TILES-LABEL: @convolution
// TILES: nn.conv
// TILES: nn.add
// TILES-NEXT: nn.relu
func.func @convolution(%x: tensor<2x16x16x16xf32>, %w: tensor<32x16x3x3xf32>, %b: tensor<32xf32>) -> tensor<2x32x16x16xf32> {
  %c = nn.conv %x, %w strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<2x16x16x16xf32>, tensor<32x16x3x3xf32> -> tensor<2x32x16x16xf32>
  %v = nn.broadcast %b [1] : tensor<32xf32> -> tensor<2x32x16x16xf32>
  %0 = nn.add %c, %v : tensor<2x32x16x16xf32>
  %1 = nn.relu %0 : tensor<2x32x16x16xf32>
  return %1 : tensor<2x32x16x16xf32>
}
