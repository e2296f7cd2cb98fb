// RUN: dpc-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// Links of their own for some axes.
// CHECK: #dist.machine<target = "cpu", processor = "native", flopsPerUs = 7, memoryBytesPerUs = 3, link = <bytesPerUs = 2, latencyNs = 0>, axisLinks = {data = #dist.link<bytesPerUs = 1, latencyNs = 20000>}>
module @links_of_axes attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", flopsPerUs = 7, memoryBytesPerUs = 3, link = <bytesPerUs = 2, latencyNs = 0>, axisLinks = {data = #dist.link<bytesPerUs = 1, latencyNs = 20000>}>} {
}

// -----

// expected-error @+2 {{failed to parse Dist_MachineAttr parameter 'link'}}
// expected-error @+1 {{a link of 0 bytes a microsecond and 5 ns of latency}}
module @refuses_link_without_bandwidth attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", flopsPerUs = 7, memoryBytesPerUs = 3, link = <bytesPerUs = 0, latencyNs = 5>>} {
}

// -----

// expected-error @+1 {{a device of 0 flops and 3 bytes a microsecond}}
module @refuses_device_without_flops attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", flopsPerUs = 0, memoryBytesPerUs = 3, link = <bytesPerUs = 2, latencyNs = 5>>} {
}

// -----

// expected-error @+1 {{axis "data" has 3 : i64 in place of a link}}
module @refuses_number_as_link attributes {dist.machine = #dist.machine<target = "cpu", processor = "native", flopsPerUs = 7, memoryBytesPerUs = 3, link = <bytesPerUs = 2, latencyNs = 5>, axisLinks = {data = 3}>} {
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
