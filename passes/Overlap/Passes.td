#ifndef DPC_PASSES_OVERLAP_PASSES_TD
#define DPC_PASSES_OVERLAP_PASSES_TD

include "mlir/Pass/PassBase.td"

def PeelMicrobatches : Pass<"dpc-peel-microbatches", "mlir::func::FuncOp"> {
  let summary = "Takes the last microbatch out of the loop, so that sums over ranks start in it";
  let description = [{
    What a loop over microbatches sums is complete when the loop ends: the ranks
    could only sum it further when nothing is left to compute. Behind this pass the
    last microbatch's ops follow the loop and add to its sums one by one, so that
    each gradient goes on its way while the rest of that microbatch computes, as
    without microbatches. Other frameworks leave this to the user (PyTorch's
    `no_sync` around all but the last backward).

    The last microbatch reads its slice of what the loop reads by slices, and gives
    its slice of what the loop stacks: views, no copies.

    Left alone: loops none of whose sums the ranks sum, or of fewer bytes than
    `smallest-bytes`; loops of one turn.

    Needs: level `local`, before kernels are formed. Keeps: values; the order of
    additions too.

    ```mlir sketch
    %s = dist.micro 4 "micro" (%x : tensor<4x8x16xf32>) operands [sliced] {
    ^bb0(%xm: tensor<8x16xf32>):
      %g = nn.exp %xm : tensor<8x16xf32>
      dist.yield %g : tensor<8x16xf32>
    } -> (tensor<8x16xf32>) results [summed]
    %a = dist.all_reduce sum %s on @mesh ["data"] : tensor<8x16xf32>
    // becomes
    %s = dist.micro 3 "micro" (%head : tensor<3x8x16xf32>) operands [sliced] { ... }
    %g = nn.exp %last : tensor<8x16xf32>
    %t = nn.add %s, %g : tensor<8x16xf32>
    %a = dist.all_reduce sum %t on @mesh ["data"] : tensor<8x16xf32>
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect", "::dpc::dist::DistDialect"];
  let options = [
    Option<"smallestBytes", "smallest-bytes", "int64_t", "1 << 16",
           "Fewest bytes that the ranks sum behind a loop that is taken apart">,
    Option<"explain", "explain", "bool", "false",
           "Emit a remark for each loop that is taken apart">,
  ];
}

#endif // DPC_PASSES_OVERLAP_PASSES_TD
