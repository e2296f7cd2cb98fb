// RUN: dpc-opt %s --pass-pipeline="builtin.module(func.func(dpc-form-kernels))" | FileCheck %s

// A chain of elementwise ops of one shape is one kernel, with its own broadcast.
// CHECK-LABEL: @chain
// CHECK-SAME: (%[[X:.*]]: tensor<8x4xf32>, %[[B:.*]]: tensor<4xf32>)
func.func @chain(%x: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> {
  // CHECK: %[[Y:.*]] = nn.kernel(%[[X]], %[[B]] : tensor<8x4xf32>, tensor<4xf32>)
  // CHECK: nn.broadcast
  // CHECK: nn.add
  // CHECK: nn.relu
  // CHECK-NOT: nn.kernel
  // CHECK: return %[[Y]]
  %0 = nn.broadcast %b [1] : tensor<4xf32> -> tensor<8x4xf32>
  %1 = nn.add %x, %0 : tensor<8x4xf32>
  %2 = nn.relu %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// Ops over different shapes do not share a loop.
// CHECK-LABEL: @shapes
func.func @shapes(%x: tensor<8xf32>, %y: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  // CHECK-COUNT-2: nn.kernel
  %0 = nn.relu %x : tensor<8xf32>
  %1 = nn.relu %y : tensor<4xf32>
  return %0, %1 : tensor<8xf32>, tensor<4xf32>
}

// A reduction ends the kernel that makes its operand; who reads it is another one.
// CHECK-LABEL: @reduction
func.func @reduction(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: nn.kernel
  // CHECK: nn.exp
  // CHECK-NEXT: nn.reduce
  // CHECK: nn.yield %{{.*}}, %{{.*}}
  // CHECK: nn.kernel
  // CHECK: nn.broadcast
  // CHECK: nn.div
  %0 = nn.exp %x : tensor<8x4xf32>
  %1 = nn.reduce sum %0 [1] : tensor<8x4xf32> -> tensor<8xf32>
  %2 = nn.broadcast %1 [0] : tensor<8xf32> -> tensor<8x4xf32>
  %3 = nn.div %0, %2 : tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// A group stays convex: the last add may not join the relu, because a product
// made from the relu's result comes between them.
// CHECK-LABEL: @convex
func.func @convex(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: %[[A:.*]] = nn.kernel
  // CHECK: nn.relu
  // CHECK: %[[P:.*]] = nn.kernel(%[[A]]
  // CHECK: nn.dot
  // CHECK: nn.kernel(%[[A]], %[[P]]
  // CHECK: nn.add
  %0 = nn.relu %x : tensor<4x4xf32>
  %1 = nn.dot %0, %0 contract [1] [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %2 = nn.add %0, %1 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// The groups of two operands merge when no path joins them.
// CHECK-LABEL: @merge
func.func @merge(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: nn.kernel
  // CHECK-NOT: nn.kernel
  %0 = nn.relu %x : tensor<4xf32>
  %1 = nn.exp %y : tensor<4xf32>
  %2 = nn.add %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// What the groups waited for comes before the merged one.
// CHECK-LABEL: @merge_after
func.func @merge_after(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: %[[P:.*]] = nn.kernel
  // CHECK: nn.dot
  // CHECK: nn.kernel(%{{.*}}%[[P]]
  // CHECK-NOT: nn.kernel
  %0 = nn.relu %x : tensor<4x4xf32>
  %1 = nn.dot %y, %y contract [1] [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %2 = nn.exp %1 : tensor<4x4xf32>
  %3 = nn.add %0, %2 : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// A reshape is a view, outside kernels.
// CHECK-LABEL: @view
func.func @view(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[R:.*]] = nn.reshape
  // CHECK-NEXT: nn.kernel(%[[R]] : tensor<2x4xf32>)
  %0 = nn.reshape %x : tensor<8xf32> -> tensor<2x4xf32>
  %1 = nn.relu %0 : tensor<2x4xf32>
  %2 = nn.reshape %1 : tensor<2x4xf32> -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// A constant that a view reads, or that is a result, needs memory.
// CHECK-LABEL: @memory
func.func @memory() -> (tensor<4xf32>, tensor<2x2xf32>) {
  // CHECK: %[[C:.*]] = nn.kernel()
  // CHECK: nn.constant
  // CHECK: %[[R:.*]] = nn.reshape %[[C]]
  // CHECK: return %[[C]], %[[R]]
  %0 = nn.constant dense<1.0> : tensor<4xf32>
  %1 = nn.reshape %0 : tensor<4xf32> -> tensor<2x2xf32>
  return %0, %1 : tensor<4xf32>, tensor<2x2xf32>
}

// An update stays as it is.
// CHECK-LABEL: @update
func.func @update(%p: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: nn.kernel
  // CHECK: nn.relu
  // CHECK: nn.update
  // CHECK-NOT: nn.kernel
  %0 = nn.relu %g : tensor<4xf32>
  %1 = nn.update (%p, %0 : tensor<4xf32>, tensor<4xf32>) scalars () {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = nn.sub %a, %b : tensor<f32>
    nn.yield %s : tensor<f32>
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
