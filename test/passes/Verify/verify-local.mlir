// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-verify-local

// A sound program.
module @accepts_sound_program {
dist.mesh @mesh axes ["micro", "data"] sizes [2, 2] sequential ["micro"]
func.func @step(%x: tensor<2x2xf32> {nn.arg = #nn.arg<input "x", batch = 0>, dist.layout = #dist.layout<"[(2)(2: data)], [2]">})
    -> (tensor<2xf32> {nn.result = #nn.result<output "y">}) {
  %0 = dist.micro 2 "micro" (%x : tensor<2x2xf32>) operands [sliced] {
  ^bb0(%m: tensor<2xf32>):
    %i = dist.axis_index "micro" : tensor<i64>
    %j = dist.axis_index "data" : tensor<i64>
    dist.yield %m : tensor<2xf32>
  } -> (tensor<2xf32>) results [summed]
  %1 = dist.all_reduce sum %0 on @mesh ["data"] : tensor<2xf32>
  return %1 : tensor<2xf32>
}
}

// -----

// (L1) Layouts no longer change ...
module @refuses_reshard {
dist.mesh @mesh axes ["data"] sizes [2]
func.func @step(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x">, dist.layout = #dist.layout<"[8]">}) {
  // expected-error@+1 {{level 'local': holds a reshard}}
  %0 = dist.reshard %x from <"[8]"> to <"[8]"> : tensor<8xf32>
  return
}
}

// -----

// ... and are gone.
module @refuses_layouts_of_op {
dist.mesh @mesh axes ["data"] sizes [2]
func.func @step(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x">, dist.layout = #dist.layout<"[8]">}) {
  // expected-error@+1 {{level 'local': still has layouts}}
  %0 = nn.neg %x {dist.operands = [#dist.layout<"[8]">], dist.results = [#dist.layout<"[8]">]} : tensor<8xf32>
  return
}
}

// -----

// (L2) An argument is one device's part.
module @refuses_unsharded_argument {
dist.mesh @mesh axes ["data"] sizes [2]
// expected-error@+1 {{level 'local': argument 0 is 'tensor<8xf32>', which is not what [(8: data)] leaves one device}}
func.func @step(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x">, dist.layout = #dist.layout<"[(8: data)]">}) {
  return
}
}

// -----

// (L2) The layout is of the variable's shape.
module @refuses_layout_of_other_shape {
dist.mesh @mesh axes ["data"] sizes [2]
// expected-error@+1 {{level 'local': 'w' is 'tensor<6xf32>', but its layout is [8]}}
nn.variable @w = dense<0.5> : tensor<6xf32>
func.func @step(%w: tensor<8xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[8]">}) {
  return
}
}

// -----

// (L3) A loop takes the turns that the mesh has.
module @refuses_other_loop_count {
dist.mesh @mesh axes ["micro"] sizes [4] sequential ["micro"]
func.func @step(%x: tensor<2x2xf32> {nn.arg = #nn.arg<input "x">, dist.layout = #dist.layout<"[2], [2]">}) {
  // expected-error@+1 {{level 'local': takes 2 turns over an axis of 4}}
  %0 = dist.micro 2 "micro" (%x : tensor<2x2xf32>) operands [sliced] {
  ^bb0(%m: tensor<2xf32>):
    dist.yield %m : tensor<2xf32>
  } -> (tensor<2xf32>) results [summed]
  return
}
}

// -----

// (L3) Only sequential axes are walked.
module @refuses_loop_over_parallel_axis {
dist.mesh @mesh axes ["data"] sizes [2]
func.func @step(%x: tensor<2x2xf32> {nn.arg = #nn.arg<input "x">, dist.layout = #dist.layout<"[2], [2]">}) {
  // expected-error@+1 {{level 'local': data is no sequential axis of the mesh}}
  %0 = dist.micro 2 "data" (%x : tensor<2x2xf32>) operands [sliced] {
  ^bb0(%m: tensor<2xf32>):
    dist.yield %m : tensor<2xf32>
  } -> (tensor<2xf32>) results [summed]
  return
}
}

// -----

// (L4) Axes are the mesh's ...
module @refuses_unknown_axis {
dist.mesh @mesh axes ["data"] sizes [2]
func.func @step() {
  // expected-error@+1 {{level 'local': the mesh has no axis model}}
  %0 = dist.axis_index "model" : tensor<i64>
  return
}
}

// -----

// ... and a loop's turn exists inside it.
module @refuses_index_outside_loop {
dist.mesh @mesh axes ["micro"] sizes [2] sequential ["micro"]
func.func @step() {
  // expected-error@+1 {{level 'local': stands outside the loop over micro}}
  %0 = dist.axis_index "micro" : tensor<i64>
  return
}
}

// -----

// A step is tensor ops alone.
module @refuses_op_without_tensors {
dist.mesh @mesh axes ["data"] sizes [2]
func.func @step() {
  // expected-error@+1 {{level 'local': 'exec.buffer' belongs to no tensor level}}
  %0 = exec.buffer arena : memref<4xf32>
  return
}
}
