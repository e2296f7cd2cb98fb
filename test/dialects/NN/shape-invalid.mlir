// RUN: dpc-opt %s --verify-diagnostics --split-input-file

// reshape_c1
func.func @reshape_refuses_other_element_count(%a: tensor<4xf32>) {
  // expected-error@+1 {{makes 6 elements of 4}}
  nn.reshape %a : tensor<4xf32> -> tensor<2x3xf32>
  return
}

// -----

// reshape_c2
func.func @reshape_refuses_other_type(%a: tensor<4xf32>) {
  // expected-error@+1 {{turns 'f32' into 'f64'}}
  nn.reshape %a : tensor<4xf32> -> tensor<2x2xf64>
  return
}

// -----

// transpose_c1: every dimension
func.func @transpose_refuses_missing_dimension(%a: tensor<4x5xf32>) {
  // expected-error@+2 {{permutation that does not hold every dimension of 'tensor<4x5xf32>' once}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.transpose %a [1] : tensor<4x5xf32> -> tensor<5xf32>
  return
}

// -----

// transpose_c1: once
func.func @transpose_refuses_repeated_dimension(%a: tensor<4x5xf32>) {
  // expected-error@+2 {{permutation that does not hold every dimension of 'tensor<4x5xf32>' once}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.transpose %a [1, 1] : tensor<4x5xf32> -> tensor<5x5xf32>
  return
}

// -----

// transpose_c1: inside the rank
func.func @transpose_refuses_dimension_out_of_rank(%a: tensor<4x5xf32>) {
  // expected-error@+2 {{permutation that does not hold every dimension of 'tensor<4x5xf32>' once}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.transpose %a [0, 2] : tensor<4x5xf32> -> tensor<4x5xf32>
  return
}

// -----

// The result type follows.
func.func @transpose_refuses_other_result_type(%a: tensor<4x5xf32>) {
  // expected-error@+2 {{inferred type(s) 'tensor<5x4xf32>' are incompatible with return type(s) of operation 'tensor<4x5xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.transpose %a [1, 0] : tensor<4x5xf32> -> tensor<4x5xf32>
  return
}

// -----

// broadcast_c1: one entry a dimension
func.func @broadcast_refuses_surplus_dimension(%a: tensor<4xf32>) {
  // expected-error@+1 {{has 2 dimensions for an operand of rank 1}}
  nn.broadcast %a [0, 1] : tensor<4xf32> -> tensor<4x4xf32>
  return
}

// -----

// broadcast_c1: increasing
func.func @broadcast_refuses_decreasing_dimensions(%a: tensor<4x4xf32>) {
  // expected-error@+1 {{dimensions that are not increasing: 0 after 1}}
  nn.broadcast %a [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  return
}

// -----

// broadcast_c1: inside the result
func.func @broadcast_refuses_dimension_out_of_rank(%a: tensor<4xf32>) {
  // expected-error@+1 {{has dimension 2 in its dimensions, but rank 2}}
  nn.broadcast %a [2] : tensor<4xf32> -> tensor<4x4xf32>
  return
}

// -----

// broadcast_c2: extents
func.func @broadcast_refuses_other_extent(%a: tensor<1xf32>) {
  // expected-error@+1 {{maps dimension 0 of extent 1 to dimension 0 of extent 4}}
  nn.broadcast %a [0] : tensor<1xf32> -> tensor<4xf32>
  return
}

// -----

// broadcast_c2: element types
func.func @broadcast_refuses_other_type(%a: tensor<4xf32>) {
  // expected-error@+1 {{turns 'f32' into 'f64'}}
  nn.broadcast %a [0] : tensor<4xf32> -> tensor<4xf64>
  return
}

// -----

// slice_c1
func.func @slice_refuses_surplus_stride(%a: tensor<4xf32>) {
  // expected-error@+2 {{has 1 starts, 1 limits and 2 strides for rank 1}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.slice %a starts [0] limits [2] strides [1, 1] : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

// slice_c2: limit
func.func @slice_refuses_limit_past_end(%a: tensor<4xf32>) {
  // expected-error@+2 {{takes [0, 5) by 1 from extent 4}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.slice %a starts [0] limits [5] strides [1] : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

// slice_c2: start
func.func @slice_refuses_start_past_limit(%a: tensor<4xf32>) {
  // expected-error@+2 {{takes [3, 2) by 1 from extent 4}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.slice %a starts [3] limits [2] strides [1] : tensor<4xf32> -> tensor<0xf32>
  return
}

// -----

// slice_c2: stride
func.func @slice_refuses_zero_stride(%a: tensor<4xf32>) {
  // expected-error@+2 {{takes [0, 4) by 0 from extent 4}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.slice %a starts [0] limits [4] strides [0] : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// pad_c1
func.func @pad_refuses_surplus_entry(%a: tensor<4xf32>, %b: tensor<f32>) {
  // expected-error@+2 {{has 1 low, 2 high and 1 interior for rank 1}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.pad %a, %b low [0] high [0, 1] interior [0] : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  return
}

// -----

// pad_c2: interior
func.func @pad_refuses_negative_interior(%a: tensor<4xf32>, %b: tensor<f32>) {
  // expected-error@+2 {{pads extent 4 by 0, 0 and -1 between}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.pad %a, %b low [0] high [0] interior [-1] : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  return
}

// -----

// pad_c2: extent
func.func @pad_refuses_negative_extent(%a: tensor<4xf32>, %b: tensor<f32>) {
  // expected-error@+2 {{pads extent 4 by -3, -2 and 0 between}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.pad %a, %b low [-3] high [-2] interior [0] : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  return
}

// -----

// pad_c3
func.func @pad_refuses_other_type(%a: tensor<4xf32>, %b: tensor<f64>) {
  // expected-error@+2 {{pads 'f32' with 'f64'}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.pad %a, %b low [0] high [0] interior [0] : tensor<4xf32>, tensor<f64> -> tensor<4xf32>
  return
}

// -----

// concat_c1: an operand
func.func @concat_refuses_no_operands() {
  // expected-error@+2 {{has no operands}}
  // expected-error@+1 {{failed to infer returned types}}
  "nn.concat"() {dimension = 0 : i64} : () -> tensor<4xf32>
  return
}

// -----

// concat_c1: dimension
func.func @concat_refuses_dimension_out_of_rank(%a: tensor<4xf32>) {
  // expected-error@+2 {{has dimension 1, but rank 1}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.concat %a dim 1 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// concat_c2: extents
func.func @concat_refuses_other_extent(%a: tensor<4x2xf32>, %b: tensor<5x2xf32>) {
  // expected-error@+2 {{joins 'tensor<4x2xf32>' and 'tensor<5x2xf32>' along dimension 1}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.concat %a, %b dim 1 : tensor<4x2xf32>, tensor<5x2xf32> -> tensor<4x4xf32>
  return
}

// -----

// concat_c2: element types
func.func @concat_refuses_other_type(%a: tensor<4xf32>, %b: tensor<4xf64>) {
  // expected-error@+2 {{joins 'tensor<4xf32>' and 'tensor<4xf64>' along dimension 0}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.concat %a, %b dim 0 : tensor<4xf32>, tensor<4xf64> -> tensor<8xf32>
  return
}

// -----

// concat_c2: ranks
func.func @concat_refuses_other_rank(%a: tensor<4x2xf32>, %b: tensor<4xf32>) {
  // expected-error@+2 {{joins 'tensor<4x2xf32>' and 'tensor<4xf32>' along dimension 1}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.concat %a, %b dim 1 : tensor<4x2xf32>, tensor<4xf32> -> tensor<4x2xf32>
  return
}

// -----

// reverse_c1
func.func @reverse_refuses_repeated_dimension(%a: tensor<4xf32>) {
  // expected-error@+1 {{dimensions that are not increasing: 0 after 0}}
  nn.reverse %a [0, 0] : tensor<4xf32>
  return
}

// -----

// iota_c1
func.func @iota_refuses_dimension_out_of_rank() {
  // expected-error@+1 {{has dimension 1, but rank 1}}
  nn.iota dim 1 : tensor<4xi64>
  return
}
