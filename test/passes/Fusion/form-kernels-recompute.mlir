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

// The derivative of a gelu by tanh has 16 ops, and one more widens its operand in mixed precision. The kernel of the gradient computes
// them again from 16 bits per element, and the first kernel stores no f32 value.
// CHECK-LABEL: @gelu_of_halves
// CHECK: %[[K:.*]]:2 = nn.kernel
// CHECK: nn.gelu tanh
// CHECK: -> tensor<8x128xbf16>, tensor<8x128xbf16>
// CHECK: nn.kernel({{.*}}%[[K]]#0
// CHECK: nn.tanh
func.func @gelu_of_halves(%x: tensor<8x16xbf16>, %w: tensor<16x128xbf16>, %b: tensor<8x128xf32>, %dy: tensor<8x128xf32>) -> (tensor<8x128xbf16>, tensor<8x128xf32>) {
  %dot = nn.dot %x, %w contract [1] [0] : tensor<8x16xbf16>, tensor<16x128xbf16> -> tensor<8x128xbf16>
  %wide = nn.convert %dot : tensor<8x128xbf16> -> tensor<8x128xf32>
  %sum = nn.add %wide, %b : tensor<8x128xf32>
  %rounded = nn.convert %sum : tensor<8x128xf32> -> tensor<8x128xbf16>
  %h = nn.convert %rounded : tensor<8x128xbf16> -> tensor<8x128xf32>
  %gelu = nn.gelu tanh %h : tensor<8x128xf32>
  %y = nn.convert %gelu : tensor<8x128xf32> -> tensor<8x128xbf16>
  %one = nn.constant dense<1.0> : tensor<8x128xf32>
  %half = nn.constant dense<0.5> : tensor<8x128xf32>
  %c0 = nn.constant dense<0.044715> : tensor<8x128xf32>
  %c1 = nn.constant dense<0.134145> : tensor<8x128xf32>
  %c2 = nn.constant dense<0.797884583> : tensor<8x128xf32>
  %c3 = nn.constant dense<0.398942292> : tensor<8x128xf32>
  %square = nn.mul %h, %h : tensor<8x128xf32>
  %0 = nn.mul %square, %c0 : tensor<8x128xf32>
  %1 = nn.mul %square, %c1 : tensor<8x128xf32>
  %2 = nn.add %1, %one : tensor<8x128xf32>
  %3 = nn.mul %2, %c3 : tensor<8x128xf32>
  %4 = nn.add %0, %one : tensor<8x128xf32>
  %5 = nn.mul %h, %4 : tensor<8x128xf32>
  %6 = nn.mul %5, %c2 : tensor<8x128xf32>
  %7 = nn.tanh %6 : tensor<8x128xf32>
  %8 = nn.mul %7, %7 : tensor<8x128xf32>
  %9 = nn.add %7, %one : tensor<8x128xf32>
  %10 = nn.mul %9, %half : tensor<8x128xf32>
  %11 = nn.sub %one, %8 : tensor<8x128xf32>
  %12 = nn.mul %h, %11 : tensor<8x128xf32>
  %13 = nn.mul %12, %3 : tensor<8x128xf32>
  %14 = nn.add %10, %13 : tensor<8x128xf32>
  %p = nn.cumsum %dy dim 1 : tensor<8x128xf32>
  %15 = nn.mul %p, %14 : tensor<8x128xf32>
  return %y, %15 : tensor<8x128xbf16>, tensor<8x128xf32>
}
