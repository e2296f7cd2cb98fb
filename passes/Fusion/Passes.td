#ifndef DPC_PASSES_FUSION_PASSES_TD
#define DPC_PASSES_FUSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def FormKernels : Pass<"dpc-form-kernels", "mlir::func::FuncOp"> {
  let summary = "Groups ops into kernels, each of which becomes one generated function";
  let description = [{
    Walks the ops in order. An elementwise op joins the groups of its operands
    that run over its shape, and a reduction the group that makes its operand, as
    long as no value leaves the group and comes back (groups are convex). Who reads
    the reduction of a row in that row joins as well: a softmax gradient, a norm,
    or the losses of a cross-entropy and its gradient share one loop over rows. An
    elementwise op also joins the op that makes its operand element by element (a
    transposition), of smaller ops (a softmax) or in tiles (a large product),
    as the target makes it; two of the last stay apart. Other
    ops become kernels of their own. Constants, iotas and broadcasts cost nothing
    to compute again: each kernel that reads one has its own. So does a kernel
    that reads the result of a short chain of elementwise ops and what the chain
    starts from: it computes the chain again. Nothing else is computed twice.

    A reshape moves no data: it stays outside, as a view of its operand. So do
    `nn.update` and the ops of other dialects.

    Needs: static shapes, `dpc-describe-machine`. Keeps: results and their names.

    ```mlir
    func.func @example(%b: tensor<4xf32>, %x: tensor<8x4xf32>) {
      %0 = nn.broadcast %b [1] : tensor<4xf32> -> tensor<8x4xf32>
      %1 = nn.add %x, %0 : tensor<8x4xf32>
      %2 = nn.relu %1 : tensor<8x4xf32>
      return
    }
    // becomes
    func.func @example(%x: tensor<8x4xf32>, %b: tensor<4xf32>) {
      %2 = nn.kernel (%x, %b : tensor<8x4xf32>, tensor<4xf32>) {
      ^bb0(%xi: tensor<8x4xf32>, %bi: tensor<4xf32>):
        %0 = nn.broadcast %bi [1] : tensor<4xf32> -> tensor<8x4xf32>
        %1 = nn.add %xi, %0 : tensor<8x4xf32>
        %r = nn.relu %1 : tensor<8x4xf32>
        nn.yield %r : tensor<8x4xf32>
      } -> tensor<8x4xf32>
      return
    }
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
  let options = [
    Option<"maxOps", "max-ops", "int64_t", "64", "Most ops in one kernel">,
    Option<"recomputedOps", "recomputed-ops", "unsigned", "16",
           "Most ops of a chain that is computed again instead of read">,
  ];
}

#endif // DPC_PASSES_FUSION_PASSES_TD
