#ifndef DPC_DIALECTS_NN_IR_LOSS_TD
#define DPC_DIALECTS_NN_IR_LOSS_TD

include "dialects/NN/IR/NNBase.td"

def NN_CrossEntropyOp : NN_Op<"cross_entropy", [
    Pure, NN_Interpretable, NN_Shardable, NN_Differentiable, NN_Decomposable,
    NN_Computes, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Negative log-likelihood of the labels under a softmax";
  let description = [{
    Let the logits x have C classes along `dimension`, p = softmax(x), and s =
    `labelSmoothing`. The loss of one label is (1 - s) (-ln p_label) + s/C sum_c
    (-ln p_c), or 0 if the label is `ignoreIndex`. The op returns one loss per label;
    other ops compute the mean of these losses.

    `logSumExp` is ln sum_c e^(x_c); the gradient needs it. Let g be the gradient of a
    loss. The gradient of the logits is g (p - (1 - s) onehot(label) - s/C), or 0 for
    ignored labels. If `logSumExp` has a gradient h, p h is added.

    If a label is outside of [0, C) and not `ignoreIndex`, the interpreter fails
    with an error. In compiled programs, the runtime checks labels when it reads
    them, against bounds that the compiler recorded.

    Frontends create the op, and `dpc-add-loss` creates it for `--loss`.
    `dpc-assign-layouts` decomposes it if an axis cuts the dimension of classes.

    ```mlir
    func.func @example(%x: tensor<8x10xf32>, %labels: tensor<8xi64>) {
      %loss, %lse = nn.cross_entropy %x, %labels dim 1 {labelSmoothing = 0.1 : f64}
          : tensor<8x10xf32>, tensor<8xi64> -> tensor<8xf32>, tensor<8xf32>
      return
    }
    ```
    Constraints: (C1) `dimension` is inside the rank of the logits and not empty;
    (C2) the labels have the logits' shape without this dimension; (C3)
    `labelSmoothing` lies in [0, 1].
  }];
  let arguments = (ins NN_FloatTensor:$logits, NN_IndexTensor:$labels, I64Attr:$dimension,
                       DefaultValuedAttr<I64Attr, "-100">:$ignoreIndex,
                       DefaultValuedAttr<F64Attr, "0.0">:$labelSmoothing);
  let results = (outs NN_FloatTensor:$losses, NN_FloatTensor:$logSumExp);
  let assemblyFormat = [{
    $logits `,` $labels `dim` $dimension attr-dict
    `:` type($logits) `,` type($labels) `->` type($losses) `,` type($logSumExp)
  }];
}

#endif // DPC_DIALECTS_NN_IR_LOSS_TD
