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

// An RMS normalization has no mean. Its kernel returns the scale, which it computes in any case, to the kernel that normalizes again.
// CHECK-LABEL: @scales_again
// CHECK: %[[K:.*]]:2 = nn.kernel(
// CHECK: nn.normalize {{.*}} uncentered
// CHECK: %[[R:.*]] = nn.rsqrt
// CHECK: nn.yield %{{.*}}, %[[R]] : tensor<128xf32>, tensor<8xf32>
// CHECK: nn.kernel(%arg0, %[[K]]#1, %[[K]]#0
// CHECK-NOT: nn.rsqrt
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

// -----

// The scaled value is not stored: the second kernel reads the value itself, which is in memory in any case and has as many bytes.
// CHECK-LABEL: @scales_in_reader
// CHECK: %[[K:.*]]:2 = nn.kernel(%arg0
// CHECK: %[[G:.*]] = nn.exp
// CHECK: nn.yield %[[G]], %{{.*}} : tensor<8x128xf32>, tensor<128xf32>
// CHECK: nn.kernel(%[[K]]#0, %arg1, %[[K]]#1
func.func @scales_in_reader(%x: tensor<8x128xf32>, %c: tensor<128xf32>) -> (tensor<8x128xf32>, tensor<8x128xf32>) {
  %g = nn.exp %x : tensor<8x128xf32>
  %b = nn.broadcast %c [1] : tensor<128xf32> -> tensor<8x128xf32>
  %m = nn.mul %g, %b : tensor<8x128xf32>
  %s = nn.reduce sum %m [0] : tensor<8x128xf32> -> tensor<128xf32>
  %d = nn.broadcast %s [1] : tensor<128xf32> -> tensor<8x128xf32>
  %r = nn.sub %m, %d : tensor<8x128xf32>
  return %g, %r : tensor<8x128xf32>, tensor<8x128xf32>
}

// -----

// A function of a value in memory costs more than reading its result.
// CHECK-LABEL: @reads_functions
// CHECK: %[[K:.*]]:3 = nn.kernel(%arg0
// CHECK: %[[T:.*]] = nn.tanh
// CHECK: nn.yield %{{.*}}, %[[T]], %{{.*}} : tensor<8x128xf32>, tensor<8x128xf32>, tensor<128xf32>
func.func @reads_functions(%x: tensor<8x128xf32>) -> (tensor<8x128xf32>, tensor<8x128xf32>) {
  %g = nn.exp %x : tensor<8x128xf32>
  %m = nn.tanh %g : tensor<8x128xf32>
  %s = nn.reduce sum %m [0] : tensor<8x128xf32> -> tensor<128xf32>
  %d = nn.broadcast %s [1] : tensor<128xf32> -> tensor<8x128xf32>
  %r = nn.sub %m, %d : tensor<8x128xf32>
  return %g, %r : tensor<8x128xf32>, tensor<8x128xf32>
}
