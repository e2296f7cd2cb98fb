#ifndef DPC_DIALECTS_NN_IR_POOLING_TD
#define DPC_DIALECTS_NN_IR_POOLING_TD

include "dialects/NN/IR/NNBase.td"

/// Slides a window over the spatial dimensions of x (batch, channels, spatial).
class NN_PoolingOp<string mnemonic, list<string> operands, list<Trait> traits>
    : NN_Op<mnemonic, !listconcat([
        Pure, NN_Interpretable, NN_Shardable, NN_Computes], traits)> {
  // The constraints that all four share.
  string constraints = [{
    Constraints (pool_c1 to pool_c5, the same for the four ops): (C1) x has rank
    3 to 5; (C2) `kernel`, `strides`, `padLow`, `padHigh` and `dilations` have
    one entry a spatial dimension; (C3) kernel, strides and dilations are at
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
    The largest element of x among those at o * stride + k * dilation - padLow for k
    in `kernel`; NaN if one of them is NaN. Padding never wins; a window of only
    padding gives the least value of the type. The ceil mode of frontends is a
    larger `padHigh`. Gradient: `nn.max_pool_grad`.

    ```mlir
    func.func @example(%x: tensor<8x16x32x32xf32>) {
      %y = nn.max_pool %x kernel [3, 3] strides [2, 2] padLow [1, 1] padHigh [1, 1] dilations [1, 1]
          : tensor<8x16x32x32xf32> -> tensor<8x16x16x16xf32>
      return
    }
    ```
  }] # constraints;
}

def NN_MaxPoolGradOp : NN_PoolingOp<"max_pool_grad", ["input", "grad"], [AllTypesMatch<["input", "result"]>]> {
  let summary = "Gradient of max pooling's input";
  let description = [{
    Adds each element of `grad` at the position of the first largest element in its
    window of `input`, in row-major order of the kernel, as PyTorch does (the first
    NaN if there is one). Made by the VJP of `nn.max_pool`; it has no gradient
    itself.

    ```mlir
    func.func @example(%x: tensor<8x16x32xf32>, %g: tensor<8x16x16xf32>) {
      %dx = nn.max_pool_grad %x, %g kernel [2] strides [2] padLow [0] padHigh [0] dilations [1]
          : tensor<8x16x32xf32>, tensor<8x16x16xf32> -> tensor<8x16x32xf32>
      return
    }
    ```
  }] # constraints;
  let hasVerifier = 1;
}

def NN_SumPoolOp : NN_PoolingOp<"sum_pool", ["input"], [NN_Differentiable, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Sum of each window";
  let description = [{
    The sum of the elements of x at o * stride + k * dilation - padLow for k in
    `kernel`; padding counts as zero. Average pooling is this sum divided by the
    number of kernel elements, or by the counts that the same pooling of ones gives.
    Gradient: `nn.sum_pool_grad`.

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
    Adds each element of `grad` at every position of its window in the result, a
    tensor of x's type. It is the transpose of `nn.sum_pool`, and the gradient of
    each is the other.

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
