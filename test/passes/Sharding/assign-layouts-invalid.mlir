// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-describe-machine --dpc-assign-layouts='axes=micro=3,data=2 sequential-axes=micro batch-axes=micro,data'
// RUN: not dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=data' 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=data=2 batch-axes=rows' 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: not dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=data=2 auto-axes=model' 2>&1 | FileCheck %s --check-prefix=AUTO
// RUN: not dpc-opt %s --split-input-file --dpc-describe-machine --dpc-assign-layouts='axes=data=2 sequential-axes=micro' 2>&1 | FileCheck %s --check-prefix=TURNS

// SIZE: error: mesh axis 'data' is not NAME=SIZE
// BATCH: error: axis 'rows' is not in the mesh
// AUTO: error: axis 'model' is not in the mesh
// TURNS: error: axis 'micro' is not in the mesh

// Microbatches are equal.
module @refuses_uneven_microbatches {
// expected-error@+1 {{the batch of 8 does not divide into 3 microbatches}}
func.func @step(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<8xf32> {nn.result = #nn.result<output "y">}) {
  return %x : tensor<8xf32>
}
}

// -----

// A given layout is of the state's shape ...
module @refuses_layout_of_other_shape {
// expected-error@+1 {{layout of 'w': }}
func.func @step(%w: tensor<6xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[(3: data)]">})
    -> (tensor<6xf32> {nn.result = #nn.result<state "w">}) {
  return %w : tensor<6xf32>
}
}

// -----

// ... over axes of the mesh ...
module @refuses_layout_over_unknown_axis {
// expected-error@+1 {{layout of 'w': }}
func.func @step(%w: tensor<6xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[(6: model)]">})
    -> (tensor<6xf32> {nn.result = #nn.result<state "w">}) {
  return %w : tensor<6xf32>
}
}

// -----

// ... that are no loops ...
module @refuses_state_over_sequential_axis {
// expected-error@+1 {{layout of 'w': state cannot be cut over a sequential axis}}
func.func @step(%w: tensor<6xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[(6: micro)]">})
    -> (tensor<6xf32> {nn.result = #nn.result<state "w">}) {
  return %w : tensor<6xf32>
}
}

// -----

// ... and whole values.
module @refuses_partial_state {
// expected-error@+1 {{layout of 'w': state cannot be partial}}
func.func @step(%w: tensor<6xf32> {nn.arg = #nn.arg<parameter "w">, dist.layout = #dist.layout<"[6] partial sum(data)">})
    -> (tensor<6xf32> {nn.result = #nn.result<state "w">}) {
  return %w : tensor<6xf32>
}
}

// -----

// State that is returned is an argument ...
module @refuses_state_without_argument {
// expected-error@+1 {{result 0 is the state 'w', which no argument is}}
func.func @step(%x: tensor<6xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<6xf32> {nn.result = #nn.result<state "w">}) {
  return %x : tensor<6xf32>
}
}

// -----

// ... of the same type.
module @refuses_state_of_other_type {
// expected-error@+1 {{state 'w' is 'tensor<6xf32>' as an argument and 'tensor<12xf32>' as a result}}
func.func @step(%w: tensor<6xf32> {nn.arg = #nn.arg<parameter "w">}, %x: tensor<12xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<12xf32> {nn.result = #nn.result<state "w">}) {
  return %x : tensor<12xf32>
}
}
