// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-verify-step

// A sound program.
module @accepts_sound_program attributes {nn.learning_rate = #nn.learning_rate<base = 0.1 : f64, decay = constant, warmup = 0, total = 0, minimum = 0.0 : f64>} {
  nn.variable @w = dense<0.5> : tensor<4xf32>
  func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">})
      -> (tensor<4xf32> {nn.result = #nn.result<state "w">}) {
    %0 = nn.neg %w : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @eval(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">}) {
    return
  }
}

// -----

// (L1) A program that only infers is sound too ...
module @accepts_inference_alone {
  func.func @infer(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x">})
      -> (tensor<4xf32> {nn.result = #nn.result<output "y">}) {
    return %x : tensor<4xf32>
  }
}

// -----

// ... but nothing else ...
module @refuses_other_function {
// expected-error@+1 {{level 'step': holds the function @forward}}
func.func @forward() {
  return
}
}

// -----

// ... and training comes with evaluation.
// expected-error@+1 {{level 'step': has @step but no @eval}}
module @refuses_step_without_eval attributes {nn.learning_rate = #nn.learning_rate<base = 0.1 : f64, decay = constant, warmup = 0, total = 0, minimum = 0.0 : f64>} {
  func.func @step() {
    return
  }
}

// -----

// (L6) and with the schedule of its learning rate.
// expected-error@+1 {{level 'step': has no schedule of the learning rate}}
module @refuses_missing_schedule {
  func.func @step() {
    return
  }
  func.func @eval() {
    return
  }
}

// -----

// (L2) Nothing is left that only a gradient would see.
module @refuses_stop_gradient {
func.func @infer(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x">})
    -> (tensor<4xf32> {nn.result = #nn.result<output "y">}) {
  // expected-error@+1 {{level 'step': 'nn.stop_gradient' says something of a gradient that is taken already}}
  %0 = nn.stop_gradient %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
}

// -----

// (L2) Ops that training and evaluation treat differently are gone.
module @refuses_dropout_without_form {
func.func @infer(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x">})
    -> (tensor<4xf32> {nn.result = #nn.result<output "y">}) {
  // expected-error@+1 {{level 'step': 'nn.dropout' should be in its training or evaluation form}}
  %0, %1 = nn.dropout %x {ordinal = 0 : i64, ratio = 0.5 : f64} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
}

// -----

// (L3) Gradients have become updates.
module @refuses_gradient_result {
// expected-error@+1 {{level 'step': result 0 of @infer is still the gradient of 'w'}}
func.func @infer(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x">})
    -> (tensor<4xf32> {nn.result = #nn.result<gradient "w">}) {
  return %x : tensor<4xf32>
}
}

// -----

// (L4) State has an initial value.
module @refuses_state_without_variable {
// expected-error@+1 {{level 'step': 'm|w' of @infer has no nn.variable}}
func.func @infer(%m: tensor<4xf32> {nn.arg = #nn.arg<optimizer "m|w", batch = -1, of = "w">}) {
  return
}
}

// -----

// (L5) A new value belongs to an argument ...
module @refuses_new_value_of_input {
// expected-error@+1 {{level 'step': @infer gives a new value of 'w', which is no state of its arguments}}
func.func @infer(%x: tensor<4xf32> {nn.arg = #nn.arg<input "w">})
    -> (tensor<4xf32> {nn.result = #nn.result<state "w">}) {
  return %x : tensor<4xf32>
}
}

// -----

// ... of the same type ...
module @refuses_new_value_of_other_type {
  nn.variable @w = dense<0.5> : tensor<4xf32>
  // expected-error@+1 {{level 'step': 'w' goes into @infer as 'tensor<4xf32>' and comes out as 'tensor<3xf32>'}}
  func.func @infer(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">},
                   %x: tensor<3xf32> {nn.arg = #nn.arg<input "x">})
      -> (tensor<3xf32> {nn.result = #nn.result<state "w">}) {
    return %x : tensor<3xf32>
  }
}

// -----

// ... once ...
module @refuses_two_new_values {
  nn.variable @w = dense<0.5> : tensor<4xf32>
  // expected-error@+1 {{level 'step': @infer gives 'w' twice}}
  func.func @infer(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">})
      -> (tensor<4xf32> {nn.result = #nn.result<state "w">},
          tensor<4xf32> {nn.result = #nn.result<state "w">}) {
    return %w, %w : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// ... and only training makes one.
module @refuses_state_change_in_inference {
  nn.variable @w = dense<0.5> : tensor<4xf32>
  // expected-error@+1 {{level 'step': @infer changes 'w'}}
  func.func @infer(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">})
      -> (tensor<4xf32> {nn.result = #nn.result<state "w">}) {
    return %w : tensor<4xf32>
  }
}
