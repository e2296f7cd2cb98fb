// RUN: dpc-opt %s --verify-diagnostics --split-input-file

// cross_entropy_c1: rank
func.func @refuses_dimension_out_of_rank(%a: tensor<8x10xf32>, %b: tensor<8xi64>) {
  // expected-error@+2 {{has dimension 2, which is empty or outside 'tensor<8x10xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.cross_entropy %a, %b dim 2 : tensor<8x10xf32>, tensor<8xi64> -> tensor<8xf32>, tensor<8xf32>
  return
}

// -----

// cross_entropy_c1: empty
func.func @refuses_empty_classes(%a: tensor<8x0xf32>, %b: tensor<8xi64>) {
  // expected-error@+2 {{has dimension 1, which is empty or outside 'tensor<8x0xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.cross_entropy %a, %b dim 1 : tensor<8x0xf32>, tensor<8xi64> -> tensor<8xf32>, tensor<8xf32>
  return
}

// -----

// cross_entropy_c2
func.func @refuses_labels_of_other_shape(%a: tensor<8x10xf32>, %b: tensor<10xi64>) {
  // expected-error@+2 {{has labels of type 'tensor<10xi64>' for logits of type 'tensor<8x10xf32>' with classes along dimension 1}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.cross_entropy %a, %b dim 1 : tensor<8x10xf32>, tensor<10xi64> -> tensor<8xf32>, tensor<8xf32>
  return
}

// -----

// cross_entropy_c3
func.func @refuses_smoothing_above_one(%a: tensor<8x10xf32>, %b: tensor<8xi64>) {
  // expected-error@+2 {{which is not in [0, 1]}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.cross_entropy %a, %b dim 1 {labelSmoothing = 1.5 : f64} : tensor<8x10xf32>, tensor<8xi64> -> tensor<8xf32>, tensor<8xf32>
  return
}
