// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-verify-import
// RUN: echo 'func.func @forward() { %%0 = nn.constant dense<1.0> : tensor<f32> nn.neg %%0 : tensor<f32> loc(unknown) return }' | not dpc-opt --dpc-verify-import 2>&1 | FileCheck %s

// (L2) Every op but constants says where it comes from.
// CHECK: level 'import': has no location

// A sound program.
module @accepts_sound_program {
nn.variable @w = dense<0.5> : tensor<4xf32>
func.func @forward(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">},
                   %x: tensor<4xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<4xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.add %x, %w : tensor<4xf32>
  return %0 : tensor<4xf32>
}
}

// -----

// (L1) @forward is the one function ...
module @refuses_other_function {
// expected-error@+1 {{level 'import': holds the function @step}}
func.func @step() {
  return
}
}

// -----

// ... and there is one.
// expected-error@+1 {{level 'import': has no function @forward}}
module @refuses_missing_forward {
}

// -----

// (L2) Ops of later levels have no place yet.
module @refuses_kernel {
func.func @forward(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<4xf32> {nn.result = #nn.result<output "y">}) {
  // expected-error@+1 {{level 'import': 'nn.kernel' belongs to a later level}}
  %0 = nn.kernel (%x : tensor<4xf32>) {
  ^bb0(%i: tensor<4xf32>):
    %1 = nn.neg %i : tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
}

// -----

// (L3) Arguments have a kind and a name ...
module @refuses_argument_without_kind {
// expected-error@+1 {{level 'import': argument 0 of @forward has no nn.arg}}
func.func @forward(%x: tensor<4xf32>)
    -> (tensor<4xf32> {nn.result = #nn.result<output "y">}) {
  return %x : tensor<4xf32>
}
}

// -----

// ... so do results ...
module @refuses_result_without_kind {
// expected-error@+1 {{level 'import': result 0 of @forward has no nn.result}}
func.func @forward(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x">}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
}

// -----

// ... and no two arguments share a name.
module @refuses_repeated_argument_name {
// expected-error@+1 {{level 'import': two arguments are named 'x'}}
func.func @forward(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x">},
                   %y: tensor<4xf32> {nn.arg = #nn.arg<input "x">}) {
  return
}
}

// -----

// (L4) State has an initial value ...
module @refuses_repeated_variable {
nn.variable @w = dense<0.0> : tensor<4xf32>
// expected-error@+1 {{level 'import': two variables are named 'w'}}
nn.variable @w = dense<1.0> : tensor<4xf32>
func.func @forward(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}) {
  return
}
}

// -----

// ... and a variable may be named as a function is.
module @accepts_variable_named_as_function {
nn.variable @forward = dense<0.0> : tensor<4xf32>
func.func @forward(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "forward">}) {
  return
}
}

// -----

// ...
module @refuses_state_without_variable {
// expected-error@+1 {{level 'import': 'w' of @forward has no nn.variable}}
func.func @forward(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}) {
  return
}
}

// -----

// ... of its type ...
module @refuses_variable_of_other_type {
// expected-error@+1 {{level 'import': 'w' is 'tensor<3xf32>', but 'tensor<4xf32>' in @forward}}
nn.variable @w = dense<0.5> : tensor<3xf32>
func.func @forward(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}) {
  return
}
}

// -----

// ... and no value belongs to nobody.
module @refuses_variable_without_argument {
// expected-error@+1 {{level 'import': the variable 'w' is no argument of @forward}}
nn.variable @w = dense<0.5> : tensor<3xf32>
func.func @forward() {
  return
}
}
