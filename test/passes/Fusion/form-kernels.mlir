// RUN: dpc-opt %s --pass-pipeline="builtin.module(dpc-describe-machine,func.func(dpc-form-kernels))" | FileCheck %s

// A chain of elementwise ops of one shape is one kernel, with its own broadcast.
// CHECK-LABEL: @fuses_elementwise_chain
// CHECK-SAME: (%[[X:.*]]: tensor<8x4xf32>, %[[B:.*]]: tensor<4xf32>)
func.func @fuses_elementwise_chain(%x: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> {
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
// CHECK-LABEL: @keeps_shapes_apart
func.func @keeps_shapes_apart(%x: tensor<8xf32>, %y: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  // CHECK-COUNT-2: nn.kernel
  %0 = nn.relu %x : tensor<8xf32>
  %1 = nn.relu %y : tensor<4xf32>
  return %0, %1 : tensor<8xf32>, tensor<4xf32>
}

// What a reduction makes of a row is final when the row is: who reads it in its
// row shares the loop over rows, also a smaller op in between.
// CHECK-LABEL: @fuses_readers_of_row_sums
func.func @fuses_readers_of_row_sums(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: nn.kernel
  // CHECK: nn.exp
  // CHECK-NEXT: nn.reduce
  // CHECK-NEXT: nn.rsqrt
  // CHECK-NEXT: nn.broadcast
  // CHECK-NEXT: nn.mul
  // CHECK-NEXT: nn.yield %{{[0-9]+}} : tensor<8x4xf32>
  // CHECK-NOT: nn.kernel
  // CHECK: return
  %0 = nn.exp %x : tensor<8x4xf32>
  %1 = nn.reduce sum %0 [1] : tensor<8x4xf32> -> tensor<8xf32>
  %2 = nn.rsqrt %1 : tensor<8xf32>
  %3 = nn.broadcast %2 [0] : tensor<8xf32> -> tensor<8x4xf32>
  %4 = nn.mul %0, %3 : tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}

// A reduction over rows ends the kernel that makes its operand; who reads it is
// another one, also where the extents are those of rows.
// CHECK-LABEL: @column_sum_ends_kernel
func.func @column_sum_ends_kernel(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: nn.kernel
  // CHECK: nn.exp
  // CHECK-NEXT: nn.reduce
  // CHECK: nn.yield %{{.*}}, %{{.*}}
  // CHECK: nn.kernel
  // CHECK: nn.broadcast
  // CHECK: nn.div
  %0 = nn.exp %x : tensor<4x4xf32>
  %1 = nn.reduce sum %0 [0] : tensor<4x4xf32> -> tensor<4xf32>
  %2 = nn.broadcast %1 [0] : tensor<4xf32> -> tensor<4x4xf32>
  %3 = nn.div %0, %2 : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// So does one whose result is repeated along other dimensions: the rows that
// read it are not the ones it is made of.
// CHECK-LABEL: @other_row_ends_kernel
func.func @other_row_ends_kernel(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: nn.kernel
  // CHECK: nn.reduce
  // CHECK: nn.kernel
  // CHECK: nn.div
  %0 = nn.exp %x : tensor<4x4xf32>
  %1 = nn.reduce sum %0 [1] : tensor<4x4xf32> -> tensor<4xf32>
  %2 = nn.broadcast %1 [1] : tensor<4xf32> -> tensor<4x4xf32>
  %3 = nn.div %0, %2 : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// A reduction to one number is final only after all rows.
// CHECK-LABEL: @total_ends_kernel
func.func @total_ends_kernel(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: nn.kernel
  // CHECK: nn.reduce
  // CHECK: nn.kernel
  // CHECK: nn.div
  %0 = nn.exp %x : tensor<8x4xf32>
  %1 = nn.reduce sum %0 [0, 1] : tensor<8x4xf32> -> tensor<f32>
  %2 = nn.broadcast %1 [] : tensor<f32> -> tensor<8x4xf32>
  %3 = nn.div %0, %2 : tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// A composite with one result a row of its operand: what is computed for the
// elements of the rows joins it, and what is computed for its results.
// CHECK-LABEL: @loss_fuses_its_readers
func.func @loss_fuses_its_readers(%x: tensor<8x16xf32>, %labels: tensor<8xi64>) -> (tensor<8xf32>, tensor<8x16xf32>) {
  // CHECK: nn.kernel
  // CHECK: nn.cross_entropy
  // CHECK: nn.neg
  // CHECK: nn.exp
  // CHECK-NOT: nn.kernel
  // CHECK: return
  %losses, %lse = nn.cross_entropy %x, %labels dim 1 : tensor<8x16xf32>, tensor<8xi64> -> tensor<8xf32>, tensor<8xf32>
  %0 = nn.neg %losses : tensor<8xf32>
  %1 = nn.broadcast %lse [0] : tensor<8xf32> -> tensor<8x16xf32>
  %2 = nn.sub %x, %1 : tensor<8x16xf32>
  %3 = nn.exp %2 : tensor<8x16xf32>
  return %0, %3 : tensor<8xf32>, tensor<8x16xf32>
}

// The loops over the rows of the ops before it compute it, so that their values are not stored: here
// the kernel reads half of the bytes.
// CHECK-LABEL: @loss_joins_widened_rows
// CHECK-SAME: (%[[X:.*]]: tensor<8x16xbf16>, %[[L:.*]]: tensor<8xi64>)
func.func @loss_joins_widened_rows(%x: tensor<8x16xbf16>, %labels: tensor<8xi64>) -> (tensor<8xf32>, tensor<8x16xf32>) {
  // CHECK: nn.kernel(%[[X]], %[[L]] :
  // CHECK: nn.convert
  // CHECK: nn.cross_entropy
  // CHECK: nn.exp
  // CHECK-NOT: nn.kernel
  // CHECK: return
  %wide = nn.convert %x : tensor<8x16xbf16> -> tensor<8x16xf32>
  %losses, %lse = nn.cross_entropy %wide, %labels dim 1 : tensor<8x16xf32>, tensor<8xi64> -> tensor<8xf32>, tensor<8xf32>
  %1 = nn.broadcast %lse [0] : tensor<8xf32> -> tensor<8x16xf32>
  %2 = nn.sub %wide, %1 : tensor<8x16xf32>
  %3 = nn.exp %2 : tensor<8x16xf32>
  return %losses, %3 : tensor<8xf32>, tensor<8x16xf32>
}

// But they would compute the sums of a small product in each of their passes.
// CHECK-LABEL: @loss_reads_a_product
// CHECK: nn.kernel
// CHECK: nn.dot
// CHECK: nn.yield
// CHECK: nn.kernel
// CHECK: nn.cross_entropy
func.func @loss_reads_a_product(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>, %labels: tensor<8xi64>) -> tensor<8xf32> {
  %p = nn.dot %x, %w contract [1] [0] : tensor<8x4xf32>, tensor<4x16xf32> -> tensor<8x16xf32>
  %losses, %lse = nn.cross_entropy %p, %labels dim 1 : tensor<8x16xf32>, tensor<8xi64> -> tensor<8xf32>, tensor<8xf32>
  return %losses : tensor<8xf32>
}

// With the classes in front, no row of the operand lies in one place.
// CHECK-LABEL: @column_loss_ends_kernel
func.func @column_loss_ends_kernel(%x: tensor<8x16xf32>, %labels: tensor<16xi64>) -> tensor<8x16xf32> {
  // CHECK: nn.kernel
  // CHECK: nn.cross_entropy
  // CHECK: nn.kernel
  // CHECK: nn.exp
  %losses, %lse = nn.cross_entropy %x, %labels dim 0 : tensor<8x16xf32>, tensor<16xi64> -> tensor<16xf32>, tensor<16xf32>
  %1 = nn.broadcast %lse [1] : tensor<16xf32> -> tensor<8x16xf32>
  %2 = nn.sub %x, %1 : tensor<8x16xf32>
  %3 = nn.exp %2 : tensor<8x16xf32>
  return %3 : tensor<8x16xf32>
}

// The tiles of a product are final at other times than the sums of its rows.
// CHECK-LABEL: @row_sum_of_tiles_ends_kernel
func.func @row_sum_of_tiles_ends_kernel(%x: tensor<32x64xf32>, %w: tensor<64x32xf32>) -> tensor<32x32xf32> {
  // CHECK: nn.kernel
  // CHECK: nn.dot
  // CHECK-NEXT: nn.reduce
  // CHECK: nn.kernel
  // CHECK: nn.sub
  %0 = nn.dot %x, %w contract [1] [0] : tensor<32x64xf32>, tensor<64x32xf32> -> tensor<32x32xf32>
  %1 = nn.reduce sum %0 [1] : tensor<32x32xf32> -> tensor<32xf32>
  %2 = nn.broadcast %1 [0] : tensor<32xf32> -> tensor<32x32xf32>
  %3 = nn.sub %0, %2 : tensor<32x32xf32>
  return %3 : tensor<32x32xf32>
}

// A group stays convex: the last add may not join the relu, because a sum
// made from the relu's result comes between them.
// CHECK-LABEL: @groups_stay_convex
func.func @groups_stay_convex(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: %[[A:.*]] = nn.kernel
  // CHECK: nn.relu
  // CHECK: %[[P:.*]] = nn.kernel(%[[A]]
  // CHECK: nn.cumsum
  // CHECK: nn.kernel(%[[A]], %[[P]]
  // CHECK: nn.add
  %0 = nn.relu %x : tensor<4x4xf32>
  %1 = nn.cumsum %0 dim 1 : tensor<4x4xf32>
  %2 = nn.add %0, %1 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// The groups of two operands merge when no path joins them.
// CHECK-LABEL: @merges_independent_groups
func.func @merges_independent_groups(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: nn.kernel
  // CHECK-NOT: nn.kernel
  %0 = nn.relu %x : tensor<4xf32>
  %1 = nn.exp %y : tensor<4xf32>
  %2 = nn.add %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// What the groups waited for comes before the merged one.
// CHECK-LABEL: @merged_group_waits
func.func @merged_group_waits(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: %[[P:.*]] = nn.kernel
  // CHECK: nn.cumsum
  // CHECK: nn.kernel(%{{.*}}%[[P]]
  // CHECK-NOT: nn.kernel
  %0 = nn.relu %x : tensor<4x4xf32>
  %1 = nn.cumsum %y dim 1 : tensor<4x4xf32>
  %2 = nn.exp %1 : tensor<4x4xf32>
  %3 = nn.add %0, %2 : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// A reshape is a view, outside kernels.
// CHECK-LABEL: @keeps_reshape_outside_kernels
func.func @keeps_reshape_outside_kernels(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[R:.*]] = nn.reshape
  // CHECK-NEXT: nn.kernel(%[[R]] : tensor<2x4xf32>)
  %0 = nn.reshape %x : tensor<8xf32> -> tensor<2x4xf32>
  %1 = nn.relu %0 : tensor<2x4xf32>
  %2 = nn.reshape %1 : tensor<2x4xf32> -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// A constant that a view reads, or that is a result, needs memory.
// CHECK-LABEL: @constant_in_memory_has_kernel
func.func @constant_in_memory_has_kernel() -> (tensor<4xf32>, tensor<2x2xf32>) {
  // CHECK: %[[C:.*]] = nn.kernel()
  // CHECK: nn.constant
  // CHECK: %[[R:.*]] = nn.reshape %[[C]]
  // CHECK: return %[[C]], %[[R]]
  %0 = nn.constant dense<1.0> : tensor<4xf32>
  %1 = nn.reshape %0 : tensor<4xf32> -> tensor<2x2xf32>
  return %0, %1 : tensor<4xf32>, tensor<2x2xf32>
}

// An update stays as it is.
// CHECK-LABEL: @keeps_update
func.func @keeps_update(%p: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
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

// What is elementwise over a large product is computed with it, and so is what
// only joins there.
// CHECK-LABEL: @product_takes_its_epilogue
func.func @product_takes_its_epilogue(%x: tensor<32x64xf32>, %w: tensor<64x32xf32>, %b: tensor<32xf32>, %y: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // CHECK: nn.kernel
  // CHECK: nn.dot
  // CHECK: nn.add
  // CHECK: nn.mul
  // CHECK-NOT: nn.kernel
  // CHECK: return
  %0 = nn.dot %x, %w contract [1] [0] : tensor<32x64xf32>, tensor<64x32xf32> -> tensor<32x32xf32>
  %1 = nn.broadcast %b [1] : tensor<32xf32> -> tensor<32x32xf32>
  %2 = nn.add %0, %1 : tensor<32x32xf32>
  %3 = nn.relu %y : tensor<32x32xf32>
  %4 = nn.mul %2, %3 : tensor<32x32xf32>
  return %4 : tensor<32x32xf32>
}

// Whichever operand comes first, what has joined a product's kernel computes tile
// by tile: sums of its rows are final too late for it.
// CHECK-LABEL: @epilogue_has_no_row_sums
func.func @epilogue_has_no_row_sums(%x: tensor<32x64xf32>, %w: tensor<64x32xf32>, %y: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // CHECK: nn.kernel
  // CHECK: nn.dot
  // CHECK: nn.mul
  // CHECK: nn.reduce
  // CHECK: nn.kernel
  // CHECK: nn.sub
  %0 = nn.relu %y : tensor<32x32xf32>
  %1 = nn.dot %x, %w contract [1] [0] : tensor<32x64xf32>, tensor<64x32xf32> -> tensor<32x32xf32>
  %2 = nn.mul %0, %1 : tensor<32x32xf32>
  %3 = nn.reduce sum %2 [1] : tensor<32x32xf32> -> tensor<32xf32>
  %4 = nn.broadcast %3 [0] : tensor<32xf32> -> tensor<32x32xf32>
  %5 = nn.sub %2, %4 : tensor<32x32xf32>
  return %5 : tensor<32x32xf32>
}

// Two products stay apart; what joins them is computed with one of them.
// CHECK-LABEL: @keeps_products_apart
func.func @keeps_products_apart(%x: tensor<32x64xf32>, %w: tensor<64x32xf32>) -> tensor<32x32xf32> {
  // CHECK: nn.kernel
  // CHECK: nn.dot
  // CHECK: nn.kernel
  // CHECK: nn.dot
  // CHECK-NOT: nn.kernel
  // CHECK: return
  %0 = nn.dot %x, %w contract [1] [0] : tensor<32x64xf32>, tensor<64x32xf32> -> tensor<32x32xf32>
  %1 = nn.dot %w, %x contract [0] [1] : tensor<64x32xf32>, tensor<32x64xf32> -> tensor<32x32xf32>
  %2 = nn.add %0, %1 : tensor<32x32xf32>
  return %2 : tensor<32x32xf32>
}

// A kernel computes a short chain again from what it reads anyway: the square
// and the tanh are not kept for it.
// CHECK-LABEL: @recomputes_short_chain
func.func @recomputes_short_chain(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  // CHECK: %[[A:.*]]:2 = nn.kernel
  // CHECK: nn.yield %{{.*}}, %{{.*}} : tensor<8x4xf32>, tensor<4xf32>
  // CHECK: nn.kernel(%[[A]]#0, %[[A]]#1
  // CHECK: nn.mul
  // CHECK: nn.tanh
  // CHECK: nn.yield
  %0 = nn.add %x, %y : tensor<8x4xf32>
  %1 = nn.mul %0, %0 : tensor<8x4xf32>
  %2 = nn.tanh %1 : tensor<8x4xf32>
  %3 = nn.reduce sum %2 [0] : tensor<8x4xf32> -> tensor<4xf32>
  %4 = nn.broadcast %3 [1] : tensor<4xf32> -> tensor<8x4xf32>
  %5 = nn.mul %4, %0 : tensor<8x4xf32>
  %6 = nn.add %5, %2 : tensor<8x4xf32>
  return %3, %6 : tensor<4xf32>, tensor<8x4xf32>
}

// What somebody needs in memory anyway, here the product, is read and not
// computed again.
// CHECK-LABEL: @reads_value_in_memory
func.func @reads_value_in_memory(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  // CHECK: nn.tanh
  // CHECK-NOT: nn.tanh
  // CHECK: return
  %0 = nn.add %x, %y : tensor<8x4xf32>
  %1 = nn.mul %0, %0 : tensor<8x4xf32>
  %2 = nn.tanh %1 : tensor<8x4xf32>
  %3 = nn.reduce sum %2 [0] : tensor<8x4xf32> -> tensor<4xf32>
  %4 = nn.broadcast %3 [1] : tensor<4xf32> -> tensor<8x4xf32>
  %5 = nn.mul %4, %0 : tensor<8x4xf32>
  %6 = nn.add %5, %2 : tensor<8x4xf32>
  %7 = nn.dot %2, %w contract [1] [0] : tensor<8x4xf32>, tensor<4x4xf32> -> tensor<8x4xf32>
  return %3, %6, %7 : tensor<4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

// Not from what it would have to read for that alone.
// CHECK-LABEL: @keeps_chain_of_unread_operand
func.func @keeps_chain_of_unread_operand(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  // CHECK: nn.yield %{{.*}}, %{{.*}} : tensor<8x4xf32>, tensor<4xf32>
  // CHECK: nn.kernel
  // CHECK-NOT: nn.tanh
  // CHECK: return
  %0 = nn.add %x, %y : tensor<8x4xf32>
  %2 = nn.tanh %0 : tensor<8x4xf32>
  %3 = nn.reduce sum %2 [0] : tensor<8x4xf32> -> tensor<4xf32>
  %4 = nn.broadcast %3 [1] : tensor<4xf32> -> tensor<8x4xf32>
  %6 = nn.add %4, %2 : tensor<8x4xf32>
  return %3, %6 : tensor<4xf32>, tensor<8x4xf32>
}

// The elements of an op that has an element rule, and the ops a composite is
// made of, are computed in the loops of what is elementwise over them.
// CHECK-LABEL: @elementwise_loops_take_beginnings
func.func @elementwise_loops_take_beginnings(%x: tensor<8x4xf32>) -> (tensor<4x8xf32>, tensor<8x4xf32>) {
  // CHECK: nn.kernel
  // CHECK: nn.transpose
  // CHECK-NEXT: nn.exp
  // CHECK: nn.kernel
  // CHECK: nn.softmax
  // CHECK-NEXT: nn.exp
  %0 = nn.transpose %x [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  %1 = nn.exp %0 : tensor<4x8xf32>
  %2 = nn.softmax %x dim 1 : tensor<8x4xf32>
  %3 = nn.exp %2 : tensor<8x4xf32>
  return %1, %3 : tensor<4x8xf32>, tensor<8x4xf32>
}

// A composite that fills its results in loops of its own is alone.
// CHECK-LABEL: @composite_with_loops_is_alone
func.func @composite_with_loops_is_alone(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: nn.attention
  // CHECK-NEXT: nn.yield
  // CHECK: nn.kernel
  // CHECK: nn.exp
  %y, %l = nn.attention %x, %x, %x rows 0 scale 0.5 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x4xf32>, tensor<8xf32>
  %0 = nn.exp %y : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
