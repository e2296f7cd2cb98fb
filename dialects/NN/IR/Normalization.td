#ifndef DPC_DIALECTS_NN_IR_NORMALIZATION_TD
#define DPC_DIALECTS_NN_IR_NORMALIZATION_TD

include "dialects/NN/IR/NNBase.td"

class NN_SoftmaxLikeOp<string mnemonic> : NN_Op<mnemonic, [
    Pure, SameOperandsAndResultType, NN_Interpretable, NN_Shardable,
    NN_Differentiable, NN_Decomposable, NN_Computes]> {
  let arguments = (ins NN_FloatTensor:$input, I64Attr:$dimension);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$input `dim` $dimension attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def NN_SoftmaxOp : NN_SoftmaxLikeOp<"softmax"> {
  let summary = "Exponentials along one dimension, divided by their sum";
  let description = [{
    y = e^(x - m) / sum e^(x - m) with m the largest x along `dimension`, so that
    nothing overflows. Gradient: y (g - sum(g y)).

    Made by the frontends; kept whole because one kernel keeps the row in
    registers; decomposed at `placed` where the row is cut.

    ```mlir
    func.func @example(%x: tensor<8x16xf32>) {
      %y = nn.softmax %x dim 1 : tensor<8x16xf32>
      return
    }
    ```
    Constraints: (C1) `dimension` is inside the rank.
  }];
}

def NN_LogSoftmaxOp : NN_SoftmaxLikeOp<"log_softmax"> {
  let summary = "Logarithm of softmax, without the quotient";
  let description = [{
    y = (x - m) - ln sum e^(x - m) with m the largest x along `dimension`.
    Gradient: g - e^y sum(g).

    Made by the frontends; decomposed at `placed` where the row is cut.

    ```mlir
    func.func @example(%x: tensor<8x16xf32>) {
      %y = nn.log_softmax %x dim 1 : tensor<8x16xf32>
      return
    }
    ```
    Constraints: (C1) `dimension` is inside the rank.
  }];
}

def NN_NormalizeOp : NN_Op<"normalize", [
    Pure, NN_Interpretable, NN_Shardable, NN_Differentiable, NN_Decomposable,
    NN_Computes, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Shifts and scales to mean 0 and variance 1";
  let description = [{
    Over the N elements along `dimensions`: `mean` is their mean, `variance` the
    mean of (x - mean)^2 (population variance, taken in a second pass), and
    result = (x - mean) / sqrt(variance + epsilon). With `uncentered` the mean is
    not subtracted and `variance` is the mean of x^2 (RMS norm); `mean` is still
    the mean. There is no affine part: layer, RMS, instance, group and batch
    normalisation multiply and add around this op.

    Gradient, with r = 1 / sqrt(variance + epsilon) and y the result:
    r (g - mean(g) - y mean(g y)), without mean(g) when uncentered; a gradient of
    `mean` adds its N-th part everywhere, one of `variance` 2/N (x - mean).

    Made by the frontends and by the training form of `nn.batch_norm`; decomposed
    at `placed` where a reduced dimension is cut.

    ```mlir
    func.func @example(%x: tensor<8x16xf32>) {
      %y, %m, %v = nn.normalize %x [1] epsilon 1.0e-5
          : tensor<8x16xf32> -> tensor<8x16xf32>, tensor<8xf32>, tensor<8xf32>
      return
    }
    ```
    Constraints: (C1) `dimensions` are inside the rank, strictly increasing, and
    not empty extents; (C2) `epsilon` is a number >= 0.
  }];
  let arguments = (ins NN_FloatTensor:$input, DenseI64ArrayAttr:$dimensions,
                       F64Attr:$epsilon, UnitAttr:$uncentered);
  let results = (outs NN_FloatTensor:$result, NN_FloatTensor:$mean, NN_FloatTensor:$variance);
  let assemblyFormat = [{
    $input $dimensions `epsilon` $epsilon (`uncentered` $uncentered^)? attr-dict
    `:` type($input) `->` type($result) `,` type($mean) `,` type($variance)
  }];
  let extraClassDeclaration = [{
    /// Number of elements that one mean is taken over.
    int64_t getReducedCount();
  }];
}

def NN_BatchNormOp : NN_Op<"batch_norm", [
    Pure, AllTypesMatch<["input", "result"]>,
    AllTypesMatch<["scale", "bias", "mean", "variance", "newMean", "newVariance"]>,
    NN_Interpretable, NN_TrainingMode, NN_Computes]> {
  let summary = "Batch normalisation with running statistics";
  let description = [{
    Training: each channel (dimension 1) is normalised over the samples and the
    positions, result = (x - batch mean) / sqrt(batch variance + epsilon) scale +
    bias, and the running statistics move to momentum * old + (1 - momentum) *
    batch (ONNX's momentum, 1 - PyTorch's). The batch variance is the population
    variance; `unbiased` moves the running variance by N / (N - 1) of it, as
    PyTorch does (N / 1 where N is 1).
    With G groups the statistics are taken over G equal runs of samples, and the
    running ones move G times, in order. An op whose running statistics are those
    that another op gives is another use of the same module: each group then moves
    them once a use, in the order of the uses.
    Evaluation: normalised by the running statistics, which stay.

    Made by the frontends at level `import`; building the step replaces it, so it
    has neither gradient nor sharding rule. An interpreter computes the training
    form with one group.

    ```mlir
    func.func @example(%x: tensor<8x3x4x4xf32>, %scale: tensor<3xf32>, %bias: tensor<3xf32>, %mean: tensor<3xf32>, %var: tensor<3xf32>) {
      %y, %m, %v = nn.batch_norm %x, %scale, %bias, %mean, %var
          {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64, unbiased = true}
          : tensor<8x3x4x4xf32>, tensor<3xf32>
      return
    }
    ```
    Constraints: (C1) `input` has at least 2 dimensions, none empty; (C2) scale,
    bias, mean and variance (of one type) have one element a channel, of the
    element type of `input`; (C3) `epsilon` is a number >= 0 and `momentum` lies in [0, 1].
  }];
  let arguments = (ins NN_FloatTensor:$input, NN_FloatTensor:$scale, NN_FloatTensor:$bias,
                       NN_FloatTensor:$mean, NN_FloatTensor:$variance,
                       F64Attr:$epsilon, F64Attr:$momentum,
                       DefaultValuedAttr<BoolAttr, "false">:$unbiased);
  let results = (outs NN_FloatTensor:$result, NN_FloatTensor:$newMean, NN_FloatTensor:$newVariance);
  let assemblyFormat = [{
    $input `,` $scale `,` $bias `,` $mean `,` $variance attr-dict
    `:` type($input) `,` type($scale)
  }];
  let hasVerifier = 1;
}

#endif // DPC_DIALECTS_NN_IR_NORMALIZATION_TD
