// RUN: dpc-opt %s --split-input-file --dpc-describe-machine=target=cpu --dpc-form-kernels | FileCheck %s

// The second kernel widens the 16-bit value itself: the f32 value is not stored.
// CHECK-LABEL: @widens_again
// CHECK: %[[K:.*]]:2 = nn.kernel(%arg0, %arg1
// CHECK: nn.yield %{{.*}}, %{{.*}} : tensor<8x128xf32>, tensor<128xf32>
// CHECK: nn.kernel(%{{.*}}arg0{{.*}} : {{.*}}tensor<8x128xbf16>
// CHECK: nn.convert %{{.*}} : tensor<8x128xbf16> -> tensor<8x128xf32>
func.func @widens_again(%x: tensor<8x128xbf16>, %y: tensor<8x128xf32>) -> (tensor<8x128xf32>, tensor<128xf32>) {
  %w = nn.convert %x : tensor<8x128xbf16> -> tensor<8x128xf32>
  %s = nn.add %w, %y : tensor<8x128xf32>
  %r = nn.reduce sum %s [0] : tensor<8x128xf32> -> tensor<128xf32>
  %b = nn.broadcast %r [1] : tensor<128xf32> -> tensor<8x128xf32>
  %m = nn.mul %w, %b : tensor<8x128xf32>
  %t = nn.reduce sum %m [0] : tensor<8x128xf32> -> tensor<128xf32>
  return %s, %t : tensor<8x128xf32>, tensor<128xf32>
}

// -----

// A value with two inputs of its size is read: its inputs would be more to read.
// CHECK-LABEL: @reads_less
// CHECK: %[[K:.*]]:2 = nn.kernel(%arg0, %arg1
// CHECK: nn.kernel(%[[K]]#
// CHECK-NOT: nn.add
func.func @reads_less(%x: tensor<8x128xf32>, %y: tensor<8x128xf32>) -> tensor<128xf32> {
  %s = nn.add %x, %y : tensor<8x128xf32>
  %r = nn.reduce sum %s [0] : tensor<8x128xf32> -> tensor<128xf32>
  %b = nn.broadcast %r [1] : tensor<128xf32> -> tensor<8x128xf32>
  %m = nn.mul %s, %b : tensor<8x128xf32>
  %t = nn.reduce sum %m [0] : tensor<8x128xf32> -> tensor<128xf32>
  return %t : tensor<128xf32>
}

// -----

// A layer normalization joins the sum before it. The sum is in memory for its other reader, so the second kernel normalizes it again from
// the mean and the scale, and the normalized value is not stored.
// CHECK-LABEL: @normalizes_again
// CHECK: nn.kernel(%arg0, %arg1
// CHECK: %[[S:.*]] = nn.add
// CHECK: %{{.*}}, %[[M:.*]], %{{.*}} = nn.normalize %[[S]]
// CHECK: %[[R:.*]] = nn.rsqrt
// CHECK: nn.yield %[[S]], %[[M]], %[[R]], %{{.*}} : tensor<8x128xf32>, tensor<8xf32>, tensor<8xf32>, tensor<128xf32>
// CHECK: nn.kernel(
// CHECK: nn.sub
// CHECK-NOT: nn.rsqrt
// CHECK: nn.mul
// CHECK: nn.reduce sum
func.func @normalizes_again(%x: tensor<8x128xf32>, %y: tensor<8x128xf32>, %g: tensor<128xf32>) -> (tensor<8xf32>, tensor<128xf32>, tensor<8x128xf32>) {
  %s = nn.add %x, %y : tensor<8x128xf32>
  %n, %mean, %variance = nn.normalize %s [1] epsilon 1.0e-5 : tensor<8x128xf32> -> tensor<8x128xf32>, tensor<8xf32>, tensor<8xf32>
  %e = nn.constant dense<1.0e-5> : tensor<8xf32>
  %v = nn.add %variance, %e : tensor<8xf32>
  %r = nn.rsqrt %v : tensor<8xf32>
  %q = nn.reduce sum %n [0] : tensor<8x128xf32> -> tensor<128xf32>
  %b = nn.broadcast %q [1] : tensor<128xf32> -> tensor<8x128xf32>
  %m = nn.mul %n, %b : tensor<8x128xf32>
  %t = nn.reduce sum %m [0] : tensor<8x128xf32> -> tensor<128xf32>
  %u = nn.mul %s, %b : tensor<8x128xf32>
  return %r, %t, %u : tensor<8xf32>, tensor<128xf32>, tensor<8x128xf32>
}

// -----

// An RMS normalization has no mean, and the scale is computed again where no kernel has it.
// CHECK-LABEL: @scales_again
// CHECK: nn.normalize {{.*}} uncentered
// CHECK: nn.kernel(
// CHECK: nn.rsqrt
// CHECK-NOT: nn.sub
// CHECK: nn.reduce sum
func.func @scales_again(%s: tensor<8x128xf32>) -> tensor<128xf32> {
  %n, %mean, %variance = nn.normalize %s [1] epsilon 1.0e-5 uncentered : tensor<8x128xf32> -> tensor<8x128xf32>, tensor<8xf32>, tensor<8xf32>
  %q = nn.reduce sum %n [0] : tensor<8x128xf32> -> tensor<128xf32>
  %b = nn.broadcast %q [1] : tensor<128xf32> -> tensor<8x128xf32>
  %m = nn.mul %n, %b : tensor<8x128xf32>
  %t = nn.reduce sum %m [0] : tensor<8x128xf32> -> tensor<128xf32>
  return %t : tensor<128xf32>
}
