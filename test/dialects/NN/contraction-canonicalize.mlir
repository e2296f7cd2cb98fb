// RUN: dpc-opt %s --canonicalize | FileCheck %s

// A product reads its operands as they were before a transposition.
// CHECK-LABEL: @reads_operands_before_transpose
// CHECK-SAME: (%[[X:.*]]: tensor<2x9x3x16xf32>, %[[Y:.*]]: tensor<16x5xf32>)
func.func @reads_operands_before_transpose(%x: tensor<2x9x3x16xf32>, %y: tensor<16x5xf32>) -> (tensor<2x3x9x9xf32>, tensor<2x9x3x5xf32>) {
  // CHECK-NOT: nn.transpose
  // CHECK: nn.dot %[[X]], %[[X]] batch [0, 2] [0, 2] contract [3] [3]
  // CHECK: nn.dot %[[X]], %[[Y]] contract [3] [0]
  %0 = nn.transpose %x [0, 2, 1, 3] : tensor<2x9x3x16xf32> -> tensor<2x3x9x16xf32>
  %1 = nn.transpose %x [0, 2, 3, 1] : tensor<2x9x3x16xf32> -> tensor<2x3x16x9xf32>
  %2 = nn.dot %0, %1 batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x9x16xf32>, tensor<2x3x16x9xf32> -> tensor<2x3x9x9xf32>
  %3 = nn.transpose %y [1, 0] : tensor<16x5xf32> -> tensor<5x16xf32>
  %4 = nn.dot %x, %3 contract [3] [1] : tensor<2x9x3x16xf32>, tensor<5x16xf32> -> tensor<2x9x3x5xf32>
  return %2, %4 : tensor<2x3x9x9xf32>, tensor<2x9x3x5xf32>
}

// Not where the other dimensions change their order.
// CHECK-LABEL: @keeps_reordered_operands
func.func @keeps_reordered_operands(%x: tensor<9x3x16xf32>, %y: tensor<16x5xf32>) -> tensor<3x9x5xf32> {
  // CHECK: %[[T:.*]] = nn.transpose
  // CHECK: nn.dot %[[T]]
  %0 = nn.transpose %x [1, 0, 2] : tensor<9x3x16xf32> -> tensor<3x9x16xf32>
  %1 = nn.dot %0, %y contract [2] [0] : tensor<3x9x16xf32>, tensor<16x5xf32> -> tensor<3x9x5xf32>
  return %1 : tensor<3x9x5xf32>
}

// A transposed product is the product of the exchanged operands; batch
// dimensions may change their order too.
// CHECK-LABEL: @exchanges_operands_of_transposed_result
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x9x16xf32>, %[[Y:.*]]: tensor<2x3x16x5x4xf32>)
func.func @exchanges_operands_of_transposed_result(%x: tensor<2x3x9x16xf32>, %y: tensor<2x3x16x5x4xf32>) -> tensor<3x2x5x4x9xf32> {
  // CHECK-NOT: nn.transpose
  // CHECK: nn.dot %[[Y]], %[[X]] batch [1, 0] [1, 0] contract [2] [3]
  %0 = nn.dot %x, %y batch [0, 1] [0, 1] contract [3] [2] : tensor<2x3x9x16xf32>, tensor<2x3x16x5x4xf32> -> tensor<2x3x9x5x4xf32>
  %1 = nn.transpose %0 [1, 0, 3, 4, 2] : tensor<2x3x9x5x4xf32> -> tensor<3x2x5x4x9xf32>
  return %1 : tensor<3x2x5x4x9xf32>
}

// Not where batch dimensions move behind others, nor where the product itself
// is needed too.
// CHECK-LABEL: @keeps_moved_batch_and_used_product
func.func @keeps_moved_batch_and_used_product(%x: tensor<2x9x16xf32>, %y: tensor<2x16x5xf32>) -> (tensor<9x2x5xf32>, tensor<2x9x5xf32>, tensor<2x5x9xf32>) {
  // CHECK: nn.dot
  // CHECK: nn.transpose {{.*}} [1, 0, 2]
  // CHECK: nn.dot
  // CHECK: nn.transpose {{.*}} [0, 2, 1]
  %0 = nn.dot %x, %y batch [0] [0] contract [2] [1] : tensor<2x9x16xf32>, tensor<2x16x5xf32> -> tensor<2x9x5xf32>
  %1 = nn.transpose %0 [1, 0, 2] : tensor<2x9x5xf32> -> tensor<9x2x5xf32>
  %2 = nn.relu %x : tensor<2x9x16xf32>
  %3 = nn.dot %2, %y batch [0] [0] contract [2] [1] : tensor<2x9x16xf32>, tensor<2x16x5xf32> -> tensor<2x9x5xf32>
  %4 = nn.transpose %3 [0, 2, 1] : tensor<2x9x5xf32> -> tensor<2x5x9xf32>
  return %1, %3, %4 : tensor<9x2x5xf32>, tensor<2x9x5xf32>, tensor<2x5x9xf32>
}

// A result that is wider than the factors stays so.
// CHECK-LABEL: @keeps_wider_result
// CHECK-SAME: (%[[X:.*]]: tensor<16x9xbf16>, %[[Y:.*]]: tensor<16x5xbf16>)
func.func @keeps_wider_result(%x: tensor<16x9xbf16>, %y: tensor<16x5xbf16>) -> (tensor<9x5xf32>, tensor<5x9xf32>) {
  // CHECK-NOT: nn.transpose
  // CHECK: nn.dot %[[X]], %[[Y]] contract [0] [0] : tensor<16x9xbf16>, tensor<16x5xbf16> -> tensor<9x5xf32>
  // CHECK: nn.dot %[[Y]], %[[X]] contract [0] [0] : tensor<16x5xbf16>, tensor<16x9xbf16> -> tensor<5x9xf32>
  %0 = nn.transpose %x [1, 0] : tensor<16x9xbf16> -> tensor<9x16xbf16>
  %1 = nn.dot %0, %y contract [1] [0] : tensor<9x16xbf16>, tensor<16x5xbf16> -> tensor<9x5xf32>
  %2 = nn.dot %x, %y contract [0] [0] : tensor<16x9xbf16>, tensor<16x5xbf16> -> tensor<9x5xf32>
  %3 = nn.transpose %2 [1, 0] : tensor<9x5xf32> -> tensor<5x9xf32>
  return %1, %3 : tensor<9x5xf32>, tensor<5x9xf32>
}

// A transposition that exchanges nothing is the product itself.
// CHECK-LABEL: @wider_batch
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x9x16xf16>)
func.func @wider_batch(%x: tensor<2x3x9x16xf16>) -> tensor<3x2x9x9xf32> {
  // CHECK-NOT: nn.transpose
  // CHECK: nn.dot %[[X]], %[[X]] batch [1, 0] [1, 0] contract [3] [3] : tensor<2x3x9x16xf16>, tensor<2x3x9x16xf16> -> tensor<3x2x9x9xf32>
  %0 = nn.dot %x, %x batch [0, 1] [0, 1] contract [3] [3] : tensor<2x3x9x16xf16>, tensor<2x3x9x16xf16> -> tensor<2x3x9x9xf32>
  %1 = nn.transpose %0 [1, 0, 2, 3] : tensor<2x3x9x9xf32> -> tensor<3x2x9x9xf32>
  return %1 : tensor<3x2x9x9xf32>
}
