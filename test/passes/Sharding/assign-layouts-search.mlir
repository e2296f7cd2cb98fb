// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=model=4 auto-axes=model split-atoms=false' | FileCheck %s
// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=model=4 auto-axes=model split-atoms=false explain' -o /dev/null 2>&1 | FileCheck %s --check-prefix=PRICED

// What the search for layouts takes, and what it counts as better.

// A parameter is divided though that takes longer: whole, nothing would have to be sent.
// CHECK-LABEL: module @shards_parameter_at_any_cost
// CHECK-LABEL: @infer
// CHECK-SAME: tensor<64x64xf32> {dist.layout = #dist.layout<"[64], [(64: model)]">, nn.arg = #nn.arg<parameter "w">}
// CHECK: dist.reshard {{.*}} from <"[8], [(64: model)]"> to <"[8], [64]">
module @shards_parameter_at_any_cost {
func.func @infer(%x: tensor<8x64xf32> {nn.arg = #nn.arg<input "x">},
                 %w: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<8x64xf32> {nn.result = #nn.result<metric "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}
}

// -----

// Beyond its share a device may hold 5 % of all parameters: three quarters of 256 numbers, of 4352, are less, ...
// CHECK-LABEL: module @keeps_small_parameter_whole
// CHECK-LABEL: @infer
// CHECK-SAME: dist.layout = #dist.layout<"[64], [(64: model)]">, nn.arg = #nn.arg<parameter "w">
// CHECK-SAME: dist.layout = #dist.layout<"[64], [4]">, nn.arg = #nn.arg<parameter "v">
module @keeps_small_parameter_whole {
func.func @infer(%x: tensor<8x64xf32> {nn.arg = #nn.arg<input "x">},
                 %w: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w">},
                 %v: tensor<64x4xf32> {nn.arg = #nn.arg<parameter "v">})
    -> (tensor<8x64xf32> {nn.result = #nn.result<metric "y">}, tensor<8x4xf32> {nn.result = #nn.result<metric "z">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %1 = nn.exp %x : tensor<8x64xf32>
  %2 = nn.dot %1, %v contract [1] [0] : tensor<8x64xf32>, tensor<64x4xf32> -> tensor<8x4xf32>
  return %0, %2 : tensor<8x64xf32>, tensor<8x4xf32>
}
}

// -----

// ... and of 512 numbers, of 4608, they are more.
// CHECK-LABEL: module @shards_parameter_over_five_percent
// CHECK-LABEL: @infer
// CHECK-SAME: dist.layout = #dist.layout<"[64], [(64: model)]">, nn.arg = #nn.arg<parameter "w">
// CHECK-SAME: dist.layout = #dist.layout<"[64], [(8: model)]">, nn.arg = #nn.arg<parameter "v">
module @shards_parameter_over_five_percent {
func.func @infer(%x: tensor<8x64xf32> {nn.arg = #nn.arg<input "x">},
                 %w: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w">},
                 %v: tensor<64x8xf32> {nn.arg = #nn.arg<parameter "v">})
    -> (tensor<8x64xf32> {nn.result = #nn.result<metric "y">}, tensor<8x8xf32> {nn.result = #nn.result<metric "z">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %1 = nn.exp %x : tensor<8x64xf32>
  %2 = nn.dot %1, %v contract [1] [0] : tensor<8x64xf32>, tensor<64x8xf32> -> tensor<8x8xf32>
  return %0, %2 : tensor<8x64xf32>, tensor<8x8xf32>
}
}

// -----

// A parameter that is asked for counts among all, of which 5 % may stay whole: three quarters of 256 numbers, ...
// CHECK-LABEL: module @small_parameter_beside_requested_one
// CHECK-LABEL: @infer
// CHECK-SAME: dist.layout = #dist.layout<"[64], [(64: model)]">, nn.arg = #nn.arg<parameter "w">
// CHECK-SAME: dist.layout = #dist.layout<"[64], [4]">, nn.arg = #nn.arg<parameter "v">
module @small_parameter_beside_requested_one {
func.func @infer(%x: tensor<8x64xf32> {nn.arg = #nn.arg<input "x">},
                 %w: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w">, dist.request = [[], ["model"]]},
                 %v: tensor<64x4xf32> {nn.arg = #nn.arg<parameter "v">})
    -> (tensor<8x64xf32> {nn.result = #nn.result<metric "y">}, tensor<8x4xf32> {nn.result = #nn.result<metric "z">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %1 = nn.exp %x : tensor<8x64xf32>
  %2 = nn.dot %1, %v contract [1] [0] : tensor<8x64xf32>, tensor<64x4xf32> -> tensor<8x4xf32>
  return %0, %2 : tensor<8x64xf32>, tensor<8x4xf32>
}
}

// -----

// ... not of 512.
// CHECK-LABEL: module @large_parameter_beside_requested_one
// CHECK-LABEL: @infer
// CHECK-SAME: dist.layout = #dist.layout<"[64], [(64: model)]">, nn.arg = #nn.arg<parameter "w">
// CHECK-SAME: dist.layout = #dist.layout<"[64], [(8: model)]">, nn.arg = #nn.arg<parameter "v">
module @large_parameter_beside_requested_one {
func.func @infer(%x: tensor<8x64xf32> {nn.arg = #nn.arg<input "x">},
                 %w: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w">, dist.request = [[], ["model"]]},
                 %v: tensor<64x8xf32> {nn.arg = #nn.arg<parameter "v">})
    -> (tensor<8x64xf32> {nn.result = #nn.result<metric "y">}, tensor<8x8xf32> {nn.result = #nn.result<metric "z">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
  %1 = nn.exp %x : tensor<8x64xf32>
  %2 = nn.dot %1, %v contract [1] [0] : tensor<8x64xf32>, tensor<64x8xf32> -> tensor<8x8xf32>
  return %0, %2 : tensor<8x64xf32>, tensor<8x8xf32>
}
}

// -----

// What counts is what is read. A product along columns needs all of them, so that columns, if they were cut, would be
// gathered: rows are, though the sum that this takes is twice the gather of a result cut by columns.
// CHECK-LABEL: module @product_along_columns_shards_rows
// CHECK-LABEL: @infer
// CHECK-SAME: dist.layout = #dist.layout<"[(64: model)], [64]">, nn.arg = #nn.arg<parameter "w">
module @product_along_columns_shards_rows {
func.func @infer(%x: tensor<4096x64xf32> {nn.arg = #nn.arg<input "x">},
                 %w: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<4096x64xf32> {nn.result = #nn.result<metric "y">}, tensor<64xf32> {nn.result = #nn.result<metric "z">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<4096x64xf32>, tensor<64x64xf32> -> tensor<4096x64xf32>
  %1 = nn.reduce prod %w [1] : tensor<64x64xf32> -> tensor<64xf32>
  return %0, %1 : tensor<4096x64xf32>, tensor<64xf32>
}
}

// -----

// A sum along columns takes them cut.
// CHECK-LABEL: module @sum_along_columns_shards_columns
// CHECK-LABEL: @infer
// CHECK-SAME: dist.layout = #dist.layout<"[64], [(64: model)]">, nn.arg = #nn.arg<parameter "w">
module @sum_along_columns_shards_columns {
func.func @infer(%x: tensor<4096x64xf32> {nn.arg = #nn.arg<input "x">},
                 %w: tensor<64x64xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<4096x64xf32> {nn.result = #nn.result<metric "y">}, tensor<64xf32> {nn.result = #nn.result<metric "z">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<4096x64xf32>, tensor<64x64xf32> -> tensor<4096x64xf32>
  %1 = nn.reduce sum %w [1] : tensor<64x64xf32> -> tensor<64xf32>
  return %0, %1 : tensor<4096x64xf32>, tensor<64xf32>
}
}

// -----

// A parameter that only scales asks for no cut, though all there is is more than 5 %.
// CHECK-LABEL: module @keeps_scaling_parameter_whole
// CHECK-LABEL: @infer
// CHECK-SAME: dist.layout = #dist.layout<"[64]">, nn.arg = #nn.arg<parameter "w">
module @keeps_scaling_parameter_whole {
func.func @infer(%x: tensor<8x64xf32> {nn.arg = #nn.arg<input "x">},
                 %w: tensor<64xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<8x64xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.broadcast %w [1] : tensor<64xf32> -> tensor<8x64xf32>
  %1 = nn.mul %x, %0 : tensor<8x64xf32>
  return %1 : tensor<8x64xf32>
}
}

// -----

// One that is summed over does.
// CHECK-LABEL: module @shards_summed_parameter
// CHECK-LABEL: @infer
// CHECK-SAME: dist.layout = #dist.layout<"[(64: model)]">, nn.arg = #nn.arg<parameter "w">
module @shards_summed_parameter {
func.func @infer(%x: tensor<8x64xf32> {nn.arg = #nn.arg<input "x">},
                 %w: tensor<64xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<8xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x64xf32>, tensor<64xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
}

// -----

// An atom of four indices is cut over four devices, ...
// CHECK-LABEL: module @shards_atom_of_axis_size
// CHECK-LABEL: @infer
// CHECK-SAME: dist.layout = #dist.layout<"[64], [(4: model)]">, nn.arg = #nn.arg<parameter "w">
module @shards_atom_of_axis_size {
func.func @infer(%x: tensor<8x64xf32> {nn.arg = #nn.arg<input "x">},
                 %w: tensor<64x4xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<8x4xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x64xf32>, tensor<64x4xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
}

// -----

// ... one of three is not, and the other one takes a sum.
// CHECK-LABEL: module @refuses_atom_below_axis_size
// CHECK-LABEL: @infer
// CHECK-SAME: dist.layout = #dist.layout<"[(64: model)], [3]">, nn.arg = #nn.arg<parameter "w">
module @refuses_atom_below_axis_size {
func.func @infer(%x: tensor<8x64xf32> {nn.arg = #nn.arg<input "x">},
                 %w: tensor<64x3xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<8x3xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x64xf32>, tensor<64x3xf32> -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}
}

// -----

// On links that cost nothing a sum is faster than a gather, whose parts are put in order. Where that is more than 0.2 % of
// the step it is taken, ...
// CHECK-LABEL: module @sum_wins_on_fast_links
// CHECK-LABEL: @infer
// CHECK-SAME: dist.layout = #dist.layout<"[(512: model)], [512]">, nn.arg = #nn.arg<parameter "w">
// CHECK-SAME: sent = 786432>
module @sum_wins_on_fast_links attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.1}, memory_GB_per_s = 10}, levels = [{name = "flat", GB_per_s = 100000, start_us = 0.001}]}>} {
  func.func @infer(%x: tensor<256x512xf32> {nn.arg = #nn.arg<input "x">},
                   %w: tensor<512x512xf32> {nn.arg = #nn.arg<parameter "w">})
      -> (tensor<256x512xf32> {nn.result = #nn.result<metric "y">}) {
    %0 = nn.dot %x, %w contract [1] [0] : tensor<256x512xf32>, tensor<512x512xf32> -> tensor<256x512xf32>
    return %0 : tensor<256x512xf32>
  }
}

// -----

// ... and where it is less the gather, which sends half as much.
// CHECK-LABEL: module @gather_wins_for_small_gain
// CHECK-LABEL: @infer
// CHECK-SAME: dist.layout = #dist.layout<"[8192], [(512: model)]">, nn.arg = #nn.arg<parameter "w">
// CHECK-SAME: sent = 393216>
module @gather_wins_for_small_gain attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.1}, memory_GB_per_s = 10}, levels = [{name = "flat", GB_per_s = 100000, start_us = 0.001}]}>} {
  func.func @infer(%x: tensor<256x8192xf32> {nn.arg = #nn.arg<input "x">},
                   %w: tensor<8192x512xf32> {nn.arg = #nn.arg<parameter "w">})
      -> (tensor<256x512xf32> {nn.result = #nn.result<metric "y">}) {
    %0 = nn.dot %x, %w contract [1] [0] : tensor<256x8192xf32>, tensor<8192x512xf32> -> tensor<256x512xf32>
    return %0 : tensor<256x512xf32>
  }
}

// -----

// Rows of %v and of %u are asked for, and %w has both loops: the axis goes to the one that fewer ops run, ...
// CHECK-LABEL: module @axis_goes_to_outer_loop
// CHECK-LABEL: @infer
// CHECK-SAME: dist.layout = #dist.layout<"[64], [(128: model)]">, nn.arg = #nn.arg<parameter "w">
module @axis_goes_to_outer_loop {
func.func @infer(%x: tensor<8x64xf32> {nn.arg = #nn.arg<input "x">},
                 %v: tensor<64x16xf32> {nn.arg = #nn.arg<parameter "v">, dist.request = [["model"], []]},
                 %w: tensor<64x128xf32> {nn.arg = #nn.arg<parameter "w">},
                 %u: tensor<128x32xf32> {nn.arg = #nn.arg<parameter "u">, dist.request = [["model"], []]})
    -> (tensor<8x16xf32> {nn.result = #nn.result<output "y">}, tensor<8x32xf32> {nn.result = #nn.result<output "z">}) {
  %0 = nn.exp %x : tensor<8x64xf32>
  %1 = nn.dot %0, %v contract [1] [0] : tensor<8x64xf32>, tensor<64x16xf32> -> tensor<8x16xf32>
  %2 = nn.dot %0, %w contract [1] [0] : tensor<8x64xf32>, tensor<64x128xf32> -> tensor<8x128xf32>
  %3 = nn.dot %2, %u contract [1] [0] : tensor<8x128xf32>, tensor<128x32xf32> -> tensor<8x32xf32>
  return %1, %3 : tensor<8x16xf32>, tensor<8x32xf32>
}
}

// -----

// ... here the other one.
// CHECK-LABEL: module @axis_goes_to_summed_loop
// CHECK-LABEL: @infer
// CHECK-SAME: dist.layout = #dist.layout<"[(64: model)], [128]">, nn.arg = #nn.arg<parameter "w">
module @axis_goes_to_summed_loop {
func.func @infer(%x: tensor<8x64xf32> {nn.arg = #nn.arg<input "x">},
                 %v: tensor<64x16xf32> {nn.arg = #nn.arg<parameter "v">, dist.request = [["model"], []]},
                 %w: tensor<64x128xf32> {nn.arg = #nn.arg<parameter "w">},
                 %u: tensor<128x32xf32> {nn.arg = #nn.arg<parameter "u">, dist.request = [["model"], []]})
    -> (tensor<8x16xf32> {nn.result = #nn.result<output "y">}, tensor<8x32xf32> {nn.result = #nn.result<output "z">}) {
  %0 = nn.dot %x, %v contract [1] [0] : tensor<8x64xf32>, tensor<64x16xf32> -> tensor<8x16xf32>
  %1 = nn.dot %x, %w contract [1] [0] : tensor<8x64xf32>, tensor<64x128xf32> -> tensor<8x128xf32>
  %2 = nn.exp %1 : tensor<8x128xf32>
  %3 = nn.tanh %2 : tensor<8x128xf32>
  %4 = nn.dot %3, %u contract [1] [0] : tensor<8x128xf32>, tensor<128x32xf32> -> tensor<8x32xf32>
  return %0, %4 : tensor<8x16xf32>, tensor<8x32xf32>
}
}

// -----

// Layers that repeat are one choice: some tens of plans are priced, of this one and of one of any depth, and all layers
// are cut.
// PRICED: layouts: {{[0-9]?[0-9]}} plans of {{[0-9]+}} cuts priced, with {{[0-9]+}} placements and {{[0-9]+}} layouts, 128 over model, 128 over model, 128 over model, 128 over model{{$}}
// CHECK-LABEL: module @repeated_layers_are_one_choice
module @repeated_layers_are_one_choice {
func.func @infer(%x: tensor<64x64xf32> {nn.arg = #nn.arg<input "x">},
                 %w0: tensor<64x128xf32> {nn.arg = #nn.arg<parameter "w0">}, %v0: tensor<128x64xf32> {nn.arg = #nn.arg<parameter "v0">},
                 %w1: tensor<64x128xf32> {nn.arg = #nn.arg<parameter "w1">}, %v1: tensor<128x64xf32> {nn.arg = #nn.arg<parameter "v1">},
                 %w2: tensor<64x128xf32> {nn.arg = #nn.arg<parameter "w2">}, %v2: tensor<128x64xf32> {nn.arg = #nn.arg<parameter "v2">},
                 %w3: tensor<64x128xf32> {nn.arg = #nn.arg<parameter "w3">}, %v3: tensor<128x64xf32> {nn.arg = #nn.arg<parameter "v3">})
    -> (tensor<64x64xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w0 contract [1] [0] : tensor<64x64xf32>, tensor<64x128xf32> -> tensor<64x128xf32>
  %1 = nn.relu %0 : tensor<64x128xf32>
  %2 = nn.dot %1, %v0 contract [1] [0] : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<64x64xf32>
  %3 = nn.dot %2, %w1 contract [1] [0] : tensor<64x64xf32>, tensor<64x128xf32> -> tensor<64x128xf32>
  %4 = nn.relu %3 : tensor<64x128xf32>
  %5 = nn.dot %4, %v1 contract [1] [0] : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<64x64xf32>
  %6 = nn.dot %5, %w2 contract [1] [0] : tensor<64x64xf32>, tensor<64x128xf32> -> tensor<64x128xf32>
  %7 = nn.relu %6 : tensor<64x128xf32>
  %8 = nn.dot %7, %v2 contract [1] [0] : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<64x64xf32>
  %9 = nn.dot %8, %w3 contract [1] [0] : tensor<64x64xf32>, tensor<64x128xf32> -> tensor<64x128xf32>
  %10 = nn.relu %9 : tensor<64x128xf32>
  %11 = nn.dot %10, %v3 contract [1] [0] : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<64x64xf32>
  return %11 : tensor<64x64xf32>
}
}

// -----

// One that is wider is a choice of its own, and tells apart those before it and behind it.
// PRICED: layouts: {{[0-9][0-9][0-9]}} plans of {{[0-9]+}} cuts priced, with {{[0-9]+}} placements and {{[0-9]+}} layouts, 128 over model, 128 over model, 256 over model, 128 over model{{$}}
// CHECK-LABEL: module @wider_layer_is_own_choice
module @wider_layer_is_own_choice {
func.func @infer(%x: tensor<64x64xf32> {nn.arg = #nn.arg<input "x">},
                 %w0: tensor<64x128xf32> {nn.arg = #nn.arg<parameter "w0">}, %v0: tensor<128x64xf32> {nn.arg = #nn.arg<parameter "v0">},
                 %w1: tensor<64x128xf32> {nn.arg = #nn.arg<parameter "w1">}, %v1: tensor<128x64xf32> {nn.arg = #nn.arg<parameter "v1">},
                 %w2: tensor<64x256xf32> {nn.arg = #nn.arg<parameter "w2">}, %v2: tensor<256x64xf32> {nn.arg = #nn.arg<parameter "v2">},
                 %w3: tensor<64x128xf32> {nn.arg = #nn.arg<parameter "w3">}, %v3: tensor<128x64xf32> {nn.arg = #nn.arg<parameter "v3">})
    -> (tensor<64x64xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w0 contract [1] [0] : tensor<64x64xf32>, tensor<64x128xf32> -> tensor<64x128xf32>
  %1 = nn.relu %0 : tensor<64x128xf32>
  %2 = nn.dot %1, %v0 contract [1] [0] : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<64x64xf32>
  %3 = nn.dot %2, %w1 contract [1] [0] : tensor<64x64xf32>, tensor<64x128xf32> -> tensor<64x128xf32>
  %4 = nn.relu %3 : tensor<64x128xf32>
  %5 = nn.dot %4, %v1 contract [1] [0] : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<64x64xf32>
  %6 = nn.dot %5, %w2 contract [1] [0] : tensor<64x64xf32>, tensor<64x256xf32> -> tensor<64x256xf32>
  %7 = nn.relu %6 : tensor<64x256xf32>
  %8 = nn.dot %7, %v2 contract [1] [0] : tensor<64x256xf32>, tensor<256x64xf32> -> tensor<64x64xf32>
  %9 = nn.dot %8, %w3 contract [1] [0] : tensor<64x64xf32>, tensor<64x128xf32> -> tensor<64x128xf32>
  %10 = nn.relu %9 : tensor<64x128xf32>
  %11 = nn.dot %10, %v3 contract [1] [0] : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<64x64xf32>
  return %11 : tensor<64x64xf32>
}
}
