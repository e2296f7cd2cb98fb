// RUN: dpc-opt %s --split-input-file --verify-diagnostics

// conv_c1: ranks 3 to 5 ...
func.func @refuses_rank_two(%x: tensor<2x3xf32>, %w: tensor<5x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{convolves 'tensor<2x3xf32>' with 'tensor<5x3xf32>', whose ranks are not one rank from 3 to 5}}
  %y = nn.conv %x, %w strides [] padLow [] padHigh [] dilations [] groups 1 : tensor<2x3xf32>, tensor<5x3xf32> -> tensor<2x5xf32>
  return
}

// -----

func.func @rank_too_large(%x: tensor<1x1x1x1x1x1xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{whose ranks are not one rank from 3 to 5}}
  %y = nn.conv %x, %x strides [1, 1, 1, 1] padLow [0, 0, 0, 0] padHigh [0, 0, 0, 0] dilations [1, 1, 1, 1] groups 1 : tensor<1x1x1x1x1x1xf32>, tensor<1x1x1x1x1x1xf32> -> tensor<1x1x1x1x1x1xf32>
  return
}

// -----

// ... and the same.
func.func @ranks_differ(%x: tensor<2x3x9xf32>, %w: tensor<5x3x2x2xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{whose ranks are not one rank from 3 to 5}}
  %y = nn.conv %x, %w strides [1] padLow [0] padHigh [0] dilations [1] groups 1 : tensor<2x3x9xf32>, tensor<5x3x2x2xf32> -> tensor<2x5x8xf32>
  return
}

// -----

// conv_c2
func.func @element_types(%x: tensor<2x3x9xf32>, %w: tensor<5x3x2xf64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{has element types 'f32' and 'f64'}}
  %y = nn.conv %x, %w strides [1] padLow [0] padHigh [0] dilations [1] groups 1 : tensor<2x3x9xf32>, tensor<5x3x2xf64> -> tensor<2x5x8xf32>
  return
}

// -----

// conv_c3: at least one group, ...
func.func @no_groups(%x: tensor<2x3x9xf32>, %w: tensor<5x3x2xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{has 0 groups}}
  %y = nn.conv %x, %w strides [1] padLow [0] padHigh [0] dilations [1] groups 0 : tensor<2x3x9xf32>, tensor<5x3x2xf32> -> tensor<2x5x8xf32>
  return
}

// -----

// ... input channels in equal groups of the kernel's ...
func.func @input_channels(%x: tensor<2x6x9xf32>, %w: tensor<4x2x2xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{has 6 input channels in 2 groups, but a kernel for 2 a group}}
  %y = nn.conv %x, %w strides [1] padLow [0] padHigh [0] dilations [1] groups 2 : tensor<2x6x9xf32>, tensor<4x2x2xf32> -> tensor<2x4x8xf32>
  return
}

// -----

func.func @input_channels_remainder(%x: tensor<2x5x9xf32>, %w: tensor<4x2x2xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{has 5 input channels in 2 groups, but a kernel for 2 a group}}
  %y = nn.conv %x, %w strides [1] padLow [0] padHigh [0] dilations [1] groups 2 : tensor<2x5x9xf32>, tensor<4x2x2xf32> -> tensor<2x4x8xf32>
  return
}

// -----

// ... and output channels too.
func.func @output_channels(%x: tensor<2x6x9xf32>, %w: tensor<5x3x2xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{has 5 output channels, which 2 groups do not divide}}
  %y = nn.conv %x, %w strides [1] padLow [0] padHigh [0] dilations [1] groups 2 : tensor<2x6x9xf32>, tensor<5x3x2xf32> -> tensor<2x5x8xf32>
  return
}

// -----

// conv_c4
func.func @refuses_surplus_stride(%x: tensor<2x3x9xf32>, %w: tensor<5x3x2xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{has 2 entries in its strides, but 1 spatial dimensions}}
  %y = nn.conv %x, %w strides [1, 1] padLow [0] padHigh [0] dilations [1] groups 1 : tensor<2x3x9xf32>, tensor<5x3x2xf32> -> tensor<2x5x8xf32>
  return
}

// -----

// conv_c5
func.func @stride_zero(%x: tensor<2x3x9xf32>, %w: tensor<5x3x2xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{has 0 in its strides, which is not between 1 and 2147483647}}
  %y = nn.conv %x, %w strides [0] padLow [0] padHigh [0] dilations [1] groups 1 : tensor<2x3x9xf32>, tensor<5x3x2xf32> -> tensor<2x5x8xf32>
  return
}

// -----

func.func @kernel_empty(%x: tensor<2x3x9xf32>, %w: tensor<5x3x0xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{has 0 in its kernel, which is not between 1 and 2147483647}}
  %y = nn.conv %x, %w strides [1] padLow [0] padHigh [0] dilations [1] groups 1 : tensor<2x3x9xf32>, tensor<5x3x0xf32> -> tensor<2x5x9xf32>
  return
}

// -----

func.func @padding_overflows(%x: tensor<2x3x9xf32>, %w: tensor<5x3x2xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{has 9223372036854775807 in its padLow, which is not between -2147483647 and 2147483647}}
  %y = nn.conv %x, %w strides [1] padLow [9223372036854775807] padHigh [0] dilations [1] groups 1 : tensor<2x3x9xf32>, tensor<5x3x2xf32> -> tensor<2x5x8xf32>
  return
}

// -----

// conv_c6
func.func @kernel_too_large(%x: tensor<2x3x4xf32>, %w: tensor<5x3x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{has a window of extent 5 in spatial dimension 0, but a padded extent of 4}}
  %y = nn.conv %x, %w strides [1] padLow [0] padHigh [0] dilations [2] groups 1 : tensor<2x3x4xf32>, tensor<5x3x3xf32> -> tensor<2x5x1xf32>
  return
}

// -----

// conv_c7, of each op
func.func @refuses_other_result_type(%x: tensor<2x3x9xf32>, %w: tensor<5x3x2xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<2x5x4xf32>' are incompatible with return type(s) of operation 'tensor<2x5x5xf32>'}}
  %y = nn.conv %x, %w strides [2] padLow [0] padHigh [0] dilations [1] groups 1 : tensor<2x3x9xf32>, tensor<5x3x2xf32> -> tensor<2x5x5xf32>
  return
}

// -----

func.func @input_grad(%g: tensor<2x5x4xf32>, %w: tensor<5x3x2xf32>) {
  // expected-error@+1 {{has a gradient of type 'tensor<2x5x4xf32>', but convolving 'tensor<2x3x10xf32>' with 'tensor<5x3x2xf32>' gives 'tensor<2x5x5xf32>'}}
  %dx = nn.conv_input_grad %g, %w strides [2] padLow [0] padHigh [0] dilations [1] groups 1 : tensor<2x5x4xf32>, tensor<5x3x2xf32> -> tensor<2x3x10xf32>
  return
}

// -----

func.func @weight_grad(%x: tensor<2x3x9xf32>, %g: tensor<2x5x4xf32>) {
  // expected-error@+1 {{has a gradient of type 'tensor<2x5x4xf32>', but convolving 'tensor<2x3x9xf32>' with 'tensor<6x3x2xf32>' gives 'tensor<2x6x4xf32>'}}
  %dw = nn.conv_weight_grad %x, %g strides [2] padLow [0] padHigh [0] dilations [1] groups 1 : tensor<2x3x9xf32>, tensor<2x5x4xf32> -> tensor<6x3x2xf32>
  return
}

// -----

func.func @refuses_integers(%x: tensor<2x3x9xi32>, %w: tensor<5x3x2xi32>) {
  // expected-error@+1 {{must be statically shaped tensor of floating-point values}}
  %y = nn.conv %x, %w strides [1] padLow [0] padHigh [0] dilations [1] groups 1
      : tensor<2x3x9xi32>, tensor<5x3x2xi32> -> tensor<2x5x8xi32>
  return
}

// -----

// conv_c2: a result narrower than the operands, of each op
func.func @result_narrower(%x: tensor<2x3x9xf32>, %w: tensor<5x3x2xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<2x5x8xf32>' are incompatible with return type(s) of operation 'tensor<2x5x8xbf16>'}}
  %y = nn.conv %x, %w strides [1] padLow [0] padHigh [0] dilations [1] groups 1 : tensor<2x3x9xf32>, tensor<5x3x2xf32> -> tensor<2x5x8xbf16>
  return
}

// -----

func.func @input_grad_narrower(%g: tensor<2x5x8xf32>, %w: tensor<5x3x2xf32>) {
  // expected-error@+1 {{has a result of 'bf16', which cannot hold sums of 'f32'}}
  %dx = nn.conv_input_grad %g, %w strides [1] padLow [0] padHigh [0] dilations [1] groups 1 : tensor<2x5x8xf32>, tensor<5x3x2xf32> -> tensor<2x3x9xbf16>
  return
}

// -----

func.func @weight_grad_narrower(%x: tensor<2x3x9xbf16>, %g: tensor<2x5x8xbf16>) {
  // expected-error@+1 {{has a result of 'f16', which cannot hold sums of 'bf16'}}
  %dw = nn.conv_weight_grad %x, %g strides [1] padLow [0] padHigh [0] dilations [1] groups 1 : tensor<2x3x9xbf16>, tensor<2x5x8xbf16> -> tensor<5x3x2xf16>
  return
}

// -----

// conv_c2: operands of two types
func.func @input_grad_types(%g: tensor<2x5x8xbf16>, %w: tensor<5x3x2xf32>) {
  // expected-error@+1 {{has element types 'bf16' and 'f32'}}
  %dx = nn.conv_input_grad %g, %w strides [1] padLow [0] padHigh [0] dilations [1] groups 1 : tensor<2x5x8xbf16>, tensor<5x3x2xf32> -> tensor<2x3x9xf32>
  return
}

// -----

func.func @weight_grad_types(%x: tensor<2x3x9xf32>, %g: tensor<2x5x8xbf16>) {
  // expected-error@+1 {{has element types 'f32' and 'bf16'}}
  %dw = nn.conv_weight_grad %x, %g strides [1] padLow [0] padHigh [0] dilations [1] groups 1 : tensor<2x3x9xf32>, tensor<2x5x8xbf16> -> tensor<5x3x2xf32>
  return
}

// -----

// Channels after the spatial dimensions are those of the constraints, too.
func.func @channels_last_groups(%x: tensor<2x9x3xf32>, %w: tensor<5x2x2xf32>) {
  // expected-error@+2 {{has 3 input channels in 1 groups, but a kernel for 2 a group}}
  // expected-error@+1 {{failed to infer returned types}}
  %y = nn.conv %x, %w strides [1] padLow [0] padHigh [0] dilations [1] groups 1 channelsLast : tensor<2x9x3xf32>, tensor<5x2x2xf32> -> tensor<2x8x5xf32>
  return
}

// -----

func.func @channels_last_gradient(%g: tensor<2x5x8xf32>, %w: tensor<5x2x3xf32>) {
  // expected-error@+1 {{gives 'tensor<2x5x8xf32>' (channels before the spatial dimensions)}}
  %dx = nn.conv_input_grad %g, %w strides [1] padLow [0] padHigh [0] dilations [1] groups 1 channelsLast : tensor<2x5x8xf32>, tensor<5x2x3xf32> -> tensor<2x9x3xf32>
  return
}
