#ifndef DPC_DIALECTS_DIST_IR_FLATSTORAGE_TD
#define DPC_DIALECTS_DIST_IR_FLATSTORAGE_TD

include "dialects/Dist/IR/DistBase.td"
include "dialects/Interfaces/FusableOpInterface.td"

def Dist_Fusable : DeclareOpInterfaceMethods<FusableOpInterface>;
def Dist_FlatTensor : 1DTensorOf<[AnyFloat, AnyInteger]>;

def Dist_PackOp : Dist_Op<"pack", [Pure, Dist_Interpretable]> {
  let summary = "Lays tensors end to end";
  let description = [{
    Element j of input i becomes element `at[i]` + j of the result. Elements of the
    result that come from no input are zero. The op moves no data if kernels
    compute the inputs directly in the buffer of the result.

    `dpc-divide-updates`, `dpc-bucket-collectives` and `dpc-peel-microbatches` create
    the op. `dpc-lower-to-exec` replaces it by a buffer with one view and one
    `exec.copy` per input.

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
  let summary = "Splits a flat tensor into the tensors that lie in it end to end";
  let description = [{
    The inverse of `dist.pack`: result i has the elements of the operand from
    `at[i]` on. The op moves no data.

    `dpc-divide-updates`, `dpc-bucket-collectives` and `dpc-peel-microbatches` create
    the op. `dpc-lower-to-exec` replaces it by views of the operand's buffer.

    ```mlir
    func.func @example(%p: tensor<128xf32>) {
      %w, %v = dist.unpack %p at [0, 64] : tensor<128xf32> -> tensor<4x3xf32>, tensor<5xf32>
      return
    }
    ```

    Constraints: (C1), (C2), (C3) as for `dist.pack`; the results take the role of
    its inputs.
  }];
  let arguments = (ins Dist_FlatTensor:$input, DenseI64ArrayAttr:$offsets);
  let results = (outs Variadic<Dist_Tensor>:$results);
  let assemblyFormat = "$input `at` $offsets attr-dict `:` type($input) `->` type($results)";
  let hasVerifier = 1;
}

def Dist_ShardOp : Dist_GroupOp<"shard", [Dist_Fusable]> {
  let summary = "This device's shard of a flat tensor that all devices have";
  let description = [{
    The operand is the same on all devices of the group. It consists of as many
    equal shards as the group has members, and each device takes the shard with its
    number in the group. The devices exchange no data.

    `dpc-divide-updates` creates the op. `dpc-lower-to-exec` replaces it by a view
    of the operand's buffer.

    ```mlir
    dist.mesh @mesh axes ["data"] sizes [2]
    func.func @example(%p: tensor<128xf32>) {
      %s = dist.shard %p on @mesh ["data"] : tensor<128xf32> -> tensor<64xf32>
      return
    }
    ```

    Constraints: (C1), (C2) as for `dist.all_reduce`; (C3) the operand has as many
    elements as the results of all devices of the group together.
  }];
  let arguments = (ins Dist_FlatTensor:$input, FlatSymbolRefAttr:$mesh, StrArrayAttr:$axes);
  let results = (outs Dist_FlatTensor:$result);
  let assemblyFormat = "$input `on` $mesh $axes attr-dict `:` type($input) `->` type($result)";
}

#endif // DPC_DIALECTS_DIST_IR_FLATSTORAGE_TD
