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

#endif // DPC_PASSES_NORMALIZE_PASSES_TD
