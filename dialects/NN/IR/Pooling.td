#ifndef DPC_DIALECTS_NN_IR_POOLING_TD
#define DPC_DIALECTS_NN_IR_POOLING_TD

include "dialects/NN/IR/NNBase.td"

/// Base of the pooling ops, which slide a window over the spatial dimensions of x.
/// The dimensions of x are [batch, channels, spatial..].
class NN_PoolingOp<string mnemonic, list<string> operands, list<Trait> traits>
    : NN_Op<mnemonic, !listconcat([
        Pure, NN_Interpretable, NN_Shardable, NN_Computes], traits)> {
  // The constraints that all five ops share.
  string constraints = [{
    Constraints (pool_c1 to pool_c5, the same for the five ops): (C1) x has rank
    3 to 5; (C2) `kernel`, `strides`, `padLow`, `padHigh` and `dilations` have
    one entry per spatial dimension; (C3) kernel, strides and dilations are at
    least 1, and no extent or entry exceeds 2^31 - 1 in size; (C4) the dilated
    window fits the padded extent, in + padLow + padHigh >=
    (k - 1) dilation + 1; (C5) the pooled tensor has the batch, channels and
    element type of x and spatial extents
    floor((in + padLow + padHigh - (k - 1) dilation - 1) / stride) + 1.
  }];
  let arguments = !con(!dag(ins, !foreach(name, operands, NN_Tensor), operands),
                       (ins DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                            DenseI64ArrayAttr:$padLow, DenseI64ArrayAttr:$padHigh,
                            DenseI64ArrayAttr:$dilations));
  let results = (outs NN_Tensor:$result);
  let assemblyFormat =
      !interleave(!foreach(name, operands, "$" # name), " `,` ") # [{
    `kernel` $kernel `strides` $strides `padLow` $padLow `padHigh` $padHigh
    `dilations` $dilations attr-dict `:` }] #
      !interleave(!foreach(name, operands, "type($" # name # ")"), " `,` ") #
      " `->` type($result)";
  let extraClassDeclaration = [{
    ::dpc::nn::Window getWindow() {
      return {getKernel(), getStrides(), getPadLow(), getPadHigh(), getDilations()};
    }
  }];
}

def NN_MaxPoolOp : NN_PoolingOp<"max_pool", ["input"], [NN_Differentiable, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Largest element of each window";
  let description = [{
    Output element o is the largest element of its window: the elements of x at o *
    stride + k * dilation - padLow for all k in `kernel`. It is NaN if one of them
    is NaN. Padding is ignored; a window of only padding gives the least value of
    the type. Frontends express ceil mode by a larger `padHigh`. Gradient:
    `nn.max_pool_grad`.

    ```mlir
    func.func @example(%x: tensor<8x16x32x32xf32>) {
      %y = nn.max_pool %x kernel [3, 3] strides [2, 2] padLow [1, 1] padHigh [1, 1] dilations [1, 1]
          : tensor<8x16x32x32xf32> -> tensor<8x16x16x16xf32>
      return
    }
    ```
  }] # constraints;
}

def NN_MaxPoolTapsOp : NN_PoolingOp<"max_pool_taps", ["input"], [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Tap of the largest element of each window";
  let description = [{
    A tap is a position in the window. The taps have the numbers 0, 1, .. in row-major
    order. Output element o is the tap of the largest element of its window. If several
    elements are the largest, the result is the first of these taps, as in PyTorch. If the
    window has a NaN, the first NaN counts as the largest element. The result is -1 if the
    window has only padding. The VJP of `nn.max_pool` creates the op, which has no gradient
    itself.

    ```mlir
    func.func @example(%x: tensor<8x16x32xf32>) {
      %t = nn.max_pool_taps %x kernel [2] strides [2] padLow [0] padHigh [0] dilations [1]
          : tensor<8x16x32xf32> -> tensor<8x16x16xi8>
      return
    }
    ```
  }] # constraints # [{
    The element type of the result is not that of x but (pool_c6) the narrowest of i8, i16,
    i32 and i64 that has the numbers of all taps.
  }];
}

def NN_MaxPoolGradOp : NN_PoolingOp<"max_pool_grad", ["taps", "grad"], []> {
  let summary = "Gradient of max pooling's input";
  let description = [{
    Each element of `grad` belongs to one window. The op adds it to the element of the
    result that is at the tap of this window in `taps`, as `nn.max_pool_taps` computes
    them. It adds nothing if there is no such tap, or if the tap is padding. The result has
    the type of x. The VJP of `nn.max_pool` creates the op, which has no gradient itself.

    ```mlir
    func.func @example(%t: tensor<8x16x16xi8>, %g: tensor<8x16x16xf32>) {
      %dx = nn.max_pool_grad %t, %g kernel [2] strides [2] padLow [0] padHigh [0] dilations [1]
          : tensor<8x16x16xi8>, tensor<8x16x16xf32> -> tensor<8x16x32xf32>
      return
    }
    ```
  }] # constraints # [{
    `taps` has (pool_c6) the shape of the pooled tensor and the narrowest element type of
    i8, i16, i32 and i64 that has the numbers of all taps.
  }];
  let hasVerifier = 1;
}

def NN_SumPoolOp : NN_PoolingOp<"sum_pool", ["input"], [NN_Differentiable, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Sum of each window";
  let description = [{
    Output element o is the sum of its window: the elements of x at o * stride + k *
    dilation - padLow for all k in `kernel`. Padding counts as zero. Average pooling
    divides this sum by the number of kernel elements, or by the number of elements
    that are not padding. The sum pooling of a tensor of ones computes the number
    of elements that are not padding. Gradient: `nn.sum_pool_grad`.

    ```mlir
    func.func @example(%x: tensor<8x16x32x32xf32>) {
      %y = nn.sum_pool %x kernel [2, 2] strides [2, 2] padLow [0, 0] padHigh [0, 0] dilations [1, 1]
          : tensor<8x16x32x32xf32> -> tensor<8x16x16x16xf32>
      return
    }
    ```
  }] # constraints;
}

def NN_SumPoolGradOp : NN_PoolingOp<"sum_pool_grad", ["grad"], [NN_Differentiable]> {
  let summary = "Gradient of sum pooling's input";
  let description = [{
    Adds each element of `grad` at every position of its window in the result, which
    has the type of x. The op is the transpose of `nn.sum_pool`, so each of the two
    is the gradient of the other.

    ```mlir
    func.func @example(%g: tensor<8x16x16xf32>) {
      %dx = nn.sum_pool_grad %g kernel [2] strides [2] padLow [0] padHigh [0] dilations [1]
          : tensor<8x16x16xf32> -> tensor<8x16x32xf32>
      return
    }
    ```
  }] # constraints;
  let hasVerifier = 1;
}

#endif // DPC_DIALECTS_NN_IR_POOLING_TD
