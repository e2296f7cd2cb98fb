// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-partition --canonicalize --cse | FileCheck %s

// Which steps a reshard is taken by. How a step is lowered: partition-reshards.mlir.

// A sum over two axes is one all-reduce ...
// CHECK-LABEL: @two_axes_one_all_reduce(
// CHECK-SAME: %[[X:[a-z0-9]+]]:
// CHECK-NEXT: %[[Y:.*]] = dist.all_reduce sum %[[X]] on @mesh ["data", "model"]
// CHECK-NEXT: return %[[Y]]
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @two_axes_one_all_reduce(%x: tensor<512xf32> {dist.layout = #dist.layout<"[512]">})
    -> (tensor<512xf32> {dist.layout = #dist.layout<"[512]">}) {
  %y = dist.reshard %x from <"[512] partial sum(data,model)"> to <"[512]"> : tensor<512xf32>
  return %y : tensor<512xf32>
}

// -----

// ... but a maximum over one of sums over the other is two, the sums first: a sum of maxima would be
// something else.
// CHECK-LABEL: @sums_before_maxima(
// CHECK-SAME: %[[X:[a-z0-9]+]]:
// CHECK-NEXT: %[[S:.*]] = dist.all_reduce sum %[[X]] on @mesh ["model"]
// CHECK-NEXT: %[[Y:.*]] = dist.all_reduce max %[[S]] on @mesh ["data"]
// CHECK-NEXT: return %[[Y]]
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @sums_before_maxima(%x: tensor<512xf32> {dist.layout = #dist.layout<"[512]">})
    -> (tensor<512xf32> {dist.layout = #dist.layout<"[512]">}) {
  %y = dist.reshard %x from <"[512] partial max(data), sum(model)"> to <"[512]"> : tensor<512xf32>
  return %y : tensor<512xf32>
}

// -----

// Maxima come before minima.
// CHECK-LABEL: @maxima_before_minima(
// CHECK-SAME: %[[X:[a-z0-9]+]]:
// CHECK-NEXT: %[[S:.*]] = dist.all_reduce max %[[X]] on @mesh ["model"]
// CHECK-NEXT: %[[Y:.*]] = dist.all_reduce min %[[S]] on @mesh ["data"]
// CHECK-NEXT: return %[[Y]]
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @maxima_before_minima(%x: tensor<512xf32> {dist.layout = #dist.layout<"[512]">})
    -> (tensor<512xf32> {dist.layout = #dist.layout<"[512]">}) {
  %y = dist.reshard %x from <"[512] partial min(data), max(model)"> to <"[512]"> : tensor<512xf32>
  return %y : tensor<512xf32>
}

// -----

// A sum has to be whole before its maximum is scattered.
// CHECK-LABEL: @sums_before_scattered_maximum(
// CHECK: %[[S:.*]] = dist.all_reduce sum %{{.*}} on @mesh ["model"]
// CHECK: dist.reduce_scatter max %{{.*}} on @mesh ["data"] : tensor<2x4xf32> -> tensor<4xf32>
// CHECK-NOT: dist.all
// CHECK: return
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @sums_before_scattered_maximum(%x: tensor<8xf32> {dist.layout = #dist.layout<"[8]">})
    -> (tensor<8xf32> {dist.layout = #dist.layout<"[(8: data)]">}) {
  %y = dist.reshard %x from <"[8] partial max(data), sum(model)"> to <"[(8: data)]"> : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// Sums over two axes that end up in two dimensions are scattered at once.
// CHECK-LABEL: @scatters_two_dimensions_at_once(
// CHECK-NOT: dist.{{all|reduce}}
// CHECK: dist.reduce_scatter sum %{{.*}} on @mesh ["data", "model"] : tensor<4x4x2xf32> -> tensor<4x2xf32>
// CHECK-NOT: dist.{{all|reduce}}
// CHECK: return
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @scatters_two_dimensions_at_once(%x: tensor<8x4xf32> {dist.layout = #dist.layout<"[8], [4]">})
    -> (tensor<8x4xf32> {dist.layout = #dist.layout<"[(8: data)], [(4: model)]">}) {
  %y = dist.reshard %x from <"[8], [4] partial sum(data,model)"> to <"[(8: data)], [(4: model)]"> : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// What is partial before and after stays so while a cut moves.
// CHECK-LABEL: @moves_cut_of_partial_value(
// CHECK-NOT: dist.{{all_r|reduce}}
// CHECK: dist.all_to_all %{{.*}} on @mesh ["data"]
// CHECK-NOT: dist.{{all_r|reduce}}
// CHECK: return
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @moves_cut_of_partial_value(%x: tensor<8x4xf32> {dist.layout = #dist.layout<"[(8: data)], [4]">})
    -> (tensor<8x4xf32> {dist.layout = #dist.layout<"[8], [(4: data)] partial sum(model)">}) {
  %y = dist.reshard %x from <"[(8: data)], [4] partial sum(model)"> to <"[8], [(4: data)] partial sum(model)"> : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// A cut of what is there sends nothing, in another dimension ...
// CHECK-LABEL: @slices_other_dimension_locally(
// CHECK-NOT: dist.{{all|reduce}}
// CHECK: nn.gather %{{.*}} dim 1 : tensor<4x4xf32>, tensor<2xi64> -> tensor<4x2xf32>
// CHECK-NOT: dist.{{all|reduce}}
// CHECK: return
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @slices_other_dimension_locally(%x: tensor<8x4xf32> {dist.layout = #dist.layout<"[(8: data)], [4]">})
    -> (tensor<8x4xf32> {dist.layout = #dist.layout<"[(8: data)], [(4: model)]">}) {
  %y = dist.reshard %x from <"[(8: data)], [4]"> to <"[(8: data)], [(4: model)]"> : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// ... or inside one that there is, ...
// CHECK-LABEL: @slices_inner_cut_locally(
// CHECK-NOT: dist.{{all|reduce}}
// CHECK: nn.gather %{{.*}} dim 0 : tensor<4xf32>, tensor<2xi64> -> tensor<2xf32>
// CHECK-NOT: dist.{{all|reduce}}
// CHECK: return
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @slices_inner_cut_locally(%x: tensor<8xf32> {dist.layout = #dist.layout<"[(8: data)]">})
    -> (tensor<8xf32> {dist.layout = #dist.layout<"[(8: data,model)]">}) {
  %y = dist.reshard %x from <"[(8: data)]"> to <"[(8: data,model)]"> : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// ... but not around one: quarters of a half are other rows than halves of a quarter.
// CHECK-LABEL: @outer_cut_exchanges(
// CHECK: dist.all_to_all %{{.*}} on @mesh ["model"]
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @outer_cut_exchanges(%x: tensor<8xf32> {dist.layout = #dist.layout<"[(8: model)]">})
    -> (tensor<8xf32> {dist.layout = #dist.layout<"[(8: data,model)]">}) {
  %y = dist.reshard %x from <"[(8: model)]"> to <"[(8: data,model)]"> : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// The inner one of two cuts is undone alone ...
// CHECK-LABEL: @gathers_inner_cut_alone(
// CHECK-SAME: %[[X:[a-z0-9]+]]:
// CHECK-NEXT: dist.all_gather %[[X]] on @mesh ["model"] : tensor<128x512xf32> -> tensor<2x128x512xf32>
// CHECK-NOT: dist.
// CHECK: return
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @gathers_inner_cut_alone(%x: tensor<512x512xf32> {dist.layout = #dist.layout<"[(512: data,model)], [512]">})
    -> (tensor<512x512xf32> {dist.layout = #dist.layout<"[(512: data)], [512]">}) {
  %y = dist.reshard %x from <"[(512: data,model)], [512]"> to <"[(512: data)], [512]"> : tensor<512x512xf32>
  return %y : tensor<512x512xf32>
}

// -----

// ... and the outer one is not: rows of both halves are what a device keeps, and the other ones go.
// CHECK-LABEL: @outer_cut_gathers_and_exchanges(
// CHECK-SAME: %[[X:[a-z0-9]+]]:
// CHECK-NEXT: dist.all_gather %[[X]] on @mesh ["data"] : tensor<128x512xf32> -> tensor<2x128x512xf32>
// CHECK: dist.all_to_all %{{.*}} on @mesh ["model"]
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @outer_cut_gathers_and_exchanges(%x: tensor<512x512xf32> {dist.layout = #dist.layout<"[(512: data,model)], [512]">})
    -> (tensor<512x512xf32> {dist.layout = #dist.layout<"[(512: model)], [512]">}) {
  %y = dist.reshard %x from <"[(512: data,model)], [512]"> to <"[(512: model)], [512]"> : tensor<512x512xf32>
  return %y : tensor<512x512xf32>
}

// -----

// What is cut in the end is cut before the rest is gathered: half as much travels.
// CHECK-LABEL: @slices_before_gather(
// CHECK: %[[CUT:.*]] = nn.gather %{{.*}} dim 1 : tensor<256x512xf32>, tensor<256xi64> -> tensor<256x256xf32>
// CHECK-NEXT: dist.all_gather %[[CUT]] on @mesh ["data"]
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @slices_before_gather(%x: tensor<512x512xf32> {dist.layout = #dist.layout<"[(512: data)], [512]">})
    -> (tensor<512x512xf32> {dist.layout = #dist.layout<"[512], [(512: model)]">}) {
  %y = dist.reshard %x from <"[(512: data)], [512]"> to <"[512], [(512: model)]"> : tensor<512x512xf32>
  return %y : tensor<512x512xf32>
}

// -----

// Two axes change places: there is no room for one before the other is gone.
// CHECK-LABEL: @swaps_two_axes(
// CHECK: dist.all_gather %{{.*}} on @mesh ["data"] : tensor<256x256xf32> -> tensor<2x256x256xf32>
// CHECK: dist.all_to_all %{{.*}} on @mesh ["model"]
// CHECK: nn.gather %{{.*}} dim 1 : tensor<256x512xf32>, tensor<256xi64> -> tensor<256x256xf32>
// CHECK-NOT: dist.all
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @swaps_two_axes(%x: tensor<512x512xf32> {dist.layout = #dist.layout<"[(512: data)], [(512: model)]">})
    -> (tensor<512x512xf32> {dist.layout = #dist.layout<"[(512: model)], [(512: data)]">}) {
  %y = dist.reshard %x from <"[(512: data)], [(512: model)]"> to <"[(512: model)], [(512: data)]"> : tensor<512x512xf32>
  return %y : tensor<512x512xf32>
}

// -----

// Members of a gather come in the order in which axes cut, ...
// CHECK-LABEL: @gathers_in_cut_order(
// CHECK-SAME: %[[X:[a-z0-9]+]]:
// CHECK-NEXT: %[[ALL:.*]] = dist.all_gather %[[X]] on @mesh ["data", "model"] : tensor<2xf32> -> tensor<4x2xf32>
// CHECK-NEXT: %[[Y:.*]] = nn.reshape %[[ALL]]
// CHECK-NEXT: return %[[Y]]
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @gathers_in_cut_order(%x: tensor<8xf32> {dist.layout = #dist.layout<"[(8: data,model)]">})
    -> (tensor<8xf32> {dist.layout = #dist.layout<"[8]">}) {
  %y = dist.reshard %x from <"[(8: data,model)]"> to <"[8]"> : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// ... outermost first, whatever the order of the mesh is.
// CHECK-LABEL: @gathers_against_mesh_order(
// CHECK-SAME: %[[X:[a-z0-9]+]]:
// CHECK-NEXT: %[[ALL:.*]] = dist.all_gather %[[X]] on @mesh ["model", "data"] : tensor<2xf32> -> tensor<4x2xf32>
// CHECK-NEXT: %[[Y:.*]] = nn.reshape %[[ALL]]
// CHECK-NEXT: return %[[Y]]
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @gathers_against_mesh_order(%x: tensor<8xf32> {dist.layout = #dist.layout<"[(8: model,data)]">})
    -> (tensor<8xf32> {dist.layout = #dist.layout<"[8]">}) {
  %y = dist.reshard %x from <"[(8: model,data)]"> to <"[8]"> : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// Five rows on two devices are three, and those on two more are two: one gather of all would send the padding
// of both, so the inner cut is undone first, and what it padded cut off, ...
// CHECK-LABEL: @padded_cuts_gather_inner_first(
// CHECK: dist.all_gather %{{.*}} on @mesh ["model"] : tensor<2x262144xf32> -> tensor<2x2x262144xf32>
// CHECK: nn.slice %{{.*}} limits [3, 262144]
// CHECK: dist.all_gather %{{.*}} on @mesh ["data"] : tensor<3x262144xf32> -> tensor<2x3x262144xf32>
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @padded_cuts_gather_inner_first(%x: tensor<5x262144xf32> {dist.layout = #dist.layout<"[(5: data,model)], [262144]">})
    -> (tensor<5x262144xf32> {dist.layout = #dist.layout<"[5], [262144]">}) {
  %y = dist.reshard %x from <"[(5: data,model)], [262144]"> to <"[5], [262144]"> : tensor<5x262144xf32>
  return %y : tensor<5x262144xf32>
}

// -----

// ... which is not worth it where nothing is padded, ...
// CHECK-LABEL: @even_cuts_gather_at_once(
// CHECK: dist.all_gather %{{.*}} on @mesh ["data", "model"] : tensor<2x262144xf32> -> tensor<4x2x262144xf32>
// CHECK-NOT: dist.all_gather
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @even_cuts_gather_at_once(%x: tensor<8x262144xf32> {dist.layout = #dist.layout<"[(8: data,model)], [262144]">})
    -> (tensor<8x262144xf32> {dist.layout = #dist.layout<"[8], [262144]">}) {
  %y = dist.reshard %x from <"[(8: data,model)], [262144]"> to <"[8], [262144]"> : tensor<8x262144xf32>
  return %y : tensor<8x262144xf32>
}

// -----

// ... nor where rows are so short that a second start takes longer.
// CHECK-LABEL: @short_padded_rows_gather_at_once(
// CHECK: dist.all_gather %{{.*}} on @mesh ["data", "model"] : tensor<2xf32> -> tensor<4x2xf32>
// CHECK-NOT: dist.all_gather
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @short_padded_rows_gather_at_once(%x: tensor<5xf32> {dist.layout = #dist.layout<"[(5: data,model)]">})
    -> (tensor<5xf32> {dist.layout = #dist.layout<"[5]">}) {
  %y = dist.reshard %x from <"[(5: data,model)]"> to <"[5]"> : tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

// Of a concatenation all segments are gathered at once, and constant indices bring each together.
// CHECK-LABEL: @gathers_segments_at_once(
// CHECK: %[[ORDER:.*]] = nn.constant dense<[0, 1, 3, 4, 2, 5]>
// CHECK: %[[ALL:.*]] = dist.all_gather %{{.*}} on @mesh ["model"] : tensor<3xf32> -> tensor<2x3xf32>
// CHECK-NEXT: %[[FLAT:.*]] = nn.reshape %[[ALL]]
// CHECK-NEXT: nn.gather %[[FLAT]], %[[ORDER]] dim 0
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @gathers_segments_at_once(%x: tensor<6xf32> {dist.layout = #dist.layout<"[(4: model) + (2: model)]">})
    -> (tensor<6xf32> {dist.layout = #dist.layout<"[6]">}) {
  %y = dist.reshard %x from <"[(4: model) + (2: model)]"> to <"[6]"> : tensor<6xf32>
  return %y : tensor<6xf32>
}

// -----

// Segments that two axes cut in different orders have no cut that is the inner one: both are undone at once.
// CHECK-LABEL: @mixed_segments_gather_at_once(
// CHECK: dist.all_gather %{{.*}} on @mesh ["data", "model"] : tensor<3xf32> -> tensor<4x3xf32>
// CHECK-NOT: dist.all_gather
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @mixed_segments_gather_at_once(%x: tensor<12xf32> {dist.layout = #dist.layout<"[(4: data,model) + (8: model,data)]">})
    -> (tensor<12xf32> {dist.layout = #dist.layout<"[12]">}) {
  %y = dist.reshard %x from <"[(4: data,model) + (8: model,data)]"> to <"[12]"> : tensor<12xf32>
  return %y : tensor<12xf32>
}

// -----

// From a concatenation to another dimension: what is received is put in order.
// CHECK-LABEL: @exchanges_segments_for_rows(
// CHECK: %[[ORDER:.*]] = nn.constant dense<[0, 1, 3, 4, 2, 5]>
// CHECK-NOT: dist.all_gather
// CHECK: dist.all_to_all %{{.*}} on @mesh ["model"] : tensor<2x4x3xf32>
// CHECK: nn.gather %{{.*}}, %[[ORDER]] dim 1
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @exchanges_segments_for_rows(%x: tensor<8x6xf32> {dist.layout = #dist.layout<"[8], [(4: model) + (2: model)]">})
    -> (tensor<8x6xf32> {dist.layout = #dist.layout<"[(8: model)], [6]">}) {
  %y = dist.reshard %x from <"[8], [(4: model) + (2: model)]"> to <"[(8: model)], [6]"> : tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}

// -----

// A dimension in other factors may lie the same: the first half of 8 rows is the first of 2 times 4.
// CHECK-LABEL: @equal_factors_need_no_step(
// CHECK-SAME: %[[X:[a-z0-9]+]]:
// CHECK-NEXT: return %[[X]]
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @equal_factors_need_no_step(%x: tensor<8xf32> {dist.layout = #dist.layout<"[(8: data)]">})
    -> (tensor<8xf32> {dist.layout = #dist.layout<"[(2: data)(4)]">}) {
  %y = dist.reshard %x from <"[(8: data)]"> to <"[(2: data)(4)]"> : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// Cuts over two axes are undone by one collective where connections are alike, ...
// CHECK-LABEL: @equal_links_gather_at_once(
// CHECK: dist.all_gather %{{.*}} on @mesh ["data", "model"] : tensor<64x64xf32> -> tensor<4x64x64xf32>
// CHECK-NOT: dist.all_gather
module attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.05}, memory_GB_per_s = 10}, levels = [{name = "flat", GB_per_s = 5, start_us = 5}]}>} {
  dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
  func.func @equal_links_gather_at_once(%x: tensor<128x128xf32> {dist.layout = #dist.layout<"[(128: data)], [(128: model)]">})
      -> (tensor<128x128xf32> {dist.layout = #dist.layout<"[128], [128]">}) {
    %y = dist.reshard %x from <"[(128: data)], [(128: model)]"> to <"[128], [128]"> : tensor<128x128xf32>
    return %y : tensor<128x128xf32>
  }
}

// -----

// ... by two where all of it would pass the slow one, which goes first, while there is least to send, ...
// CHECK-LABEL: @slow_link_gathers_first(
// CHECK: dist.all_gather %{{.*}} on @mesh ["model"] : tensor<64x64xf32> -> tensor<2x64x64xf32>
// CHECK: dist.all_gather %{{.*}} on @mesh ["data"] : tensor<64x128xf32> -> tensor<2x64x128xf32>
module attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "hosts", device = {TFLOP_per_s = {f32 = 0.05}, memory_GB_per_s = 10}, levels = [{name = "host", size = 2, GB_per_s = 5, start_us = 5}, {name = "network", GB_per_s = 0.01, start_us = 5}]}>} {
  dist.mesh @mesh axes ["model", "data"] sizes [2, 2]
  func.func @slow_link_gathers_first(%x: tensor<128x128xf32> {dist.layout = #dist.layout<"[(128: data)], [(128: model)]">})
      -> (tensor<128x128xf32> {dist.layout = #dist.layout<"[128], [128]">}) {
    %y = dist.reshard %x from <"[(128: data)], [(128: model)]"> to <"[128], [128]"> : tensor<128x128xf32>
    return %y : tensor<128x128xf32>
  }
}

// -----

// ... and by two where the values are so large that bringing them into order takes longer than a second start: columns
// are put side by side of half of it, then rows are where they belong.
// CHECK-LABEL: @large_values_gather_twice(
// CHECK: dist.all_gather %{{.*}} on @mesh ["model"] : tensor<256x256xf32> -> tensor<2x256x256xf32>
// CHECK: dist.all_gather %{{.*}} on @mesh ["data"] : tensor<256x512xf32> -> tensor<2x256x512xf32>
module attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.05}, memory_GB_per_s = 10}, levels = [{name = "flat", GB_per_s = 5, start_us = 5}]}>} {
  dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
  func.func @large_values_gather_twice(%x: tensor<512x512xf32> {dist.layout = #dist.layout<"[(512: data)], [(512: model)]">})
      -> (tensor<512x512xf32> {dist.layout = #dist.layout<"[512], [512]">}) {
    %y = dist.reshard %x from <"[(512: data)], [(512: model)]"> to <"[512], [512]"> : tensor<512x512xf32>
    return %y : tensor<512x512xf32>
  }
}

// -----

// A value starts from where it was brought before, if that is nearer: of a cut sum that another reader wants
// otherwise cut, its own part is gathered, ...
// CHECK-LABEL: @starts_from_nearer_reshard(
// CHECK: %[[PART:.*]] = dist.reduce_scatter sum %{{.*}} on @mesh ["data"]
// CHECK-NOT: dist.all_reduce
// CHECK: %[[CUT:.*]] = nn.gather %[[PART]], %{{.*}} dim 1 : tensor<256x512xf32>, tensor<256xi64> -> tensor<256x256xf32>
// CHECK-NEXT: dist.all_gather %[[CUT]] on @mesh ["data"]
// CHECK-NOT: dist.all_reduce
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @starts_from_nearer_reshard(%x: tensor<512x512xf32> {dist.layout = #dist.layout<"[512], [512]">})
    -> (tensor<512x512xf32> {dist.layout = #dist.layout<"[(512: data)], [512]">}, tensor<512x512xf32> {dist.layout = #dist.layout<"[512], [(512: model)]">}) {
  %y = dist.reshard %x from <"[512], [512] partial sum(data)"> to <"[(512: data)], [512]"> : tensor<512x512xf32>
  %z = dist.reshard %x from <"[512], [512] partial sum(data)"> to <"[512], [(512: model)]"> : tensor<512x512xf32>
  return %y, %z : tensor<512x512xf32>, tensor<512x512xf32>
}

// -----

// ... and from where it was made where that is: a quarter is no way from a half to all of it.
// CHECK-LABEL: @starts_from_original_value(
// CHECK-SAME: %[[X:[a-z0-9]+]]:
// CHECK: dist.all_gather %[[X]] on @mesh ["data"] : tensor<256x512xf32> -> tensor<2x256x512xf32>
// CHECK-NOT: dist.all
dist.mesh @mesh axes ["data", "model"] sizes [2, 2]
func.func @starts_from_original_value(%x: tensor<512x512xf32> {dist.layout = #dist.layout<"[(512: data)], [512]">})
    -> (tensor<512x512xf32> {dist.layout = #dist.layout<"[(512: data)], [(512: model)]">}, tensor<512x512xf32> {dist.layout = #dist.layout<"[512], [512]">}) {
  %y = dist.reshard %x from <"[(512: data)], [512]"> to <"[(512: data)], [(512: model)]"> : tensor<512x512xf32>
  %z = dist.reshard %x from <"[(512: data)], [512]"> to <"[512], [512]"> : tensor<512x512xf32>
  return %y, %z : tensor<512x512xf32>, tensor<512x512xf32>
}
