// RUN: dpc-opt %s --verify-diagnostics --split-input-file

// pack_c1
func.func @pack_refuses_other_offset_count(%g: tensor<4xf32>) {
  // expected-error@+1 {{has 2 offsets for 1 tensors}}
  dist.pack %g at [0, 4] : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

// pack_c2: inside
func.func @pack_refuses_tensor_past_end(%g: tensor<4xf32>) {
  // expected-error@+1 {{lays 'tensor<4xf32>' at 6 of 'tensor<8xf32>', where the one before ends at 0}}
  dist.pack %g at [6] : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

// pack_c2: apart
func.func @pack_refuses_overlapping_tensors(%g: tensor<4xf32>) {
  // expected-error@+1 {{lays 'tensor<4xf32>' at 3 of 'tensor<8xf32>', where the one before ends at 4}}
  dist.pack %g, %g at [0, 3] : tensor<4xf32>, tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

// pack_c3
func.func @pack_refuses_other_element_type(%g: tensor<4xf64>) {
  // expected-error@+1 {{lays 'tensor<4xf64>' into 'tensor<8xf32>'}}
  dist.pack %g at [0] : tensor<4xf64> -> tensor<8xf32>
  return
}

// -----

// unpack_c1, as pack_c1
func.func @unpack_refuses_other_offset_count(%b: tensor<8xf32>) {
  // expected-error@+1 {{has 1 offsets for 2 tensors}}
  dist.unpack %b at [0] : tensor<8xf32> -> tensor<4xf32>, tensor<4xf32>
  return
}

// -----

// unpack_c2, as pack_c2
func.func @unpack_refuses_tensor_past_end(%b: tensor<8xf32>) {
  // expected-error@+1 {{lays 'tensor<3x3xf32>' at 0 of 'tensor<8xf32>', where the one before ends at 0}}
  dist.unpack %b at [0] : tensor<8xf32> -> tensor<3x3xf32>
  return
}

// -----

// share_c1
func.func @shard_refuses_missing_mesh(%b: tensor<8xf32>) {
  // expected-error@+1 {{refers to @mesh, which is not a dist.mesh}}
  dist.shard %b on @mesh ["data"] : tensor<8xf32> -> tensor<4xf32>
  return
}

// -----

// share_c2
dist.mesh @mesh axes ["data"] sizes [2] // expected-note {{mesh defined here}}
func.func @shard_refuses_unknown_axis(%b: tensor<8xf32>) {
  // expected-error@+1 {{uses axis "model", which is not a parallel axis of @mesh}}
  dist.shard %b on @mesh ["model"] : tensor<8xf32> -> tensor<4xf32>
  return
}

// -----

// shard_c3
dist.mesh @mesh axes ["data"] sizes [2]
func.func @shard_refuses_other_share(%b: tensor<8xf32>) {
  // expected-error@+1 {{takes 'tensor<3xf32>' of 'tensor<8xf32>' in a group of 2}}
  dist.shard %b on @mesh ["data"] : tensor<8xf32> -> tensor<3xf32>
  return
}

// -----

// Storage lies inside what holds it ...
// expected-error@+1 {{argument 0 has storage}}
func.func @storage_refuses_members_past_end(%p: tensor<8xf32> {dist.storage = #dist.storage<"p" [<#nn.arg<parameter "w">, tensor<4x3xf32>, <"[4], [3]"> at 0>]>}) {
  return
}

// -----

// ... is of one type ...
// expected-error@+1 {{argument 0 has storage}}
func.func @storage_refuses_other_element_type(%p: tensor<16xf64> {dist.storage = #dist.storage<"p" [<#nn.arg<parameter "w">, tensor<4x3xf32>, <"[4], [3]"> at 0>]>}) {
  return
}

// -----

// ... and flat.
// expected-error@+1 {{argument 0 has storage}}
func.func @storage_refuses_two_dimensions(%p: tensor<4x4xf32> {dist.storage = #dist.storage<"p" [<#nn.arg<parameter "w">, tensor<4x3xf32>, <"[4], [3]"> at 0>]>}) {
  return
}
