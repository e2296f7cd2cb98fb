// RUN: dpc-opt %s --verify-diagnostics --split-input-file

// combine_stages_c1
func.func @combine_stages_refuses_no_terms() {
  // expected-error@+1 {{expected 1 or more operands}}
  %s = "dist.combine_stages"() : () -> tensor<4xf32>
  return
}

// -----

// send_c1
func.func @send_refuses_unknown_mesh(%x: tensor<4xf32>) {
  // expected-error@+1 {{refers to @mesh, which is not a dist.mesh}}
  dist.send %x to 0 on @mesh "pipe" number 3 : tensor<4xf32>
  return
}

// -----

// send_c2
dist.mesh @mesh axes ["micro", "pipe"] sizes [2, 2] sequential ["micro"] // expected-note {{mesh defined here}}
func.func @send_refuses_sequential_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{uses axis "micro", which is not a parallel axis of @mesh}}
  dist.send %x to 0 on @mesh "micro" number 3 : tensor<4xf32>
  return
}

// -----

// send_c3
dist.mesh @mesh axes ["pipe"] sizes [2]
func.func @send_refuses_stage_past_end(%x: tensor<4xf32>) {
  // expected-error@+1 {{names stage 2 of 2}}
  dist.send %x to 2 on @mesh "pipe" number 3 : tensor<4xf32>
  return
}

// -----

// recv_c3
dist.mesh @mesh axes ["pipe"] sizes [2]
func.func @recv_refuses_negative_stage() {
  // expected-error@+1 {{names stage -1 of 2}}
  %x = dist.recv from -1 on @mesh "pipe" number 3 : tensor<4xf32>
  return
}

// -----

// stage_reduce_c3: two stages
dist.mesh @mesh axes ["pipe"] sizes [2]
func.func @stage_reduce_refuses_one_stage(%x: tensor<4xf32>) {
  // expected-error@+1 {{lists the stages 1}}
  %y = dist.stage_reduce %x among [1] on @mesh "pipe" number 3 : tensor<4xf32>
  return
}

// -----

// stage_reduce_c3: in increasing order
dist.mesh @mesh axes ["pipe"] sizes [2]
func.func @stage_reduce_refuses_other_order(%x: tensor<4xf32>) {
  // expected-error@+1 {{lists the stages 1, 0}}
  %y = dist.stage_reduce %x among [1, 0] on @mesh "pipe" number 3 : tensor<4xf32>
  return
}

// -----

// stage_reduce_c3: on the axis
dist.mesh @mesh axes ["pipe"] sizes [2]
func.func @stage_reduce_refuses_stage_past_end(%x: tensor<4xf32>) {
  // expected-error@+1 {{names stage 2 of 2}}
  %y = dist.stage_reduce %x among [0, 2] on @mesh "pipe" number 3 : tensor<4xf32>
  return
}
