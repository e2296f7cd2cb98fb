#ifndef DPC_DIALECTS_NN_IR_REDUCTION_TD
#define DPC_DIALECTS_NN_IR_REDUCTION_TD

include "dialects/NN/IR/NNBase.td"

def NN_ReduceOp : NN_Op<"reduce", [
    Pure, NN_Interpretable, NN_Shardable, NN_Differentiable, NN_Computes,
    DeclareOpInterfaceMethods<FusableOpInterface, ["getReducedDims"]>,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Combines the elements along some dimensions";
  let description = [{
    The result does not have the reduced dimensions. If a reduced dimension is empty,
    the result is the neutral element: 0 for `sum`, 1 for `prod`, -inf for `max` and
    +inf for `min`. For integers, the least value of the type takes the place of -inf,
    and the largest that of +inf. `max` and `min` give NaN if an element is NaN.

    Let g be the gradient of the result. With `sum`, every element of the operand gets
    g as its gradient. With `max` and `min`, g is divided evenly among the elements
    that equal the result, as for amax of PyTorch. With `first`, the first of these
    elements in row-major order gets all of g, as for max along a dimension in PyTorch.
    With `prod`, an element gets g times the product of the other elements.

    ```mlir
    func.func @example(%x: tensor<4x5x6xf32>) {
      %s = nn.reduce sum %x [0, 2] : tensor<4x5x6xf32> -> tensor<5xf32>
      %m = nn.reduce max %x [1] {first} : tensor<4x5x6xf32> -> tensor<4x6xf32>
      return
    }
    ```
    Constraints: (C1) `dimensions` are inside the rank, strictly increasing; (C2)
    only max and min may have `first`.
  }];
  let arguments = (ins NN_ReduceKind:$kind, NN_Tensor:$input, DenseI64ArrayAttr:$dimensions,
                       UnitAttr:$first);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$kind $input $dimensions attr-dict `:` type($input) `->` type($result)";
}

def NN_ArgReduceOp : NN_Op<"arg_reduce", [
    Pure, NN_Interpretable, NN_Shardable, NN_Moves]> {
  let summary = "The index of the largest or smallest element";
  let description = [{
    The index along `dimension` of the largest (`max`) or smallest (`min`) element. If
    several elements are equal, it is the index of the first, or of the last with
    `selectLast`. If an element is NaN, the result is the index of the first NaN, also
    with `selectLast`. The result does not have `dimension`.

    ```mlir
    func.func @example(%x: tensor<4x5xf32>) {
      %i = nn.arg_reduce max %x dim 1 : tensor<4x5xf32> -> tensor<4xi64>
      return
    }
    ```
    Constraints: (C1) `kind` is max or min; (C2) `dimension` is inside the rank and
    not empty; (C3) the result has the operand's shape without this dimension.
  }];
  let arguments = (ins NN_ReduceKind:$kind, NN_Tensor:$input, I64Attr:$dimension,
                       UnitAttr:$selectLast);
  let results = (outs NN_IndexTensor:$result);
  let assemblyFormat = "$kind $input `dim` $dimension attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def NN_CumSumOp : NN_Op<"cumsum", [
    Pure, SameOperandsAndResultType, NN_Interpretable, NN_Shardable,
    NN_Differentiable, NN_Computes]> {
  let summary = "Running sum along one dimension";
  let description = [{
    Element i of the result is the sum of the elements 0 to i, or 0 to i - 1 with
    `exclusive`. With `reverse`, the sums start at the end. The gradient of the operand
    is the running sum, in the other direction, of the gradient of the result.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>) {
      %y = nn.cumsum %x dim 1 {exclusive} : tensor<4x8xf32>
      return
    }
    ```
    Constraints: (C1) `dimension` is inside the rank.
  }];
  let arguments = (ins NN_Tensor:$input, I64Attr:$dimension, UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$input `dim` $dimension attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif // DPC_DIALECTS_NN_IR_REDUCTION_TD
