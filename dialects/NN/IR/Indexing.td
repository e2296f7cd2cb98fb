#ifndef DPC_DIALECTS_NN_IR_INDEXING_TD
#define DPC_DIALECTS_NN_IR_INDEXING_TD

include "dialects/NN/IR/NNBase.td"

// Base of the ops that read or write at positions from an index tensor. Indices must be
// in [0, extent). Frontends convert negative indices, which count from the end, and the
// interpreter rejects an index outside of the range.
class NN_IndexingOp<string mnemonic, list<Trait> traits = []>
    : NN_Op<mnemonic, !listconcat([
        Pure, NN_Interpretable, NN_Shardable, NN_Differentiable], traits)>;

/// The costs of a gather: it reads as many bytes of the table as it writes to the result.
def NN_Gathers : DeclareOpInterfaceMethods<CostOpInterface, ["getBytes", "getKernelClass"]>;

def NN_GatherOp : NN_IndexingOp<"gather",
    [NN_Gathers, PrecisionOpInterface, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Takes slices of a table";
  let description = [{
    The dimensions of `indices` replace dimension `dimension` of the table: result[a, i,
    b] = table[a, indices[i], b]. Gradient: `nn.scatter_add`. If an axis cuts `dimension`
    of the table, the results are partial sums: rows that another device has count as 0.
    If `padding` is given, a row that is read at the index `padding` gets no gradient
    (padding_idx of PyTorch).

    Frontends create the op, e.g. for Gather, and so does the VJP of `nn.scatter_add`.
    It becomes one kernel.

    ```mlir
    func.func @example(%table: tensor<100x16xf32>, %ids: tensor<4x8xi64>) {
      %y = nn.gather %table, %ids dim 0 : tensor<100x16xf32>, tensor<4x8xi64> -> tensor<4x8x16xf32>
      return
    }
    ```
    Constraints: (C1) `dimension` is inside the rank of the table.
  }];
  let arguments = (ins NN_Tensor:$table, NN_IndexTensor:$indices, I64Attr:$dimension,
                       OptionalAttr<I64Attr>:$padding);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $table `,` $indices `dim` $dimension (`padding` $padding^)? attr-dict
    `:` type($table) `,` type($indices) `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$table, "::mlir::Value":$indices,
                                 "int64_t":$dimension), [{
    build($_builder, $_state, table, indices, static_cast<uint64_t>(dimension), ::mlir::IntegerAttr());
  }]>];
  let extraClassDeclaration = [{
    ::dpc::Precision getPrecision() { return ::dpc::Precision::lookup; }
  }];
}

def NN_ScatterAddOp : NN_IndexingOp<"scatter_add", [NN_Computes]> {
  let summary = "Adds slices into a table of zeros";
  let description = [{
    The transpose of `nn.gather`: result[a, j, b] is the sum of updates[a, i, b] over all
    i with indices[i] = j. The terms are added in row-major order of i, so that the bits
    do not depend on the target. Gradient: `nn.gather`.

    The VJP of `nn.gather` creates the op, and frontends create it to count or sum rows.
    It becomes one kernel.

    ```mlir
    func.func @example(%g: tensor<4x8x16xf32>, %ids: tensor<4x8xi64>) {
      %t = nn.scatter_add %g, %ids dim 0 : tensor<4x8x16xf32>, tensor<4x8xi64> -> tensor<100x16xf32>
      return
    }
    ```
    Constraints: (C1) `dimension` is inside the rank of the result; (C2) `updates` has the
    element type of the result, and its shape with the dimensions of `indices` in place of
    `dimension`.
  }];
  let arguments = (ins NN_Tensor:$updates, NN_IndexTensor:$indices, I64Attr:$dimension);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $updates `,` $indices `dim` $dimension attr-dict
    `:` type($updates) `,` type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
}

def NN_GatherElementsOp : NN_IndexingOp<"gather_elements", [NN_Gathers, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Takes one element for each index";
  let description = [{
    result[a, i, b] = input[a, indices[a, i, b], b], with i along `dimension`.
    Gradient: `nn.scatter_elements add` into zeros. If an axis cuts `dimension` of the
    input, the results are partial sums: elements that another device has count as 0.

    Frontends (GatherElements), VJPs, `dpc-form-batch-gathers` and the decomposition of
    `nn.cross_entropy` create the op. It becomes one kernel, or is part of the kernel of
    the loss.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>, %i: tensor<4x2xi64>) {
      %y = nn.gather_elements %x, %i dim 1 : tensor<4x8xf32>, tensor<4x2xi64> -> tensor<4x2xf32>
      return
    }
    ```
    Constraints: (C1) `dimension` is inside the rank; (C2) `indices` has the rank of
    `input` and no greater extent along the other dimensions.
  }];
  let arguments = (ins NN_Tensor:$input, NN_IndexTensor:$indices, I64Attr:$dimension);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $input `,` $indices `dim` $dimension attr-dict
    `:` type($input) `,` type($indices) `->` type($result)
  }];
}

def NN_ScatterElementsOp : NN_IndexingOp<"scatter_elements", [AllTypesMatch<["input", "result"]>, NN_Computes]> {
  let summary = "Copies a tensor, and combines one element for each index into the copy";
  let description = [{
    The result is a copy of `input` that is combined with all updates in row-major order:
    updates[a, i, b] with the element at [a, indices[a, i, b], b]. `kind` says how. `none`
    replaces the element; if two updates have the same position, it is unspecified which
    stays. The other kinds add, multiply, or take the larger or smaller value. The
    gradients of `none` and `add` follow from the definition. `max` and `min` divide the
    gradient evenly among equal elements. `mul` has no gradient.

    Frontends (ScatterElements) and VJPs create the op. It becomes one kernel.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>, %i: tensor<4x2xi64>, %u: tensor<4x2xf32>) {
      %y = nn.scatter_elements add %x, %i, %u dim 1 : tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32>
      return
    }
    ```
    Constraints: (C1) `dimension` is inside the rank; (C2) `indices` has the rank of
    `input` and no greater extent along the other dimensions; (C3) `updates` has the
    shape of `indices` and the element type of `input`.
  }];
  let arguments = (ins NN_ScatterKind:$kind, NN_Tensor:$input, NN_IndexTensor:$indices,
                       NN_Tensor:$updates, I64Attr:$dimension);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $kind $input `,` $indices `,` $updates `dim` $dimension attr-dict
    `:` type($input) `,` type($indices) `,` type($updates)
  }];
  let hasVerifier = 1;
}

def NN_GatherNDOp : NN_IndexingOp<"gather_nd", [NN_Gathers, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Takes slices at index tuples";
  let description = [{
    The last dimension of `indices` has the components of index tuples: result[b, i, s] =
    input[b, indices[b, i, :]..., s]. Here b stands for the first `batchDims` dimensions.
    Gradient: `nn.scatter_nd add` into zeros.

    Frontends (GatherND), VJPs and `dpc-form-batch-gathers` create the op. It becomes
    one kernel.

    ```mlir
    func.func @example(%x: tensor<2x4x5x6xf32>, %i: tensor<2x3x2xi64>) {
      %y = nn.gather_nd %x, %i {batchDims = 1 : i64}
          : tensor<2x4x5x6xf32>, tensor<2x3x2xi64> -> tensor<2x3x6xf32>
      return
    }
    ```
    Constraints: (C1) 0 <= `batchDims` < rank of `indices`, and <= rank of `input`;
    (C2) the batch extents agree; (C3) a tuple has at most as many components as
    `input` has dimensions after the batch.
  }];
  let arguments = (ins NN_Tensor:$input, NN_IndexTensor:$indices,
                       DefaultValuedAttr<I64Attr, "0">:$batchDims);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $input `,` $indices attr-dict `:` type($input) `,` type($indices) `->` type($result)
  }];
}

def NN_ScatterNDOp : NN_IndexingOp<"scatter_nd", [AllTypesMatch<["input", "result"]>, NN_Computes]> {
  let summary = "Copies a tensor, and combines slices at index tuples into the copy";
  let description = [{
    The result is a copy of `input` that is combined with all updates in row-major order:
    updates[b, i, s] with the element at [b, indices[b, i, :]..., s]. `kind` says how, as
    for `nn.scatter_elements`.

    Frontends (ScatterND) and VJPs create the op. It becomes one kernel.

    ```mlir
    func.func @example(%x: tensor<4x5x6xf32>, %i: tensor<3x2xi64>, %u: tensor<3x6xf32>) {
      %y = nn.scatter_nd none %x, %i, %u : tensor<4x5x6xf32>, tensor<3x2xi64>, tensor<3x6xf32>
      return
    }
    ```
    Constraints: (C1) to (C3) of `nn.gather_nd`; (C4) `updates` has the type that
    `nn.gather_nd` of `input` with these indices has.
  }];
  let arguments = (ins NN_ScatterKind:$kind, NN_Tensor:$input, NN_IndexTensor:$indices,
                       NN_Tensor:$updates, DefaultValuedAttr<I64Attr, "0">:$batchDims);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{
    $kind $input `,` $indices `,` $updates attr-dict
    `:` type($input) `,` type($indices) `,` type($updates)
  }];
  let hasVerifier = 1;
}

def NN_TopKOp : NN_IndexingOp<"top_k", [NN_Computes, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "The k largest or smallest elements along one dimension";
  let description = [{
    The results are the k best values and their indices along `dimension`, best first.
    Among equal values the lower index is first. NaN counts as larger than every number.
    If `sorted` is false, the program does not need this order, but the results still have
    it. Gradient: that of the values, scattered to their positions in the operand.

    Frontends create the op (TopK). It becomes one kernel.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>) {
      %v, %i = nn.top_k %x dim 1 {k = 3 : i64} : tensor<4x8xf32> -> tensor<4x3xf32>, tensor<4x3xi64>
      return
    }
    ```
    Constraints: (C1) `dimension` is inside the rank; (C2) 0 <= k <= its extent.
  }];
  let arguments = (ins NN_Tensor:$input, I64Attr:$dimension, I64Attr:$k,
                       DefaultValuedAttr<BoolAttr, "true">:$largest,
                       DefaultValuedAttr<BoolAttr, "true">:$sorted);
  let results = (outs NN_Tensor:$values, NN_IndexTensor:$indices);
  let assemblyFormat = [{
    $input `dim` $dimension attr-dict `:` type($input) `->` type($values) `,` type($indices)
  }];
}

#endif // DPC_DIALECTS_NN_IR_INDEXING_TD
