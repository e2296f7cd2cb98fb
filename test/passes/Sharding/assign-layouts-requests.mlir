// RUN: dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=data=2,model=2 batch-axes=data auto-axes=model split-atoms=false' | FileCheck %s

// A request is one for an atom of its dimension: for heads where those are what is
// read, and what is asked for is gone then.
// CHECK-LABEL: module @request_shards_heads
// CHECK-LABEL: @infer
// CHECK-NOT: dist.request
// CHECK-SAME: tensor<8x48xf32> {dist.layout = #dist.layout<"[8], [(3)(4: model)(4)]">, nn.arg = #nn.arg<parameter "w">}
// CHECK-NOT: dist.reshard
// CHECK: return
module @request_shards_heads {
func.func @infer(%x: tensor<8x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                 %w: tensor<8x48xf32> {nn.arg = #nn.arg<parameter "w">, dist.request = [[], ["model"]]})
    -> (tensor<8x4x3x4xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x8xf32>, tensor<8x48xf32> -> tensor<8x48xf32>
  %1 = nn.reshape %0 : tensor<8x48xf32> -> tensor<8x3x4x4xf32>
  %2 = nn.transpose %1 [0, 2, 1, 3] : tensor<8x3x4x4xf32> -> tensor<8x4x3x4xf32>
  return %2 : tensor<8x4x3x4xf32>
}
}

// -----

// It is required though the search would have cut the other dimension.
// CHECK-LABEL: module @request_wins_over_search
// CHECK-LABEL: @infer
// CHECK-SAME: tensor<8x16xf32> {dist.layout = #dist.layout<"[(8: model)], [16]">, nn.arg = #nn.arg<parameter "w">}
module @request_wins_over_search {
func.func @infer(%x: tensor<8x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                 %w: tensor<8x16xf32> {nn.arg = #nn.arg<parameter "w">, dist.request = [["model"], []]})
    -> (tensor<8x16xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x8xf32>, tensor<8x16xf32> -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
}

// -----

// Without it: the other.
// CHECK-LABEL: module @search_shards_outer_loop
// CHECK-LABEL: @infer
// CHECK-SAME: tensor<8x16xf32> {dist.layout = #dist.layout<"[8], [(16: model)]">, nn.arg = #nn.arg<parameter "w">}
module @search_shards_outer_loop {
func.func @infer(%x: tensor<8x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                 %w: tensor<8x16xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<8x16xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x8xf32>, tensor<8x16xf32> -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
}

// -----

// One asked to be whole is, though its dimension is cut where others have it.
// CHECK-LABEL: module @keeps_requested_bias_whole
// CHECK-LABEL: @infer
// CHECK-SAME: tensor<8x16xf32> {dist.layout = #dist.layout<"[8], [(16: model)]">, nn.arg = #nn.arg<parameter "w">}
// CHECK-SAME: tensor<16xf32> {dist.layout = #dist.layout<"[16]">, nn.arg = #nn.arg<parameter "b">}
// CHECK: dist.reshard %arg2 from <"[16]"> to <"[(16: model)]">
module @keeps_requested_bias_whole {
func.func @infer(%x: tensor<8x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                 %w: tensor<8x16xf32> {nn.arg = #nn.arg<parameter "w">, dist.request = [[], ["model"]]},
                 %b: tensor<16xf32> {nn.arg = #nn.arg<parameter "b">, dist.request = [[]]})
    -> (tensor<8x16xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x8xf32>, tensor<8x16xf32> -> tensor<8x16xf32>
  %1 = nn.broadcast %b [1] : tensor<16xf32> -> tensor<8x16xf32>
  %2 = nn.add %0, %1 : tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}
}

// -----

// Where each atom is smaller than the axis the whole dimension is cut.
// CHECK-LABEL: module @shards_dimension_below_axis_size
// CHECK-LABEL: @infer
// CHECK-SAME: tensor<1xf32> {dist.layout = #dist.layout<"[(1: model)]">, nn.arg = #nn.arg<parameter "b">}
module @shards_dimension_below_axis_size {
func.func @infer(%x: tensor<8x1xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                 %b: tensor<1xf32> {nn.arg = #nn.arg<parameter "b">, dist.request = [["model"]]})
    -> (tensor<8x1xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.broadcast %b [1] : tensor<1xf32> -> tensor<8x1xf32>
  %1 = nn.add %x, %0 : tensor<8x1xf32>
  return %1 : tensor<8x1xf32>
}
}

// -----

// An input may be cut along another dimension beside its batch; parameters need
// not be cut over that axis then.
// CHECK-LABEL: module @shards_input_beside_its_batch
// CHECK-LABEL: @infer
// CHECK-SAME: tensor<8x6x8xf32> {dist.layout = #dist.layout<"[(8: data)], [(6: model)], [8]">, nn.arg = #nn.arg<input "x", batch = 0>}
// CHECK-SAME: tensor<8x16xf32> {dist.layout = #dist.layout<"[8], [16]">, nn.arg = #nn.arg<parameter "w">}
module @shards_input_beside_its_batch {
func.func @infer(%x: tensor<8x6x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>, dist.request = [["data"], ["model"], []]},
                 %w: tensor<8x16xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<8x6x16xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [2] [0] : tensor<8x6x8xf32>, tensor<8x16xf32> -> tensor<8x6x16xf32>
  return %0 : tensor<8x6x16xf32>
}
}

// -----

// A value that a node makes is asked for likewise; what leads to it is cut so if that
// is cheapest.
// CHECK-LABEL: module @node_request_shards_operands
// CHECK-LABEL: @infer
// CHECK-SAME: tensor<8x6xf32> {dist.layout = #dist.layout<"[(8: data)], [(6: model)]">
// CHECK-NOT: dist.reshard
// CHECK: return
module @node_request_shards_operands {
func.func @infer(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<8x6xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.tanh %x {dist.request = [["data"], ["model"]]} : tensor<8x6xf32>
  %1 = nn.exp %0 : tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}
}

// -----

// One that is made otherwise is brought there at once, and all read it so.
// CHECK-LABEL: module @reshards_to_node_request
// CHECK: %[[D:.*]] = nn.dot {{.*}}dist.results = [#dist.layout<"[(8: data)], [(16: model)]">]
// CHECK-NEXT: %[[R:.*]] = dist.reshard %[[D]] from <"[(8: data)], [(16: model)]"> to <"[(8: data)], [16]">
// CHECK-NEXT: return %[[R]]
module @reshards_to_node_request {
func.func @infer(%x: tensor<8x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                 %w: tensor<8x16xf32> {nn.arg = #nn.arg<parameter "w">, dist.request = [[], ["model"]]})
    -> (tensor<8x16xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] {dist.request = [["data"], []]} : tensor<8x8xf32>, tensor<8x16xf32> -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
}

// -----

// A product with a weight that is asked for whole is whole, though its inputs come
// cut from the product before. Of what is only added a part is cut out: above.
// CHECK-LABEL: module @whole_weight_gathers_other_operand
// CHECK: %[[H:.*]] = nn.dot %arg0, %arg1 {{.*}}-> tensor<8x16xf32>
// CHECK: %[[ALL:.*]] = dist.reshard %[[H]] from <"[(8: data)], [(16: model)]"> to <"[(8: data)], [16]">
// CHECK: nn.dot %[[ALL]], %arg2
// CHECK-SAME: dist.operands = [#dist.layout<"[(8: data)], [16]">, #dist.layout<"[16], [8]">]
module @whole_weight_gathers_other_operand {
func.func @infer(%x: tensor<8x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                 %w: tensor<8x16xf32> {nn.arg = #nn.arg<parameter "w">, dist.request = [[], ["model"]]},
                 %v: tensor<16x8xf32> {nn.arg = #nn.arg<parameter "v">, dist.request = [[], []]})
    -> (tensor<8x8xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x8xf32>, tensor<8x16xf32> -> tensor<8x16xf32>
  %1 = nn.dot %0, %v contract [1] [0] : tensor<8x16xf32>, tensor<16x8xf32> -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
}

// -----

// Not asked about, it reads them as they are.
// CHECK-LABEL: module @unrequested_weight_follows_operand
// CHECK: %[[H:.*]] = nn.dot %arg0, %arg1 {{.*}}-> tensor<8x16xf32>
// CHECK-NOT: dist.reshard %[[H]]
// CHECK: nn.dot %[[H]], %arg2
// CHECK-SAME: dist.operands = [#dist.layout<"[(8: data)], [(16: model)]">, #dist.layout<"[(16: model)], [8]">]
module @unrequested_weight_follows_operand {
func.func @infer(%x: tensor<8x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                 %w: tensor<8x16xf32> {nn.arg = #nn.arg<parameter "w">, dist.request = [[], ["model"]]},
                 %v: tensor<16x8xf32> {nn.arg = #nn.arg<parameter "v">})
    -> (tensor<8x8xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x8xf32>, tensor<8x16xf32> -> tensor<8x16xf32>
  %1 = nn.dot %0, %v contract [1] [0] : tensor<8x16xf32>, tensor<16x8xf32> -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
}
