// RUN: dpc-opt %s | dpc-opt | FileCheck %s
// RUN: dpc-opt %s --cse --canonicalize | FileCheck %s

dist.mesh @mesh axes ["data", "pipe"] sizes [2, 3]

// Messages have effects: neither of two equal ones disappears, in a loop or outside.
// CHECK-LABEL: @keeps_messages
func.func @keeps_messages(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: dist.send %arg0 to 2 on @mesh "pipe" number 3 : tensor<4xf32>
  dist.send %x to 2 on @mesh "pipe" number 3 : tensor<4xf32>
  // CHECK: %[[A:.*]] = dist.recv from 1 on @mesh "pipe" number 4 : tensor<4xf32>
  %a = dist.recv from 1 on @mesh "pipe" number 4 : tensor<4xf32>
  // CHECK: dist.recv from 1 on @mesh "pipe" number 4 : tensor<4xf32>
  %b = dist.recv from 1 on @mesh "pipe" number 4 : tensor<4xf32>
  // CHECK: dist.micro 2 "micro"
  dist.micro 2 "micro" (%x : tensor<4xf32>) operands [whole] {
  ^bb0(%w: tensor<4xf32>):
    // CHECK: dist.send %{{.*}} to 0 on @mesh "pipe" number 5 : tensor<4xf32>
    dist.send %w to 0 on @mesh "pipe" number 5 : tensor<4xf32>
    dist.yield
  } -> () results []
  // CHECK: return %[[A]]
  return %a : tensor<4xf32>
}

// All members of a reduction take part, also those that do not read the sum.
// CHECK-LABEL: @keeps_unread_reductions
func.func @keeps_unread_reductions(%x: tensor<4xf32>) {
  // CHECK: dist.stage_reduce %arg0 among [0, 2] on @mesh "pipe" number 6 : tensor<4xf32>
  %r = dist.stage_reduce %x among [0, 2] on @mesh "pipe" number 6 : tensor<4xf32>
  return
}

// CHECK-LABEL: @reduces_over_stages
func.func @reduces_over_stages(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[S:.*]] = dist.combine_stages %arg0, %arg1 : tensor<4xf32>
  %s = dist.combine_stages %x, %y : tensor<4xf32>
  // CHECK: dist.stage_reduce %[[S]] among [0, 2] on @mesh "pipe" number 7 : tensor<4xf32>
  %r = dist.stage_reduce %s among [0, 2] on @mesh "pipe" number 7 : tensor<4xf32>
  return %r : tensor<4xf32>
}
