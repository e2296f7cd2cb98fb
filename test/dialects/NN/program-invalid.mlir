// RUN: dpc-opt %s --verify-diagnostics --split-input-file

// variable_c1
// expected-error@+1 {{has a value of type 'vector<4xf32>', which is not a ranked tensor}}
nn.variable @w = dense<0.5> : vector<4xf32>

// -----

// constant: the value has the type of the result.
func.func @constant_refuses_other_type() {
  // expected-error@+1 {{failed to verify that all of {value, result} have same type}}
  %0 = "nn.constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<3xf32>
  return
}

// -----

// update_c1
func.func @update_refuses_other_shape(%p: tensor<4xf32>, %q: tensor<5xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{has tensors of different shapes: 'tensor<5xf32>' beside 'tensor<4xf32>'}}
  %r = nn.update (%p, %q : tensor<4xf32>, tensor<5xf32>) scalars (%l : tensor<f32>) {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>):
    %d = nn.add %x, %y : tensor<f32>
    nn.yield %d : tensor<f32>
  } -> tensor<4xf32>
  return
}

// -----

// update_c2: number of arguments
func.func @update_refuses_missing_region_argument(%p: tensor<4xf32>, %q: tensor<4xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{has 3 operands but 2 region arguments}}
  %r = nn.update (%p, %q : tensor<4xf32>, tensor<4xf32>) scalars (%l : tensor<f32>) {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %d = nn.add %x, %y : tensor<f32>
    nn.yield %d : tensor<f32>
  } -> tensor<4xf32>
  return
}

// -----

// update_c2: types of arguments
func.func @update_refuses_tensor_region_argument(%p: tensor<4xf32>, %q: tensor<4xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{has a region argument of type 'tensor<4xf32>' where 'tensor<f32>' is needed}}
  %r = nn.update (%p, %q : tensor<4xf32>, tensor<4xf32>) scalars (%l : tensor<f32>) {
  ^bb0(%x: tensor<f32>, %y: tensor<4xf32>, %z: tensor<f32>):
    %d = nn.add %x, %z : tensor<f32>
    nn.yield %d : tensor<f32>
  } -> tensor<4xf32>
  return
}

// -----

// update_c3: number of values
func.func @update_refuses_surplus_value(%p: tensor<4xf32>, %q: tensor<4xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{yields 2 values for 1 results}}
  %r = nn.update (%p, %q : tensor<4xf32>, tensor<4xf32>) scalars (%l : tensor<f32>) {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>):
    %d = nn.add %x, %y : tensor<f32>
    nn.yield %d, %d : tensor<f32>, tensor<f32>
  } -> tensor<4xf32>
  return
}

// -----

// update_c3: types of values
func.func @update_refuses_value_of_other_type(%p: tensor<4xf32>, %q: tensor<4xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{yields 'tensor<f64>' where 'tensor<f32>' is needed}}
  %r = nn.update (%p, %q : tensor<4xf32>, tensor<4xf32>) scalars (%l : tensor<f32>) {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>):
    %d = nn.convert %x : tensor<f32> -> tensor<f64>
    nn.yield %d : tensor<f64>
  } -> tensor<4xf32>
  return
}

// -----

// update_c4
func.func @update_refuses_reshape(%p: tensor<4xf32>, %q: tensor<4xf32>, %l: tensor<f32>) {
  // expected-error@+1 {{holds nn.reshape, which is not elementwise}}
  %r = nn.update (%p, %q : tensor<4xf32>, tensor<4xf32>) scalars (%l : tensor<f32>) {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>):
    %d = nn.reshape %x : tensor<f32> -> tensor<f32>
    nn.yield %d : tensor<f32>
  } -> tensor<4xf32>
  return
}

// -----

// kernel_c1: number of arguments
func.func @kernel_refuses_surplus_region_argument(%x: tensor<4xf32>) {
  // expected-error@+1 {{has region arguments that are not of the types of its operands}}
  %r = nn.kernel (%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    nn.yield %a : tensor<4xf32>
  } -> tensor<4xf32>
  return
}

// -----

// kernel_c1: types of arguments
func.func @kernel_refuses_other_argument_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{has region arguments that are not of the types of its operands}}
  %r = nn.kernel (%x : tensor<4xf32>) {
  ^bb0(%a: tensor<8xf32>):
    %b = nn.slice %a starts [0] limits [4] strides [1] : tensor<8xf32> -> tensor<4xf32>
    nn.yield %b : tensor<4xf32>
  } -> tensor<4xf32>
  return
}

// -----

// kernel_c2: number of values
func.func @kernel_refuses_surplus_value(%x: tensor<4xf32>) {
  // expected-error@+1 {{yields values that are not of the types of its results}}
  %r = nn.kernel (%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    nn.yield %a, %a : tensor<4xf32>, tensor<4xf32>
  } -> tensor<4xf32>
  return
}

// -----

// kernel_c2: types of values
func.func @kernel_refuses_other_value_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{yields values that are not of the types of its results}}
  %r = nn.kernel (%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    nn.yield %a : tensor<4xf32>
  } -> tensor<4xi32>
  return
}

// -----

// #nn.arg is the only argument attribute.
// expected-error@+1 {{argument 0 has the unknown attribute "nn.role"}}
func.func @refuses_unknown_argument_attribute(%a: tensor<4xf32> {nn.role = "input"}) {
  return
}

// -----

// expected-error@+1 {{argument 0 has "nn.arg" that is not #nn.arg}}
func.func @refuses_text_as_arg(%a: tensor<4xf32> {nn.arg = "input"}) {
  return
}

// -----

// #nn.result is the only result attribute.
// expected-error@+1 {{result 0 has the unknown attribute "nn.role"}}
func.func @refuses_unknown_result_attribute(%a: tensor<4xf32>) -> (tensor<4xf32> {nn.role = "y"}) {
  return %a : tensor<4xf32>
}

// -----

// expected-error@+1 {{result 0 has "nn.result" that is not #nn.result}}
func.func @refuses_text_as_result(%a: tensor<4xf32>) -> (tensor<4xf32> {nn.result = "y"}) {
  return %a : tensor<4xf32>
}

// -----

// expected-error@+1 {{result 0 has "nn.mean" "rows", which is not geometric, samples or batches}}
func.func @refuses_unknown_mean(%a: tensor<f32>) -> (tensor<f32> {nn.result = #nn.result<metric "m">, nn.mean = "rows"}) {
  return %a : tensor<f32>
}
