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
    Element k of the result is the sum of the elements `begins[k]`, .., `ends[k]` - 1 of
    the operand. Bounds outside of the operand are clamped to it. Therefore the op can
    sum one shard of flat storage: the bounds of all members are given relative to the
    start of the shard. The sums of all shards add up to the sums of the complete
    storage.

    `dpc-divide-updates` creates the op, for norms of the tensors in flat storage.

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
    The elements `begins[k]`, .., `ends[k]` - 1 of the result are equal to element k of
    the operand. Elements in no segment are 0. Segments do not overlap. Bounds outside
    of the result are clamped to it, as in `nn.segment_sum`.

    `dpc-divide-updates` creates the op, for factors that differ between the tensors in
    flat storage.

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
