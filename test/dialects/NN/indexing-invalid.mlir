// RUN: dpc-opt %s --verify-diagnostics --split-input-file

// gather_c1
func.func @gather_refuses_dimension_out_of_rank(%a: tensor<4x5xf32>, %b: tensor<3xi64>) {
  // expected-error@+2 {{has dimension 2, but rank 2}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.gather %a, %b dim 2 : tensor<4x5xf32>, tensor<3xi64> -> tensor<4x3xf32>
  return
}

// -----

// scatter_add_c1
func.func @scatter_add_refuses_negative_dimension(%a: tensor<3x5xf32>, %b: tensor<3xi64>) {
  // expected-error@+1 {{has dimension -1, but rank 2}}
  nn.scatter_add %a, %b dim -1 : tensor<3x5xf32>, tensor<3xi64> -> tensor<4x5xf32>
  return
}

// -----

// scatter_add_c2: shape
func.func @scatter_add_refuses_other_shape(%a: tensor<5x3xf32>, %b: tensor<3xi64>) {
  // expected-error@+1 {{has updates of type 'tensor<5x3xf32>' where 'tensor<3x5xf32>' is needed}}
  nn.scatter_add %a, %b dim 0 : tensor<5x3xf32>, tensor<3xi64> -> tensor<4x5xf32>
  return
}

// -----

// scatter_add_c2: element type
func.func @scatter_add_refuses_other_type(%a: tensor<3x5xf64>, %b: tensor<3xi64>) {
  // expected-error@+1 {{has updates of type 'tensor<3x5xf64>' where 'tensor<3x5xf32>' is needed}}
  nn.scatter_add %a, %b dim 0 : tensor<3x5xf64>, tensor<3xi64> -> tensor<4x5xf32>
  return
}

// -----

// gather_elements_c1
func.func @gather_elements_refuses_dimension(%a: tensor<4x8xf32>, %b: tensor<4x2xi64>) {
  // expected-error@+2 {{has dimension 2, but rank 2}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.gather_elements %a, %b dim 2 : tensor<4x8xf32>, tensor<4x2xi64> -> tensor<4x2xf32>
  return
}

// -----

// gather_elements_c2: rank
func.func @gather_elements_refuses_other_rank(%a: tensor<4x8xf32>, %b: tensor<4xi64>) {
  // expected-error@+2 {{has indices of type 'tensor<4xi64>', which do not fit into 'tensor<4x8xf32>' beside dimension 1}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.gather_elements %a, %b dim 1 : tensor<4x8xf32>, tensor<4xi64> -> tensor<4xf32>
  return
}

// -----

// gather_elements_c2: extents
func.func @gather_elements_refuses_other_extent(%a: tensor<4x8xf32>, %b: tensor<5x2xi64>) {
  // expected-error@+2 {{has indices of type 'tensor<5x2xi64>', which do not fit into 'tensor<4x8xf32>' beside dimension 1}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.gather_elements %a, %b dim 1 : tensor<4x8xf32>, tensor<5x2xi64> -> tensor<5x2xf32>
  return
}

// -----

// scatter_elements_c1
func.func @scatter_elements_refuses_dimension(%a: tensor<4x8xf32>, %b: tensor<4x2xi64>, %c: tensor<4x2xf32>) {
  // expected-error@+1 {{has dimension 2, but rank 2}}
  nn.scatter_elements none %a, %b, %c dim 2 : tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32>
  return
}

// -----

// scatter_elements_c2
func.func @scatter_elements_refuses_indices(%a: tensor<4x8xf32>, %b: tensor<5x2xi64>, %c: tensor<5x2xf32>) {
  // expected-error@+1 {{has indices of type 'tensor<5x2xi64>', which do not fit into 'tensor<4x8xf32>' beside dimension 1}}
  nn.scatter_elements none %a, %b, %c dim 1 : tensor<4x8xf32>, tensor<5x2xi64>, tensor<5x2xf32>
  return
}

// -----

// scatter_elements_c3
func.func @scatter_elements_refuses_updates(%a: tensor<4x8xf32>, %b: tensor<4x2xi64>, %c: tensor<4x3xf32>) {
  // expected-error@+1 {{has updates of type 'tensor<4x3xf32>' where 'tensor<4x2xf32>' is needed}}
  nn.scatter_elements none %a, %b, %c dim 1 : tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x3xf32>
  return
}

// -----

// gather_nd_c1
func.func @gather_nd_refuses_batch_count(%a: tensor<4x8xf32>, %b: tensor<3x1xi64>) {
  // expected-error@+2 {{has 2 batch dimensions for 'tensor<4x8xf32>' and 'tensor<3x1xi64>'}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.gather_nd %a, %b {batchDims = 2 : i64} : tensor<4x8xf32>, tensor<3x1xi64> -> tensor<3xf32>
  return
}

// -----

// gather_nd_c2
func.func @gather_nd_refuses_batch_extent(%a: tensor<4x8xf32>, %b: tensor<3x1xi64>) {
  // expected-error@+2 {{has batch extents 4 and 3 along dimension 0}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.gather_nd %a, %b {batchDims = 1 : i64} : tensor<4x8xf32>, tensor<3x1xi64> -> tensor<3xf32>
  return
}

// -----

// gather_nd_c3
func.func @gather_nd_refuses_tuple_length(%a: tensor<4x8xf32>, %b: tensor<3x3xi64>) {
  // expected-error@+2 {{has index tuples of length 3 for 'tensor<4x8xf32>' with 0 batch dimensions}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.gather_nd %a, %b : tensor<4x8xf32>, tensor<3x3xi64> -> tensor<3xf32>
  return
}

// -----

// scatter_nd_c1
func.func @scatter_nd_refuses_scalar_indices(%a: tensor<4x8xf32>, %b: tensor<i64>, %c: tensor<4x8xf32>) {
  // expected-error@+1 {{has 0 batch dimensions for 'tensor<4x8xf32>' and 'tensor<i64>'}}
  nn.scatter_nd add %a, %b, %c : tensor<4x8xf32>, tensor<i64>, tensor<4x8xf32>
  return
}

// -----

// scatter_nd_c2
func.func @scatter_nd_refuses_batch_extent(%a: tensor<4x8xf32>, %b: tensor<3x1xi64>, %c: tensor<3xf32>) {
  // expected-error@+1 {{has batch extents 4 and 3 along dimension 0}}
  nn.scatter_nd add %a, %b, %c {batchDims = 1 : i64} : tensor<4x8xf32>, tensor<3x1xi64>, tensor<3xf32>
  return
}

// -----

// scatter_nd_c3
func.func @scatter_nd_refuses_tuple_length(%a: tensor<4x8xf32>, %b: tensor<3x3xi64>, %c: tensor<3xf32>) {
  // expected-error@+1 {{has index tuples of length 3 for 'tensor<4x8xf32>' with 0 batch dimensions}}
  nn.scatter_nd add %a, %b, %c : tensor<4x8xf32>, tensor<3x3xi64>, tensor<3xf32>
  return
}

// -----

// scatter_nd_c4
func.func @scatter_nd_refuses_updates(%a: tensor<4x8xf32>, %b: tensor<3x1xi64>, %c: tensor<3xf32>) {
  // expected-error@+1 {{has updates of type 'tensor<3xf32>' where 'tensor<3x8xf32>' is needed}}
  nn.scatter_nd add %a, %b, %c : tensor<4x8xf32>, tensor<3x1xi64>, tensor<3xf32>
  return
}

// -----

// top_k_c1
func.func @top_k_refuses_dimension(%a: tensor<4x8xf32>) {
  // expected-error@+2 {{has dimension 2, but rank 2}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.top_k %a dim 2 {k = 1 : i64} : tensor<4x8xf32> -> tensor<4x1xf32>, tensor<4x1xi64>
  return
}

// -----

// top_k_c2
func.func @top_k_refuses_large_k(%a: tensor<4x8xf32>) {
  // expected-error@+2 {{takes 9 of 8 elements}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.top_k %a dim 1 {k = 9 : i64} : tensor<4x8xf32> -> tensor<4x9xf32>, tensor<4x9xi64>
  return
}
