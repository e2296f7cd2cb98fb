// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-describe-machine --dpc-assign-layouts='axes=micro=2,data=2,model=2 sequential-axes=micro batch-axes=micro,data auto-axes=model'

// A request is over axes of the mesh ...
module @refuses_unknown_axis {
// expected-error@+1 {{shard of 'w': axis 'seq' is not in the mesh}}
func.func @infer(%x: tensor<8x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                 %w: tensor<8x8xf32> {nn.arg = #nn.arg<parameter "w">, dist.request = [["seq"], []]})
    -> (tensor<8x8xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
}

// -----

// ... each of which it names once ...
module @refuses_repeated_axis {
// expected-error@+1 {{shard of 'w': axis 'model' is given twice}}
func.func @infer(%x: tensor<8x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                 %w: tensor<8x8xf32> {nn.arg = #nn.arg<parameter "w">, dist.request = [["model"], ["model"]]})
    -> (tensor<8x8xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
}

// -----

// ... and no loop over microbatches.
module @refuses_microbatch_axis {
// expected-error@+1 {{shard of 'w': axis 'micro' is walked by a loop and cuts the batch alone}}
func.func @infer(%x: tensor<8x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                 %w: tensor<8x8xf32> {nn.arg = #nn.arg<parameter "w">, dist.request = [["micro"], []]})
    -> (tensor<8x8xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
}

// -----

// The batch is cut as batch-axes say ...
module @refuses_batch_over_other_axis {
// expected-error@+1 {{shard of 'x': dimension 0 is the batch, which is cut over data, not model}}
func.func @infer(%x: tensor<8x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>, dist.request = [["model"], []]},
                 %w: tensor<8x8xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<8x8xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
}

// -----

// ... also where the request leaves it whole ...
module @refuses_whole_batch {
// expected-error@+1 {{shard of 'x': dimension 0 is the batch, which is cut over data, not -}}
func.func @infer(%x: tensor<8x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>, dist.request = [[], []]},
                 %w: tensor<8x8xf32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<8x8xf32> {nn.result = #nn.result<output "y">}) {
  %0 = nn.dot %x, %w contract [1] [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
}

// -----

// A value that a node makes is asked for over the mesh's axes, too.
module @refuses_unknown_axis_of_node {
func.func @infer(%x: tensor<8x8xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
    -> (tensor<8x8xf32> {nn.result = #nn.result<output "y">}) {
  // expected-error@+1 {{shard of this node: axis 'seq' is not in the mesh}}
  %0 = nn.tanh %x {dist.request = [["data"], ["seq"]]} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
}

// -----

// A request has a list for each dimension.
module @refuses_too_few_dimensions {
// expected-error@+1 {{argument 0 has "dist.request" that is not #dist.layout}}
func.func @infer(%x: tensor<8x8xf32> {dist.request = [["data"]]}) {
  return
}
}
