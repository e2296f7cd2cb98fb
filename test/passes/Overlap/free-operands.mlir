// RUN: dpc-opt %s --split-input-file --dpc-free-operands | FileCheck %s

// %t is the last reader of %x, which is larger: it runs after the other reader, with its view.
// CHECK-LABEL: @shrinks
// CHECK: %[[X:.*]] = nn.kernel(%arg0
// CHECK: %[[Y:.*]] = nn.kernel(%[[X]]
// CHECK: %[[V:.*]] = nn.reshape %[[X]]
// CHECK: %[[T:.*]] = nn.kernel(%[[V]]
// CHECK: %[[Z:.*]] = nn.kernel(%[[Y]]
// CHECK: nn.kernel(%[[T]], %[[Z]]
func.func @shrinks(%a: tensor<8x64xf32>) -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<8xf32>) {
  %x = nn.kernel(%a : tensor<8x64xf32>) {
  ^bb0(%p: tensor<8x64xf32>):
    %0 = nn.exp %p : tensor<8x64xf32>
    nn.yield %0 : tensor<8x64xf32>
  } -> tensor<8x64xf32>
  %y = nn.kernel(%x : tensor<8x64xf32>) {
  ^bb0(%p: tensor<8x64xf32>):
    %0 = nn.reduce sum %p [1] : tensor<8x64xf32> -> tensor<8xf32>
    nn.yield %0 : tensor<8xf32>
  } -> tensor<8xf32>
  %z = nn.kernel(%y : tensor<8xf32>) {
  ^bb0(%p: tensor<8xf32>):
    %0 = nn.reduce sum %p [0] : tensor<8xf32> -> tensor<f32>
    nn.yield %0 : tensor<f32>
  } -> tensor<f32>
  %v = nn.reshape %x : tensor<8x64xf32> -> tensor<8x8x8xf32>
  %t = nn.kernel(%v : tensor<8x8x8xf32>) {
  ^bb0(%p: tensor<8x8x8xf32>):
    %0 = nn.reduce max %p [1, 2] : tensor<8x8x8xf32> -> tensor<8xf32>
    nn.yield %0 : tensor<8xf32>
  } -> tensor<8xf32>
  %r = nn.kernel(%t, %z : tensor<8xf32>, tensor<f32>) {
  ^bb0(%p: tensor<8xf32>, %q: tensor<f32>):
    %0 = nn.broadcast %q [] : tensor<f32> -> tensor<8xf32>
    %1 = nn.mul %p, %0 : tensor<8xf32>
    nn.yield %1 : tensor<8xf32>
  } -> tensor<8xf32>
  return %z, %r : tensor<f32>, tensor<8xf32>
}

// -----

// Kernels keep their positions if they free nothing: %u is not the last reader of %x, %t is as large
// as %x, and %s reads an argument. %w needs a value of the backward pass, the gradient %h.
// CHECK-LABEL: @stays
// CHECK: %[[X:.*]] = nn.kernel(%arg0
// CHECK: %[[Y:.*]] = nn.kernel(%[[X]]
// CHECK: %[[L:.*]] = nn.kernel(%[[Y]]
// CHECK: %[[G:.*]] = nn.kernel(%[[L]]
// CHECK: nn.kernel(%[[X]]
// CHECK: nn.kernel(%[[X]]
// CHECK: %[[H:.*]] = nn.kernel(%[[G]]
// CHECK: nn.kernel(%arg0
// CHECK: nn.kernel(%[[Y]], %[[H]]
func.func @stays(%a: tensor<8x64xf32>) -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<8xf32>, tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>) {
  %x = nn.kernel(%a : tensor<8x64xf32>) {
  ^bb0(%p: tensor<8x64xf32>):
    %r = nn.exp %p : tensor<8x64xf32>
    nn.yield %r : tensor<8x64xf32>
  } -> tensor<8x64xf32>
  %y = nn.kernel(%x : tensor<8x64xf32>) {
  ^bb0(%p: tensor<8x64xf32>):
    %r = nn.exp %p : tensor<8x64xf32>
    nn.yield %r : tensor<8x64xf32>
  } -> tensor<8x64xf32>
  %l = nn.kernel(%y : tensor<8x64xf32>) {
  ^bb0(%p: tensor<8x64xf32>):
    %r = nn.reduce sum %p [0, 1] : tensor<8x64xf32> -> tensor<f32>
    nn.yield %r : tensor<f32>
  } -> tensor<f32>
  %g = nn.kernel(%l : tensor<f32>) {
  ^bb0(%p: tensor<f32>):
    %r = nn.broadcast %p [] : tensor<f32> -> tensor<8xf32>
    nn.yield %r : tensor<8xf32>
  } -> tensor<8xf32>
  %u = nn.kernel(%x : tensor<8x64xf32>) {
  ^bb0(%p: tensor<8x64xf32>):
    %r = nn.reduce sum %p [1] : tensor<8x64xf32> -> tensor<8xf32>
    nn.yield %r : tensor<8xf32>
  } -> tensor<8xf32>
  %t = nn.kernel(%x : tensor<8x64xf32>) {
  ^bb0(%p: tensor<8x64xf32>):
    %r = nn.neg %p : tensor<8x64xf32>
    nn.yield %r : tensor<8x64xf32>
  } -> tensor<8x64xf32>
  %h = nn.kernel(%g : tensor<8xf32>) {
  ^bb0(%p: tensor<8xf32>):
    %r = nn.exp %p : tensor<8xf32>
    nn.yield %r : tensor<8xf32>
  } -> tensor<8xf32>
  %s = nn.kernel(%a : tensor<8x64xf32>) {
  ^bb0(%p: tensor<8x64xf32>):
    %r = nn.reduce max %p [1] : tensor<8x64xf32> -> tensor<8xf32>
    nn.yield %r : tensor<8xf32>
  } -> tensor<8xf32>
  %w = nn.kernel(%y, %h : tensor<8x64xf32>, tensor<8xf32>) {
  ^bb0(%p: tensor<8x64xf32>, %q: tensor<8xf32>):
    %0 = nn.reduce sum %p [1] : tensor<8x64xf32> -> tensor<8xf32>
    %r = nn.mul %0, %q : tensor<8xf32>
    nn.yield %r : tensor<8xf32>
  } -> tensor<8xf32>
  return %l, %u, %t, %s, %w : tensor<f32>, tensor<8xf32>, tensor<8x64xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// The views of %x move in their order, also those that two operands share. A view that waits for a
// value (nn.after) stays after it.
// CHECK-LABEL: @views
// CHECK: %[[X:.*]] = nn.kernel(%arg0
// CHECK: %[[I:.*]] = nn.kernel(%[[X]]
// CHECK: %[[V:.*]] = nn.reshape %[[X]] : tensor<8x64xf32> -> tensor<8x8x8xf32>
// CHECK-NEXT: %[[W:.*]] = nn.reshape %[[V]] : tensor<8x8x8xf32> -> tensor<64x8xf32>
// CHECK-NEXT: %[[T:.*]] = nn.kernel(%[[W]], %[[V]]
// CHECK: %[[Z:.*]] = nn.kernel(%arg1
// CHECK: %[[L:.*]] = nn.kernel(%arg0
// CHECK: %[[J:.*]] = nn.kernel(%[[L]]
// CHECK: %[[Q:.*]] = nn.kernel(%arg1
// CHECK: %[[M:.*]] = nn.after %[[L]], %[[Q]]
// CHECK: nn.kernel(%[[M]]
// CHECK: nn.kernel(%[[I]], %[[J]], %[[Z]], %[[Q]]
func.func @views(%a: tensor<8x64xf32>, %b: tensor<8xf32>) -> (tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<8xf32>, tensor<8xf32>) {
  %x = nn.kernel(%a : tensor<8x64xf32>) {
  ^bb0(%p: tensor<8x64xf32>):
    %r = nn.exp %p : tensor<8x64xf32>
    nn.yield %r : tensor<8x64xf32>
  } -> tensor<8x64xf32>
  %i = nn.kernel(%x : tensor<8x64xf32>) {
  ^bb0(%p: tensor<8x64xf32>):
    %r = nn.reduce sum %p [1] : tensor<8x64xf32> -> tensor<8xf32>
    nn.yield %r : tensor<8xf32>
  } -> tensor<8xf32>
  %z = nn.kernel(%b : tensor<8xf32>) {
  ^bb0(%p: tensor<8xf32>):
    %r = nn.exp %p : tensor<8xf32>
    nn.yield %r : tensor<8xf32>
  } -> tensor<8xf32>
  %l = nn.kernel(%a : tensor<8x64xf32>) {
  ^bb0(%p: tensor<8x64xf32>):
    %r = nn.neg %p : tensor<8x64xf32>
    nn.yield %r : tensor<8x64xf32>
  } -> tensor<8x64xf32>
  %j = nn.kernel(%l : tensor<8x64xf32>) {
  ^bb0(%p: tensor<8x64xf32>):
    %r = nn.reduce sum %p [1] : tensor<8x64xf32> -> tensor<8xf32>
    nn.yield %r : tensor<8xf32>
  } -> tensor<8xf32>
  %o = nn.kernel(%b : tensor<8xf32>) {
  ^bb0(%p: tensor<8xf32>):
    %r = nn.neg %p : tensor<8xf32>
    nn.yield %r : tensor<8xf32>
  } -> tensor<8xf32>
  %e = nn.kernel(%i, %j, %z, %o : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%p: tensor<8xf32>, %q: tensor<8xf32>, %s: tensor<8xf32>, %t: tensor<8xf32>):
    %0 = nn.mul %p, %q : tensor<8xf32>
    %1 = nn.mul %s, %t : tensor<8xf32>
    %2 = nn.mul %0, %1 : tensor<8xf32>
    %r = nn.reduce sum %2 [0] : tensor<8xf32> -> tensor<f32>
    nn.yield %r : tensor<f32>
  } -> tensor<f32>
  %v = nn.reshape %x : tensor<8x64xf32> -> tensor<8x8x8xf32>
  %w = nn.reshape %v : tensor<8x8x8xf32> -> tensor<64x8xf32>
  %u = nn.kernel(%w, %v : tensor<64x8xf32>, tensor<8x8x8xf32>) {
  ^bb0(%p: tensor<64x8xf32>, %q: tensor<8x8x8xf32>):
    %0 = nn.reduce sum %p [0] : tensor<64x8xf32> -> tensor<8xf32>
    %1 = nn.reduce max %q [1, 2] : tensor<8x8x8xf32> -> tensor<8xf32>
    %r = nn.mul %0, %1 : tensor<8xf32>
    nn.yield %r : tensor<8xf32>
  } -> tensor<8xf32>
  %m = nn.after %l, %o : tensor<8x64xf32>, tensor<8xf32>
  %n = nn.kernel(%m : tensor<8x64xf32>) {
  ^bb0(%p: tensor<8x64xf32>):
    %r = nn.reduce max %p [1] : tensor<8x64xf32> -> tensor<8xf32>
    nn.yield %r : tensor<8xf32>
  } -> tensor<8xf32>
  return %e, %u, %n : tensor<f32>, tensor<8xf32>, tensor<8xf32>
}
