#ifndef DPC_PASSES_OPTIMIZE_PASSES_TD
#define DPC_PASSES_OPTIMIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ApplyOptimizer : Pass<"dpc-apply-optimizer", "mlir::ModuleOp"> {
  let summary = "Turns the gradients of @step into the new parameters";
  let description = [{
    Replaces each `#nn.result<gradient NAME>` by the new value of the parameter, which
    `nn.update` ops compute. Adds the slots of the optimizer, such as Adam's moments, as
    state: as arguments, as results, and as `nn.variable`s named `SLOT|NAME` whose initial
    value is zero. The learning rate is the control `learning_rate`. Its schedule becomes
    the module attribute `nn.learning_rate`.

    Formulas and defaults are those of torch.optim, with two exceptions: `momentum` and
    `nesterov` have the default momentum 0.9, and torch.optim has no LAMB. The file of each
    optimizer states its formulas.

    If the loss is scaled (`dpc-differentiate{loss-scale=X}`), the pass divides the
    gradients by the scale. A step is skipped if its loss or one of its gradients is not
    finite: the scale is halved, and parameters, buffers and slots keep their values. After
    `loss-scale-interval` good steps in a row, the scale is doubled. The step number in the
    optimizer's formulas counts only steps that were taken. The new scale is also the metric
    `loss_scale`.

    With `gradient-type`, ranks reduce and store gradients in this type. Updates and norms
    convert the gradients back.

    With clipping or `log-grad-norm`, the step has the metric `grad_norm`: the norm of all
    gradients together, before clipping.

    Needs: @step from `dpc-differentiate`. Keeps: purity, metrics, other state.

    ```mlir
    func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">})
        -> (tensor<4xf32> {nn.result = #nn.result<gradient "w">}) {
      %g = nn.constant dense<1.0> : tensor<4xf32>
      return %g : tensor<4xf32>
    }
    // becomes, with optimizer=sgd,lr=0.1
    func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">},
                    %lr: tensor<f64> {nn.arg = #nn.arg<control "learning_rate">},
                    %step: tensor<i64> {nn.arg = #nn.arg<control "step">})
        -> (tensor<4xf32> {nn.result = #nn.result<state "w">}) {
      %g = nn.constant dense<1.0> : tensor<4xf32>
      %l = nn.convert %lr : tensor<f64> -> tensor<f32>
      %w1 = nn.update (%w, %g : tensor<4xf32>, tensor<4xf32>) scalars (%l : tensor<f32>) {
      ^bb0(%p: tensor<f32>, %d: tensor<f32>, %rate: tensor<f32>):
        %0 = nn.mul %rate, %d : tensor<f32>
        %1 = nn.sub %p, %0 : tensor<f32>
        nn.yield %1 : tensor<f32>
      } -> tensor<4xf32>
      return %w1 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
  let options = [
    Option<"optimizer", "optimizer", "std::string", "",
           "NAME[,OPTION=VALUE..], such as adamw,lr=3e-4,weight-decay=0.01">,
    ListOption<"groups", "groups", "std::string",
               "Parameter groups, GLOB[;weight-decay=X][;lr-scale=X]; of those that match, the last that names an option sets it">,
    Option<"clipGradNorm", "clip-grad-norm", "double", "0.0",
           "Largest norm of all gradients together; 0 for no clipping">,
    Option<"logGradNorm", "log-grad-norm", "bool", "false",
           "Whether the metric grad_norm is made without clipping too">,
    Option<"lossScaleInterval", "loss-scale-interval", "int64_t", "2000",
           "Good steps in a row after which the scale of the loss is doubled">,
    Option<"gradientType", "gradient-type", "std::string", "",
           "Type that gradients are converted to: bf16, or empty for that of their parameters">,
    Option<"schedule", "lr-schedule", "std::string", "\"constant\"",
           "constant|linear|cosine[,warmup=N|P%,total=N,min-lr=X]">,
  ];
}

#endif // DPC_PASSES_OPTIMIZE_PASSES_TD
