// RUN: dpc-opt %s --verify-diagnostics --split-input-file

// softmax_c1
func.func @softmax_refuses_dimension_out_of_rank(%a: tensor<4xf32>) {
  // expected-error@+1 {{has dimension 1, but rank 1}}
  nn.softmax %a dim 1 : tensor<4xf32>
  return
}

// -----

// log_softmax_c1
func.func @log_softmax_refuses_negative_dimension(%a: tensor<4xf32>) {
  // expected-error@+1 {{has dimension -1, but rank 1}}
  nn.log_softmax %a dim -1 : tensor<4xf32>
  return
}

// -----

// normalize_c1: inside the rank
func.func @normalize_refuses_dimension_out_of_rank(%a: tensor<4x5xf32>) {
  // expected-error@+2 {{has dimension 2, which is not increasing, inside and not empty in 'tensor<4x5xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.normalize %a [2] epsilon 0.1 : tensor<4x5xf32> -> tensor<4x5xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

// normalize_c1: increasing
func.func @normalize_refuses_repeated_dimension(%a: tensor<4x5xf32>) {
  // expected-error@+2 {{has dimension 1, which is not increasing, inside and not empty in 'tensor<4x5xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.normalize %a [1, 1] epsilon 0.1 : tensor<4x5xf32> -> tensor<4x5xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

// normalize_c1: not empty
func.func @normalize_refuses_empty_dimension(%a: tensor<4x0xf32>) {
  // expected-error@+2 {{has dimension 1, which is not increasing, inside and not empty in 'tensor<4x0xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.normalize %a [1] epsilon 0.1 : tensor<4x0xf32> -> tensor<4x0xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

// normalize_c2: not negative
func.func @normalize_refuses_negative_epsilon(%a: tensor<4x5xf32>) {
  // expected-error@+2 {{has epsilon -5.000000e-01, which is not a number >= 0}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.normalize %a [1] epsilon -0.5 : tensor<4x5xf32> -> tensor<4x5xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

// normalize_c2: a number
func.func @normalize_refuses_nan_epsilon(%a: tensor<4x5xf32>) {
  // expected-error@+2 {{which is not a number >= 0}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.normalize %a [1] epsilon 0x7FF8000000000000 : tensor<4x5xf32> -> tensor<4x5xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

// batch_norm_c1: rank
func.func @batch_norm_refuses_missing_channels(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{has an input of type 'tensor<4xf32>', which lacks samples or channels}}
  nn.batch_norm %a, %b, %b, %b, %b {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64} : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

// batch_norm_c1: empty
func.func @batch_norm_refuses_empty_batch(%a: tensor<0x4xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{has an input of type 'tensor<0x4xf32>', which lacks samples or channels}}
  nn.batch_norm %a, %b, %b, %b, %b {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64} : tensor<0x4xf32>, tensor<4xf32>
  return
}

// -----

// batch_norm_c2: channels
func.func @batch_norm_refuses_channel_count(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error@+1 {{has channel values of type 'tensor<2xf32>' where 'tensor<3xf32>' is needed}}
  nn.batch_norm %a, %b, %b, %b, %b {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64} : tensor<2x3xf32>, tensor<2xf32>
  return
}

// -----

// batch_norm_c2: element type
func.func @batch_norm_refuses_other_type(%a: tensor<2x3xf32>, %b: tensor<3xf64>) {
  // expected-error@+1 {{has channel values of type 'tensor<3xf64>' where 'tensor<3xf32>' is needed}}
  nn.batch_norm %a, %b, %b, %b, %b {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64} : tensor<2x3xf32>, tensor<3xf64>
  return
}

// -----

// batch_norm_c3: epsilon
func.func @batch_norm_refuses_negative_epsilon(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{which is not a number >= 0}}
  nn.batch_norm %a, %b, %b, %b, %b {epsilon = -1.0 : f64, momentum = 0.9 : f64} : tensor<2x3xf32>, tensor<3xf32>
  return
}

// -----

// batch_norm_c3: momentum
func.func @batch_norm_refuses_large_momentum(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{which is not in [0, 1]}}
  nn.batch_norm %a, %b, %b, %b, %b {epsilon = 1.0e-5 : f64, momentum = 1.5 : f64} : tensor<2x3xf32>, tensor<3xf32>
  return
}
