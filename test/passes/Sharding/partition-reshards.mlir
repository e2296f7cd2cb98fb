// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-partition --canonicalize --cse | FileCheck %s

// How reshards are lowered, one kind of step a function.

// A partial sum that is to be cut: members are slices of the first dimension, nothing
// is copied.
// CHECK-LABEL: @scatters_first_dimension(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x4xf32>
// CHECK-NEXT: %[[P:.*]] = nn.reshape %[[X]] : tensor<8x4xf32> -> tensor<2x4x4xf32>
// CHECK-NEXT: %[[Y:.*]] = dist.reduce_scatter sum %[[P]] on @mesh ["data"] : tensor<2x4x4xf32> -> tensor<4x4xf32>
// CHECK-NEXT: return %[[Y]]
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @scatters_first_dimension(%x: tensor<8x4xf32> {dist.layout = #dist.layout<"[8], [4]">})
    -> (tensor<8x4xf32> {dist.layout = #dist.layout<"[(8: data)], [4]">}) {
  %y = dist.reshard %x from <"[8], [4] partial sum(data)"> to <"[(8: data)], [4]"> : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// Another dimension is brought to the front; maxima are scattered like sums.
// CHECK-LABEL: @scatters_maxima_of_second_dimension(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x4xf32>
// CHECK-NEXT: %[[S:.*]] = nn.reshape %[[X]] : tensor<8x4xf32> -> tensor<8x2x2xf32>
// CHECK-NEXT: %[[P:.*]] = nn.transpose %[[S]] [1, 0, 2] : tensor<8x2x2xf32> -> tensor<2x8x2xf32>
// CHECK-NEXT: %[[Y:.*]] = dist.reduce_scatter max %[[P]] on @mesh ["data"] : tensor<2x8x2xf32> -> tensor<8x2xf32>
// CHECK-NEXT: return %[[Y]]
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @scatters_maxima_of_second_dimension(%x: tensor<8x4xf32> {dist.layout = #dist.layout<"[8], [4]">})
    -> (tensor<8x4xf32> {dist.layout = #dist.layout<"[8], [(4: data)]">}) {
  %y = dist.reshard %x from <"[8], [4] partial max(data)"> to <"[8], [(4: data)]"> : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// Two axes, one collective.
// CHECK-LABEL: @scatters_over_two_axes(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x4xf32>
// CHECK-NEXT: %[[P:.*]] = nn.reshape %[[X]] : tensor<8x4xf32> -> tensor<4x2x4xf32>
// CHECK-NEXT: dist.reduce_scatter sum %[[P]] on @mesh ["data", "model"] : tensor<4x2x4xf32> -> tensor<2x4xf32>
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @scatters_over_two_axes(%x: tensor<8x4xf32> {dist.layout = #dist.layout<"[8], [4]">})
    -> (tensor<8x4xf32> {dist.layout = #dist.layout<"[(8: data,model)], [4]">}) {
  %y = dist.reshard %x from <"[8], [4] partial sum(data,model)"> to <"[(8: data,model)], [4]"> : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// A sum that stays partial over one axis is scattered over the other.
// CHECK-LABEL: @scatters_over_one_axis(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x4xf32>
// CHECK-NOT: dist.all_reduce
// CHECK: dist.reduce_scatter sum %{{.*}} on @mesh ["model"] : tensor<2x4x4xf32> -> tensor<4x4xf32>
// CHECK-NOT: dist.all_reduce
// CHECK: return
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @scatters_over_one_axis(%x: tensor<8x4xf32> {dist.layout = #dist.layout<"[8], [4]">})
    -> (tensor<8x4xf32> {dist.layout = #dist.layout<"[(8: model)], [4] partial sum(data)">}) {
  %y = dist.reshard %x from <"[8], [4] partial sum(data,model)"> to <"[(8: model)], [4] partial sum(data)"> : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// Seven rows are padded to eight with zeros, which no sum makes other than zero.
// CHECK-LABEL: @pads_scattered_rows(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<7x4xf32>
// CHECK: %[[PAD:.*]] = nn.pad %[[X]], %{{.*}} low [0, 0] high [1, 0] interior [0, 0]
// CHECK-NEXT: %[[P:.*]] = nn.reshape %[[PAD]] : tensor<8x4xf32> -> tensor<2x4x4xf32>
// CHECK-NEXT: dist.reduce_scatter sum %[[P]] on @mesh ["data"]
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @pads_scattered_rows(%x: tensor<7x4xf32> {dist.layout = #dist.layout<"[7], [4]">})
    -> (tensor<7x4xf32> {dist.layout = #dist.layout<"[(7: data)], [4]">}) {
  %y = dist.reshard %x from <"[7], [4] partial sum(data)"> to <"[(7: data)], [4]"> : tensor<7x4xf32>
  return %y : tensor<7x4xf32>
}

// -----

// A cut that moves to the first dimension is received in order, and sent by columns.
// CHECK-LABEL: @exchanges_columns_for_rows(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x2xf32>
// CHECK-NEXT: %[[P:.*]] = nn.reshape %[[X]] : tensor<8x2xf32> -> tensor<2x4x2xf32>
// CHECK-NEXT: %[[A:.*]] = dist.all_to_all %[[P]] on @mesh ["model"] : tensor<2x4x2xf32>
// CHECK-NEXT: %[[T:.*]] = nn.transpose %[[A]] [1, 0, 2] : tensor<2x4x2xf32> -> tensor<4x2x2xf32>
// CHECK-NEXT: %[[Y:.*]] = nn.reshape %[[T]] : tensor<4x2x2xf32> -> tensor<4x4xf32>
// CHECK-NEXT: return %[[Y]]
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @exchanges_columns_for_rows(%x: tensor<8x4xf32> {dist.layout = #dist.layout<"[8], [(4: model)]">})
    -> (tensor<8x4xf32> {dist.layout = #dist.layout<"[(8: model)], [4]">}) {
  %y = dist.reshard %x from <"[8], [(4: model)]"> to <"[(8: model)], [4]"> : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// Uneven on both sides: padded before, cut off after.
// CHECK-LABEL: @pads_and_slices_exchange(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x3xf32>
// CHECK: nn.pad %[[X]], %{{.*}} low [0, 0] high [0, 1] interior [0, 0]
// CHECK: dist.all_to_all %{{.*}} on @mesh ["model"] : tensor<2x
// CHECK: nn.slice %{{.*}} limits [7, 2]
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @pads_and_slices_exchange(%x: tensor<7x3xf32> {dist.layout = #dist.layout<"[(7: model)], [3]">})
    -> (tensor<7x3xf32> {dist.layout = #dist.layout<"[7], [(3: model)]">}) {
  %y = dist.reshard %x from <"[(7: model)], [3]"> to <"[7], [(3: model)]"> : tensor<7x3xf32>
  return %y : tensor<7x3xf32>
}

// -----

// From one factor of a dimension to another: rows of one half become every other row.
// CHECK-LABEL: @exchanges_factors_of_dimension(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>
// CHECK-NOT: dist.all_gather
// CHECK: dist.all_to_all %{{.*}} on @mesh ["model"]
// CHECK-NOT: dist.all_gather
// CHECK: return
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @exchanges_factors_of_dimension(%x: tensor<8xf32> {dist.layout = #dist.layout<"[(8: model)]">})
    -> (tensor<8xf32> {dist.layout = #dist.layout<"[(2)(4: model)]">}) {
  %y = dist.reshard %x from <"[(8: model)]"> to <"[(2)(4: model)]"> : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// Two cuts move at once.
// CHECK-LABEL: @exchanges_two_cuts(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x4x4x4xf32>
// CHECK: dist.all_to_all %{{.*}} on @mesh ["data", "model"]
// CHECK-NOT: dist.all
// CHECK: return
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @exchanges_two_cuts(%x: tensor<8x8x4x4xf32> {dist.layout = #dist.layout<"[(8: data)], [(8: model)], [4], [4]">})
    -> (tensor<8x8x4x4xf32> {dist.layout = #dist.layout<"[8], [8], [(4: data)], [(4: model)]">}) {
  %y = dist.reshard %x from <"[(8: data)], [(8: model)], [4], [4]"> to <"[8], [8], [(4: data)], [(4: model)]"> : tensor<8x8x4x4xf32>
  return %y : tensor<8x8x4x4xf32>
}

// -----

// Into a concatenation: constant indices put elements where the members want them.
// CHECK-LABEL: @exchanges_rows_for_segments(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x6xf32>
// CHECK: %[[ORDER:.*]] = nn.constant dense<[0, 1, 4, 2, 3, 5]>
// CHECK: %[[SENT:.*]] = nn.gather %[[X]], %[[ORDER]] dim 1
// CHECK: dist.all_to_all
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @exchanges_rows_for_segments(%x: tensor<8x6xf32> {dist.layout = #dist.layout<"[(8: model)], [6]">})
    -> (tensor<8x6xf32> {dist.layout = #dist.layout<"[8], [(4: model) + (2: model)]">}) {
  %y = dist.reshard %x from <"[(8: model)], [6]"> to <"[8], [(4: model) + (2: model)]"> : tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}

// -----

// What is cut anyway is cut before the rest is summed.
// CHECK-LABEL: @slices_before_sum(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x4xf32>
// CHECK: %[[CUT:.*]] = nn.gather %[[X]], %{{.*}} dim 1 : tensor<8x4xf32>, tensor<2xi64> -> tensor<8x2xf32>
// CHECK: dist.all_reduce sum %[[CUT]] on @mesh ["data"]
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @slices_before_sum(%x: tensor<8x4xf32> {dist.layout = #dist.layout<"[8], [4]">})
    -> (tensor<8x4xf32> {dist.layout = #dist.layout<"[8], [(4: model)]">}) {
  %y = dist.reshard %x from <"[8], [4] partial sum(data)"> to <"[8], [(4: model)]"> : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// Two dimensions are gathered by one collective.
// CHECK-LABEL: @gathers_two_dimensions(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x2xf32>
// CHECK-NEXT: %[[ALL:.*]] = dist.all_gather %[[X]] on @mesh ["data", "model"] : tensor<4x2xf32> -> tensor<4x4x2xf32>
// CHECK-NEXT: %[[M:.*]] = nn.reshape %[[ALL]] : tensor<4x4x2xf32> -> tensor<2x2x4x2xf32>
// CHECK-NEXT: nn.transpose %[[M]] [0, 2, 1, 3]
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @gathers_two_dimensions(%x: tensor<8x4xf32> {dist.layout = #dist.layout<"[(8: data)], [(4: model)]">})
    -> (tensor<8x4xf32> {dist.layout = #dist.layout<"[8], [4]">}) {
  %y = dist.reshard %x from <"[(8: data)], [(4: model)]"> to <"[8], [4]"> : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// An axis of one device and a sequential one take no part.
// CHECK-LABEL: @ignores_single_and_sequential_axes(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8xf32>
// CHECK-NEXT: return %[[X]]
dist.mesh @mesh axes ["micro", "data"] sizes [2, 1] sequential ["micro"]
func.func @ignores_single_and_sequential_axes(%x: tensor<8xf32> {dist.layout = #dist.layout<"[(2: micro)(4)]">})
    -> (tensor<8xf32> {dist.layout = #dist.layout<"[8]">}) {
  %y = dist.reshard %x from <"[(2: micro)(4)] partial sum(data)"> to <"[8]"> : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// Of a sum that is left cut for one reader the other gathers the parts.
// CHECK-LABEL: @gathers_parts_of_scattered_sum(
// CHECK: %[[PART:.*]] = dist.reduce_scatter
// CHECK-NOT: dist.all_reduce
// CHECK: dist.all_gather %[[PART]]
// CHECK-NOT: dist.all_reduce
// CHECK: return
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @gathers_parts_of_scattered_sum(%x: tensor<8x4xf32> {dist.layout = #dist.layout<"[8], [4]">})
    -> (tensor<8x4xf32> {dist.layout = #dist.layout<"[(8: data)], [4]">}, tensor<8x4xf32> {dist.layout = #dist.layout<"[8], [4]">}) {
  %y = dist.reshard %x from <"[8], [4] partial sum(data)"> to <"[(8: data)], [4]"> : tensor<8x4xf32>
  %z = dist.reshard %x from <"[8], [4] partial sum(data)"> to <"[8], [4]"> : tensor<8x4xf32>
  return %y, %z : tensor<8x4xf32>, tensor<8x4xf32>
}
