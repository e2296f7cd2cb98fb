// RUN: dpc-opt %s --verify-diagnostics --split-input-file

// random_uniform_c1: seed
func.func @random_uniform_refuses_narrow_seed(%a: tensor<i32>, %b: tensor<i64>, %c: tensor<4xi64>) {
  // expected-error@+1 {{operand #0 must be 0D tensor of 64-bit signless integer values}}
  "nn.random_uniform"(%a, %b, %c) {ordinal = 0 : i64} : (tensor<i32>, tensor<i64>, tensor<4xi64>) -> tensor<4xf32>
  return
}

// -----

// random_uniform_c1: step
func.func @random_uniform_refuses_step_tensor(%a: tensor<i64>, %b: tensor<4xi64>, %c: tensor<4xi64>) {
  // expected-error@+1 {{operand #1 must be 0D tensor of 64-bit signless integer values}}
  "nn.random_uniform"(%a, %b, %c) {ordinal = 0 : i64} : (tensor<i64>, tensor<4xi64>, tensor<4xi64>) -> tensor<4xf32>
  return
}

// -----

// random_uniform_c2
func.func @random_uniform_refuses_other_shape(%a: tensor<i64>, %b: tensor<i64>, %c: tensor<4xi64>) {
  // expected-error@+1 {{gives 'tensor<5xf32>' for 'tensor<4xi64>'}}
  nn.random_uniform %a, %b, %c {ordinal = 0 : i64} : tensor<4xi64> -> tensor<5xf32>
  return
}

// -----

// random_uniform_c3
func.func @random_uniform_refuses_f16(%a: tensor<i64>, %b: tensor<i64>, %c: tensor<4xi64>) {
  // expected-error@+1 {{must be statically shaped tensor of 32-bit float or 64-bit float values}}
  nn.random_uniform %a, %b, %c {ordinal = 0 : i64} : tensor<4xi64> -> tensor<4xf16>
  return
}

// -----

// dropout_c1
func.func @dropout_refuses_large_ratio(%a: tensor<4xf32>) {
  // expected-error@+1 {{which is not in [0, 1]}}
  nn.dropout %a {ratio = 1.5 : f64, ordinal = 0 : i64} : tensor<4xf32>
  return
}

// -----

// draw_uniform_c1
func.func @draw_uniform_refuses_integers() {
  // expected-error@+1 {{must be statically shaped tensor of 32-bit float or 64-bit float values}}
  nn.draw_uniform {ordinal = 0 : i64} : tensor<4xi32>
  return
}

// -----

// draw_normal_c1
func.func @draw_normal_refuses_f16() {
  // expected-error@+1 {{must be statically shaped tensor of 32-bit float or 64-bit float values}}
  nn.draw_normal {ordinal = 0 : i64} : tensor<4xf16>
  return
}
