// RUN: dpc-opt %s --verify-diagnostics --split-input-file

// mesh_c1
// expected-error@+1 {{has 2 axes but 1 sizes}}
dist.mesh @mesh axes ["data", "model"] sizes [2]

// -----

// mesh_c2
// expected-error@+1 {{mesh axis 'data' has size 0, less than 1}}
dist.mesh @mesh axes ["data"] sizes [0]

// -----

// mesh_c3: identifiers
// expected-error@+1 {{mesh axis 0 has the name '1d', which is not an identifier}}
dist.mesh @mesh axes ["1d"] sizes [2]

// -----

// mesh_c3: each once
// expected-error@+1 {{mesh axes 0 and 2 are both named 'data'}}
dist.mesh @mesh axes ["data", "model", "data"] sizes [2, 2, 2]

// -----

// mesh_c4
// expected-error@+1 {{has sequential axis "micro", which is not among its axes}}
dist.mesh @mesh axes ["data"] sizes [2] sequential ["micro"]

// -----

// all_reduce_c1: no such symbol
func.func @refuses_missing_mesh(%x: tensor<4xf32>) {
  // expected-error@+1 {{refers to @mesh, which is not a dist.mesh}}
  dist.all_reduce sum %x on @mesh ["data"] : tensor<4xf32>
  return
}

// -----

// all_reduce_c1: a symbol of another kind
func.func @refuses_function_as_mesh(%x: tensor<4xf32>) {
  // expected-error@+1 {{refers to @refuses_function_as_mesh, which is not a dist.mesh}}
  dist.all_reduce sum %x on @refuses_function_as_mesh ["data"] : tensor<4xf32>
  return
}

// -----

// all_reduce_c2: not an axis
// expected-note@+1 {{mesh defined here}}
dist.mesh @mesh axes ["data"] sizes [2]
func.func @refuses_unknown_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{uses axis "model", which is not a parallel axis of @mesh}}
  dist.all_reduce sum %x on @mesh ["data", "model"] : tensor<4xf32>
  return
}

// -----

// all_reduce_c2: not a parallel axis
// expected-note@+1 {{mesh defined here}}
dist.mesh @mesh axes ["micro", "data"] sizes [2, 2] sequential ["micro"]
func.func @refuses_sequential_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{uses axis "micro", which is not a parallel axis of @mesh}}
  dist.all_reduce sum %x on @mesh ["micro"] : tensor<4xf32>
  return
}

// -----

// all_reduce_c2: once
dist.mesh @mesh axes ["data"] sizes [2]
func.func @refuses_repeated_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{lists axis "data" twice}}
  dist.all_reduce sum %x on @mesh ["data", "data"] : tensor<4xf32>
  return
}

// -----

// Axes of the other collectives are checked alike.
// expected-note@+1 {{mesh defined here}}
dist.mesh @mesh axes ["data"] sizes [2]
func.func @all_gather_refuses_unknown_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{uses axis "model", which is not a parallel axis of @mesh}}
  dist.all_gather %x on @mesh ["model"] : tensor<4xf32> -> tensor<2x4xf32>
  return
}

// -----

// expected-note@+1 {{mesh defined here}}
dist.mesh @mesh axes ["data"] sizes [2]
func.func @reduce_scatter_refuses_unknown_axis(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{uses axis "model", which is not a parallel axis of @mesh}}
  dist.reduce_scatter sum %x on @mesh ["model"] : tensor<2x4xf32> -> tensor<4xf32>
  return
}

// -----

// expected-note@+1 {{mesh defined here}}
dist.mesh @mesh axes ["data"] sizes [2]
func.func @all_to_all_refuses_unknown_axis(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{uses axis "model", which is not a parallel axis of @mesh}}
  dist.all_to_all %x on @mesh ["model"] : tensor<2x4xf32>
  return
}

// -----

// all_gather_c3: the group's size
dist.mesh @mesh axes ["data", "model"] sizes [2, 3]
func.func @all_gather_refuses_other_group_size(%x: tensor<4xf32>) {
  // expected-error@+1 {{has types 'tensor<4xf32>' and 'tensor<2x4xf32>' for a group of 6}}
  dist.all_gather %x on @mesh ["data", "model"] : tensor<4xf32> -> tensor<2x4xf32>
  return
}

// -----

// all_gather_c3: the element type
dist.mesh @mesh axes ["data"] sizes [2]
func.func @all_gather_refuses_other_element_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{has types 'tensor<4xf32>' and 'tensor<2x4xf64>' for a group of 2}}
  dist.all_gather %x on @mesh ["data"] : tensor<4xf32> -> tensor<2x4xf64>
  return
}

// -----

// reduce_scatter_c3
dist.mesh @mesh axes ["data"] sizes [2]
func.func @reduce_scatter_refuses_other_group_size(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{has types 'tensor<4xf32>' and 'tensor<3x4xf32>' for a group of 2}}
  dist.reduce_scatter sum %x on @mesh ["data"] : tensor<3x4xf32> -> tensor<4xf32>
  return
}

// -----

// all_to_all_c3: a slice for each member
dist.mesh @mesh axes ["data"] sizes [2]
func.func @all_to_all_refuses_other_slice_count(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{cuts 'tensor<4x2xf32>' for a group of 2}}
  dist.all_to_all %x on @mesh ["data"] : tensor<4x2xf32>
  return
}

// -----

// all_to_all_c3: a scalar has no slices
dist.mesh @mesh axes ["data"] sizes [2]
func.func @all_to_all_refuses_scalar(%x: tensor<f32>) {
  // expected-error@+1 {{cuts 'tensor<f32>' for a group of 2}}
  dist.all_to_all %x on @mesh ["data"] : tensor<f32>
  return
}

// -----

// reshard_c1: `from`
func.func @reshard_refuses_from_of_other_shape(%x: tensor<4xf32>) {
  // expected-error@+1 {{has layout #dist.layout<"[8]"> for a tensor of type 'tensor<4xf32>'}}
  dist.reshard %x from <"[8]"> to <"[4]"> : tensor<4xf32>
  return
}

// -----

// reshard_c1: `to`
func.func @reshard_refuses_to_of_other_rank(%x: tensor<4xf32>) {
  // expected-error@+1 {{has layout #dist.layout<"[4], [1]"> for a tensor of type 'tensor<4xf32>'}}
  dist.reshard %x from <"[4]"> to <"[4], [1]"> : tensor<4xf32>
  return
}

// -----

// micro_c1: one kind an operand
func.func @micro_refuses_operand_without_kind(%x: tensor<2xf32>) {
  // expected-error@+1 {{has 0 and 0 kinds for 1 operands and 0 results}}
  dist.micro 2 "micro" (%x : tensor<2xf32>) operands [] {
  ^bb0(%xm: tensor<2xf32>):
    dist.yield
  } -> () results []
  return
}

// -----

// micro_c1: one kind a result
func.func @micro_refuses_result_without_kind(%x: tensor<2xf32>) {
  // expected-error@+1 {{has 1 and 0 kinds for 1 operands and 1 results}}
  %0 = dist.micro 2 "micro" (%x : tensor<2xf32>) operands [whole] {
  ^bb0(%xm: tensor<2xf32>):
    dist.yield %xm : tensor<2xf32>
  } -> (tensor<2xf32>) results []
  return
}

// -----

// micro_c1: operands are whole or sliced
func.func @micro_refuses_summed_operand(%x: tensor<2xf32>) {
  // expected-error@+1 {{has kind summed on the wrong side of the loop}}
  dist.micro 2 "micro" (%x : tensor<2xf32>) operands [summed] {
  ^bb0(%xm: tensor<2xf32>):
    dist.yield
  } -> () results []
  return
}

// -----

// micro_c1: results are stacked or summed
func.func @micro_refuses_whole_result(%x: tensor<2xf32>) {
  // expected-error@+1 {{has kind whole on the wrong side of the loop}}
  %0 = dist.micro 2 "micro" (%x : tensor<2xf32>) operands [whole] {
  ^bb0(%xm: tensor<2xf32>):
    dist.yield %xm : tensor<2xf32>
  } -> (tensor<2xf32>) results [whole]
  return
}

// -----

// micro_c2: one slice a turn
func.func @micro_refuses_other_slice_count(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{cuts 'tensor<3x4xf32>' into 2}}
  dist.micro 2 "micro" (%x : tensor<3x4xf32>) operands [sliced] {
  ^bb0(%xm: tensor<4xf32>):
    dist.yield
  } -> () results []
  return
}

// -----

// micro_c2: a scalar has no slices
func.func @micro_refuses_sliced_scalar(%x: tensor<f32>) {
  // expected-error@+1 {{cuts 'tensor<f32>' into 2}}
  dist.micro 2 "micro" (%x : tensor<f32>) operands [sliced] {
  ^bb0(%xm: tensor<f32>):
    dist.yield
  } -> () results []
  return
}

// -----

// micro_c2: the type of a slice
func.func @micro_refuses_type_of_slice(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{has 'tensor<2x4xf32>' inside for 'tensor<2x4xf32>' outside, sliced}}
  dist.micro 2 "micro" (%x : tensor<2x4xf32>) operands [sliced] {
  ^bb0(%xm: tensor<2x4xf32>):
    dist.yield
  } -> () results []
  return
}

// -----

// micro_c2: the type of a whole operand
func.func @micro_refuses_type_of_whole(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{has 'tensor<4xf32>' inside for 'tensor<2x4xf32>' outside, whole}}
  dist.micro 2 "micro" (%x : tensor<2x4xf32>) operands [whole] {
  ^bb0(%xm: tensor<4xf32>):
    dist.yield
  } -> () results []
  return
}

// -----

// micro_c2: the type of what is stacked
func.func @micro_refuses_type_of_stacked(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{has 'tensor<2x4xf32>' inside for 'tensor<2x4xf32>' outside, stacked}}
  %0 = dist.micro 2 "micro" (%x : tensor<2x4xf32>) operands [whole] {
  ^bb0(%xm: tensor<2x4xf32>):
    dist.yield %xm : tensor<2x4xf32>
  } -> (tensor<2x4xf32>) results [stacked]
  return
}

// -----

// micro_c2: the type of what is summed
func.func @micro_refuses_type_of_summed(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{has 'tensor<2x4xf32>' inside for 'tensor<4xf32>' outside, summed}}
  %0 = dist.micro 2 "micro" (%x : tensor<2x4xf32>) operands [whole] {
  ^bb0(%xm: tensor<2x4xf32>):
    dist.yield %xm : tensor<2x4xf32>
  } -> (tensor<4xf32>) results [summed]
  return
}

// -----

// micro_c2: one region argument an operand
func.func @micro_refuses_missing_region_argument(%x: tensor<2xf32>) {
  // expected-error@+1 {{has 0 region arguments for 1 operands}}
  dist.micro 2 "micro" (%x : tensor<2xf32>) operands [whole] {
    dist.yield
  } -> () results []
  return
}

// -----

// micro_c2: one yielded value a result
func.func @micro_refuses_missing_yielded_value(%x: tensor<2xf32>) {
  // expected-error@+1 {{yields 0 values for 1 results}}
  %0 = dist.micro 2 "micro" (%x : tensor<2xf32>) operands [whole] {
  ^bb0(%xm: tensor<2xf32>):
    dist.yield
  } -> (tensor<2xf32>) results [summed]
  return
}

// -----

// A region reads nothing around it.
func.func @micro_refuses_outer_value(%x: tensor<2xf32>) {
  // expected-note@+1 {{required by region isolation constraints}}
  dist.micro 2 "micro" () operands [] {
    // expected-error@+1 {{using value defined outside the region}}
    %0 = nn.neg %x : tensor<2xf32>
    dist.yield
  } -> () results []
  return
}

// -----

// Kinds are words.
func.func @micro_refuses_unknown_kind(%x: tensor<2xf32>) {
  // expected-error@+1 {{'half' is not whole, sliced, stacked or summed}}
  dist.micro 2 "micro" (%x : tensor<2xf32>) operands [half] {
  ^bb0(%xm: tensor<2xf32>):
    dist.yield
  } -> () results []
  return
}

// -----

// A layout that does not parse.
// expected-error@+1 {{layout "[8": column 3: expected}}
func.func private @refuses_malformed_layout(tensor<8xf32> {dist.layout = #dist.layout<"[8">})

// -----

// dist.layout of an argument is a layout ...
// expected-error@+1 {{argument 0 has "dist.layout" that is not #dist.layout}}
func.func private @refuses_other_layout_of_argument(tensor<8xf32> {dist.layout = 3 : i64})

// -----

// ... of its rank.
// expected-error@+1 {{argument 1 has layout #dist.layout<"[4], [2]"> for type 'tensor<8xf32>'}}
func.func private @refuses_layout_of_other_rank(tensor<8xf32>, tensor<8xf32> {dist.layout = #dist.layout<"[4], [2]">})

// -----

// expected-error@+1 {{result 0 has "dist.layout" that is not #dist.layout}}
func.func private @refuses_other_layout_of_result() -> (tensor<8xf32> {dist.layout = "whole"})

// -----

// Nothing else is known on arguments.
// expected-error@+1 {{argument 0 has "dist.cut" that is not #dist.layout}}
func.func private @refuses_unknown_argument_attribute(tensor<8xf32> {dist.cut = #dist.layout<"[8]">})

// -----

// One layout an operand ...
func.func @refuses_missing_operand_layout(%x: tensor<8xf32>) {
  // expected-error@+1 {{dist.operands does not hold one layout for each of 1 values}}
  nn.neg %x {dist.operands = []} : tensor<8xf32>
  return
}

// -----

// ... in a list ...
func.func @refuses_layout_outside_list(%x: tensor<8xf32>) {
  // expected-error@+1 {{dist.results does not hold one layout for each of 1 values}}
  nn.neg %x {dist.results = #dist.layout<"[8]">} : tensor<8xf32>
  return
}

// -----

// ... of layouts ...
func.func @refuses_text_as_layout(%x: tensor<8xf32>) {
  // expected-error@+1 {{dist.results has "[8]" for a value of type 'tensor<8xf32>'}}
  nn.neg %x {dist.results = ["[8]"]} : tensor<8xf32>
  return
}

// -----

// ... of the value's shape.
func.func @refuses_layout_of_other_shape(%x: tensor<8xf32>) {
  // expected-error@+1 {{dist.operands has #dist.layout<"[4]"> for a value of type 'tensor<8xf32>'}}
  nn.neg %x {dist.operands = [#dist.layout<"[4]">]} : tensor<8xf32>
  return
}

// -----

func.func @refuses_unknown_op_attribute(%x: tensor<8xf32>) {
  // expected-error@+1 {{has the unknown attribute "dist.color"}}
  nn.neg %x {dist.color = 1 : i64} : tensor<8xf32>
  return
}
