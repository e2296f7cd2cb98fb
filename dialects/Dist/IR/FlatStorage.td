#ifndef DPC_DIALECTS_DIST_IR_FLATSTORAGE_TD
#define DPC_DIALECTS_DIST_IR_FLATSTORAGE_TD

include "dialects/Dist/IR/DistBase.td"
include "dialects/Interfaces/FusableOpInterface.td"

def Dist_Fusable : DeclareOpInterfaceMethods<FusableOpInterface>;
def Dist_FlatTensor : 1DTensorOf<[AnyFloat, AnyInteger]>;

def Dist_PackOp : Dist_Op<"pack", [Pure, Dist_Interpretable]> {
  let summary = "Lays tensors end to end";
  let description = [{
    Element j of input i is element `at[i]` + j of the result; elements between the
    inputs are zero. Moves no data if the inputs are computed directly into the
    result's buffer.

    Made by `dpc-divide-updates` and `dpc-bucket-collectives`; becomes a buffer and
    views of it.

    ```mlir
    func.func @example(%g: tensor<4x3xf32>, %h: tensor<5xf32>) {
      %b = dist.pack %g, %h at [0, 64] : tensor<4x3xf32>, tensor<5xf32> -> tensor<128xf32>
      return
    }
    ```

    Constraints: (C1) one offset per input; (C2) inputs are inside the result, in
    ascending order without overlap; (C3) one element type.
  }];
  let arguments = (ins Variadic<Dist_Tensor>:$inputs, DenseI64ArrayAttr:$offsets);
  let results = (outs Dist_FlatTensor:$result);
  let assemblyFormat = "$inputs `at` $offsets attr-dict `:` type($inputs) `->` type($result)";
  let hasVerifier = 1;
}

def Dist_UnpackOp : Dist_Op<"unpack", [Pure, Dist_Interpretable, Dist_Fusable]> {
  let summary = "The tensors that lie end to end in a flat one";
  let description = [{
    The inverse of `dist.pack`. Moves no data.

    Made by `dpc-divide-updates` and `dpc-bucket-collectives`; becomes views of a
    buffer.

    ```mlir
    func.func @example(%p: tensor<128xf32>) {
      %w, %v = dist.unpack %p at [0, 64] : tensor<128xf32> -> tensor<4x3xf32>, tensor<5xf32>
      return
    }
    ```

    Constraints: (C1), (C2), (C3) as for `dist.pack`, with results and operand
    exchanged.
  }];
  let arguments = (ins Dist_FlatTensor:$input, DenseI64ArrayAttr:$offsets);
  let results = (outs Variadic<Dist_Tensor>:$results);
  let assemblyFormat = "$input `at` $offsets attr-dict `:` type($input) `->` type($results)";
  let hasVerifier = 1;
}

def Dist_ShardOp : Dist_GroupOp<"shard", [Dist_Fusable]> {
  let summary = "This device's shard of a flat tensor that all have";
  let description = [{
    The operand is split into as many equal shards as the group has members. Each
    device gets the shard with its number in the group. No data is exchanged.

    Made by `dpc-divide-updates`; becomes a view of a buffer.

    ```mlir
    dist.mesh @mesh axes ["data"] sizes [2]
    func.func @example(%p: tensor<128xf32>) {
      %s = dist.shard %p on @mesh ["data"] : tensor<128xf32> -> tensor<64xf32>
      return
    }
    ```

    Constraints: (C1), (C2) as for `dist.all_reduce`; (C3) the operand has the
    group's size times the elements of the result.
  }];
  let arguments = (ins Dist_FlatTensor:$input, FlatSymbolRefAttr:$mesh, StrArrayAttr:$axes);
  let results = (outs Dist_FlatTensor:$result);
  let assemblyFormat = "$input `on` $mesh $axes attr-dict `:` type($input) `->` type($result)";
}

#endif // DPC_DIALECTS_DIST_IR_FLATSTORAGE_TD
