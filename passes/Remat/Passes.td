#ifndef DPC_PASSES_REMAT_PASSES_TD
#define DPC_PASSES_REMAT_PASSES_TD

include "mlir/Pass/PassBase.td"

def Remat : Pass<"dpc-remat", "mlir::ModuleOp"> {
  let summary = "Computes values of the forward pass again where the backward pass needs them";
  let description = [{
    Cuts the forward pass of `@step`, and that of the body of its loops over microbatches,
    into segments (RematPlan.h). What crosses a cut is kept, and so is all that the last
    segment makes; what else the backward pass reads is computed again from it, when the
    backward pass first needs something of the segment (Chen et al., "Training deep nets
    with sublinear memory cost", 2016). Communication within a segment is repeated too:
    all ranks run the same program, and so do it alike. Random numbers are functions of
    their seed: the same are drawn again.

    What is computed again reads its operands through `nn.after`, so that it neither
    becomes a kernel with, nor is moved to, the first computation of the same.

    Left alone: functions without a metric `loss` or without updates; ops that are no part
    of the backward pass, such as metrics, read the first computation.

    Needs: level `local`, `dpc-describe-machine`. Keeps: values. Nothing behind it may merge equal ops.

    ```mlir sketch
    %h = nn.exp %x : tensor<8x16xf32>          // a segment
    %k = nn.exp %h : tensor<8x16xf32>
    %s = nn.add %k, %x : tensor<8x16xf32>      // a cut: only %s crosses it, %x is an argument
    ...
    %d = nn.mul %g, %k : tensor<8x16xf32>      // the backward pass
    // becomes
    ...
    %x1 = nn.after %x, %g : tensor<8x16xf32>, tensor<8x16xf32>
    %h1 = nn.exp %x1 : tensor<8x16xf32>
    %k1 = nn.exp %h1 : tensor<8x16xf32>
    %d = nn.mul %g, %k1 : tensor<8x16xf32>
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
  let options = [
    Option<"savedBytes", "saved-bytes", "int64_t", "-1",
           "Bytes fewer than without recomputation that are wanted: the cheapest segments that save as much are "
           "computed again; -1: all segments are">,
    Option<"explain", "explain", "bool", "false", "Say in a remark what is kept and what is made again">,
  ];
}

#endif // DPC_PASSES_REMAT_PASSES_TD
