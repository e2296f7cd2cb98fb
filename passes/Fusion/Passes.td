#ifndef DPC_PASSES_FUSION_PASSES_TD
#define DPC_PASSES_FUSION_PASSES_TD

include "passes/Machine/KernelOptions.td"

def FormKernels : Pass<"dpc-form-kernels", "mlir::func::FuncOp"> {
  let summary = "Groups ops into kernels, each of which becomes one generated function";
  let description = [{
    Walks the ops in program order and groups them by these rules:

    - An elementwise op joins a group that computes one of its operands, if the loops of the
      group run over the op's shape. Several such groups become one group if possible.
    - A reduction joins the group that computes its operand, if the loops of the group
      run over the operand's shape.
    - A group may have loops over rows, and may reduce each row. Another op over the shape
      of the loops joins the group too if, in each row, it reads the result of the
      reduction for the same row. For example, the ops of a softmax gradient share one loop
      over rows, and so do the losses of a cross-entropy and their gradient.
    - An elementwise op also joins the op that computes its operand, if this op begins a
      group: if the target computes it element by element (a transposition), by its
      decomposition (a softmax) or in tiles (a large product). A group has at most one op in
      tiles.
    - An op whose decomposition computes each row of its results from the same row of its first
      operand and from one element of each other operand (a layer normalization, a cross-entropy)
      joins the group that computes the first operand elementwise.
    - If a library computes a product, only the addition of a bias or matrix and the rounding of
      the sum join its group, because the library can compute these (Target::getLibraryWork). All
      other ops cost a launch in any case. No op joins a convolution of a library.
    - A pad joins the group that computes its operand, if the target can pad computed values.
    - A group that only sums columns, e.g. for the gradient of a bias, joins a group whose loops read
      or compute the same terms, if the target can add them up there.
    - All other ops become kernels of their own.

    Groups are convex: if a path of uses leaves a group, it does not come back. Therefore
    each group can run as one kernel.

    Constants, iotas, broadcasts and slices that are read in place cost nothing to compute
    again, so each kernel that reads one has its own copy. If a kernel reads the result of a
    short chain of elementwise ops, and also reads the inputs of the chain, it computes the chain
    again. It does so too if the inputs are in memory anyway and have fewer bytes than the
    result, e.g. a 16-bit value that is widened, and if the chain normalizes a value that is in
    memory anyway. No other op is computed twice.

    A reshape moves no data, so it stays outside of kernels, as a view of its operand.
    `nn.update` and the ops of other dialects stay outside of kernels too.

    Needs: static shapes, `dpc-describe-machine`. Keeps: results and their names.

    ```mlir
    func.func @example(%b: tensor<4xf32>, %x: tensor<8x4xf32>) -> tensor<8x4xf32> {
      %0 = nn.broadcast %b [1] : tensor<4xf32> -> tensor<8x4xf32>
      %1 = nn.add %x, %0 : tensor<8x4xf32>
      %2 = nn.relu %1 : tensor<8x4xf32>
      return %2 : tensor<8x4xf32>
    }
    // becomes
    func.func @example(%b: tensor<4xf32>, %x: tensor<8x4xf32>) -> tensor<8x4xf32> {
      %2 = nn.kernel (%x, %b : tensor<8x4xf32>, tensor<4xf32>) {
      ^bb0(%xi: tensor<8x4xf32>, %bi: tensor<4xf32>):
        %0 = nn.broadcast %bi [1] : tensor<4xf32> -> tensor<8x4xf32>
        %1 = nn.add %xi, %0 : tensor<8x4xf32>
        %r = nn.relu %1 : tensor<8x4xf32>
        nn.yield %r : tensor<8x4xf32>
      } -> tensor<8x4xf32>
      return %2 : tensor<8x4xf32>
    }
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
  let options = !listconcat(kernelOptions, [
    Option<"maxOps", "max-ops", "int64_t", "64", "Most ops in one kernel">,
    // The derivative of a gelu by tanh has 17 ops in mixed precision.
    Option<"recomputedOps", "recomputed-ops", "unsigned", "20",
           "Most ops of a chain that is computed again instead of read">,
  ]);
}

def MoveSums : Pass<"dpc-move-sums", "mlir::func::FuncOp"> {
  let summary = "Lets sums over columns read tensors in the shape that loops over them have";
  let description = [{
    The gradient of a bias sums the rows of a tensor, which is often a reshape of the tensor that
    another op computed or reads. Kernels stop at reshapes. If the target can sum columns beside
    other results (Target::sumsColumns), the pass lets the sum read another shape of the same
    elements: preferably that of the op that computed them, otherwise that of an elementwise op or
    a reduction that reads them.

    Needs: static shapes, `dpc-describe-machine`. Keeps: results, except for the order in which a
    sum adds its terms.

    ```mlir
    func.func @example(%x: tensor<4x16x64xf32>) -> (tensor<4x16x64xf32>, tensor<64xf32>) {
      %0 = nn.exp %x : tensor<4x16x64xf32>
      %1 = nn.reshape %0 : tensor<4x16x64xf32> -> tensor<64x64xf32>
      %2 = nn.reduce sum %1 [0] : tensor<64x64xf32> -> tensor<64xf32>
      return %0, %2 : tensor<4x16x64xf32>, tensor<64xf32>
    }
    // becomes, for the target cuda,
    func.func @example(%x: tensor<4x16x64xf32>) -> (tensor<4x16x64xf32>, tensor<64xf32>) {
      %0 = nn.exp %x : tensor<4x16x64xf32>
      %1 = nn.reshape %0 : tensor<4x16x64xf32> -> tensor<64x64xf32>
      %2 = nn.reduce sum %0 [0, 1] : tensor<4x16x64xf32> -> tensor<64xf32>
      return %0, %2 : tensor<4x16x64xf32>, tensor<64xf32>
    }
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
}

def JoinKernels : Pass<"dpc-join-kernels", "mlir::func::FuncOp"> {
  let summary = "Joins independent kernels of few elements into one";
  let description = [{
    On a device, a launch takes longer than the update of a bias. If the target computes several
    small kernels faster as one (Target::getJoinedKernels), the pass joins

    - updates (nn.update) of at most 2^18 elements. The joined kernel takes the place of the last
      one, if no op reads the result of another one before.
    - elementwise kernels that follow each other, e.g. the conversions of all weights to 16 bits.
      Their operands have few elements or are arguments of the function. Kernels between them need
      only arguments, too, e.g. transpositions of weights.

    No kernel of a joined one reads a result of another. The attribute `nn.joined` has the number of
    results of each of them, and `nn.updates` marks joined updates.

    Needs: `dpc-form-kernels`, the final order of the ops. Keeps: results.

    ```mlir
    func.func @example(%x: tensor<4xf32>, %y: tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
      %0 = nn.kernel (%x : tensor<4xf32>) {
      ^bb0(%xi: tensor<4xf32>):
        %1 = nn.exp %xi : tensor<4xf32>
        nn.yield %1 : tensor<4xf32>
      } -> tensor<4xf32>
      %2 = nn.kernel (%y : tensor<8xf32>) {
      ^bb0(%yi: tensor<8xf32>):
        %3 = nn.neg %yi : tensor<8xf32>
        nn.yield %3 : tensor<8xf32>
      } -> tensor<8xf32>
      return %0, %2 : tensor<4xf32>, tensor<8xf32>
    }
    // becomes, for the target cuda,
    func.func @example(%x: tensor<4xf32>, %y: tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
      %0:2 = nn.kernel (%x, %y : tensor<4xf32>, tensor<8xf32>)
          attributes {nn.joined = array<i64: 1, 1>} {
      ^bb0(%xi: tensor<4xf32>, %yi: tensor<8xf32>):
        %1 = nn.exp %xi : tensor<4xf32>
        %3 = nn.neg %yi : tensor<8xf32>
        nn.yield %1, %3 : tensor<4xf32>, tensor<8xf32>
      } -> tensor<4xf32>, tensor<8xf32>
      return %0#0, %0#1 : tensor<4xf32>, tensor<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect"];
}

#endif // DPC_PASSES_FUSION_PASSES_TD
