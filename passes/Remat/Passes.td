#ifndef DPC_PASSES_REMAT_PASSES_TD
#define DPC_PASSES_REMAT_PASSES_TD

include "mlir/Pass/PassBase.td"

def AdvanceSums : Pass<"dpc-advance-sums", "mlir::func::FuncOp"> {
  let summary = "Moves what gradients are summed up to right behind them";
  let description = [{
    The terms of a norm of all gradients, and the sums over ranks that they need, stand behind
    the whole backward pass. A kernel that makes a gradient and its term would run there,
    and all that it reads would stay. This moves them to the gradient: each op of the backward
    pass of `@step` that moves data, or computes element by element or sums elements, of
    values of the backward pass alone (`runsAtOnce`, BackwardMoments.h).

    Left alone: single numbers, such as the sum of the terms; updates; functions without a
    metric `loss` or without updates.

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
    Decides which values of the forward pass of `@step`, and of that of the body of its loops
    over microbatches, are kept for the backward pass (RematPlan.h). What else it reads is
    computed again of them just before it is first read. The forward pass is cut into segments
    where few bytes cross (Chen et al., "Training deep nets with sublinear memory cost", 2016):
    what is computed again in a segment is made of what is kept in it and before it. Within a
    segment, minimum cuts find what to keep at each price of time (He & Yu, MLSys 2023), and
    `saved-bytes` buys the fewest seconds a byte. Communication is repeated too: all ranks run
    the same program, and so do it alike. Random numbers are functions of their seed: the same
    are drawn again.

    What is saved is an estimate: a replay of who reads what in the backward pass, where sums
    over ranks and updates run as soon as their gradients are there (BackwardMoments.h).

    With `nodes`, what the ONNX nodes of these names make is computed again, and nothing else.
    A name of which the backward pass reads nothing gives a warning, one that is no node's an error.

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
