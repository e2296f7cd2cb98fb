#ifndef DPC_PASSES_REMAT_PASSES_TD
#define DPC_PASSES_REMAT_PASSES_TD

include "mlir/Pass/PassBase.td"

def Remat : Pass<"dpc-remat", "mlir::ModuleOp"> {
  let summary = "Lets the backward pass compute values of the forward pass again, to save memory";
  let description = [{
    Decides which values of the forward pass of `@step` are kept for the backward pass
    (RematPlan.h). Does the same for the forward pass in the bodies of its loops over
    microbatches. All other values that the backward pass reads are rematerialized from
    the kept values, just before the backward pass first reads them.

    The forward pass is cut into segments at positions where few bytes are live (Chen et
    al., "Training deep nets with sublinear memory cost", 2016). A repeated op reads only
    values that are kept in its segment or in an earlier one, or that are repeated in its
    segment. Within a segment, minimum cuts find the values to keep. The cost of such a
    minimum cut is the bytes of the kept values plus the seconds of the repeated ops. To add
    them, a second gets a price in bytes, and several prices are tried (He & Yu, MLSys
    2023). The pass then repeats those ops that take the fewest seconds per saved byte,
    until `saved-bytes` are saved.

    Collectives are repeated too. All ranks run the same program, so they repeat the
    same collectives. Random numbers are functions of their seed, so a repeated op draws
    the same numbers.

    The pass estimates the saved bytes. It replays the reads of the backward pass, in
    which updates, and sums over ranks, run as soon as their gradients exist
    (BackwardMoments.h).

    With `nodes`, the pass rematerializes only the values of ONNX nodes whose names match
    one of these globs, and values that take no time. It warns about a glob if the backward
    pass reads no value of the matching nodes. A glob may match no node, because the node
    may be in another stage of a pipeline (`dpc-check-remat-nodes`).

    A repeated op reads kept tensors through `nn.after`, which depends on a value of the
    backward pass. Therefore no later pass can move the repeated op into the forward pass,
    or fuse it with the first computation of the same value.

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
    ListOption<"stages", "stages", "int64_t", "The stages of a pipeline that the pass changes (default: all)">,
    Option<"divides", "divides", "bool", "false",
           "Gradients will be divided among ranks as they are summed: a rank keeps its part">,
    ListOption<"dividedAxes", "divided-axes", "std::string", "The mesh axes over which they are; if none, over those of their sum">,
    Option<"explain", "explain", "bool", "false", "Say in a remark what is kept and what is made again">,
  ];
}

def CheckRematNodes : Pass<"dpc-check-remat-nodes", "mlir::ModuleOp"> {
  let summary = "Refuses patterns that match no node of the forward pass";
  let description = [{
    Reports an error if one of the globs `nodes` of `dpc-remat` matches no ONNX node of the
    forward pass of `@step`. The pass runs before the program is cut into stages, because each
    stage has only some of the nodes.

    Needs: level `local`. Keeps: everything.
  }];
  let options = [
    ListOption<"nodes", "nodes", "std::string", "Globs of the names of ONNX nodes">,
  ];
}

#endif // DPC_PASSES_REMAT_PASSES_TD
