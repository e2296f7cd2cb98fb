#ifndef DPC_PASSES_SHARDING_PASSES_TD
#define DPC_PASSES_SHARDING_PASSES_TD

include "mlir/Pass/PassBase.td"

def AnnotateLayouts : Pass<"dpc-annotate-layouts", "mlir::ModuleOp"> {
  let summary = "Says of tensors how the user wants them laid out";
  let description = [{
    Writes `dist.request` on the arguments of each function that are parameters, buffers, constants,
    inputs or labels and have a matching name; `dpc-assign-layouts` answers the requests. A request
    names a glob and one entry for each dimension: `-` for a dimension that is not sharded, or the
    axes that shard it, outermost first. An exact name wins over a glob. Among globs, the last one
    that matches wins. A glob that matches no such argument names nodes of the ONNX file instead:
    the first output of each matching node gets the request, on the op that makes it. Optimizer
    state of a parameter gets the request of the parameter.

    `specs` are the requests of the file itself. Each names one tensor or node, and gives way to
    `shards`. It may be a complete layout instead of entries; on state this becomes `dist.layout`.

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
    1. Finds the loops that run together through the entire program (*atoms*, see
       docs/glossary.md and decision 6).
    2. Shards the batch's atom over `batch-axes`.
    3. Chooses the atoms that `auto-axes` shard. Every device shall hold its share of the
       parameters, and the modelled time of a step shall be short. A local search from several
       starts prices complete plans, with every reshard that they need. It shards the atoms of
       repeated layers together.
    4. Gives ops that an axis leaves idle an atom of their own, in place of an atom that they
       run in parallel, and shards the new atom over the axis. It does so if the step gets
       shorter, or if a request wants the result of such an op to be sharded over the axis.
    5. Writes the resulting layouts on arguments, results and ops, a `dist.reshard` wherever an
       op reads a value in another layout than it was made in, and the modelled cost
       (`dist.cost`). An op does not shard a loop that it reduces over if gathering the operands
       is at least twice as fast as reducing the result.

    With microbatches, two readers share a constant only if the samples are at the same place of it
    for both, or nowhere. Otherwise each reader has a copy. Thus no constant ties a dimension to the
    samples.

    State whose argument already has a `dist.layout` keeps it. A `dist.request` on an argument asks
    for a plan in which each axis shards one of the atoms of its dimension; of these plans the
    cheapest one is taken. If all atoms of a dimension are smaller than the axis, the axis shards
    the dimension as one loop. A `dist.request` on an op reshards the result of the op to the
    requested layout, by a `dist.reshard` directly after the op. Parameters need not be sharded over
    axes that shard an input.

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
    Replaces every op by the op that one device runs on its shards, and every reshard by the steps
    of its plan: collectives and local slices (ReshardPlan.h). If a dimension does not divide
    evenly, shards have padding, which is masked before a reduction reads it. Ops on values that are
    sharded over a sequential axis move into `dist.micro` loops.

    Needs: level `placed`; a machine (`#dist.machine`) if there are reshards.
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
