// RUN: dpc-opt %s --verify-diagnostics --split-input-file

// segment_sum_c1: a segment too few
func.func @segment_sum_refuses_missing_segment(%x: tensor<8xf32>, %b: tensor<3xi64>) {
  // expected-error@+1 {{has 'tensor<2xf32>' for the segments 'tensor<3xi64>' of 'tensor<8xf32>'}}
  nn.segment_sum %x, %b, %b : tensor<8xf32>, tensor<3xi64> -> tensor<2xf32>
  return
}

// -----

// segment_sum_c1: another type
func.func @segment_sum_refuses_other_type(%x: tensor<8xf32>, %b: tensor<2xi64>) {
  // expected-error@+1 {{has 'tensor<2xf64>' for the segments 'tensor<2xi64>' of 'tensor<8xf32>'}}
  nn.segment_sum %x, %b, %b : tensor<8xf32>, tensor<2xi64> -> tensor<2xf64>
  return
}

// -----

// segment_fill_c1
func.func @segment_fill_refuses_missing_segment(%x: tensor<2xf32>, %b: tensor<3xi64>) {
  // expected-error@+1 {{has 'tensor<2xf32>' for the segments 'tensor<3xi64>' of 'tensor<8xf32>'}}
  nn.segment_fill %x, %b, %b : tensor<2xf32>, tensor<3xi64> -> tensor<8xf32>
  return
}
