// RUN: dpc-opt %s --verify-diagnostics --split-input-file

// reduce_c1: inside the rank
func.func @reduce_refuses_dimension_out_of_rank(%a: tensor<4xf32>) {
  // expected-error@+2 {{has dimension 1, which is not increasing and inside rank 1}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.reduce sum %a [1] : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// reduce_c1: increasing
func.func @reduce_refuses_decreasing_dimensions(%a: tensor<4x4xf32>) {
  // expected-error@+2 {{has dimension 0, which is not increasing and inside rank 2}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.reduce sum %a [1, 0] : tensor<4x4xf32> -> tensor<f32>
  return
}

// -----

// reduce_c2
func.func @reduce_refuses_first_of_sum(%a: tensor<4xf32>) {
  // expected-error@+2 {{is sum with first, which is for max and min}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.reduce sum %a [0] {first} : tensor<4xf32> -> tensor<f32>
  return
}

// -----

// arg_reduce_c1
func.func @arg_reduce_refuses_sum(%a: tensor<4xf32>) {
  // expected-error@+1 {{has kind sum, which is not max or min}}
  nn.arg_reduce sum %a dim 0 : tensor<4xf32> -> tensor<i64>
  return
}

// -----

// arg_reduce_c2: rank
func.func @arg_reduce_refuses_dimension(%a: tensor<4xf32>) {
  // expected-error@+1 {{has dimension 1, which is empty or outside 'tensor<4xf32>'}}
  nn.arg_reduce max %a dim 1 : tensor<4xf32> -> tensor<i64>
  return
}

// -----

// arg_reduce_c2: empty
func.func @arg_reduce_refuses_empty_dimension(%a: tensor<0xf32>) {
  // expected-error@+1 {{has dimension 0, which is empty or outside 'tensor<0xf32>'}}
  nn.arg_reduce max %a dim 0 : tensor<0xf32> -> tensor<i64>
  return
}

// -----

// arg_reduce_c3
func.func @arg_reduce_refuses_other_shape(%a: tensor<4x5xf32>) {
  // expected-error@+1 {{gives 'tensor<4xi64>' for 'tensor<4x5xf32>'}}
  nn.arg_reduce max %a dim 0 : tensor<4x5xf32> -> tensor<4xi64>
  return
}

// -----

// cumsum_c1
func.func @cumsum_refuses_dimension_out_of_rank(%a: tensor<4xf32>) {
  // expected-error@+1 {{has dimension 1, but rank 1}}
  nn.cumsum %a dim 1 : tensor<4xf32>
  return
}
