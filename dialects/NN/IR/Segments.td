#ifndef DPC_DIALECTS_NN_IR_SEGMENTS_TD
#define DPC_DIALECTS_NN_IR_SEGMENTS_TD

include "dialects/NN/IR/NNBase.td"

class NN_SegmentOp<string mnemonic, list<Trait> traits = []> : NN_Op<mnemonic, !listconcat(
    traits, [Pure, NN_Interpretable, NN_Computes, AllTypesMatch<["begins", "ends"]>])>;
def NN_FlatTensor : 1DTensorOf<[F32, F64]>;
def NN_SegmentBounds : 1DTensorOf<[I64]>;

def NN_SegmentSumOp : NN_SegmentOp<"segment_sum"> {
  let summary = "Sums of the segments of a flat tensor";
  let description = [{
    Element k is the sum of elements `begins[k]`, .., `ends[k]` - 1 of the operand.
    Bounds are clamped to the operand. So a shard of flat storage can be summed with the
    bounds of all members, relative to the start of the shard, and the sums of all
    shards add up to those of the complete storage.

    Made by `dpc-divide-updates` for the norms of tensors in flat storage.

    ```mlir
    func.func @example(%x: tensor<8xf32>, %b: tensor<2xi64>, %e: tensor<2xi64>) {
      %s = nn.segment_sum %x, %b, %e : tensor<8xf32>, tensor<2xi64> -> tensor<2xf32>
      return
    }
    ```
    Constraints: (C1) the result has one element per segment, of the operand's type.
  }];
  let arguments = (ins NN_FlatTensor:$input, NN_SegmentBounds:$begins, NN_SegmentBounds:$ends);
  let results = (outs NN_FlatTensor:$result);
  let assemblyFormat = [{
    $input `,` $begins `,` $ends attr-dict `:` type($input) `,` type($begins) `->` type($result)
  }];
  let hasVerifier = 1;
}

def NN_SegmentFillOp : NN_SegmentOp<"segment_fill"> {
  let summary = "A flat tensor of segments of equal elements";
  let description = [{
    Elements `begins[k]`, .., `ends[k]` - 1 are element k of the operand; elements in
    no segment are 0. Segments do not overlap. Bounds are clamped to the result, as
    in `nn.segment_sum`.

    Made by `dpc-divide-updates` for factors of which each tensor in flat storage
    has its own.

    ```mlir
    func.func @example(%x: tensor<2xf32>, %b: tensor<2xi64>, %e: tensor<2xi64>) {
      %y = nn.segment_fill %x, %b, %e : tensor<2xf32>, tensor<2xi64> -> tensor<8xf32>
      return
    }
    ```
    Constraints: (C1) the operand has one element per segment, of the result's type.
  }];
  let arguments = (ins NN_FlatTensor:$input, NN_SegmentBounds:$begins, NN_SegmentBounds:$ends);
  let results = (outs NN_FlatTensor:$result);
  let assemblyFormat = [{
    $input `,` $begins `,` $ends attr-dict `:` type($input) `,` type($begins) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // DPC_DIALECTS_NN_IR_SEGMENTS_TD
