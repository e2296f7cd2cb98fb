// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=data=3 batch-axes=data' --dpc-partition --canonicalize --cse | FileCheck %s

// A sum over 8 rows on 3 devices: the ninth row is padding and counts as 0.
// CHECK-LABEL: module @masks_padding_of_sum
// CHECK-LABEL: @step(
// CHECK-SAME: %[[X:.*]]: tensor<3x6xf32>
// CHECK-DAG: %[[ZERO:.*]] = nn.constant dense<0.000000e+00> : tensor<3x6xf32>
// CHECK-DAG: %[[ROWS:.*]] = nn.constant dense<8> : tensor<3xi64>
// CHECK: %[[RANK:.*]] = dist.axis_index "data"
// CHECK: %[[IN:.*]] = nn.compare lt %{{.*}}, %[[ROWS]]
// CHECK: %[[MASK:.*]] = nn.broadcast %[[IN]] [0]
// CHECK: %[[KEPT:.*]] = nn.select %[[MASK]], %[[X]], %[[ZERO]]
// CHECK: %[[SUM:.*]] = nn.reduce sum %[[KEPT]] [0]
// CHECK: %[[Y:.*]] = dist.all_reduce sum %[[SUM]] on @mesh ["data"]
// CHECK: return %[[Y]]
module @masks_padding_of_sum {
func.func @step(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<6xf32> {nn.result = #nn.result<metric "y">}) {
  %0 = nn.reduce sum %x [0] : tensor<8x6xf32> -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
}

// -----

// Nine rows leave no padding, and nothing to mask.
// CHECK-LABEL: module @even_rows_need_no_mask
// CHECK-LABEL: @step(
// CHECK-SAME: %[[X:.*]]: tensor<3x6xf32>
// CHECK-NOT: nn.select
// CHECK: %[[MAX:.*]] = nn.reduce max %[[X]] [0]
// CHECK: dist.all_reduce max %[[MAX]] on @mesh ["data"]
module @even_rows_need_no_mask {
func.func @step(%x: tensor<9x6xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<6xf32> {nn.result = #nn.result<metric "y">}) {
  %0 = nn.reduce max %x [0] : tensor<9x6xf32> -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
}

// -----

// A gather from a cut table: each device takes the rows it has, 0 for others.
// CHECK-LABEL: module @gathers_held_rows_of_table
// CHECK-LABEL: @step(
// CHECK-SAME: tensor<3x4xf32>
// CHECK-SAME: %[[I:.*]]: tensor<5xi64>
// CHECK: %[[LOCAL:.*]] = nn.sub %[[I]]
// CHECK: %[[GE:.*]] = nn.compare ge %[[LOCAL]]
// CHECK: %[[LT:.*]] = nn.compare lt %[[LOCAL]]
// CHECK: %[[HELD:.*]] = nn.and %[[GE]], %[[LT]]
// CHECK: %[[SAFE:.*]] = nn.select %[[HELD]], %[[LOCAL]]
// CHECK: %[[ROWS:.*]] = nn.gather %{{.*}}, %[[SAFE]] dim 0
// CHECK: %[[MASK:.*]] = nn.broadcast %[[HELD]] [0]
// CHECK: %[[PART:.*]] = nn.select %[[MASK]], %[[ROWS]]
// CHECK: dist.all_reduce sum %[[PART]] on @mesh ["data"]
module @gathers_held_rows_of_table {
func.func @step(%w: tensor<7x4xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[(7: data)], [4]">},
                %i: tensor<5xi64> {nn.arg = #nn.arg<input "i">})
    -> (tensor<5x4xf32> {nn.result = #nn.result<metric "y">}) {
  %0 = nn.gather %w, %i dim 0 : tensor<7x4xf32>, tensor<5xi64> -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}
}

// -----

// A gather from a cut tensor with padding: padding is no element that a device has, so it keeps its value.
// CHECK-LABEL: module @gathers_held_elements
// CHECK-LABEL: @step(
// CHECK-SAME: %[[X:.*]]: tensor<5x3xf32>
// CHECK-SAME: %[[I:.*]]: tensor<5x1xi64>
// CHECK: %[[LOCAL:.*]] = nn.sub %[[I]]
// CHECK: %[[HELD:.*]] = nn.and
// CHECK: %[[SAFE:.*]] = nn.select %[[HELD]], %[[LOCAL]]
// CHECK: %[[TAKEN:.*]] = nn.gather_elements %[[X]], %[[SAFE]] dim 1 : tensor<5x3xf32>, tensor<5x1xi64>
// CHECK: %[[PART:.*]] = nn.select %[[HELD]], %[[TAKEN]]
// CHECK: dist.all_reduce sum %[[PART]] on @mesh ["data"]
module @gathers_held_elements {
func.func @step(%x: tensor<5x7xf32> {nn.arg = #nn.arg<parameter "x">, dist.layout = #dist.layout<"[5], [(7: data)]">},
                %i: tensor<5x1xi64> {nn.arg = #nn.arg<input "i">})
    -> (tensor<5x1xf32> {nn.result = #nn.result<metric "y">}) {
  %0 = nn.gather_elements %x, %i dim 1 : tensor<5x7xf32>, tensor<5x1xi64> -> tensor<5x1xf32>
  return %0 : tensor<5x1xf32>
}
}

// -----

// Indices in padding may be anything: they read row 0 of a whole table.
// CHECK-LABEL: module @padded_indices_read_row_zero
// CHECK-LABEL: @step(
// CHECK-SAME: %[[W:.*]]: tensor<7x4xf32>
// CHECK-SAME: %[[I:.*]]: tensor<3xi64>
// CHECK: %[[SAFE:.*]] = nn.select %{{.*}}, %[[I]], %{{.*}} : tensor<3xi1>, tensor<3xi64>
// CHECK: nn.gather %[[W]], %[[SAFE]] dim 0
// What is gathered over devices loses its padding.
// CHECK: %[[ALL:.*]] = dist.all_gather
// CHECK: %[[ROWS:.*]] = nn.reshape %[[ALL]] : tensor<3x3x4xf32> -> tensor<9x4xf32>
// CHECK: nn.slice %[[ROWS]] starts [0, 0] limits [8, 4] strides [1, 1]
module @padded_indices_read_row_zero {
func.func @step(%w: tensor<7x4xf32> {nn.arg = #nn.arg<constant "w">},
                %i: tensor<8xi64> {nn.arg = #nn.arg<input "i", batch = 0>})
    -> (tensor<8x4xf32> {nn.result = #nn.result<metric "y">}) {
  %0 = nn.gather %w, %i dim 0 : tensor<7x4xf32>, tensor<8xi64> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
}

// -----

// A slice of a whole segment takes each device's part of it.
// CHECK-LABEL: module @slices_segment_per_device
// CHECK-LABEL: @step(
// CHECK-SAME: %[[W:.*]]: tensor<3xf32>
// CHECK: nn.slice %[[W]] starts [0] limits [2] strides [1] : tensor<3xf32> -> tensor<2xf32>
module @slices_segment_per_device {
func.func @step(%w: tensor<9xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[(6: data) + (3: data)]">})
    -> (tensor<6xf32> {nn.result = #nn.result<metric "y">}) {
  %0 = nn.slice %w starts [0] limits [6] strides [1] : tensor<9xf32> -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
}

// -----

// Padding makes two segments that are whole on every device.
// CHECK-LABEL: module @pads_with_whole_segments
// CHECK-LABEL: @step(
// CHECK-SAME: %[[X:.*]]: tensor<2xf32>
// CHECK: nn.pad %[[X]], %{{.*}} low [1] high [1] interior [0] : tensor<2xf32>, tensor<f32> -> tensor<4xf32>
module @pads_with_whole_segments {
func.func @step(%x: tensor<6xf32> {nn.arg = #nn.arg<input "x", batch = 0>}, %w: tensor<8xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[1 + (6: data) + 1]">})
    -> (tensor<8xf32> {nn.result = #nn.result<state "w">}) {
  %v = nn.constant dense<0.0> : tensor<f32>
  %0 = nn.pad %x, %v low [1] high [1] interior [0] : tensor<6xf32>, tensor<f32> -> tensor<8xf32>
  %1 = nn.add %w, %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
}

// -----

// A concatenation joins each device's parts; the order of the elements is put
// right where the result is gathered.
// CHECK-LABEL: module @concat_reorders_gathered_segments
// CHECK-LABEL: @step(
// CHECK-SAME: %[[X:.*]]: tensor<2xf32>
// CHECK-SAME: %[[Y:.*]]: tensor<1xf32>
// CHECK: %[[ORDER:.*]] = nn.constant dense<[0, 1, 3, 4, 6, 7, 2, 5, 8]>
// CHECK: nn.concat %[[X]], %[[Y]] dim 0 : tensor<2xf32>, tensor<1xf32> -> tensor<3xf32>
// CHECK: nn.gather %{{.*}}, %[[ORDER]]
module @concat_reorders_gathered_segments {
func.func @step(%x: tensor<6xf32> {nn.arg = #nn.arg<input "x", batch = 0>}, %y: tensor<3xf32> {nn.arg = #nn.arg<input "y", batch = 0>})
    -> (tensor<9xf32> {nn.result = #nn.result<metric "z">}) {
  %0 = nn.concat %x, %y dim 0 : tensor<6xf32>, tensor<3xf32> -> tensor<9xf32>
  return %0 : tensor<9xf32>
}
}

// -----

// Iota counts in the whole tensor.
// CHECK-LABEL: module @iota_counts_from_rank_offset
// CHECK: %[[OWN:.*]] = nn.iota dim 0 : tensor<2xi64>
// CHECK: %[[RANK:.*]] = dist.axis_index "data"
// CHECK: %[[START:.*]] = nn.mul %[[RANK]]
// CHECK: %[[WIDE:.*]] = nn.broadcast %[[START]]
// CHECK: nn.add %[[OWN]], %[[WIDE]]
module @iota_counts_from_rank_offset {
func.func @step(%x: tensor<6xi64> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<6xi64> {nn.result = #nn.result<metric "y">}) {
  %i = nn.iota dim 0 : tensor<6xi64>
  %0 = nn.add %x, %i : tensor<6xi64>
  return %0 : tensor<6xi64>
}
}

// -----

// Of two dimensions over one axis, the second is gathered before the op.
// CHECK-LABEL: module @gathers_second_operand_of_dot
// CHECK-LABEL: @step(
// CHECK-SAME: tensor<2x2xf32>
// CHECK-SAME: %[[Y:[a-z0-9]+]]: tensor<2xf32>
// CHECK: %[[ALL:.*]] = dist.all_gather %[[Y]] on @mesh ["data"] : tensor<2xf32> -> tensor<3x2xf32>
// CHECK: %[[FLAT:.*]] = nn.reshape %[[ALL]]
// CHECK: nn.dot %{{.*}}, %[[FLAT]] contract [] [] : tensor<2xf32>, tensor<6xf32> -> tensor<2x6xf32>
module @gathers_second_operand_of_dot {
func.func @step(%x: tensor<6x2xf32> {nn.arg = #nn.arg<input "x", batch = 0>}, %y: tensor<6xf32> {nn.arg = #nn.arg<input "y", batch = 0>})
    -> (tensor<6x6xf32> {nn.result = #nn.result<metric "z">}) {
  %0 = nn.reduce sum %x [1] : tensor<6x2xf32> -> tensor<6xf32>
  %1 = nn.dot %0, %y contract [] [] : tensor<6xf32>, tensor<6xf32> -> tensor<6x6xf32>
  return %1 : tensor<6x6xf32>
}
}
