// RUN: dpc-opt %s --split-input-file --verify-diagnostics --dpc-describe-machine --dpc-assign-layouts='axes=micro=2 sequential-axes=micro batch-axes=micro' --dpc-partition

// A loop of its own before would keep every microbatch's forward pass.
module @refuses_value_of_all_microbatches {
func.func @step(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x", batch = 0>}, %w: tensor<f32> {nn.arg = #nn.arg<parameter "w">})
    -> (tensor<8xf32> {nn.result = #nn.result<output "y">}) {
  %w0 = nn.broadcast %w [] : tensor<f32> -> tensor<8xf32>
  %x0 = nn.mul %x, %w0 : tensor<8xf32>
  %0 = nn.reduce sum %x0 [0] : tensor<8xf32> -> tensor<f32>
  // expected-error@+1 {{depends on parameters and on every microbatch, and is needed whole inside the microbatches' loop: use one microbatch}}
  %1 = nn.broadcast %0 [] : tensor<f32> -> tensor<8xf32>
  %2 = nn.div %x, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
}
