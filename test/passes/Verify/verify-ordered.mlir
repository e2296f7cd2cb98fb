// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-verify-ordered

// A sound program.
module @accepts_sound_program {
dist.mesh @mesh axes ["data"] sizes [2]
func.func @step(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x">}) -> (tensor<4xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.kernel (%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %1 = nn.exp %a : tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  } -> tensor<4xf32>
  %2 = dist.all_reduce sum %0 on @mesh ["data"] : tensor<4xf32>
  return %2 : tensor<4xf32>
}
}

// -----

// (L1) Computation is in kernels.
module @refuses_op_outside_kernel {
func.func @step(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x">}) {
  // expected-error@+1 {{level 'ordered': 'nn.exp' is in no kernel}}
  %0 = nn.exp %x : tensor<4xf32>
  return
}
}

// -----

// (L1) In loops too.
module @refuses_loop_op_outside_kernel {
dist.mesh @mesh axes ["micro"] sizes [2] sequential ["micro"]
func.func @step(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x">}) {
  %0 = dist.micro 2 "micro" (%x : tensor<4xf32>) operands [whole] {
  ^bb0(%m: tensor<4xf32>):
    // expected-error@+1 {{level 'ordered': 'nn.exp' is in no kernel}}
    %1 = nn.exp %m : tensor<4xf32>
    dist.yield %1 : tensor<4xf32>
  } -> (tensor<4xf32>) results [summed]
  return
}
}

// -----

// (L2) A kernel only computes.
module @refuses_collective_in_kernel {
dist.mesh @mesh axes ["data"] sizes [2]
func.func @step(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x">}) {
  %0 = nn.kernel (%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    // expected-error@+1 {{level 'ordered': a kernel contains 'dist.all_reduce'}}
    %1 = dist.all_reduce sum %a on @mesh ["data"] : tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  } -> tensor<4xf32>
  return
}
}

// -----

// (L3) The host knows every argument.
module @refuses_argument_without_kind {
// expected-error@+1 {{level 'ordered': argument 0 of @step has neither nn.arg nor dist.storage}}
func.func @step(%x: tensor<4xf32>) {
  return
}
}

// -----

// (L3) The host knows every result.
module @refuses_result_without_kind {
// expected-error@+1 {{level 'ordered': result 0 of @step has neither nn.result nor dist.storage}}
func.func @step(%x: tensor<4xf32> {nn.arg = #nn.arg<input "x">}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
}
