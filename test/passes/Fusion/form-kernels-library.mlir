// RUN: dpc-opt %s --pass-pipeline="builtin.module(dpc-describe-machine{target=cuda},func.func(dpc-form-kernels{products=library}))" | FileCheck %s
// RUN: dpc-opt %s --pass-pipeline="builtin.module(dpc-describe-machine{target=cuda},func.func(dpc-form-kernels{products=generated}))" | FileCheck %s --check-prefix=TILES
// RUN: dpc-opt %s --pass-pipeline="builtin.module(dpc-describe-machine{target=cuda},func.func(dpc-form-kernels))" | FileCheck %s --check-prefix=TILES
// RUN: dpc-opt %s --pass-pipeline="builtin.module(dpc-describe-machine{target=cuda},func.func(dpc-form-kernels{products=library ordered-sums}))" | FileCheck %s --check-prefix=TILES

// A library adds the bias. The residual stream is added in the launch of the normalization, and so read once. A kernel of tiles adds both,
// also if the product is too small for a library.
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

// The library adds the residual stream if there is no bias, and other ops keep their place.
// CHECK-LABEL: @first_addition
// CHECK: nn.dot
// CHECK: nn.add
// CHECK: nn.tanh
// CHECK: nn.yield
// TILES-LABEL: @first_addition
func.func @first_addition(%x: tensor<128x64xf32>, %w: tensor<64x128xf32>, %stream: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %p = nn.dot %x, %w contract [1] [0] : tensor<128x64xf32>, tensor<64x128xf32> -> tensor<128x128xf32>
  %0 = nn.add %stream, %p : tensor<128x128xf32>
  %1 = nn.tanh %0 : tensor<128x128xf32>
  return %1 : tensor<128x128xf32>
}
