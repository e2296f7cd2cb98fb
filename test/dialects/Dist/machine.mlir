// RUN: dpc-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// Two levels of connections.
// CHECK: #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {device = {TFLOP_per_s = {f32 = 5.000000e-02 : f64}, memory_GB_per_s = 10 : i64}, levels = [{GB_per_s = 5 : i64, name = "host", size = 4 : i64, start_us = 5 : i64}, {GB_per_s = 1 : i64, name = "network"}], name = "hosts"}>
module @two_levels attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "hosts", device = {TFLOP_per_s = {f32 = 0.05}, memory_GB_per_s = 10}, levels = [{name = "host", size = 4, GB_per_s = 5, start_us = 5}, {name = "network", GB_per_s = 1}]}>} {
}

// -----

// expected-error @+1 {{a machine: level 'flat' has the bandwidth 0, which must be above 0, and finite}}
module @refuses_level_without_bandwidth attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 1}, memory_GB_per_s = 1}, levels = [{name = "flat", GB_per_s = 0}]}>} {
}

// -----

// expected-error @+1 {{a machine: 'TFLOP_per_s' of 'device' has no 'f32'}}
module @refuses_device_without_flops attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {}, memory_GB_per_s = 1}, levels = [{name = "flat", GB_per_s = 1}]}>} {
}

// -----

// expected-error @+1 {{a machine: level 0 is not an object}}
module @refuses_level_without_name attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 1}, memory_GB_per_s = 1}, levels = [3]}>} {
}

// -----

// expected-error @+1 {{a machine: the transport 'ships' is neither wires nor nccl}}
module @refuses_transport attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", transport = "ships", topology = {name = "flat", device = {TFLOP_per_s = {f32 = 1}, memory_GB_per_s = 1}, levels = [{name = "flat", GB_per_s = 1}]}>} {
}

// -----

// expected-error @+1 {{has the unknown attribute "dist.machine"}}
module @refuses_number_as_machine attributes {dist.machine = 3} {
}

// -----

// What layouts cost, on a function.
// CHECK: @cost_of_layouts() attributes {dist.cost = #dist.cost<computing = 3, moving = 2, sent = 1>}
func.func @cost_of_layouts() attributes {dist.cost = #dist.cost<computing = 3, moving = 2, sent = 1>} {
  return
}

// -----

// expected-error @+1 {{has the unknown attribute "dist.cost"}}
func.func @refuses_number_as_cost() attributes {dist.cost = 3} {
  return
}
