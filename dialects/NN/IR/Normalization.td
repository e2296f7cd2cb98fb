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
    y = e^(x - m) / sum e^(x - m), where m is the largest x along `dimension`.
    Subtracting m prevents overflow. If g is the gradient of y, the gradient of x is
    y (g - sum(g y)).

    Frontends create the op. It is one op because one kernel can keep a row in
    registers. `dpc-assign-layouts` decomposes it if an axis cuts the rows.

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
    y = (x - m) - ln sum e^(x - m), where m is the largest x along `dimension`.
    If g is the gradient of y, the gradient of x is g - e^y sum(g).

    Frontends create the op. `dpc-assign-layouts` decomposes it if an axis cuts the
    rows.

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
    The op normalises groups of N elements along `dimensions`. `mean` is the mean of a
    group. `variance` is the mean of (x - mean)^2: the population variance. It is computed
    in a second pass, or beside the mean in f64 if x is narrower. The result is (x - mean) / sqrt(variance + epsilon). With
    `uncentered`, the mean is not subtracted, and `variance` is the mean of x^2 (RMS
    norm); the result `mean` is still the mean. The op has no scale and bias: layer,
    RMS, instance, group and batch normalisation have separate ops for them.

    Let r = 1 / sqrt(variance + epsilon), let y be the result, and let g be the gradient
    of y. The gradient of x is r (g - mean(g) - y mean(g y)), without mean(g) if the op is
    `uncentered`. A gradient h of `mean`
    adds h / N to the gradient of every element. A gradient h of `variance` adds
    2 h (x - mean) / N.

    Frontends and the training form of `nn.batch_norm` create the op.
    `dpc-assign-layouts` decomposes it if an axis cuts one of `dimensions`.

    ```mlir
    func.func @example(%x: tensor<8x16xf32>) {
      %y, %m, %v = nn.normalize %x [1] epsilon 1.0e-5
          : tensor<8x16xf32> -> tensor<8x16xf32>, tensor<8xf32>, tensor<8xf32>
      return
    }
    ```
    Constraints: (C1) `dimensions` are inside the rank and strictly increasing, and
    their extents are not 0; (C2) `epsilon` is a number >= 0.
  }];
  let arguments = (ins NN_FloatTensor:$input, DenseI64ArrayAttr:$dimensions,
                       F64Attr:$epsilon, UnitAttr:$uncentered);
  let results = (outs NN_FloatTensor:$result, NN_FloatTensor:$mean, NN_FloatTensor:$variance);
  let assemblyFormat = [{
    $input $dimensions `epsilon` $epsilon (`uncentered` $uncentered^)? attr-dict
    `:` type($input) `->` type($result) `,` type($mean) `,` type($variance)
  }];
  let extraClassDeclaration = [{
    /// The number N of elements over which one mean is taken.
    int64_t getReducedCount();
  }];
}

def NN_BatchNormOp : NN_Op<"batch_norm", [
    Pure, AllTypesMatch<["input", "result"]>,
    AllTypesMatch<["scale", "bias", "mean", "variance", "newMean", "newVariance"]>,
    NN_Interpretable, NN_TrainingMode, NN_Computes]> {
  let summary = "Batch normalisation with running statistics";
  let description = [{
    In training, each channel (dimension 1) is normalised over all samples and
    positions: result = (x - batch mean) / sqrt(batch variance + epsilon) * scale +
    bias. The running statistics become momentum * old + (1 - momentum) * batch. This is
    the momentum of ONNX, which is 1 minus that of PyTorch. The batch variance is the
    population variance. With `unbiased`, the running variance is updated with the batch
    variance times N / (N - 1), as in PyTorch; if N is 1, the factor is 1.

    The samples may be divided into G groups, which are equal, consecutive runs of
    samples. Then each group has its own batch statistics, and the running statistics
    are updated G times, in the order of the groups. If an op reads the running
    statistics that another op returns, both are uses of one PyTorch module. Each group
    then updates the statistics once per use, in the order of the uses.

    In evaluation, x is normalised by the running statistics, which do not change.

    Frontends create the op, which exists only at level `import`. When the step is
    built, the training or the evaluation form replaces it, so it needs neither a
    gradient nor a sharding rule. The interpreter computes the training form with one
    group.

    ```mlir
    func.func @example(%x: tensor<8x3x4x4xf32>, %scale: tensor<3xf32>, %bias: tensor<3xf32>, %mean: tensor<3xf32>, %var: tensor<3xf32>) {
      %y, %m, %v = nn.batch_norm %x, %scale, %bias, %mean, %var
          {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64, unbiased = true}
          : tensor<8x3x4x4xf32>, tensor<3xf32>
      return
    }
    ```
    Constraints: (C1) `input` has at least 2 dimensions, and no extent is 0; (C2) scale,
    bias, mean and variance have one type, with one element per channel and the element
    type of `input`; (C3) `epsilon` is a number >= 0, and `momentum` is in [0, 1].
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
