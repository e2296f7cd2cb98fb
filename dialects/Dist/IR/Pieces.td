#ifndef DPC_DIALECTS_DIST_IR_PIECES_TD
#define DPC_DIALECTS_DIST_IR_PIECES_TD

include "dialects/Dist/IR/DistBase.td"

def Dist_PieceOp : Dist_Op<"piece", [
    RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock, NoRegionArguments,
    Dist_Interpretable]> {
  let summary = "A part of an iteration that runs without messages";
  let description = [{
    The region computes the results from values around it. Between two pieces of an
    iteration, a stage of a pipeline may run pieces of other microbatches. `kind` is
    F (the forward pass), B (the backward pass) or W (the gradients of weights), and
    `chunk` is the chunk of the pipeline that the piece belongs to.

    `dpc-form-pieces` creates the op in a `dist.micro`, `dpc-schedule-pipeline` orders
    the pieces of all microbatches, and `dpc-lower-to-exec` replaces it by an
    `exec.piece`.

    ```mlir
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @example(%x: tensor<2x8xf32>) {
      dist.micro 2 "micro" (%x : tensor<2x8xf32>) operands [sliced] {
      ^bb0(%xm: tensor<8xf32>):
        %h = dist.piece "F" chunk 0 {
          %0 = nn.exp %xm : tensor<8xf32>
          dist.yield %0 : tensor<8xf32>
        } -> tensor<8xf32>
        dist.send %h to 1 on @mesh "pipe" number 0 : tensor<8xf32>
        dist.yield
      } -> () results []
      return
    }
    ```

    Constraints: (C1) `kind` is F, B or W; (C2) the yielded values have the types of the
    results; (C3) the region has no message and no piece.
  }];
  let arguments = (ins StrAttr:$kind, I64Attr:$chunk);
  let results = (outs Variadic<Dist_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $kind `chunk` $chunk $body (`->` type($results)^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBodyBlock() { return getBody().front(); }
  }];
}

#endif // DPC_DIALECTS_DIST_IR_PIECES_TD
