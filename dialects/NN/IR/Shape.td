#ifndef DPC_DIALECTS_NN_IR_SHAPE_TD
#define DPC_DIALECTS_NN_IR_SHAPE_TD

include "dialects/NN/IR/NNBase.td"

// Base of the ops that move elements and do not compute new ones.
class NN_ShapeOp<string mnemonic, list<Trait> traits = []>
    : NN_Op<mnemonic, !listconcat([
        Pure, NN_Interpretable, NN_Shardable, NN_Moves], traits)>;

def NN_ReshapeOp : NN_ShapeOp<"reshape", [PrecisionOpInterface, NN_Differentiable, NN_Fusable]> {
  let summary = "The same elements, row-major, under another shape";
  let description = [{
    ```mlir
    func.func @example(%x: tensor<8x12x32xf32>) {
      %y = nn.reshape %x : tensor<8x12x32xf32> -> tensor<96x32xf32>
      return
    }
    ```
    Constraints: (C1) operand and result have the same number of elements and
    (C2) the same element type.
  }];
  let arguments = (ins NN_Tensor:$input);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::mlir::ArrayRef<int64_t>":$shape)>];
}

def NN_TransposeOp : NN_ShapeOp<"transpose", [PrecisionOpInterface,
    NN_Differentiable, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Permutes dimensions";
  let description = [{
    Dimension i of the result is dimension `permutation[i]` of the operand.

    ```mlir
    func.func @example(%x: tensor<4x5x6xf32>) {
      %y = nn.transpose %x [0, 2, 1] : tensor<4x5x6xf32> -> tensor<4x6x5xf32>
      return
    }
    ```
    Constraints: (C1) `permutation` holds every dimension once.
  }];
  let arguments = (ins NN_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$input $permutation attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
}

def NN_BroadcastOp : NN_ShapeOp<"broadcast", [
    NN_Differentiable, DeclareOpInterfaceMethods<FusableOpInterface, ["getFirstRowDim"]>]> {
  let summary = "Repeats a tensor along new dimensions";
  let description = [{
    Dimension i of the operand becomes dimension `dimensions[i]` of the result, with
    the same extent. The result is constant along its other dimensions. To repeat a
    dimension of extent 1, a program drops it first with `nn.reshape`.

    ```mlir
    func.func @example(%b: tensor<16xf32>) {
      %y = nn.broadcast %b [1] : tensor<16xf32> -> tensor<8x16xf32>
      return
    }
    ```
    Constraints: (C1) `dimensions` has one entry per operand dimension, strictly
    increasing and inside the rank of the result; (C2) extents and element types
    agree.
  }];
  let arguments = (ins NN_Tensor:$input, DenseI64ArrayAttr:$dimensions);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$input $dimensions attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def NN_SliceOp : NN_ShapeOp<"slice", [PrecisionOpInterface,
    NN_Differentiable, DeclareOpInterfaceMethods<FusableOpInterface, ["getFirstRowDim"]>,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Every stride-th element of a box";
  let description = [{
    Along each dimension, takes the elements start, start + stride, .. that are
    below limit.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>) {
      %y = nn.slice %x starts [0, 2] limits [4, 8] strides [1, 2] : tensor<4x8xf32> -> tensor<4x3xf32>
      return
    }
    ```
    Constraints: (C1) one start, limit and stride per dimension; (C2) 0 <= start <=
    limit <= extent and stride >= 1.
  }];
  let arguments = (ins NN_Tensor:$input, DenseI64ArrayAttr:$starts,
                       DenseI64ArrayAttr:$limits, DenseI64ArrayAttr:$strides);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $input `starts` $starts `limits` $limits `strides` $strides attr-dict
    `:` type($input) `->` type($result)
  }];
  let hasFolder = 1;
}

def NN_PadOp : NN_ShapeOp<"pad", [PrecisionOpInterface,
    NN_Differentiable, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Puts a value around and between the elements";
  let description = [{
    Along each dimension, inserts `interior` elements between two neighbours, `low`
    elements before the first, and `high` elements after the last. All inserted
    elements are `value`. Negative `low` and `high` crop elements, after the
    interior elements have been inserted.

    ```mlir
    func.func @example(%x: tensor<3xf32>, %v: tensor<f32>) {
      %y = nn.pad %x, %v low [1] high [0] interior [1] : tensor<3xf32>, tensor<f32> -> tensor<6xf32>
      return
    }
    ```
    Constraints: (C1) one entry per dimension; (C2) `interior` >= 0 and no negative
    extent; (C3) `value` has the element type of the operand.
  }];
  let arguments = (ins NN_Tensor:$input, 0DTensorOf<[AnyFloat, AnyInteger]>:$value,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
                       DenseI64ArrayAttr:$interior);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $input `,` $value `low` $low `high` $high `interior` $interior attr-dict
    `:` type($input) `,` type($value) `->` type($result)
  }];
}

def NN_ConcatOp : NN_ShapeOp<"concat", [PrecisionOpInterface,
    NN_Differentiable, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Lays tensors end to end along one dimension";
  let description = [{
    ```mlir
    func.func @example(%a: tensor<4x2xf32>, %b: tensor<4x3xf32>) {
      %y = nn.concat %a, %b dim 1 : tensor<4x2xf32>, tensor<4x3xf32> -> tensor<4x5xf32>
      return
    }
    ```
    Constraints: (C1) at least one operand and `dimension` inside their rank;
    (C2) equal element types and equal extents along the other dimensions.
  }];
  let arguments = (ins Variadic<NN_Tensor>:$inputs, I64Attr:$dimension);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$inputs `dim` $dimension attr-dict `:` type($inputs) `->` type($result)";
}

def NN_ReverseOp : NN_ShapeOp<"reverse", [PrecisionOpInterface,
    NN_Differentiable, SameOperandsAndResultType]> {
  let summary = "Reverses the order along some dimensions";
  let description = [{
    ```mlir
    func.func @example(%x: tensor<4x8xf32>) {
      %y = nn.reverse %x [1] : tensor<4x8xf32>
      return
    }
    ```
    Constraints: (C1) `dimensions` are inside the rank and strictly increasing.
  }];
  let arguments = (ins NN_Tensor:$input, DenseI64ArrayAttr:$dimensions);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$input $dimensions attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def NN_IotaOp : NN_ShapeOp<"iota", [NN_Fusable]> {
  let summary = "Each element's own index along one dimension";
  let description = [{
    The index is that in the logical tensor, even if axes shard the tensor.

    ```mlir
    %i = nn.iota dim 1 : tensor<4x8xi64>
    ```
    Constraints: (C1) `dimension` is inside the rank.
  }];
  let arguments = (ins I64Attr:$dimension);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "`dim` $dimension attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif // DPC_DIALECTS_NN_IR_SHAPE_TD
