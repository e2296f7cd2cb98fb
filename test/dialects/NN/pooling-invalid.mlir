// RUN: dpc-opt %s --split-input-file --verify-diagnostics

// pool_c1
func.func @refuses_rank_two(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'nn.max_pool' op pools 'tensor<2x3xf32>', whose rank is not 3 to 5}}
  %y = nn.max_pool %x kernel [] strides [] padLow [] padHigh [] dilations [] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @rank_too_large(%x: tensor<1x1x1x1x1x1xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'nn.sum_pool' op pools 'tensor<1x1x1x1x1x1xf32>', whose rank is not 3 to 5}}
  %y = nn.sum_pool %x kernel [1, 1, 1, 1] strides [1, 1, 1, 1] padLow [0, 0, 0, 0] padHigh [0, 0, 0, 0] dilations [1, 1, 1, 1] : tensor<1x1x1x1x1x1xf32> -> tensor<1x1x1x1x1x1xf32>
  return
}

// -----

// pool_c2
func.func @refuses_surplus_kernel_entry(%x: tensor<2x3x9xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{has 2 entries in its kernel, but 1 spatial dimensions}}
  %y = nn.max_pool %x kernel [2, 2] strides [1] padLow [0] padHigh [0] dilations [1] : tensor<2x3x9xf32> -> tensor<2x3x8xf32>
  return
}

// -----

// pool_c3
func.func @dilation_zero(%x: tensor<2x3x9xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{has 0 in its dilations, which is not between 1 and 2147483647}}
  %y = nn.sum_pool %x kernel [2] strides [1] padLow [0] padHigh [0] dilations [0] : tensor<2x3x9xf32> -> tensor<2x3x8xf32>
  return
}

// -----

func.func @kernel_overflows(%x: tensor<2x3x9xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{has 4294967296 in its kernel, which is not between 1 and 2147483647}}
  %y = nn.sum_pool %x kernel [4294967296] strides [1] padLow [0] padHigh [0] dilations [4294967296] : tensor<2x3x9xf32> -> tensor<2x3x8xf32>
  return
}

// -----

// pool_c4
func.func @window_too_large(%x: tensor<2x3x4x4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{has a window of extent 6 in spatial dimension 1, but a padded extent of 5}}
  %y = nn.max_pool %x kernel [2, 6] strides [1, 1] padLow [0, 1] padHigh [0, 0] dilations [1, 1] : tensor<2x3x4x4xf32> -> tensor<2x3x3x1xf32>
  return
}

// -----

// pool_c5, of each op
func.func @max_pool_result(%x: tensor<2x3x9xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<2x3x4xf32>' are incompatible with return type(s) of operation 'tensor<2x3x5xf32>'}}
  %y = nn.max_pool %x kernel [2] strides [2] padLow [0] padHigh [0] dilations [1] : tensor<2x3x9xf32> -> tensor<2x3x5xf32>
  return
}

// -----

func.func @sum_pool_result(%x: tensor<2x3x9xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<2x3x4xf32>' are incompatible with return type(s) of operation 'tensor<2x3x4xf64>'}}
  %y = nn.sum_pool %x kernel [2] strides [2] padLow [0] padHigh [0] dilations [1] : tensor<2x3x9xf32> -> tensor<2x3x4xf64>
  return
}

// -----

func.func @max_pool_grad(%t: tensor<2x3x5xi8>, %g: tensor<2x3x5xf32>) {
  // expected-error@+1 {{has a gradient of type 'tensor<2x3x5xf32>', but pooling 'tensor<2x3x9xf32>' gives 'tensor<2x3x4xf32>'}}
  %dx = nn.max_pool_grad %t, %g kernel [2] strides [2] padLow [0] padHigh [0] dilations [1] : tensor<2x3x5xi8>, tensor<2x3x5xf32> -> tensor<2x3x9xf32>
  return
}

// -----

func.func @sum_pool_grad(%g: tensor<2x4x4xf32>) {
  // expected-error@+1 {{has a gradient of type 'tensor<2x4x4xf32>', but pooling 'tensor<2x3x9xf32>' gives 'tensor<2x3x4xf32>'}}
  %dx = nn.sum_pool_grad %g kernel [2] strides [2] padLow [0] padHigh [0] dilations [1] : tensor<2x4x4xf32> -> tensor<2x3x9xf32>
  return
}

// -----

func.func @input_overflows(%x: tensor<1x1x4294967296xi8>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{has 4294967296 in its input, which is not between 0 and 2147483647}}
  %y = nn.sum_pool %x kernel [2] strides [1] padLow [1] padHigh [1] dilations [1] : tensor<1x1x4294967296xi8> -> tensor<1x1x1xi8>
  return
}

// -----

// pool_c6, of both ops
func.func @narrow_taps(%x: tensor<2x3x256xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<2x3x1xi16>' are incompatible with return type(s) of operation 'tensor<2x3x1xi8>'}}
  %t = nn.max_pool_taps %x kernel [129] strides [128] padLow [0] padHigh [0] dilations [1] : tensor<2x3x256xf32> -> tensor<2x3x1xi8>
  return
}

// -----

func.func @wide_taps(%t: tensor<2x3x4xi64>, %g: tensor<2x3x4xf32>) {
  // expected-error@+1 {{has taps of type 'tensor<2x3x4xi64>', but its window and gradient need 'tensor<2x3x4xi8>'}}
  %dx = nn.max_pool_grad %t, %g kernel [2] strides [2] padLow [0] padHigh [0] dilations [1] : tensor<2x3x4xi64>, tensor<2x3x4xf32> -> tensor<2x3x9xf32>
  return
}
