// RUN: dpc-opt %s --split-input-file --dpc-form-batch-gathers | FileCheck %s
// RUN: dpc-opt %s --split-input-file --pass-pipeline='builtin.module(dpc-form-batch-gathers,func.func(dpc-record-bounds))' | FileCheck %s --check-prefix=BOUNDS

// The first component is the sample's own index: as the dynamo exporter writes x[arange(B), i].
// CHECK-LABEL: @own_index_becomes_batch
// CHECK-SAME: %[[X:.*]]: tensor<4x9x3xf32>, %[[I:.*]]: tensor<4x1xi64>
func.func @own_index_becomes_batch(%x: tensor<4x9x3xf32>, %i: tensor<4x1xi64>) -> tensor<4x3xf32> {
  // CHECK-NOT: tensor<4x2xi64>
  // CHECK-DAG: %[[WRAPPED:.*]] = nn.add %[[I]], %{{.*}} : tensor<4x1xi64>
  // CHECK-DAG: %[[NEGATIVE:.*]] = nn.compare lt %[[I]], %{{.*}} : tensor<4x1xi64>
  // CHECK: %[[ROW:.*]] = nn.select %[[NEGATIVE]], %[[WRAPPED]], %[[I]] : tensor<4x1xi1>, tensor<4x1xi64>
  // CHECK: nn.gather_nd %[[X]], %[[ROW]] {batchDims = 1 : i64} : tensor<4x9x3xf32>, tensor<4x1xi64> -> tensor<4x3xf32>
  %own = nn.constant dense<[[0], [1], [2], [3]]> : tensor<4x1xi64>
  %zero = nn.constant dense<0> : tensor<4x2xi64>
  %extents = nn.constant dense<[4, 9]> : tensor<2xi64>
  %n = nn.broadcast %extents [1] : tensor<2xi64> -> tensor<4x2xi64>
  %t = nn.concat %own, %i dim 1 : tensor<4x1xi64>, tensor<4x1xi64> -> tensor<4x2xi64>
  %a = nn.add %t, %n : tensor<4x2xi64>
  %c = nn.compare lt %t, %zero : tensor<4x2xi64> -> tensor<4x2xi1>
  %s = nn.select %c, %a, %t : tensor<4x2xi1>, tensor<4x2xi64>
  %y = nn.gather_nd %x, %s : tensor<4x9x3xf32>, tensor<4x2xi64> -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// An index that is never negative is not wrapped.
// CHECK-LABEL: @never_negative
// CHECK-SAME: %{{.*}}: tensor<4x9x3xf32>, %[[IDS:.*]]: tensor<4x9xi32>
func.func @never_negative(%x: tensor<4x9x3xf32>, %ids: tensor<4x9xi32>) -> tensor<4x3xf32> {
  // CHECK-NEXT: %[[LAST:.*]] = nn.arg_reduce max %[[IDS]] dim 1
  // CHECK-NEXT: %[[ROW:.*]] = nn.reshape %[[LAST]]
  // CHECK-NEXT: nn.gather_nd %{{.*}}, %[[ROW]] {batchDims = 1 : i64}
  %own = nn.iota dim 0 : tensor<4x1xi64>
  %last = nn.arg_reduce max %ids dim 1 : tensor<4x9xi32> -> tensor<4xi64>
  %i = nn.reshape %last : tensor<4xi64> -> tensor<4x1xi64>
  %zero = nn.constant dense<0> : tensor<4x2xi64>
  %n = nn.constant dense<9> : tensor<4x2xi64>
  %t = nn.concat %own, %i dim 1 : tensor<4x1xi64>, tensor<4x1xi64> -> tensor<4x2xi64>
  %a = nn.add %t, %n : tensor<4x2xi64>
  %c = nn.compare lt %t, %zero : tensor<4x2xi64> -> tensor<4x2xi1>
  %s = nn.select %c, %a, %t : tensor<4x2xi1>, tensor<4x2xi64>
  %y = nn.gather_nd %x, %s : tensor<4x9x3xf32>, tensor<4x2xi64> -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// Several rows a sample; components behind the own index stay together, and further own indices follow.
// CHECK-LABEL: @several_rows_and_own_indices
func.func @several_rows_and_own_indices(%x: tensor<4x5x6x7xf32>, %i: tensor<4x5x1xi64>, %j: tensor<4x3x2xi64>) -> (tensor<4x5x7xf32>, tensor<4x3x7xf32>) {
  // CHECK: nn.gather_nd %arg0, %arg1 {batchDims = 2 : i64} : tensor<4x5x6x7xf32>, tensor<4x5x1xi64> -> tensor<4x5x7xf32>
  // CHECK: nn.gather_nd %arg0, %arg2 {batchDims = 1 : i64} : tensor<4x5x6x7xf32>, tensor<4x3x2xi64> -> tensor<4x3x7xf32>
  %b = nn.iota dim 0 : tensor<4x5x1xi64>
  %h = nn.iota dim 1 : tensor<4x5x1xi64>
  %t = nn.concat %b, %h, %i dim 2 : tensor<4x5x1xi64>, tensor<4x5x1xi64>, tensor<4x5x1xi64> -> tensor<4x5x3xi64>
  %y = nn.gather_nd %x, %t : tensor<4x5x6x7xf32>, tensor<4x5x3xi64> -> tensor<4x5x7xf32>
  %c = nn.iota dim 0 : tensor<4x3x1xi64>
  %u = nn.concat %c, %j dim 2 : tensor<4x3x1xi64>, tensor<4x3x2xi64> -> tensor<4x3x3xi64>
  %z = nn.gather_nd %x, %u : tensor<4x5x6x7xf32>, tensor<4x3x3xi64> -> tensor<4x3x7xf32>
  return %y, %z : tensor<4x5x7xf32>, tensor<4x3x7xf32>
}

// A component that is not the own index: another order, or not constant.
// CHECK-LABEL: @another_index
func.func @another_index(%x: tensor<4x9x3xf32>, %i: tensor<4x1xi64>) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x4x3xf32>) {
  // CHECK-NOT: batchDims
  // CHECK: return
  %own = nn.constant dense<[[0], [1], [3], [2]]> : tensor<4x1xi64>
  %t = nn.concat %own, %i dim 1 : tensor<4x1xi64>, tensor<4x1xi64> -> tensor<4x2xi64>
  %y = nn.gather_nd %x, %t : tensor<4x9x3xf32>, tensor<4x2xi64> -> tensor<4x3xf32>
  %u = nn.concat %i, %i dim 1 : tensor<4x1xi64>, tensor<4x1xi64> -> tensor<4x2xi64>
  %z = nn.gather_nd %x, %u : tensor<4x9x3xf32>, tensor<4x2xi64> -> tensor<4x3xf32>
  // The index along the other dimension of tuples.
  %along = nn.iota dim 1 : tensor<4x4x1xi64>
  %j = nn.broadcast %i [0, 2] : tensor<4x1xi64> -> tensor<4x4x1xi64>
  %v = nn.concat %along, %j dim 2 : tensor<4x4x1xi64>, tensor<4x4x1xi64> -> tensor<4x4x2xi64>
  %w = nn.gather_nd %x, %v : tensor<4x9x3xf32>, tensor<4x4x2xi64> -> tensor<4x4x3xf32>
  return %y, %z, %w : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x4x3xf32>
}

// The sample second: nothing is moved but what is taken.
// CHECK-LABEL: @sample_second_gathers_elements
// CHECK-SAME: %[[X:.*]]: tensor<9x4x3xf32>, %[[I:.*]]: tensor<4x5x1xi64>
func.func @sample_second_gathers_elements(%x: tensor<9x4x3xf32>, %i: tensor<4x5x1xi64>) -> tensor<4x5x3xf32> {
  // CHECK: %[[FLAT:.*]] = nn.reshape %[[I]] : tensor<4x5x1xi64> -> tensor<4x5xi64>
  // CHECK: %[[ROWS:.*]] = nn.transpose %[[FLAT]] [1, 0]
  // CHECK: %[[EACH:.*]] = nn.broadcast %[[ROWS]] [0, 1] : tensor<5x4xi64> -> tensor<5x4x3xi64>
  // CHECK: %[[Y:.*]] = nn.gather_elements %[[X]], %[[EACH]] dim 0
  // CHECK: nn.transpose %[[Y]] [1, 0, 2] : tensor<5x4x3xf32> -> tensor<4x5x3xf32>
  %own = nn.iota dim 0 : tensor<4x5x1xi64>
  %t = nn.concat %i, %own dim 2 : tensor<4x5x1xi64>, tensor<4x5x1xi64> -> tensor<4x5x2xi64>
  %y = nn.gather_nd %x, %t : tensor<9x4x3xf32>, tensor<4x5x2xi64> -> tensor<4x5x3xf32>
  return %y : tensor<4x5x3xf32>
}

// Second of three, another order, fewer samples, one sample, behind a batch.
// CHECK-LABEL: @not_second
func.func @not_second(%x: tensor<9x4x4xf32>, %i: tensor<4x1xi64>, %k: tensor<3x1xi64>, %l: tensor<1x1xi64>, %one: tensor<9x1xf32>, %z: tensor<4x4x4xf32>)
    -> (tensor<4xf32>, tensor<4x4xf32>, tensor<3x4xf32>, tensor<1xf32>, tensor<4xf32>) {
  // CHECK-NOT: nn.gather_elements
  // CHECK: return
  %own = nn.iota dim 0 : tensor<4x1xi64>
  %t = nn.concat %i, %own, %i dim 1 : tensor<4x1xi64>, tensor<4x1xi64>, tensor<4x1xi64> -> tensor<4x3xi64>
  %a = nn.gather_nd %x, %t : tensor<9x4x4xf32>, tensor<4x3xi64> -> tensor<4xf32>
  %other = nn.constant dense<[[0], [1], [3], [2]]> : tensor<4x1xi64>
  %u = nn.concat %i, %other dim 1 : tensor<4x1xi64>, tensor<4x1xi64> -> tensor<4x2xi64>
  %b = nn.gather_nd %x, %u : tensor<9x4x4xf32>, tensor<4x2xi64> -> tensor<4x4xf32>
  %some = nn.iota dim 0 : tensor<3x1xi64>
  %v = nn.concat %k, %some dim 1 : tensor<3x1xi64>, tensor<3x1xi64> -> tensor<3x2xi64>
  %c = nn.gather_nd %x, %v : tensor<9x4x4xf32>, tensor<3x2xi64> -> tensor<3x4xf32>
  %zero = nn.iota dim 0 : tensor<1x1xi64>
  %w = nn.concat %l, %zero dim 1 : tensor<1x1xi64>, tensor<1x1xi64> -> tensor<1x2xi64>
  %d = nn.gather_nd %one, %w : tensor<9x1xf32>, tensor<1x2xi64> -> tensor<1xf32>
  %s = nn.concat %i, %own dim 1 : tensor<4x1xi64>, tensor<4x1xi64> -> tensor<4x2xi64>
  %e = nn.gather_nd %z, %s {batchDims = 1 : i64} : tensor<4x4x4xf32>, tensor<4x2xi64> -> tensor<4xf32>
  return %a, %b, %c, %d, %e : tensor<4xf32>, tensor<4x4xf32>, tensor<3x4xf32>, tensor<1xf32>, tensor<4xf32>
}

// Tuples for some samples only, and one sample, are no batch.
// CHECK-LABEL: @keeps_partial_batches
func.func @keeps_partial_batches(%x: tensor<4x9x3xf32>, %i: tensor<3x1xi64>, %one: tensor<1x9x3xf32>, %j: tensor<1x1xi64>) -> (tensor<3x3xf32>, tensor<1x3xf32>) {
  // CHECK-NOT: batchDims
  // CHECK: return
  %own = nn.iota dim 0 : tensor<3x1xi64>
  %t = nn.concat %own, %i dim 1 : tensor<3x1xi64>, tensor<3x1xi64> -> tensor<3x2xi64>
  %y = nn.gather_nd %x, %t : tensor<4x9x3xf32>, tensor<3x2xi64> -> tensor<3x3xf32>
  %zero = nn.constant dense<0> : tensor<1x1xi64>
  %u = nn.concat %zero, %j dim 1 : tensor<1x1xi64>, tensor<1x1xi64> -> tensor<1x2xi64>
  %z = nn.gather_nd %one, %u : tensor<1x9x3xf32>, tensor<1x2xi64> -> tensor<1x3xf32>
  return %y, %z : tensor<3x3xf32>, tensor<1x3xf32>
}

// Writes: x[arange(B), i] = u, whatever the kind.
// CHECK-LABEL: @scatters_by_own_index
func.func @scatters_by_own_index(%x: tensor<4x9x3xf32>, %i: tensor<4x1xi64>, %u: tensor<4x3xf32>) -> tensor<4x9x3xf32> {
  // CHECK: %[[Y:.*]] = nn.scatter_nd none %arg0, %arg1, %arg2 {batchDims = 1 : i64}
  // CHECK: nn.scatter_nd add %[[Y]], %arg1, %arg2 {batchDims = 1 : i64}
  %own = nn.iota dim 0 : tensor<4x1xi64>
  %t = nn.concat %own, %i dim 1 : tensor<4x1xi64>, tensor<4x1xi64> -> tensor<4x2xi64>
  %y = nn.scatter_nd none %x, %t, %u : tensor<4x9x3xf32>, tensor<4x2xi64>, tensor<4x3xf32>
  %z = nn.scatter_nd add %y, %t, %u : tensor<4x9x3xf32>, tensor<4x2xi64>, tensor<4x3xf32>
  return %z : tensor<4x9x3xf32>
}

// CHECK-LABEL: @scatters_elsewhere
func.func @scatters_elsewhere(%x: tensor<4x9x3xf32>, %i: tensor<4x2xi64>, %u: tensor<4x3xf32>) -> tensor<4x9x3xf32> {
  // CHECK-NOT: batchDims
  // CHECK: return
  %y = nn.scatter_nd none %x, %i, %u : tensor<4x9x3xf32>, tensor<4x2xi64>, tensor<4x3xf32>
  return %y : tensor<4x9x3xf32>
}

// -----

// Rows of samples in one dimension: as the TorchScript exporter writes x[arange(B), i].
// CHECK-LABEL: @row_of_each_sample
// CHECK-SAME: %[[X:.*]]: tensor<36x3xf32>, %[[IDS:.*]]: tensor<4x9xi64>
func.func @row_of_each_sample(%x: tensor<36x3xf32>, %ids: tensor<4x9xi64>) -> tensor<4x3xf32> {
  // CHECK-NEXT: %[[LAST:.*]] = nn.arg_reduce max %[[IDS]] dim 1
  // CHECK-NEXT: %[[SAMPLES:.*]] = nn.reshape %[[X]] : tensor<36x3xf32> -> tensor<4x9x3xf32>
  // CHECK-NEXT: %[[ROW:.*]] = nn.reshape %[[LAST]] : tensor<4xi64> -> tensor<4x1xi64>
  // CHECK-NEXT: %[[Y:.*]] = nn.gather_nd %[[SAMPLES]], %[[ROW]] {batchDims = 1 : i64}
  // CHECK-NEXT: return %[[Y]]
  %i = nn.arg_reduce max %ids dim 1 : tensor<4x9xi64> -> tensor<4xi64>
  %starts = nn.constant dense<[0, 9, 18, 27]> : tensor<4xi64>
  %n = nn.constant dense<36> : tensor<4xi64>
  %zero = nn.constant dense<0> : tensor<4xi64>
  %s = nn.add %i, %starts : tensor<4xi64>
  %a = nn.add %s, %n : tensor<4xi64>
  %c = nn.compare lt %s, %zero : tensor<4xi64> -> tensor<4xi1>
  %w = nn.select %c, %a, %s : tensor<4xi1>, tensor<4xi64>
  %y = nn.gather %x, %w dim 0 : tensor<36x3xf32>, tensor<4xi64> -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// Several rows a sample, the start in front.
// CHECK-LABEL: @many_rows
func.func @many_rows(%x: tensor<36xf32>, %ids: tensor<4x9x5xi64>) -> tensor<4x5xf32> {
  // CHECK: nn.gather_nd %{{.*}}, %{{.*}} {batchDims = 1 : i64} : tensor<4x9xf32>, tensor<4x5x1xi64> -> tensor<4x5xf32>
  %i = nn.arg_reduce max %ids dim 1 : tensor<4x9x5xi64> -> tensor<4x5xi64>
  %b = nn.iota dim 0 : tensor<4x5xi64>
  %nine = nn.constant dense<9> : tensor<4x5xi64>
  %starts = nn.mul %b, %nine : tensor<4x5xi64>
  %s = nn.add %starts, %i : tensor<4x5xi64>
  %y = nn.gather %x, %s dim 0 : tensor<36xf32>, tensor<4x5xi64> -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// Rows of all samples together.
// CHECK-LABEL: @rows_of_all
// CHECK-SAME: %[[X:.*]]: tensor<36x3xf32>, %[[IDS:.*]]: tensor<4x9xi64>
func.func @rows_of_all(%x: tensor<36x3xf32>, %ids: tensor<4x9xi64>) -> tensor<4x3xf32> {
  // CHECK: %[[LAST:.*]] = nn.arg_reduce max %[[IDS]] dim 1
  // CHECK: %[[ROWS:.*]] = nn.reshape %[[X]] : tensor<36x3xf32> -> tensor<9x4x3xf32>
  // CHECK: %[[EACH:.*]] = nn.broadcast %{{.*}} [0, 1] : tensor<1x4xi64> -> tensor<1x4x3xi64>
  // CHECK: nn.gather_elements %[[ROWS]], %[[EACH]] dim 0
  %i = nn.arg_reduce max %ids dim 1 : tensor<4x9xi64> -> tensor<4xi64>
  %own = nn.iota dim 0 : tensor<4xi64>
  %four = nn.constant dense<4> : tensor<4xi64>
  %m = nn.mul %i, %four : tensor<4xi64>
  %s = nn.add %own, %m : tensor<4xi64>
  %y = nn.gather %x, %s dim 0 : tensor<36x3xf32>, tensor<4xi64> -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// A factor that is not the number of samples, an index that is too large, other samples.
// CHECK-LABEL: @rows_of_others
func.func @rows_of_others(%x: tensor<36x3xf32>, %ids: tensor<4x9xi64>, %long: tensor<4x10xi64>) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>) {
  // CHECK-NOT: nn.gather_elements
  // CHECK: return
  %i = nn.arg_reduce max %ids dim 1 : tensor<4x9xi64> -> tensor<4xi64>
  %j = nn.arg_reduce max %long dim 1 : tensor<4x10xi64> -> tensor<4xi64>
  %own = nn.iota dim 0 : tensor<4xi64>
  %other = nn.constant dense<[0, 1, 2, 2]> : tensor<4xi64>
  %three = nn.constant dense<3> : tensor<4xi64>
  %four = nn.constant dense<4> : tensor<4xi64>
  %0 = nn.mul %i, %three : tensor<4xi64>
  %1 = nn.add %own, %0 : tensor<4xi64>
  %a = nn.gather %x, %1 dim 0 : tensor<36x3xf32>, tensor<4xi64> -> tensor<4x3xf32>
  %2 = nn.mul %j, %four : tensor<4xi64>
  %3 = nn.add %own, %2 : tensor<4xi64>
  %b = nn.gather %x, %3 dim 0 : tensor<36x3xf32>, tensor<4xi64> -> tensor<4x3xf32>
  %4 = nn.mul %four, %i : tensor<4xi64>
  %5 = nn.add %other, %4 : tensor<4xi64>
  %c = nn.gather %x, %5 dim 0 : tensor<36x3xf32>, tensor<4xi64> -> tensor<4x3xf32>
  return %a, %b, %c : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>
}

// An index that may be negative, or too large, reads another sample's rows.
// CHECK-LABEL: @other_rows
func.func @other_rows(%x: tensor<36x3xf32>, %ids: tensor<4x9xi64>, %long: tensor<4x10xi64>, %any: tensor<4xi64>)
    -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>) {
  // CHECK-NOT: gather_nd
  // CHECK: return
  %starts = nn.constant dense<[0, 9, 18, 27]> : tensor<4xi64>
  %one = nn.constant dense<1> : tensor<4xi64>
  %i = nn.arg_reduce max %ids dim 1 : tensor<4x9xi64> -> tensor<4xi64>
  %before = nn.sub %i, %one : tensor<4xi64>
  %0 = nn.add %before, %starts : tensor<4xi64>
  %a = nn.gather %x, %0 dim 0 : tensor<36x3xf32>, tensor<4xi64> -> tensor<4x3xf32>
  %j = nn.arg_reduce max %long dim 1 : tensor<4x10xi64> -> tensor<4xi64>
  %1 = nn.add %j, %starts : tensor<4xi64>
  %b = nn.gather %x, %1 dim 0 : tensor<36x3xf32>, tensor<4xi64> -> tensor<4x3xf32>
  %2 = nn.add %any, %starts : tensor<4xi64>
  %c = nn.gather %x, %2 dim 0 : tensor<36x3xf32>, tensor<4xi64> -> tensor<4x3xf32>
  return %a, %b, %c : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>
}

// Starts that are not those of the samples; rows that are not as many for each; rows of one sample; along another dimension.
// CHECK-LABEL: @other_starts
func.func @other_starts(%x: tensor<36x3xf32>, %y: tensor<37x3xf32>, %z: tensor<36x36xf32>, %ids: tensor<4x9xi64>, %one: tensor<1x36xi64>)
    -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<1x3xf32>, tensor<36x4xf32>) {
  // CHECK-NOT: gather_nd
  // CHECK: return
  %i = nn.arg_reduce max %ids dim 1 : tensor<4x9xi64> -> tensor<4xi64>
  %wrong = nn.constant dense<[0, 9, 18, 26]> : tensor<4xi64>
  %starts = nn.constant dense<[0, 9, 18, 27]> : tensor<4xi64>
  %0 = nn.add %i, %wrong : tensor<4xi64>
  %a = nn.gather %x, %0 dim 0 : tensor<36x3xf32>, tensor<4xi64> -> tensor<4x3xf32>
  %1 = nn.add %i, %starts : tensor<4xi64>
  %b = nn.gather %y, %1 dim 0 : tensor<37x3xf32>, tensor<4xi64> -> tensor<4x3xf32>
  %j = nn.arg_reduce max %one dim 1 : tensor<1x36xi64> -> tensor<1xi64>
  %zero = nn.constant dense<0> : tensor<1xi64>
  %2 = nn.add %j, %zero : tensor<1xi64>
  %c = nn.gather %x, %2 dim 0 : tensor<36x3xf32>, tensor<1xi64> -> tensor<1x3xf32>
  %d = nn.gather %z, %1 dim 1 : tensor<36x36xf32>, tensor<4xi64> -> tensor<36x4xf32>
  return %a, %b, %c, %d : tensor<4x3xf32>, tensor<4x3xf32>, tensor<1x3xf32>, tensor<36x4xf32>
}

// A sample of one row has nothing to pick.
// CHECK-LABEL: @one_row
func.func @one_row(%x: tensor<4x3xf32>, %ids: tensor<4x1xi64>) -> tensor<4x3xf32> {
  // CHECK-NOT: gather_nd
  // CHECK: return
  %i = nn.arg_reduce max %ids dim 1 : tensor<4x1xi64> -> tensor<4xi64>
  %starts = nn.iota dim 0 : tensor<4xi64>
  %s = nn.add %i, %starts : tensor<4xi64>
  %y = nn.gather %x, %s dim 0 : tensor<4x3xf32>, tensor<4xi64> -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// Tuples that take everything in order repeat it: mask[b, t] for every head and query.
// CHECK-LABEL: @tuples_in_order_repeat_mask
// CHECK-SAME: %[[M:.*]]: tensor<2x3xi1>
func.func @tuples_in_order_repeat_mask(%m: tensor<2x3xi1>, %w: tensor<2x1x3x5xi1>) -> (tensor<2x1x1x3xi1>, tensor<2x4x3x5xi1>) {
  // CHECK-DAG: %[[A:.*]] = nn.broadcast %[[M]] [0, 3] : tensor<2x3xi1> -> tensor<2x1x1x3xi1>
  // CHECK-DAG: %[[W:.*]] = nn.reshape %arg1 : tensor<2x1x3x5xi1> -> tensor<2x3x5xi1>
  // CHECK-DAG: %[[B:.*]] = nn.broadcast %[[W]] [0, 2, 3] : tensor<2x3x5xi1> -> tensor<2x4x3x5xi1>
  // CHECK: return %[[A]], %[[B]]
  %t = nn.constant dense<[[[[[0, 0], [0, 1], [0, 2]]]], [[[[1, 0], [1, 1], [1, 2]]]]]> : tensor<2x1x1x3x2xi64>
  %a = nn.gather_nd %m, %t : tensor<2x3xi1>, tensor<2x1x1x3x2xi64> -> tensor<2x1x1x3xi1>
  %b = nn.iota dim 0 : tensor<2x4x3x1xi64>
  %zero = nn.constant dense<0> : tensor<2x4x3x1xi64>
  %k = nn.iota dim 2 : tensor<2x4x3x1xi64>
  %u = nn.concat %b, %zero, %k dim 3 : tensor<2x4x3x1xi64>, tensor<2x4x3x1xi64>, tensor<2x4x3x1xi64> -> tensor<2x4x3x3xi64>
  %c = nn.gather_nd %w, %u : tensor<2x1x3x5xi1>, tensor<2x4x3x3xi64> -> tensor<2x4x3x5xi1>
  return %a, %c : tensor<2x1x1x3xi1>, tensor<2x4x3x5xi1>
}

// Constant tuples that take something else: another order, fewer, an index that does not exist (an error of the program).
// CHECK-LABEL: @other_tuples
func.func @other_tuples(%m: tensor<2x3xi1>, %s: tensor<3x3xi1>, %o: tensor<2x1xi1>) -> (tensor<3x2xi1>, tensor<3x3xi1>, tensor<2x2xi1>, tensor<2xi1>) {
  // CHECK-COUNT-2: nn.gather_elements
  // CHECK-COUNT-2: nn.gather_nd
  // CHECK: return
  %swapped = nn.constant dense<[[[0, 0], [1, 0]], [[0, 1], [1, 1]], [[0, 2], [1, 2]]]> : tensor<3x2x2xi64>
  %a = nn.gather_nd %m, %swapped : tensor<2x3xi1>, tensor<3x2x2xi64> -> tensor<3x2xi1>
  %b = nn.iota dim 0 : tensor<3x3x1xi64>
  %k = nn.iota dim 1 : tensor<3x3x1xi64>
  %t = nn.concat %k, %b dim 2 : tensor<3x3x1xi64>, tensor<3x3x1xi64> -> tensor<3x3x2xi64>
  %c = nn.gather_nd %s, %t : tensor<3x3xi1>, tensor<3x3x2xi64> -> tensor<3x3xi1>
  %fewer = nn.constant dense<[[[0, 0], [0, 1]], [[1, 0], [1, 1]]]> : tensor<2x2x2xi64>
  %d = nn.gather_nd %m, %fewer : tensor<2x3xi1>, tensor<2x2x2xi64> -> tensor<2x2xi1>
  %outside = nn.constant dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>
  %e = nn.gather_nd %o, %outside : tensor<2x1xi1>, tensor<2x2xi64> -> tensor<2xi1>
  return %a, %c, %d, %e : tensor<3x2xi1>, tensor<3x3xi1>, tensor<2x2xi1>, tensor<2xi1>
}

// -----

// A scatter that replaces all slices in order is its updates.
// CHECK-LABEL: @writes_all
// CHECK-SAME: %[[X:.*]]: tensor<4x3x2xf32>, %[[Y:.*]]: tensor<4x3x2xf32>
func.func @writes_all(%x: tensor<4x3x2xf32>, %y: tensor<4x3x2xf32>) -> (tensor<4x3x2xf32>, tensor<4x3x2xf32>, tensor<4x3x2xf32>) {
  // CHECK: %[[ADDED:.*]] = nn.scatter_nd add %[[X]]
  // CHECK: return %[[Y]], %[[Y]], %[[ADDED]]
  %own = nn.iota dim 0 : tensor<4x1xi64>
  %a = nn.scatter_nd none %x, %own, %y : tensor<4x3x2xf32>, tensor<4x1xi64>, tensor<4x3x2xf32>
  %i = nn.iota dim 0 : tensor<4x3x1xi64>
  %k = nn.iota dim 1 : tensor<4x3x1xi64>
  %t = nn.concat %i, %k dim 2 : tensor<4x3x1xi64>, tensor<4x3x1xi64> -> tensor<4x3x2xi64>
  %b = nn.scatter_nd none %x, %t, %y : tensor<4x3x2xf32>, tensor<4x3x2xi64>, tensor<4x3x2xf32>
  %c = nn.scatter_nd add %x, %own, %y : tensor<4x3x2xf32>, tensor<4x1xi64>, tensor<4x3x2xf32>
  return %a, %b, %c : tensor<4x3x2xf32>, tensor<4x3x2xf32>, tensor<4x3x2xf32>
}

// -----

// These scatters leave elements as they were, or move slices.
// CHECK-LABEL: @writes_some
func.func @writes_some(%x: tensor<4x3xf32>, %y: tensor<4x3xf32>, %z: tensor<3x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  // CHECK-COUNT-2: nn.scatter_nd none
  // CHECK: return
  %moved = nn.constant dense<[[1], [0], [2], [3]]> : tensor<4x1xi64>
  %a = nn.scatter_nd none %x, %moved, %y : tensor<4x3xf32>, tensor<4x1xi64>, tensor<4x3xf32>
  %few = nn.constant dense<[[0], [1], [2]]> : tensor<3x1xi64>
  %b = nn.scatter_nd none %x, %few, %z : tensor<4x3xf32>, tensor<3x1xi64>, tensor<3x3xf32>
  return %a, %b : tensor<4x3xf32>, tensor<4x3xf32>
}

// -----

// What the program asks of an index that is given stays asked, and is no more that of the widest dimension.
// BOUNDS-LABEL: @given_index_keeps_bounds
// BOUNDS-SAME: #nn.arg<input "at">, nn.bounds = array<i64: 0, 2>}
// BOUNDS-SAME: #nn.arg<input "wrapped">, nn.bounds = array<i64: -3, 2>}
func.func @given_index_keeps_bounds(%x: tensor<4x3xf32>, %at: tensor<4x1xi64> {nn.arg = #nn.arg<input "at">}, %w: tensor<4x1xi64> {nn.arg = #nn.arg<input "wrapped">})
    -> (tensor<4xf32>, tensor<4xf32>) {
  %own = nn.iota dim 0 : tensor<4x1xi64>
  %t = nn.concat %own, %at dim 1 : tensor<4x1xi64>, tensor<4x1xi64> -> tensor<4x2xi64>
  %a = nn.gather_nd %x, %t : tensor<4x3xf32>, tensor<4x2xi64> -> tensor<4xf32>
  %zero = nn.constant dense<0> : tensor<4x2xi64>
  %extents = nn.constant dense<[4, 3]> : tensor<2xi64>
  %n = nn.broadcast %extents [1] : tensor<2xi64> -> tensor<4x2xi64>
  %u = nn.concat %own, %w dim 1 : tensor<4x1xi64>, tensor<4x1xi64> -> tensor<4x2xi64>
  %s = nn.add %u, %n : tensor<4x2xi64>
  %c = nn.compare lt %u, %zero : tensor<4x2xi64> -> tensor<4x2xi1>
  %v = nn.select %c, %s, %u : tensor<4x2xi1>, tensor<4x2xi64>
  %b = nn.gather_nd %x, %v : tensor<4x3xf32>, tensor<4x2xi64> -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
