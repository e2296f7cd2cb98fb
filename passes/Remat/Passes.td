#ifndef DPC_PASSES_REMAT_PASSES_TD
#define DPC_PASSES_REMAT_PASSES_TD

include "mlir/Pass/PassBase.td"

def AdvanceSums : Pass<"dpc-advance-sums", "mlir::func::FuncOp"> {
  let summary = "Moves what gradients are summed up to right behind them";
  let description = [{
    The terms of a norm of all gradients, and the sums over ranks that they need, are listed after
    the entire backward pass. A kernel that computes both a gradient and its term would run there,
    and all its operands would be kept until then. This pass moves the terms to directly after their
    gradients. It moves each op of the backward pass of `@step` that moves data, computes element by
    element or sums elements, if it reads only values of the backward pass (`runsAtOnce`,
    BackwardMoments.h).

    Left alone: ops that read only single numbers, such as the sum of the terms; updates; functions
    without a metric `loss` or without updates.

    Needs: level `local`. Keeps: values, every op.

    ```mlir sketch
    %g = nn.dot %x, %d contract [0] [0] : tensor<8x16xf32>, tensor<8x16xf32> -> tensor<16x16xf32>
    ... // the rest of the backward pass
    %q = nn.mul %g, %g : tensor<16x16xf32>
    %t = nn.reduce sum %q [0, 1] : tensor<16x16xf32> -> tensor<f32>
    // becomes
    %g = nn.dot %x, %d contract [0] [0] : tensor<8x16xf32>, tensor<8x16xf32> -> tensor<16x16xf32>
    %q = nn.mul %g, %g : tensor<16x16xf32>
    %t = nn.reduce sum %q [0, 1] : tensor<16x16xf32> -> tensor<f32>
    ...
    ```
  }];
}

def Remat : Pass<"dpc-remat", "mlir::ModuleOp"> {
  let summary = "Computes values of the forward pass again where the backward pass needs them";
  let description = [{
    Decides which values of the forward pass of `@step`, and of the forward pass in the bodies of
    its loops over microbatches, are kept for the backward pass (RematPlan.h). All other values that
    the backward pass reads are rematerialized from the kept values, just before they are first
    read. The forward pass is cut into segments at places where few bytes cross (Chen et al.,
    "Training deep nets with sublinear memory cost", 2016): an op that is repeated in a segment
    reads values that are kept in this segment or before it. Within a segment, minimum cuts find the
    values to keep at each price of time (He & Yu, MLSys 2023). `saved-bytes` are saved by the steps
    that take the fewest seconds per byte. Communication is repeated too: all ranks run the same
    program, so all repeat the same collectives. Random numbers are functions of their seed: a
    repeated op draws the same numbers.

    The saved bytes are an estimate: a replay of the reads of the backward pass, in which updates,
    and sums over ranks, run as soon as their gradients exist (BackwardMoments.h).

    With `nodes`, only the values that ONNX nodes with these names compute are rematerialized, and
    values that take no time. A name gives a warning if the backward pass reads no value of its
    nodes, and an error if no node has it.

    A repeated op reads its operands through `nn.after`. Thus it neither joins a kernel with the
    first computation of the same value, nor is moved to that computation.

    Left alone: functions without a metric `loss` or without updates. Ops outside of the backward
    pass, such as metrics, read the first computation.

    Needs: level `local`, `dpc-describe-machine`. Keeps: values. No later pass may merge equal ops.

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
           "Bytes fewer than without recomputation that are wanted: what saves as much in the least time is "
           "computed again; -1: all that saves any">,
    ListOption<"nodes", "nodes", "std::string", "Globs of the names of ONNX nodes whose values are computed again">,
    Option<"divides", "divides", "bool", "false",
           "Gradients will be divided among ranks as they are summed: a rank keeps its part">,
    ListOption<"dividedAxes", "divided-axes", "std::string", "The mesh axes over which they are; if none, over those of their sum">,
    Option<"explain", "explain", "bool", "false", "Say in a remark what is kept and what is made again">,
  ];
}

#endif // DPC_PASSES_REMAT_PASSES_TD
