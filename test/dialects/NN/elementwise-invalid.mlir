// RUN: dpc-opt %s --verify-diagnostics --split-input-file

// compare_c1
func.func @compare_refuses_two_types(%a: tensor<4xf32>, %b: tensor<4xf64>) {
  // expected-error@+1 {{failed to verify that all of {lhs, rhs} have same type}}
  "nn.compare"(%a, %b) {comparison = 2 : i32} : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xi1>
  return
}

// -----

// Elementwise operands have one shape: nothing broadcasts by itself.
func.func @refuses_implicit_broadcast(%a: tensor<4xf32>, %b: tensor<f32>) {
  // expected-error@+1 {{requires the same shape for all operands and results}}
  "nn.add"(%a, %b) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

// Elementwise operands have one shape, also where the types differ.
func.func @refuses_condition_of_other_shape(%a: tensor<4xi1>, %b: tensor<8xf32>) {
  // expected-error@+1 {{requires the same shape for all operands and results}}
  "nn.select"(%a, %b, %b) : (tensor<4xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// Shapes are static.
func.func @refuses_dynamic_shape(%a: tensor<?xf32>) {
  // expected-error@+1 {{must be statically shaped tensor}}
  "nn.neg"(%a) : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

// Elements that cannot be counted: 2^40 are the most.
func.func @accepts_most_elements(%x: tensor<1048576x1048576xf32>) {
  %y = nn.exp %x : tensor<1048576x1048576xf32>
  return
}

// -----

func.func @refuses_too_many_elements(%x: tensor<1048576x1048577xf32>) {
  // expected-error@+1 {{values, at most 2^40 of them}}
  %y = nn.exp %x : tensor<1048576x1048577xf32>
  return
}

// -----

// The product of these extents is 0 in 64 bits.
func.func @refuses_overflowing_element_count(%x: tensor<4294967296x4294967296xf32>) {
  // expected-error@+1 {{values, at most 2^40 of them}}
  %y = nn.exp %x : tensor<4294967296x4294967296xf32>
  return
}
