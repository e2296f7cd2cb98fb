#ifndef DPC_PASSES_SHARDING_PASSES_TD
#define DPC_PASSES_SHARDING_PASSES_TD

include "mlir/Pass/PassBase.td"

def AnnotateLayouts : Pass<"dpc-annotate-layouts", "mlir::ModuleOp"> {
  let summary = "Says of tensors how the user wants them laid out";
  let description = [{
    Writes `dist.request` on the arguments of each function that are parameters,
    buffers, constants, inputs or labels of a matching name, which
    `dpc-assign-layouts` answers. A request names a glob and one entry for each
    dimension: `-` for whole, or the axes that cut it, outermost first. An
    exact name wins over a glob, and among globs the last one that matches. A
    glob that names none of them is one of nodes of the ONNX file: what a node of
    that name makes (its first output) gets the request, on the op that makes it. What an
    optimizer keeps of a parameter lies like the parameter.

    `specs` are those of the file itself: each names one tensor or node, they give
    way to `shards`, and one may be a layout in full, which becomes `dist.layout`.

    Needs: level `step`. Keeps: the level.

    ```mlir
    func.func @step(%w: tensor<64x512xf32> {nn.arg = #nn.arg<parameter "fc.weight">}) {
      return
    }
    // becomes, with shards=fc.*=-;model
    func.func @step(%w: tensor<64x512xf32> {dist.request = [[], ["model"]],
                                            nn.arg = #nn.arg<parameter "fc.weight">}) {
      return
    }
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect", "::dpc::dist::DistDialect"];
  let options = [
    ListOption<"shards", "shards", "std::string", "GLOB=ENTRY;ENTRY.., an entry `-` or AXIS+AXIS..">,
    ListOption<"specs", "specs", "std::string", "NAME=ENTRY;ENTRY.. or NAME=LAYOUT, of the file">,
  ];
}

def AssignLayouts : Pass<"dpc-assign-layouts", "mlir::ModuleOp"> {
  let summary = "Decides how every value lies on the mesh";
  let description = [{
    1. Finds the loops that run together through the whole program (*atoms*, see
       docs/glossary.md and decision 6).
    2. Cuts the batch's atom over `batch-axes`.
    3. Chooses which atoms `auto-axes` cut: every device shall hold its share of the
       parameters, and a step shall be as short as the model expects one to be. Whole
       plans are priced, with every reshard that they need, in a local search from
       several starts; atoms of layers that repeat are cut together.
    4. Gives ops that an axis leaves idle an atom of their own in place of one that
       they run in parallel, and cuts that, where the step gets shorter, or what they
       make is asked for so.
    5. Writes the layouts that follow on arguments, results and ops, a
       `dist.reshard` wherever an op reads a value in another layout than it was
       made in, and what the model expects (`dist.cost`). An op does not cut a loop
       that it reduces over where gathering the operands is at least twice as fast as
       reducing the result.

    With microbatches, readers of a constant that have the samples in another place of
    it have copies of their own: a constant ties no dimension to the samples.

    State whose argument already has a `dist.layout` keeps it. A `dist.request` on an
    argument asks for a plan in which each axis cuts one of the dimension's atoms, the
    cheapest; where all are smaller than the axis, it cuts the dimension as a whole. One
    on an op brings what the op makes to that layout by a `dist.reshard` right behind
    it. Axes that an input is cut over are none that parameters need be cut over.

    Needs: level `step`, `dpc-describe-machine`. Gives: level `placed`.

    ```mlir
    func.func @infer(%x: tensor<8x32xf32>, %w: tensor<32x16xf32>) -> tensor<8x16xf32> {
      %y = nn.dot %x, %w contract [1] [0] : tensor<8x32xf32>, tensor<32x16xf32> -> tensor<8x16xf32>
      return %y : tensor<8x16xf32>
    }
    // becomes, with the inner dimension of %x and %w cut over "model"
    func.func @infer(%x: tensor<8x32xf32> {dist.layout = #dist.layout<"[8], [(32: model)]">},
                     %w: tensor<32x16xf32> {dist.layout = #dist.layout<"[(32: model)], [16]">})
        -> (tensor<8x16xf32> {dist.layout = #dist.layout<"[8], [16]">}) {
      %y = nn.dot %x, %w contract [1] [0] {
          dist.operands = [#dist.layout<"[8], [(32: model)]">, #dist.layout<"[(32: model)], [16]">],
          dist.results = [#dist.layout<"[8], [16] partial sum(model)">]
      } : tensor<8x32xf32>, tensor<32x16xf32> -> tensor<8x16xf32>
      %z = dist.reshard %y from <"[8], [16] partial sum(model)"> to <"[8], [16]"> : tensor<8x16xf32>
      return %z : tensor<8x16xf32>
    }
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect", "::dpc::dist::DistDialect"];
  let options = [
    ListOption<"axes", "axes", "std::string", "Mesh axes as NAME=SIZE, in rank order, last fastest">,
    ListOption<"sequentialAxes", "sequential-axes", "std::string", "Axes that a loop walks on every device">,
    ListOption<"batchAxes", "batch-axes", "std::string", "Axes that cut the batch, outermost first">,
    ListOption<"autoAxes", "auto-axes", "std::string", "Axes that divide parameters, along loops that are chosen">,
    Option<"splitAtoms", "split-atoms", "bool", "true", "Divide what those axes leave idle along loops of its own">,
    Option<"explain", "explain", "bool", "false", "Say in remarks which values are resharded, from which layout to which">,
  ];
}

def Partition : Pass<"dpc-partition", "mlir::ModuleOp"> {
  let summary = "Turns logical tensors into one device's shards";
  let description = [{
    Replaces every op by what one device computes of it, and every reshard by the
    steps of its plan: collectives and local slices (ReshardPlan.h). Where a dimension does not divide
    evenly, shards have padding, which is masked before a reduction reads it. Ops
    on values that are cut over a sequential axis move into `dist.micro` loops.

    Needs: level `placed`, a machine where there are reshards (`#dist.machine`).
    Gives: per-device types, explicit collectives.

    ```mlir
    dist.mesh @mesh axes ["data"] sizes [2]
    func.func @infer(%x: tensor<8xf32> {dist.layout = #dist.layout<"[(8: data)]">})
        -> (tensor<8xf32> {dist.layout = #dist.layout<"[8]">}) {
      %y = dist.reshard %x from <"[(8: data)]"> to <"[8]"> : tensor<8xf32>
      return %y : tensor<8xf32>
    }
    // becomes
    dist.mesh @mesh axes ["data"] sizes [2]
    func.func @infer(%x: tensor<4xf32> {dist.layout = #dist.layout<"[(8: data)]">})
        -> (tensor<8xf32> {dist.layout = #dist.layout<"[8]">}) {
      %0 = dist.all_gather %x on @mesh ["data"] : tensor<4xf32> -> tensor<2x4xf32>
      %y = nn.reshape %0 : tensor<2x4xf32> -> tensor<8xf32>
      return %y : tensor<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect", "::dpc::dist::DistDialect"];
}

#endif // DPC_PASSES_SHARDING_PASSES_TD
