// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-verify-placed

// A sound program: the batch is cut, the reduction leaves partial sums.
module @accepts_sound_program {
dist.mesh @mesh axes ["data"] sizes [2]
func.func @step(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x", batch = 0>, dist.layout = #dist.layout<"[(8: data)], [6]">})
    -> (tensor<6xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.reduce sum %x [0] {dist.operands = [#dist.layout<"[(8: data)], [6]">], dist.results = [#dist.layout<"[6] partial sum(data)">]} : tensor<8x6xf32> -> tensor<6xf32>
  %1 = dist.reshard %0 from <"[6] partial sum(data)"> to <"[6]"> : tensor<6xf32>
  return %1 : tensor<6xf32>
}
}

// -----

// (L1)
// expected-error@+1 {{level 'placed': has 0 meshes, not one}}
module @refuses_missing_mesh {
}

// -----

// (L2) Arguments have layouts ...
module @refuses_argument_without_layout {
dist.mesh @mesh axes ["data"] sizes [2]
// expected-error@+1 {{level 'placed': argument 0 has no layout}}
func.func @step(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x">}) {
  return
}
}

// -----

// ... of the mesh ...
module @refuses_unknown_axis {
dist.mesh @mesh axes ["data"] sizes [2]
// expected-error@+1 {{level 'placed': argument 0: }}
func.func @step(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x">, dist.layout = #dist.layout<"[(8: model)]">}) {
  return
}
}

// -----

// ... and so have operands and results.
module @refuses_op_without_layouts {
dist.mesh @mesh axes ["data"] sizes [2]
func.func @step(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x">, dist.layout = #dist.layout<"[8]">}) {
  // expected-error@+1 {{level 'placed': has no layout for each operand and result}}
  %0 = nn.neg %x : tensor<8xf32>
  return
}
}

// -----

// (L3) A value is read as it was made ...
module @refuses_other_layout_of_operand {
dist.mesh @mesh axes ["data"] sizes [2]
func.func @step(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x">, dist.layout = #dist.layout<"[8]">}) {
  // expected-error@+1 {{level 'placed': operand 0 is read as [(8: data)] but was made as [8]}}
  %0 = nn.neg %x {dist.operands = [#dist.layout<"[(8: data)]">], dist.results = [#dist.layout<"[(8: data)]">]} : tensor<8xf32>
  return
}
}

// -----

// ... also by a reshard.
module @refuses_other_layout_of_reshard {
dist.mesh @mesh axes ["data"] sizes [2]
func.func @step(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x">, dist.layout = #dist.layout<"[8]">}) {
  // expected-error@+1 {{level 'placed': the operand is read as [(8: data)] but was made as [8]}}
  %0 = dist.reshard %x from <"[(8: data)]"> to <"[8]"> : tensor<8xf32>
  return
}
}

// -----

// (L4) One loop is cut in one way ...
module @refuses_two_cuts_of_loop {
dist.mesh @mesh axes ["data"] sizes [2]
func.func @step(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x">, dist.layout = #dist.layout<"[(8: data)]">}) {
  // expected-error@+1 {{level 'placed': loop 0 is cut as [(8: data)] in operand 0 and as [8] in result 0}}
  %0 = nn.neg %x {dist.operands = [#dist.layout<"[(8: data)]">], dist.results = [#dist.layout<"[8]">]} : tensor<8xf32>
  return
}
}

// -----

// ... and what is reduced over a cut loop is partial.
module @refuses_whole_sum_of_shards {
dist.mesh @mesh axes ["data"] sizes [2]
func.func @step(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x">, dist.layout = #dist.layout<"[(8: data)], [6]">}) {
  // expected-error@+1 {{level 'placed': the reduced loop 0 is cut over data, but result 0 is [6]}}
  %0 = nn.reduce sum %x [0] {dist.operands = [#dist.layout<"[(8: data)], [6]">], dist.results = [#dist.layout<"[6]">]} : tensor<8x6xf32> -> tensor<6xf32>
  return
}
}

// -----

// ... in its own way: the largest is no sum.
module @refuses_sum_of_maxima {
dist.mesh @mesh axes ["data"] sizes [2]
func.func @step(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x">, dist.layout = #dist.layout<"[(8: data)], [6]">}) {
  // expected-error@+1 {{level 'placed': the reduced loop 0 is cut over data, but result 0 is [6] partial sum(data)}}
  %0 = nn.reduce max %x [0] {dist.operands = [#dist.layout<"[(8: data)], [6]">], dist.results = [#dist.layout<"[6] partial sum(data)">]} : tensor<8x6xf32> -> tensor<6xf32>
  return
}
}

// -----

// (L4) A cut of a single index makes the whole shard padding, in whatever dimension it
// stands: loops are cut as the op reads its operand, not as that was made.
module @accepts_cut_of_single_index {
dist.mesh @mesh axes ["data"] sizes [2]
func.func @step(%x: tensor<2x2x4xf32> {nn.arg = #nn.arg<input "x">, dist.layout = #dist.layout<"[2], [(2)(1: data)], [4]">},
                %w: tensor<8x4xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[8], [4]">}) {
  %0 = nn.reshape %x {dist.operands = [#dist.layout<"[2], [(2)(1: data)], [4]">], dist.results = [#dist.layout<"[2], [(2)(1: data)(4)]">]} : tensor<2x2x4xf32> -> tensor<2x8xf32>
  %1 = nn.dot %0, %w contract [1] [0] {dist.operands = [#dist.layout<"[(2)(1: data)], [8]">, #dist.layout<"[8], [4]">], dist.results = [#dist.layout<"[(2)(1: data)], [4]">]} : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
  return
}
}

// -----

// (L4) A loop that its op needs whole is not cut.
module @refuses_cut_of_whole_loop {
dist.mesh @mesh axes ["data"] sizes [2]
func.func @step(%x: tensor<8x6xf32> {nn.arg = #nn.arg<input "x">, dist.layout = #dist.layout<"[8], [(6: data)]">}) {
  // expected-error@+1 {{level 'placed': loop 1 must be whole but is cut as [(6: data)]}}
  %0 = nn.softmax %x dim 1 {dist.operands = [#dist.layout<"[8], [(6: data)]">], dist.results = [#dist.layout<"[8], [(6: data)]">]} : tensor<8x6xf32>
  return
}
}

// -----

// (L5) State is no sum that is still to be taken ...
module @refuses_partial_state {
dist.mesh @mesh axes ["data"] sizes [2]
// expected-error@+1 {{level 'placed': state 'w' is partial}}
func.func @step(%w: tensor<8xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[8] partial sum(data)">}) {
  return
}
}

// -----

// ... and is not cut by a loop.
module @refuses_state_over_sequential_axis {
dist.mesh @mesh axes ["micro"] sizes [2] sequential ["micro"]
// expected-error@+1 {{level 'placed': state 'w' is cut over the sequential axis micro}}
func.func @step(%w: tensor<8xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[(8: micro)]">}) {
  return
}
}
