// RUN: dpc-opt %s --dpc-apply-optimizer='optimizer=sgd,lr=1' -o %t.mlir
// RUN: dpc-interp %t.mlir --data=%S/Inputs/loss-not-finite.npz --steps=6 --log=%t.jsonl --save-params=%t.safetensors
// RUN: FileCheck %s --input-file=%t.jsonl

// A scaled loss that is NaN or infinite, of either sign, skips the step although all gradients, of 1 in each step, are
// finite: the scale is halved, and neither the parameter nor the running statistic, as they were before the step, moves.
// CHECK: "step": 1, "loss": 1, "loss_scale": 8, "statistic": 1, "weight": 1,
// CHECK: "step": 2, "loss": null, "loss_scale": 4, "statistic": 2, "weight": 0.875,
// CHECK: "step": 3, "loss": null, "loss_scale": 2, "statistic": 2, "weight": 0.875,
// CHECK: "step": 4, "loss": null, "loss_scale": 1, "statistic": 2, "weight": 0.875,
// CHECK: "step": 5, "loss": -2, "loss_scale": 1, "statistic": 2, "weight": 0.875,
// CHECK: "step": 6, "loss": 3, "loss_scale": 1, "statistic": 4, "weight": -0.125,
module @skips_step_of_infinite_loss {
nn.variable @w = dense<1.0> : tensor<f32>
nn.variable @mean = dense<1.0> : tensor<f32>
nn.variable @loss_scale = dense<8.0> : tensor<f32>
func.func @step(%w: tensor<f32> {nn.arg = #nn.arg<parameter "w">},
                %m: tensor<f32> {nn.arg = #nn.arg<buffer "mean">},
                %x: tensor<1xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                %s: tensor<f32> {nn.arg = #nn.arg<optimizer "loss_scale">})
    -> (tensor<f32> {nn.result = #nn.result<state "mean">}, tensor<f32> {nn.result = #nn.result<gradient "w">},
        tensor<f32> {nn.result = #nn.result<metric "loss">}, tensor<f32> {nn.result = #nn.result<metric "weight">},
        tensor<f32> {nn.result = #nn.result<metric "statistic">}) {
  %n = nn.add %m, %m : tensor<f32>
  %g = nn.constant dense<1.0> : tensor<f32>
  %l = nn.reshape %x : tensor<1xf32> -> tensor<f32>
  return %n, %g, %l, %w, %m : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
}
