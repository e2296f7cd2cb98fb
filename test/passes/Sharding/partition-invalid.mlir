// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-partition

// Partitioning needs level `placed`: a mesh, and a layout on every value.

// expected-error@+1 {{has no dist.mesh}}
module {}

// -----

dist.mesh @mesh axes ["data"] sizes [2]
// expected-error@+1 {{argument 1 has no layout}}
func.func @infer(%x: tensor<8xf32> {dist.layout = #dist.layout<"[8]">}, %y: tensor<8xf32>) {
  return
}

// -----

dist.mesh @mesh axes ["data"] sizes [2]
func.func @infer(%x: tensor<8xf32> {dist.layout = #dist.layout<"[8]">}) {
  // expected-error@+1 {{has no layout for each operand and result}}
  %y = nn.exp %x : tensor<8xf32>
  return
}

// -----

dist.mesh @mesh axes ["data"] sizes [2]
func.func @infer(%x: tensor<8xf32> {dist.layout = #dist.layout<"[8]">}) {
  // expected-error@+1 {{has no layout for each operand and result}}
  %y = nn.exp %x {dist.results = [#dist.layout<"[8]">]} : tensor<8xf32>
  return
}
