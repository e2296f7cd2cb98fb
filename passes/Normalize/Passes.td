#ifndef DPC_PASSES_NORMALIZE_PASSES_TD
#define DPC_PASSES_NORMALIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def WidenFloats : Pass<"dpc-widen-floats", "mlir::ModuleOp"> {
  let summary = "Turns every float type into f64";
  let description = [{
    Arguments, results, constants and variables: a program in f64 computes
    everything in f64, a Cast to float included. Values are widened, never
    parsed again, so 0.1f stays the f32 number nearest to 0.1.

    Needs: level `import`. Keeps: the level.

    ```mlir
    %c = nn.constant dense<0.5> : tensor<4xf32>
    // becomes
    %c = nn.constant dense<0.5> : tensor<4xf64>
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
}

def RecordBounds : Pass<"dpc-record-bounds", "mlir::func::FuncOp"> {
  let summary = "Records on inputs and labels which integers the program can take";
  let description = [{
    An input that selects (a token of an embedding, a label of a cross-entropy)
    must lie in what it selects from. Walks each function backwards from the ops
    that index, through those that only move integers, and writes `nn.bounds` on
    the arguments it meets. The runtime checks data against it: generated code
    does not.

    Indices that are computed are not followed, but for the two usual forms
    `x < 0 ? x + n : x` and `x == ignored ? .. : x`. A bound holds for the whole
    argument even where a part of it is never used.

    Needs: static shapes, not yet cut by a layout. Keeps: everything else.

    ```mlir
    func.func @infer(%i: tensor<4xi64> {nn.arg = #nn.arg<input "ids">}) ..
      %y = nn.gather %table, %i dim 0 : tensor<100x16xf32>, tensor<4xi64> -> tensor<4x16xf32>
    // becomes
    func.func @infer(%i: tensor<4xi64> {nn.arg = #nn.arg<input "ids">, nn.bounds = array<i64: 0, 99>}) ..
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
}

#endif // DPC_PASSES_NORMALIZE_PASSES_TD
