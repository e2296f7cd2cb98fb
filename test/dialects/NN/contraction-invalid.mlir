// RUN: dpc-opt %s --verify-diagnostics --split-input-file

// dot_c1: lengths
func.func @refuses_other_dimension_count(%a: tensor<4x5xf32>, %b: tensor<5x4xf32>) {
  // expected-error@+2 {{has 2 and 1 contracted dimensions}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.dot %a, %b contract [0, 1] [0] : tensor<4x5xf32>, tensor<5x4xf32> -> tensor<4xf32>
  return
}

// -----

// dot_c1: rank
func.func @refuses_dimension_out_of_rank(%a: tensor<4x5xf32>, %b: tensor<5x4xf32>) {
  // expected-error@+2 {{pairs contracted dimensions 2 and 0, which are out of rank or paired before}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.dot %a, %b contract [2] [0] : tensor<4x5xf32>, tensor<5x4xf32> -> tensor<4x4xf32>
  return
}

// -----

// dot_c1: no dimension twice
func.func @refuses_repeated_dimension(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) {
  // expected-error@+2 {{pairs contracted dimensions 0 and 1, which are out of rank or paired before}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.dot %a, %b batch [0] [0] contract [0] [1] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return
}

// -----

// dot_c2
func.func @refuses_other_extent(%a: tensor<4x5xf32>, %b: tensor<6x4xf32>) {
  // expected-error@+2 {{pairs contracted extents 5 and 6}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.dot %a, %b contract [1] [0] : tensor<4x5xf32>, tensor<6x4xf32> -> tensor<4x4xf32>
  return
}

// -----

// dot_c3
func.func @refuses_factors_of_two_types(%a: tensor<4x5xf32>, %b: tensor<5x4xf64>) {
  // expected-error@+2 {{has element types 'f32' and 'f64'}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.dot %a, %b contract [1] [0] : tensor<4x5xf32>, tensor<5x4xf64> -> tensor<4x4xf32>
  return
}

// -----

// dot_c3: narrower than the factors
func.func @refuses_narrower_result(%a: tensor<4x5xf32>, %b: tensor<5x4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<4x4xf32>' are incompatible with return type(s) of operation 'tensor<4x4xbf16>'}}
  nn.dot %a, %b contract [1] [0] : tensor<4x5xf32>, tensor<5x4xf32> -> tensor<4x4xbf16>
  return
}

// -----

// dot_c3: another type of the same width
func.func @refuses_other_type_of_width(%a: tensor<4x5xbf16>, %b: tensor<5x4xbf16>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<4x4xbf16>' are incompatible with return type(s) of operation 'tensor<4x4xf16>'}}
  nn.dot %a, %b contract [1] [0] : tensor<4x5xbf16>, tensor<5x4xbf16> -> tensor<4x4xf16>
  return
}

// -----

// dot_c3: integers
func.func @refuses_wider_integers(%a: tensor<4x5xi32>, %b: tensor<5x4xi32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<4x4xi32>' are incompatible with return type(s) of operation 'tensor<4x4xi64>'}}
  nn.dot %a, %b contract [1] [0] : tensor<4x5xi32>, tensor<5x4xi32> -> tensor<4x4xi64>
  return
}

// -----

// dot_c3: a wider type of another shape
func.func @refuses_wider_other_shape(%a: tensor<4x5xbf16>, %b: tensor<5x4xbf16>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<4x4xbf16>' are incompatible with return type(s) of operation 'tensor<4x3xf32>'}}
  nn.dot %a, %b contract [1] [0] : tensor<4x5xbf16>, tensor<5x4xbf16> -> tensor<4x3xf32>
  return
}
