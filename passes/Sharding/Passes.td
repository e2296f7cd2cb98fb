#ifndef DPC_PASSES_SHARDING_PASSES_TD
#define DPC_PASSES_SHARDING_PASSES_TD

include "mlir/Pass/PassBase.td"

def AnnotateLayouts : Pass<"dpc-annotate-layouts", "mlir::ModuleOp"> {
  let summary = "Writes the user's requests for layouts on arguments and ops";
  let description = [{
    Writes `dist.request` on function arguments whose names match a request: parameters,
    buffers, constants, inputs and labels. `dpc-assign-layouts` answers the requests. A
    request consists of a glob and one entry for each dimension. An entry is `-` if the
    dimension is not sharded; otherwise it lists the axes that shard the dimension,
    outermost first. If several requests match a name, an exact name wins over a glob,
    and the last glob wins over other globs. A glob that matches no such argument is
    matched against the names of ONNX nodes instead. For each matching node, the request
    is written on the op that makes the node's value. Optimizer state that has as many
    dimensions as its parameter gets the request of the parameter.

    `specs` are the requests in the model file. Each of them names one tensor or node
    exactly. A request in `shards` for the same tensor or node wins over a request in
    `specs`. A request in `specs` may have a complete layout instead of entries. If the
    tensor is state, this layout becomes its `dist.layout`.

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
  let summary = "Chooses a layout for every value, and adds reshards";
  let description = [{
    1. Finds the *atoms* of the program: loops of several ops that can only be sharded
       together (docs/glossary.md and decision 6).
    2. Shards the atoms of the batch over `batch-axes`.
    3. Chooses the atoms that `auto-axes` shard. First of all, every device should hold
       only its share of the parameters. Then the modelled time of a step should be
       short. A local search from several starts prices complete plans, with every
       reshard that they need. It shards the atoms of repeated layers together.
    4. Divides *idle* ops. An op is idle for an axis if the axis shards none of its loops,
       so that all devices along the axis compute the same. The pass replaces an atom of
       parallel loops of these ops by a new atom, and the axis shards the new atom. The
       pass does so if the step gets shorter, or if a request wants the result of an idle
       op to be sharded over the axis.
    5. Writes the chosen layouts on arguments, results and ops. Adds a `dist.reshard`
       wherever an op reads a value in another layout than the one in which the value is
       made. Writes the modelled cost (`dist.cost`). An op does not shard a loop that it
       reduces over if gathering the operands is at least twice as fast as reducing the
       result.

    With microbatches, two readers share a constant only if they agree which of its
    dimensions count samples. Otherwise each reader gets a copy, because a shared
    constant could connect the samples to a dimension that is not related to them.

    State whose argument already has a `dist.layout` keeps it. A `dist.request` on an
    argument names axes for each dimension. The pass takes the cheapest plan in which each
    axis shards an atom of the dimension for which it is named. If all atoms of a
    dimension are smaller than the axis, the axis shards the dimension as one loop. A
    `dist.request` on an op reshards the result of the op to the requested layout, by a
    `dist.reshard` directly after the op. If a request shards an input over an axis,
    parameters need not be sharded over this axis.

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
    evenly, shards have padding, which is masked before a reduction reads it. Ops on values
    that a sequential axis shards, or that are partial over it, move into `dist.micro`
    loops.

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
