#ifndef DPC_PASSES_AUTODIFF_PASSES_TD
#define DPC_PASSES_AUTODIFF_PASSES_TD

include "mlir/Pass/PassBase.td"

def AddLoss : Pass<"dpc-add-loss", "mlir::ModuleOp"> {
  let summary = "Makes @step and @eval out of @forward and a loss";
  let description = [{
    `@step` has the training form of the model and the metric `loss`. `@eval` has the
    evaluation form and these metrics:

    - `loss`;
    - `count`, the number of labels or elements in the mean `loss`, by which the host weights
      batches. It is left out if the loss is `output:NAME`;
    - `accuracy`, if the loss is a cross-entropy;
    - the metrics in the option `metrics`.

    Unless the loss is `output:NAME`, only the first `valid_rows` samples of a batch count
    in `@eval`. `valid_rows` is a control, with which the host excludes the padding of the
    last batch. The host combines the values of a metric over batches, weighted by
    `count`. If a metric needs another mean, its attribute `nn.mean` says which:
    `perplexity` is a geometric mean, and `output:NAME` is a mean over samples, or over
    batches if the output is one number.

    If the loss is `output:NAME`, it is that output of the graph. Any other loss compares
    one float output with a new argument `label`. The option `loss-output` names this
    output; by default it is the first one. The loss is a mean over the complete batch. A
    cross-entropy takes the mean over all labels that are not `ignore-index`, and other
    losses take the mean over all elements.

    The first of these rules that applies chooses the axis of the output along which the
    classes of a cross-entropy lie (ClassAxis.h):

    1. the axis `class-axis`, if that option is given;
    2. the axis without which the output has the shape `label-shape`, if that is given;
    3. axis 1 for outputs of rank 4 or more, and the last axis for other outputs.

    The pass fails if two axes fit rule 2, or if labels of the shape that rule 3 gives
    would fit a second axis. The module attribute `nn.loss` records the choice.

    The first of these rules that applies chooses the batch dimension of the labels:

    1. the dimension `label-batch-dim`, if that option is given;
    2. the dimension that corresponds to the batch dimension of the output, if that
       is known;
    3. the first dimension. If a batch has several samples, a remark says that this
       is a guess.

    Needs: level `import`. Keeps: purity; @forward is gone.

    ```mlir
    func.func @forward(%x: tensor<8x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
        -> (tensor<8x4xf32> {nn.result = #nn.result<output "y">}) {
      return %x : tensor<8x4xf32>
    }
    // becomes, with loss=mse, @eval and
    func.func @step(%x: tensor<8x4xf32> {nn.arg = #nn.arg<input "x", batch = 0>},
                    %seed: tensor<i64> {nn.arg = #nn.arg<control "seed">},
                    %step: tensor<i64> {nn.arg = #nn.arg<control "step">},
                    %label: tensor<8x4xf32> {nn.arg = #nn.arg<label "label", batch = 0>})
        -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
      %0 = nn.sub %x, %label : tensor<8x4xf32>
      %1 = nn.mul %0, %0 : tensor<8x4xf32>
      %2 = nn.reduce sum %1 [0, 1] : tensor<8x4xf32> -> tensor<f32>
      %3 = nn.constant dense<32.0> : tensor<f32>
      %4 = nn.div %2, %3 : tensor<f32>
      return %4 : tensor<f32>
    }
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
  let options = [
    Option<"loss", "loss", "std::string", "",
           "cross-entropy, mse, l1, bce-with-logits or output:NAME">,
    Option<"lossOutput", "loss-output", "std::string", "",
           "The output that the loss is of (default: the first); not with output:NAME">,
    Option<"labelSmoothing", "label-smoothing", "double", "0.0",
           "Share of the target spread over all classes, in [0, 1]">,
    Option<"ignoreIndex", "ignore-index", "int64_t", "-100",
           "Label that does not count">,
    ListOption<"labelBatchDim", "label-batch-dim", "int64_t",
               "The dimension of the labels that counts samples (default: that of the output)">,
    ListOption<"classAxis", "class-axis", "int64_t",
               "Axis of the classes of a cross-entropy (at most one; default: by the shapes)">,
    ListOption<"labelShape", "label-shape", "int64_t",
               "Global shape of the labels (default: from the output's)">,
    Option<"labelType", "label-type", "std::string", "",
           "Element type of the labels, such as i64 or f32 (default: by the loss)">,
    ListOption<"metrics", "metrics", "std::string",
               "accuracy, top-5, binary-accuracy, perplexity or output:NAME, beside the loss in @eval">,
    Option<"batchGroups", "batch-groups", "int64_t", "1",
           "Consecutive groups of samples that batch normalisation treats apart">,
  ];
}

def Differentiate : Pass<"dpc-differentiate", "mlir::ModuleOp"> {
  let summary = "Adds the gradient of the loss to @step, by reverse-mode differentiation";
  let description = [{
    Walks @step backwards from the metric `loss`, lets each op build its vector-Jacobian
    product, and returns one `#nn.result<gradient NAME>` for each parameter on which the
    loss depends. A dependence through an op that stops gradients does not count. If the
    loss does not depend on a parameter, the parameter has no gradient and will not change,
    and a remark says so. Afterwards the pass removes the ops that pass their operand on
    unchanged and affect only its gradient (`GradientFormOpInterface`), such as
    `nn.stop_gradient`.

    With `loss-scale`, the pass differentiates the loss times a factor, so that 16-bit
    gradients do not underflow to 0. The factor is the variable `loss_scale`, which is
    optimizer state. `dpc-apply-optimizer` divides the gradients by the factor.

    Needs: @step from `dpc-add-loss`. Keeps: purity, the other results.

    ```mlir
    func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">})
        -> (tensor<f32> {nn.result = #nn.result<metric "loss">}) {
      %y = nn.exp %w : tensor<4xf32>
      %loss = nn.reduce sum %y [0] : tensor<4xf32> -> tensor<f32>
      return %loss : tensor<f32>
    }
    // becomes
    func.func @step(%w: tensor<4xf32> {nn.arg = #nn.arg<parameter "w">})
        -> (tensor<f32> {nn.result = #nn.result<metric "loss">},
            tensor<4xf32> {nn.result = #nn.result<gradient "w">}) {
      %y = nn.exp %w : tensor<4xf32>
      %loss = nn.reduce sum %y [0] : tensor<4xf32> -> tensor<f32>
      %one = nn.constant dense<1.0> : tensor<f32>
      %g = nn.broadcast %one [] : tensor<f32> -> tensor<4xf32>
      %dw = nn.mul %g, %y : tensor<4xf32>
      return %loss, %dw : tensor<f32>, tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
  let options = [Option<"lossScale", "loss-scale", "double", "0.0",
                        "First value of the factor on the loss; 0 for none">];
}

def FormInference : Pass<"dpc-form-inference", "mlir::ModuleOp"> {
  let summary = "Makes @infer out of @forward, for programs without a loss";
  let description = [{
    `@infer` returns the outputs of the graph, and no state. Each op that has a training
    form and an evaluation form is replaced by its evaluation form: dropout becomes the
    identity, and batch normalisation uses its running statistics. Ops that change only
    gradients are removed.

    Needs: level `import`. Keeps: purity; @forward is gone.

    ```mlir
    func.func @forward(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
        -> (tensor<8xf32> {nn.result = #nn.result<output "y">}) {
      %y, %mask = nn.dropout %x {ratio = 0.5, ordinal = 0} : tensor<8xf32>
      return %y : tensor<8xf32>
    }
    // becomes
    func.func @infer(%x: tensor<8xf32> {nn.arg = #nn.arg<input "x", batch = 0>})
        -> (tensor<8xf32> {nn.result = #nn.result<output "y">}) {
      return %x : tensor<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
}

#endif // DPC_PASSES_AUTODIFF_PASSES_TD
