// RUN: dpc-opt %s --pass-pipeline='builtin.module(dpc-describe-machine{target=cuda},func.func(dpc-join-kernels))' | FileCheck %s
// RUN: dpc-opt %s --pass-pipeline='builtin.module(dpc-describe-machine{target=cpu},func.func(dpc-join-kernels))' | FileCheck %s --check-prefix=CPU

// Updates of few elements become one kernel at the place of the last one. A large one stays.
// CHECK-LABEL: @updates
// CHECK-NOT: nn.update(%arg0
// CHECK: nn.update(%arg1
// CHECK: %[[J:.*]]:2 = nn.kernel(%arg0, %arg3, %arg2, %{{.*}} : tensor<4xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>)
// CHECK-SAME: nn.joined = array<i64: 1, 1>, nn.updates
// CHECK-NEXT: ^bb0(%[[P:.*]]: tensor<4xf32>, %[[R:.*]]: tensor<f32>, %[[Q:.*]]: tensor<8xf32>, %[[G:.*]]: tensor<8xf32>)
// CHECK: nn.broadcast %[[R]] [] : tensor<f32> -> tensor<4xf32>
// CHECK: nn.sub %[[P]], %{{.*}} : tensor<4xf32>
// CHECK: nn.sub %[[Q]], %{{.*}} : tensor<8xf32>
// CHECK: nn.yield
// CHECK: return %[[J]]#0, %{{.*}}, %[[J]]#1
// CPU-LABEL: @updates
// CPU-COUNT-3: nn.update
func.func @updates(%p: tensor<4xf32>, %large: tensor<300000xf32>, %q: tensor<8xf32>, %rate: tensor<f32>)
    -> (tensor<4xf32>, tensor<300000xf32>, tensor<8xf32>) {
  %0 = nn.update (%p, %p : tensor<4xf32>, tensor<4xf32>) scalars (%rate : tensor<f32>) {
  ^bb0(%pi: tensor<f32>, %gi: tensor<f32>, %l: tensor<f32>):
    %d = nn.mul %l, %gi : tensor<f32>
    %n = nn.sub %pi, %d : tensor<f32>
    nn.yield %n : tensor<f32>
  } -> tensor<4xf32>
  %1 = nn.update (%large, %large : tensor<300000xf32>, tensor<300000xf32>) scalars (%rate : tensor<f32>) {
  ^bb0(%pi: tensor<f32>, %gi: tensor<f32>, %l: tensor<f32>):
    %d = nn.mul %l, %gi : tensor<f32>
    %n = nn.sub %pi, %d : tensor<f32>
    nn.yield %n : tensor<f32>
  } -> tensor<300000xf32>
  %g = nn.kernel (%q : tensor<8xf32>) {
  ^bb0(%qi: tensor<8xf32>):
    %e = nn.reverse %qi [0] : tensor<8xf32>
    nn.yield %e : tensor<8xf32>
  } -> tensor<8xf32>
  %2 = nn.update (%q, %g : tensor<8xf32>, tensor<8xf32>) scalars (%rate : tensor<f32>) {
  ^bb0(%pi: tensor<f32>, %gi: tensor<f32>, %l: tensor<f32>):
    %d = nn.mul %l, %gi : tensor<f32>
    %n = nn.sub %pi, %d : tensor<f32>
    nn.yield %n : tensor<f32>
  } -> tensor<8xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<300000xf32>, tensor<8xf32>
}

// The second update reads the result of the first one, and an op reads that of the third before
// the fourth. Neither is joined.
// CHECK-LABEL: @updates_in_order
// CHECK-NOT: nn.joined
// CHECK: return
func.func @updates_in_order(%p: tensor<4xf32>, %q: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.update (%p : tensor<4xf32>) scalars () {
  ^bb0(%pi: tensor<f32>):
    %n = nn.neg %pi : tensor<f32>
    nn.yield %n : tensor<f32>
  } -> tensor<4xf32>
  %1 = nn.update (%0 : tensor<4xf32>) scalars () {
  ^bb0(%pi: tensor<f32>):
    %n = nn.neg %pi : tensor<f32>
    nn.yield %n : tensor<f32>
  } -> tensor<4xf32>
  %2 = nn.kernel (%1 : tensor<4xf32>) {
  ^bb0(%qi: tensor<4xf32>):
    %e = nn.reverse %qi [0] : tensor<4xf32>
    nn.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %3 = nn.update (%q : tensor<4xf32>) scalars () {
  ^bb0(%pi: tensor<f32>):
    %n = nn.neg %pi : tensor<f32>
    nn.yield %n : tensor<f32>
  } -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Elementwise kernels that follow each other become one, also if they are large and only read
// arguments. One with another large operand does not, nor one that reads a result of the others.
// CHECK-LABEL: @neighbours
// CHECK: nn.kernel(%arg0, %arg1 :
// CHECK-SAME: nn.joined = array<i64: 1, 1>}
// CHECK: nn.kernel(%{{.*}} : tensor<300000xbf16>) {
// CHECK: nn.kernel(%{{.*}} : tensor<4xbf16>) {
func.func @neighbours(%x: tensor<300000xf32>, %y: tensor<4xf32>) -> (tensor<300000xbf16>, tensor<4xbf16>) {
  %0 = nn.kernel (%x : tensor<300000xf32>) {
  ^bb0(%xi: tensor<300000xf32>):
    %e = nn.convert %xi : tensor<300000xf32> -> tensor<300000xbf16>
    nn.yield %e : tensor<300000xbf16>
  } -> tensor<300000xbf16>
  %1 = nn.kernel (%y : tensor<4xf32>) {
  ^bb0(%yi: tensor<4xf32>):
    %e = nn.convert %yi : tensor<4xf32> -> tensor<4xbf16>
    nn.yield %e : tensor<4xbf16>
  } -> tensor<4xbf16>
  %2 = nn.kernel (%0 : tensor<300000xbf16>) {
  ^bb0(%xi: tensor<300000xbf16>):
    %e = nn.exp %xi : tensor<300000xbf16>
    nn.yield %e : tensor<300000xbf16>
  } -> tensor<300000xbf16>
  %3 = nn.kernel (%1 : tensor<4xbf16>) {
  ^bb0(%yi: tensor<4xbf16>):
    %e = nn.exp %yi : tensor<4xbf16>
    nn.yield %e : tensor<4xbf16>
  } -> tensor<4xbf16>
  return %2, %3 : tensor<300000xbf16>, tensor<4xbf16>
}

// A kernel between them that needs only an argument may run first, and an operand may be a view of
// an argument. A kernel that reads a result ends the row.
// CHECK-LABEL: @around_a_transposition
// CHECK: nn.transpose
// CHECK: nn.kernel(%arg0, %{{.*}} :
// CHECK-SAME: nn.joined = array<i64: 1, 1>}
// CHECK: nn.dot
// CHECK: nn.kernel(%arg0 :
// CHECK-NOT: nn.joined
func.func @around_a_transposition(%x: tensor<600x600xf32>, %y: tensor<360000xf32>)
    -> (tensor<600x600xf32>, tensor<600x600xbf16>, tensor<600x600xbf16>) {
  %0 = nn.kernel (%x : tensor<600x600xf32>) {
  ^bb0(%xi: tensor<600x600xf32>):
    %e = nn.convert %xi : tensor<600x600xf32> -> tensor<600x600xbf16>
    nn.yield %e : tensor<600x600xbf16>
  } -> tensor<600x600xbf16>
  %1 = nn.kernel (%x : tensor<600x600xf32>) {
  ^bb0(%xi: tensor<600x600xf32>):
    %e = nn.transpose %xi [1, 0] : tensor<600x600xf32> -> tensor<600x600xf32>
    nn.yield %e : tensor<600x600xf32>
  } -> tensor<600x600xf32>
  %v = nn.reshape %y : tensor<360000xf32> -> tensor<600x600xf32>
  %2 = nn.kernel (%v : tensor<600x600xf32>) {
  ^bb0(%xi: tensor<600x600xf32>):
    %e = nn.convert %xi : tensor<600x600xf32> -> tensor<600x600xbf16>
    nn.yield %e : tensor<600x600xbf16>
  } -> tensor<600x600xbf16>
  %3 = nn.kernel (%0, %2 : tensor<600x600xbf16>, tensor<600x600xbf16>) {
  ^bb0(%xi: tensor<600x600xbf16>, %yi: tensor<600x600xbf16>):
    %e = nn.dot %xi, %yi contract [1] [0] : tensor<600x600xbf16>, tensor<600x600xbf16> -> tensor<600x600xbf16>
    nn.yield %e : tensor<600x600xbf16>
  } -> tensor<600x600xbf16>
  %4 = nn.kernel (%x : tensor<600x600xf32>) {
  ^bb0(%xi: tensor<600x600xf32>):
    %e = nn.convert %xi : tensor<600x600xf32> -> tensor<600x600xbf16>
    nn.yield %e : tensor<600x600xbf16>
  } -> tensor<600x600xbf16>
  return %1, %3, %4 : tensor<600x600xf32>, tensor<600x600xbf16>, tensor<600x600xbf16>
}
