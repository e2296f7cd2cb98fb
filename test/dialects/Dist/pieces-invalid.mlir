// RUN: dpc-opt %s --split-input-file --verify-diagnostics

// piece_c1
func.func @piece_refuses_other_kind() {
  // expected-error @+1 {{has the kind "X"; known: F, B, W}}
  dist.piece "X" chunk 0 {
    dist.yield
  }
  return
}

// -----
// piece_c2
func.func @piece_refuses_other_result(%x: tensor<8xf32>) {
  // expected-error @+1 {{yields 'tensor<8xf32>', not 'tensor<4xf32>'}}
  %0 = dist.piece "F" chunk 0 {
    dist.yield %x : tensor<8xf32>
  } -> tensor<4xf32>
  return
}

// -----
// piece_c3
dist.mesh @mesh axes ["pipe"] sizes [2]
func.func @piece_refuses_message(%x: tensor<8xf32>) {
  // expected-error @+1 {{holds dist.send}}
  dist.piece "F" chunk 0 {
    dist.send %x to 1 on @mesh "pipe" number 0 : tensor<8xf32>
    dist.yield
  }
  return
}
