// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-partition

// Partitioning needs level `placed`: a mesh, and a layout on every value.

// expected-error@+1 {{has no dist.mesh}}
module @refuses_missing_mesh {}

// -----

dist.mesh @mesh axes ["data"] sizes [2]
// expected-error@+1 {{argument 1 has no layout}}
func.func @refuses_argument_without_layout(%x: tensor<8xf32> {dist.layout = #dist.layout<"[8]">}, %y: tensor<8xf32>) {
  return
}

// -----

dist.mesh @mesh axes ["data"] sizes [2]
func.func @refuses_op_without_layouts(%x: tensor<8xf32> {dist.layout = #dist.layout<"[8]">}) {
  // expected-error@+1 {{has no layout for each operand and result}}
  %y = nn.exp %x : tensor<8xf32>
  return
}

// -----

dist.mesh @mesh axes ["data"] sizes [2]
func.func @refuses_op_without_operand_layouts(%x: tensor<8xf32> {dist.layout = #dist.layout<"[8]">}) {
  // expected-error@+1 {{has no layout for each operand and result}}
  %y = nn.exp %x {dist.results = [#dist.layout<"[8]">]} : tensor<8xf32>
  return
}

// -----

// A reshard is planned for a machine ...
// expected-error@+1 {{has no machine that it is planned for}}
module {
  dist.mesh @mesh axes ["data"] sizes [2]
  func.func @refuses_reshard_without_machine(%x: tensor<8xf32> {dist.layout = #dist.layout<"[8]">}) {
    %y = dist.reshard %x from <"[8]"> to <"[(8: data)]"> : tensor<8xf32>
    return
  }
}

// -----

// ... and what is whole cannot become partial.
module attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 0.05}, memory_GB_per_s = 10}, levels = [{name = "flat", GB_per_s = 5, start_us = 5}]}>} {
  dist.mesh @mesh axes ["data"] sizes [2]
  func.func @refuses_whole_to_partial(%x: tensor<8xf32> {dist.layout = #dist.layout<"[8]">}) {
    // expected-error@+1 {{'dist.reshard' op reshard: [8] is to become partial max(data)}}
    %y = dist.reshard %x from <"[8]"> to <"[8] partial max(data)"> : tensor<8xf32>
    return
  }
}
