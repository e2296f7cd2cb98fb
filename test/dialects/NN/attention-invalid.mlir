// RUN: dpc-opt %s --verify-diagnostics --split-input-file

// attention_c1: the last dimension
func.func @refuses_rows_in_last_dimension(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x2xf32>) {
  // expected-error@+2 {{has rows 1 in operands of types}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.attention %q, %k, %v rows 1 scale 0.5 : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2xf32> -> tensor<4x2xf32>, tensor<4xf32>
  return
}

// -----

// attention_c1: ranks
func.func @refuses_other_rank(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x2x1xf32>) {
  // expected-error@+2 {{has rows 0 in operands of types}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.attention %q, %k, %v rows 0 scale 0.5 : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2x1xf32> -> tensor<4x2xf32>, tensor<4xf32>
  return
}

// -----

// attention_c2: lengths of rows
func.func @refuses_other_row_length(%q: tensor<4x8xf32>, %k: tensor<6x7xf32>, %v: tensor<6x2xf32>) {
  // expected-error@+2 {{which do not fit or are empty}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.attention %q, %k, %v rows 0 scale 0.5 : tensor<4x8xf32>, tensor<6x7xf32>, tensor<6x2xf32> -> tensor<4x2xf32>, tensor<4xf32>
  return
}

// -----

// attention_c2: numbers of rows
func.func @refuses_other_row_count(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<5x2xf32>) {
  // expected-error@+2 {{which do not fit or are empty}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.attention %q, %k, %v rows 0 scale 0.5 : tensor<4x8xf32>, tensor<6x8xf32>, tensor<5x2xf32> -> tensor<4x2xf32>, tensor<4xf32>
  return
}

// -----

// attention_c2: batch
func.func @refuses_other_batch(%q: tensor<3x4x8xf32>, %k: tensor<2x4x8xf32>) {
  // expected-error@+2 {{which do not fit or are empty}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.attention %q, %k, %k rows 1 scale 0.5 : tensor<3x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32> -> tensor<3x4x8xf32>, tensor<3x4xf32>
  return
}

// -----

// attention_c2: empty
func.func @refuses_empty_queries(%q: tensor<0x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x2xf32>) {
  // expected-error@+2 {{which do not fit or are empty}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.attention %q, %k, %v rows 0 scale 0.5 : tensor<0x8xf32>, tensor<6x8xf32>, tensor<6x2xf32> -> tensor<0x2xf32>, tensor<0xf32>
  return
}

// -----

// attention_c3: extent
func.func @refuses_mask_of_other_extent(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x2xf32>, %m: tensor<4xf32>) {
  // expected-error@+2 {{has a mask of extents}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.attention %q, %k, %v mask %m [1] rows 0 scale 0.5 : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2xf32>, tensor<4xf32> -> tensor<4x2xf32>, tensor<4xf32>
  return
}

// -----

// attention_c3: rank
func.func @refuses_mask_of_other_rank(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x2xf32>, %m: tensor<4xf32>) {
  // expected-error@+2 {{has a mask of extents}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.attention %q, %k, %v mask %m [0, 1] rows 0 scale 0.5 : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2xf32>, tensor<4xf32> -> tensor<4x2xf32>, tensor<4xf32>
  return
}

// -----

// attention_c3: order
func.func @refuses_mask_of_other_order(%q: tensor<4x8xf32>, %m: tensor<4x4xf32>) {
  // expected-error@+2 {{has a mask of extents}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.attention %q, %q, %q mask %m [1, 0] rows 0 scale 0.5 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x4xf32> -> tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

// attention_c4
func.func @refuses_causal_surplus_queries(%q: tensor<7x8xf32>, %k: tensor<6x8xf32>) {
  // expected-error@+2 {{is causal with 7 queries but 6 keys}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.attention %q, %k, %k rows 0 scale 0.5 causal : tensor<7x8xf32>, tensor<6x8xf32>, tensor<6x8xf32> -> tensor<7x8xf32>, tensor<7xf32>
  return
}

// -----

// attention_c5
func.func @refuses_infinite_scale(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x2xf32>) {
  // expected-error@+2 {{which is not finite}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.attention %q, %k, %v rows 0 scale 0x7FF0000000000000 : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2xf32> -> tensor<4x2xf32>, tensor<4xf32>
  return
}

// -----

// attention_c6
func.func @refuses_keys_of_other_type(%q: tensor<4x8xf32>, %k: tensor<6x8xf64>, %v: tensor<6x2xf32>) {
  // expected-error@+2 {{has operands of types 'tensor<4x8xf32>' and 'tensor<6x8xf64>'}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.attention %q, %k, %v rows 0 scale 0.5 : tensor<4x8xf32>, tensor<6x8xf64>, tensor<6x2xf32> -> tensor<4x2xf32>, tensor<4xf32>
  return
}

// -----

// attention_grad_c7
func.func @refuses_delta_of_other_shape(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x2xf32>, %l: tensor<4xf32>, %d: tensor<6xf32>, %g: tensor<4x2xf32>) {
  // expected-error@+2 {{has logSumExp 'tensor<4xf32>', delta 'tensor<6xf32>' and resultGrad 'tensor<4x2xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.attention_grad %q, %k, %v, %l, %d, %g rows 0 scale 0.5 : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2xf32>, tensor<4xf32>, tensor<6xf32>, tensor<4x2xf32> -> tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2xf32>
  return
}

// -----

// attention_c6: the mask is of the operands' type or of that of the sums
func.func @refuses_mask_of_other_type(%q: tensor<4x8xbf16>, %k: tensor<6x8xbf16>, %v: tensor<6x2xbf16>, %m: tensor<4xf16>) {
  // expected-error@+2 {{has operands of types 'tensor<4x8xbf16>' and 'tensor<4xf16>'}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.attention %q, %k, %v mask %m [0] rows 0 scale 0.5 : tensor<4x8xbf16>, tensor<6x8xbf16>, tensor<6x2xbf16>, tensor<4xf16> -> tensor<4x2xbf16>, tensor<4xf32>
  return
}

// -----

// attention_c6: a factor is of no other type
func.func @refuses_values_of_other_type(%q: tensor<4x8xbf16>, %k: tensor<6x8xbf16>, %v: tensor<6x2xf32>) {
  // expected-error@+2 {{has operands of types 'tensor<4x8xbf16>' and 'tensor<6x2xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.attention %q, %k, %v rows 0 scale 0.5 : tensor<4x8xbf16>, tensor<6x8xbf16>, tensor<6x2xf32> -> tensor<4x2xbf16>, tensor<4xf32>
  return
}

// -----

// attention_c6: the result is as wide as the operands, or wider
func.func @refuses_narrower_result(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x2xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{are incompatible with return type(s) of operation 'tensor<4x2xbf16>', 'tensor<4xf32>'}}
  nn.attention %q, %k, %v rows 0 scale 0.5 : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x2xf32> -> tensor<4x2xbf16>, tensor<4xf32>
  return
}

// -----

// attention_c6: logSumExp is a sum
func.func @refuses_narrow_log_sum_exp(%q: tensor<4x8xbf16>, %k: tensor<6x8xbf16>, %v: tensor<6x2xbf16>) {
  // expected-error@+1 {{result #1 must be statically shaped tensor of 32-bit float or 64-bit float values}}
  nn.attention %q, %k, %v rows 0 scale 0.5 : tensor<4x8xbf16>, tensor<6x8xbf16>, tensor<6x2xbf16> -> tensor<4x2xbf16>, tensor<4xbf16>
  return
}

// -----

// attention_grad_c7: so is delta
func.func @refuses_delta_of_other_type(%q: tensor<4x8xf16>, %k: tensor<6x8xf16>, %v: tensor<6x2xf16>, %l: tensor<4xf32>, %d: tensor<4xf64>, %g: tensor<4x2xf16>) {
  // expected-error@+2 {{has logSumExp 'tensor<4xf32>', delta 'tensor<4xf64>' and resultGrad 'tensor<4x2xf16>'}}
  // expected-error@+1 {{failed to infer returned types}}
  nn.attention_grad %q, %k, %v, %l, %d, %g rows 0 scale 0.5 : tensor<4x8xf16>, tensor<6x8xf16>, tensor<6x2xf16>, tensor<4xf32>, tensor<4xf64>, tensor<4x2xf16> -> tensor<4x8xf16>, tensor<6x8xf16>, tensor<6x2xf16>
  return
}
