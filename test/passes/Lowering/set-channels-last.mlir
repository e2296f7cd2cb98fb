// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cuda --dpc-set-channels-last=products=library | FileCheck %s
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cuda --dpc-set-channels-last='products=library factors=tf32' | FileCheck %s --check-prefix=TF32
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cuda --dpc-set-channels-last=products=generated | FileCheck %s --check-prefix=NONE
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cuda --dpc-set-channels-last='ordered-sums products=library' | FileCheck %s --check-prefix=NONE
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cpu --dpc-set-channels-last=products=library | FileCheck %s --check-prefix=NONE

// Without a library, tensors keep their order.
// NONE-NOT: channelsLast

// Two convolutions, a bias, a ReLU and a mean: only the image and the kernels are transposed. The
// kernel of 1x1 is a reshape. Zeros are made in the new order.
// CHECK-LABEL: @chain(
// CHECK-SAME: %[[X:.*]]: tensor<4x16x8x6xbf16>, %[[W:.*]]: tensor<32x16x3x3xbf16>, %[[V:.*]]: tensor<16x32x1x1xbf16>
// CHECK-DAG: %[[XT:.*]] = nn.transpose %[[X]] [0, 2, 3, 1] : tensor<4x16x8x6xbf16> -> tensor<4x8x6x16xbf16>
// CHECK-DAG: %[[WT:.*]] = nn.transpose %[[W]] [0, 2, 3, 1] : tensor<32x16x3x3xbf16> -> tensor<32x3x3x16xbf16>
// CHECK: %[[Y:.*]] = nn.conv %[[XT]], %[[WT]] strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 channelsLast : tensor<4x8x6x16xbf16>, tensor<32x3x3x16xbf16> -> tensor<4x8x6x32xbf16>
// CHECK: nn.broadcast %{{.*}} [3] : tensor<32xbf16> -> tensor<4x8x6x32xbf16>
// CHECK: nn.add %[[Y]]
// CHECK: %[[ZERO:.*]] = nn.constant dense<0.000000e+00> : tensor<4x8x6x32xbf16>
// CHECK: nn.max %{{.*}}, %[[ZERO]]
// CHECK: nn.reshape %[[V]] : tensor<16x32x1x1xbf16> -> tensor<16x1x1x32xbf16>
// CHECK: nn.conv {{.*}} channelsLast
// CHECK: nn.reduce sum %{{.*}} [1, 2] : tensor<4x8x6x16xbf16> -> tensor<4x16xbf16>
// CHECK-NOT: nn.transpose
// CHECK: return
func.func @chain(%x: tensor<4x16x8x6xbf16>, %w: tensor<32x16x3x3xbf16>, %v: tensor<16x32x1x1xbf16>, %b: tensor<32xbf16>) -> tensor<4x16xbf16> {
  %zero = nn.constant dense<0.0> : tensor<4x32x8x6xbf16>
  %y = nn.conv %x, %w strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<4x16x8x6xbf16>, tensor<32x16x3x3xbf16> -> tensor<4x32x8x6xbf16>
  %bias = nn.broadcast %b [1] : tensor<32xbf16> -> tensor<4x32x8x6xbf16>
  %s = nn.add %y, %bias : tensor<4x32x8x6xbf16>
  %r = nn.max %s, %zero : tensor<4x32x8x6xbf16>
  %z = nn.conv %r, %v strides [1, 1] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : tensor<4x32x8x6xbf16>, tensor<16x32x1x1xbf16> -> tensor<4x16x8x6xbf16>
  %m = nn.reduce sum %z [2, 3] : tensor<4x16x8x6xbf16> -> tensor<4x16xbf16>
  return %m : tensor<4x16xbf16>
}

// -----

// A convolution alone costs as many copies either way, so it stays.
// CHECK-LABEL: @alone
// CHECK-NOT: channelsLast
func.func @alone(%x: tensor<4x16x8x8xbf16>, %w: tensor<16x16x3x3xbf16>) -> tensor<4x16x8x8xbf16> {
  %y = nn.conv %x, %w strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<4x16x8x8xbf16>, tensor<16x16x3x3xbf16> -> tensor<4x16x8x8xbf16>
  return %y : tensor<4x16x8x8xbf16>
}

// -----

// Two convolutions between which an op needs the other order stay.
// CHECK-LABEL: @interrupted
// CHECK-NOT: channelsLast
func.func @interrupted(%x: tensor<4x16x8x8xbf16>, %w: tensor<16x16x3x3xbf16>, %v: tensor<16x16x3x3xbf16>) -> tensor<4x16x8x8xbf16> {
  %y = nn.conv %x, %w strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<4x16x8x8xbf16>, tensor<16x16x3x3xbf16> -> tensor<4x16x8x8xbf16>
  %c = nn.cumsum %y dim 2 : tensor<4x16x8x8xbf16>
  %z = nn.conv %c, %v strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<4x16x8x8xbf16>, tensor<16x16x3x3xbf16> -> tensor<4x16x8x8xbf16>
  return %z : tensor<4x16x8x8xbf16>
}

// -----

// A residual block with its gradients: the input gets one transposition for all of its readers, and
// gradients of kernels get their order back. The gradients of the block's input join it in the new order.
// CHECK-LABEL: @residual(
// CHECK-SAME: %[[X:.*]]: tensor<4x16x8x8xbf16>, %[[W:.*]]: tensor<16x16x3x3xbf16>, %[[G:.*]]: tensor<4x16xbf16>
// CHECK-DAG: %[[XT:.*]] = nn.transpose %[[X]] [0, 2, 3, 1]
// CHECK-DAG: %[[WT:.*]] = nn.transpose %[[W]] [0, 2, 3, 1]
// CHECK: %[[Y:.*]] = nn.conv %[[XT]], %[[WT]] {{.*}} channelsLast
// CHECK: %[[R:.*]] = nn.relu %[[Y]]
// CHECK: %[[S:.*]] = nn.add %[[R]], %[[XT]] : tensor<4x8x8x16xbf16>
// CHECK: %[[GT:.*]] = nn.broadcast %[[G]] [0, 3] : tensor<4x16xbf16> -> tensor<4x8x8x16xbf16>
// CHECK: nn.conv_input_grad %[[GT]], %[[WT]] {{.*}} channelsLast
// CHECK: %[[D:.*]] = nn.conv_weight_grad %[[XT]], %[[GT]] {{.*}} channelsLast {{.*}} -> tensor<16x3x3x16xbf16>
// CHECK: nn.transpose %[[D]] [0, 3, 1, 2] : tensor<16x3x3x16xbf16> -> tensor<16x16x3x3xbf16>
func.func @residual(%x: tensor<4x16x8x8xbf16>, %w: tensor<16x16x3x3xbf16>, %g: tensor<4x16xbf16>) -> (tensor<4x16xbf16>, tensor<4x16xbf16>, tensor<16x16x3x3xbf16>) {
  %y = nn.conv %x, %w strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<4x16x8x8xbf16>, tensor<16x16x3x3xbf16> -> tensor<4x16x8x8xbf16>
  %r = nn.relu %y : tensor<4x16x8x8xbf16>
  %s = nn.add %r, %x : tensor<4x16x8x8xbf16>
  %m = nn.reduce sum %s [2, 3] : tensor<4x16x8x8xbf16> -> tensor<4x16xbf16>
  %gb = nn.broadcast %g [0, 1] : tensor<4x16xbf16> -> tensor<4x16x8x8xbf16>
  %dx = nn.conv_input_grad %gb, %w strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<4x16x8x8xbf16>, tensor<16x16x3x3xbf16> -> tensor<4x16x8x8xbf16>
  %dw = nn.conv_weight_grad %x, %gb strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<4x16x8x8xbf16>, tensor<4x16x8x8xbf16> -> tensor<16x16x3x3xbf16>
  %t = nn.add %dx, %gb : tensor<4x16x8x8xbf16>
  %n = nn.reduce sum %t [2, 3] : tensor<4x16x8x8xbf16> -> tensor<4x16xbf16>
  return %m, %n, %dw : tensor<4x16xbf16>, tensor<4x16xbf16>, tensor<16x16x3x3xbf16>
}

// -----

// A batch normalization and a pooling do not interrupt a chain. The pooling slides over the channels
// with a window of one element. The statistics keep their order.
// CHECK-LABEL: @normalized
// CHECK: nn.normalize %{{.*}} [0, 1, 2] epsilon {{.*}} : tensor<4x8x8x16xf32> -> tensor<4x8x8x16xf32>, tensor<16xf32>, tensor<16xf32>
// CHECK: %[[V:.*]] = nn.reshape %{{.*}} : tensor<4x8x8x16xbf16> -> tensor<4x1x8x8x16xbf16>
// CHECK: %[[P:.*]] = nn.max_pool %[[V]] kernel [3, 3, 1] strides [2, 2, 1] padLow [1, 1, 0] padHigh [1, 1, 0] dilations [1, 1, 1] : tensor<4x1x8x8x16xbf16> -> tensor<4x1x4x4x16xbf16>
// CHECK: nn.reshape %[[P]] : tensor<4x1x4x4x16xbf16> -> tensor<4x4x4x16xbf16>
// CHECK: nn.conv {{.*}} channelsLast
// CHECK: nn.transpose %{{.*}} [0, 3, 1, 2] : tensor<4x4x4x16xbf16> -> tensor<4x16x4x4xbf16>
func.func @normalized(%x: tensor<4x3x8x8xbf16>, %u: tensor<16x3x3x3xbf16>, %w: tensor<16x16x3x3xbf16>) -> (tensor<4x16x4x4xbf16>, tensor<16xf32>, tensor<16xf32>) {
  %y = nn.conv %x, %u strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<4x3x8x8xbf16>, tensor<16x3x3x3xbf16> -> tensor<4x16x8x8xbf16>
  %f = nn.convert %y : tensor<4x16x8x8xbf16> -> tensor<4x16x8x8xf32>
  %n, %m, %v = nn.normalize %f [0, 2, 3] epsilon 1.0e-5 : tensor<4x16x8x8xf32> -> tensor<4x16x8x8xf32>, tensor<16xf32>, tensor<16xf32>
  %h = nn.convert %n : tensor<4x16x8x8xf32> -> tensor<4x16x8x8xbf16>
  %p = nn.max_pool %h kernel [3, 3] strides [2, 2] padLow [1, 1] padHigh [1, 1] dilations [1, 1] : tensor<4x16x8x8xbf16> -> tensor<4x16x4x4xbf16>
  %z = nn.conv %p, %w strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<4x16x4x4xbf16>, tensor<16x16x3x3xbf16> -> tensor<4x16x4x4xbf16>
  return %z, %m, %v : tensor<4x16x4x4xbf16>, tensor<16xf32>, tensor<16xf32>
}

// -----

// Groups of a batch (microbatches) are a reshape before the channels, and spatial dimensions may be
// joined. Concatenations, pads and slices follow.
// CHECK-LABEL: @moves
// CHECK: nn.reshape %{{.*}} : tensor<4x8x8x16xbf16> -> tensor<2x2x8x8x16xbf16>
// CHECK: nn.reduce sum %{{.*}} [1, 2, 3] : tensor<2x2x8x8x16xbf16> -> tensor<2x16xbf16>
// CHECK: nn.concat %{{.*}}, %{{.*}} dim 3 : tensor<4x8x8x16xbf16>, tensor<4x8x8x16xbf16> -> tensor<4x8x8x32xbf16>
// CHECK: nn.pad %{{.*}}, %{{.*}} low [0, 1, 0, 0] high [0, 1, 0, 0] interior [0, 0, 0, 0] : tensor<4x8x8x32xbf16>, tensor<bf16> -> tensor<4x10x8x32xbf16>
// CHECK: nn.slice %{{.*}} starts [0, 0, 0, 4] limits [4, 8, 8, 20] strides [1, 1, 1, 1] : tensor<4x10x8x32xbf16> -> tensor<4x8x8x16xbf16>
// CHECK: nn.conv {{.*}} channelsLast
// CHECK: nn.reshape %{{.*}} : tensor<4x8x8x16xbf16> -> tensor<4x64x16xbf16>
// CHECK: nn.reduce max %{{.*}} [1] : tensor<4x64x16xbf16> -> tensor<4x16xbf16>
func.func @moves(%x: tensor<4x16x8x8xbf16>, %w: tensor<16x16x3x3xbf16>) -> (tensor<2x16xbf16>, tensor<4x16xbf16>) {
  %zero = nn.constant dense<0.0> : tensor<bf16>
  %y = nn.conv %x, %w strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<4x16x8x8xbf16>, tensor<16x16x3x3xbf16> -> tensor<4x16x8x8xbf16>
  %g = nn.reshape %y : tensor<4x16x8x8xbf16> -> tensor<2x2x16x8x8xbf16>
  %s = nn.reduce sum %g [1, 3, 4] : tensor<2x2x16x8x8xbf16> -> tensor<2x16xbf16>
  %c = nn.concat %y, %x dim 1 : tensor<4x16x8x8xbf16>, tensor<4x16x8x8xbf16> -> tensor<4x32x8x8xbf16>
  %p = nn.pad %c, %zero low [0, 0, 1, 0] high [0, 0, 1, 0] interior [0, 0, 0, 0] : tensor<4x32x8x8xbf16>, tensor<bf16> -> tensor<4x32x10x8xbf16>
  %l = nn.slice %p starts [0, 4, 0, 0] limits [4, 20, 8, 8] strides [1, 1, 1, 1] : tensor<4x32x10x8xbf16> -> tensor<4x16x8x8xbf16>
  %z = nn.conv %l, %w strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<4x16x8x8xbf16>, tensor<16x16x3x3xbf16> -> tensor<4x16x8x8xbf16>
  %r = nn.reshape %z : tensor<4x16x8x8xbf16> -> tensor<4x16x64xbf16>
  %m = nn.reduce max %r [2] : tensor<4x16x64xbf16> -> tensor<4x16xbf16>
  return %s, %m : tensor<2x16xbf16>, tensor<4x16xbf16>
}

// -----

// Depthwise convolutions are no library's, but follow. Transposed convolutions are gradients of an input.
// CHECK-LABEL: @follow
// CHECK: nn.conv {{.*}} groups 1 channelsLast
// CHECK: nn.conv {{.*}} groups 32 channelsLast : tensor<4x8x8x32xbf16>, tensor<32x3x3x1xbf16> -> tensor<4x8x8x32xbf16>
// CHECK: nn.conv_input_grad {{.*}} channelsLast : tensor<4x8x8x32xbf16>, tensor<32x2x2x16xbf16> -> tensor<4x16x16x16xbf16>
// CHECK-NOT: nn.transpose %{{.*}} [0, 3, 1, 2]
// CHECK: return
func.func @follow(%x: tensor<4x16x8x8xbf16>, %u: tensor<32x16x1x1xbf16>, %d: tensor<32x1x3x3xbf16>, %w: tensor<32x16x2x2xbf16>) -> tensor<4x16xbf16> {
  %y = nn.conv %x, %u strides [1, 1] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : tensor<4x16x8x8xbf16>, tensor<32x16x1x1xbf16> -> tensor<4x32x8x8xbf16>
  %e = nn.conv %y, %d strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 32 : tensor<4x32x8x8xbf16>, tensor<32x1x3x3xbf16> -> tensor<4x32x8x8xbf16>
  %t = nn.conv_input_grad %e, %w strides [2, 2] padLow [0, 0] padHigh [0, 0] dilations [1, 1] groups 1 : tensor<4x32x8x8xbf16>, tensor<32x16x2x2xbf16> -> tensor<4x16x16x16xbf16>
  %m = nn.reduce sum %t [2, 3] : tensor<4x16x16x16xbf16> -> tensor<4x16xbf16>
  return %m : tensor<4x16xbf16>
}

// -----

// A model that has its own transposition around channels loses it. One kernel transposes and rounds.
// CHECK-LABEL: @own_transpositions(
// CHECK-SAME: %[[X:.*]]: tensor<4x8x8x16xbf16>, %[[W:.*]]: tensor<16x16x3x3xf32>
// CHECK-DAG: %[[T:.*]] = nn.transpose %[[W]] [0, 2, 3, 1]
// CHECK-DAG: %[[WT:.*]] = nn.convert %[[T]] : tensor<16x3x3x16xf32> -> tensor<16x3x3x16xbf16>
// CHECK: %[[Y:.*]] = nn.conv %[[X]], %[[WT]] {{.*}} channelsLast
// CHECK: return %[[Y]]
func.func @own_transpositions(%x: tensor<4x8x8x16xbf16>, %w: tensor<16x16x3x3xf32>) -> tensor<4x8x8x16xbf16> {
  %v = nn.convert %w : tensor<16x16x3x3xf32> -> tensor<16x16x3x3xbf16>
  %t = nn.transpose %x [0, 3, 1, 2] : tensor<4x8x8x16xbf16> -> tensor<4x16x8x8xbf16>
  %y = nn.conv %t, %v strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<4x16x8x8xbf16>, tensor<16x16x3x3xbf16> -> tensor<4x16x8x8xbf16>
  %r = nn.transpose %y [0, 2, 3, 1] : tensor<4x16x8x8xbf16> -> tensor<4x8x8x16xbf16>
  return %r : tensor<4x8x8x16xbf16>
}

// -----

// Engines for f32 read channels second, unless they round to tf32.
// CHECK-LABEL: @single
// CHECK-NOT: channelsLast
// TF32-LABEL: @single
// TF32: nn.conv {{.*}} channelsLast
// TF32: nn.conv {{.*}} channelsLast
func.func @single(%x: tensor<4x16x8x8xf32>, %w: tensor<16x16x3x3xf32>) -> tensor<4x16xf32> {
  %y = nn.conv %x, %w strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<4x16x8x8xf32>, tensor<16x16x3x3xf32> -> tensor<4x16x8x8xf32>
  %z = nn.conv %y, %w strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<4x16x8x8xf32>, tensor<16x16x3x3xf32> -> tensor<4x16x8x8xf32>
  %m = nn.reduce sum %z [2, 3] : tensor<4x16x8x8xf32> -> tensor<4x16xf32>
  return %m : tensor<4x16xf32>
}

// -----

// An op that only waits for a value, and reads none of its elements, needs no order.
// CHECK-LABEL: @waits
// CHECK: %[[Y:.*]] = nn.conv {{.*}} channelsLast
// CHECK: nn.after %{{.*}}, %[[Y]]
// CHECK-NOT: nn.transpose %[[Y]]
// CHECK: return
func.func @waits(%x: tensor<4x16x8x8xbf16>, %w: tensor<16x16x3x3xbf16>, %b: tensor<4x16xbf16>) -> (tensor<4x16xbf16>, tensor<4x16xbf16>) {
  %y = nn.conv %x, %w strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<4x16x8x8xbf16>, tensor<16x16x3x3xbf16> -> tensor<4x16x8x8xbf16>
  %z = nn.conv %y, %w strides [1, 1] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1 : tensor<4x16x8x8xbf16>, tensor<16x16x3x3xbf16> -> tensor<4x16x8x8xbf16>
  %a = nn.after %b, %y : tensor<4x16xbf16>, tensor<4x16x8x8xbf16>
  %m = nn.reduce sum %z [2, 3] : tensor<4x16x8x8xbf16> -> tensor<4x16xbf16>
  return %a, %m : tensor<4x16xbf16>, tensor<4x16xbf16>
}
