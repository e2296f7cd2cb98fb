#ifndef DPC_PASSES_SHARDING_PASSES_TD
#define DPC_PASSES_SHARDING_PASSES_TD

include "mlir/Pass/PassBase.td"

def AnnotateLayouts : Pass<"dpc-annotate-layouts", "mlir::ModuleOp"> {
  let summary = "Gives state the layouts that the user asked for";
  let description = [{
    Writes `dist.layout` on the arguments of each function that are parameters,
    buffers or constants of a matching name; `dpc-assign-layouts` keeps it and
    lets everything else follow. A request names a glob and one entry a
    dimension: `-` for whole, or the axes that cut it, outermost first. An exact
    name wins over a glob, else the last match.

    Needs: level `step`. Keeps: the level.

    ```mlir
    func.func @step(%w: tensor<64x512xf32> {nn.arg = #nn.arg<parameter "fc.weight">}) ..
    // becomes, with shards=fc.*=-;model
    func.func @step(%w: tensor<64x512xf32> {dist.layout = #dist.layout<"[64], [(512: model)]">, nn.arg = ..}) ..
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect", "::dpc::dist::DistDialect"];
  let options = [
    ListOption<"shards", "shards", "std::string", "GLOB=ENTRY;ENTRY.., an entry `-` or AXIS+AXIS..">,
  ];
}

def AssignLayouts : Pass<"dpc-assign-layouts", "mlir::ModuleOp"> {
  let summary = "Decides how every value lies on the mesh";
  let description = [{
    Finds the loops that run together through the whole program, cuts the batch
    loop over `batch-axes` and, over each of `auto-axes`, one loop of each
    contraction or gather with a parameter, whichever the cost model likes best;
    a reduction loop stays whole where it is at least twice as fast to bring its
    operands together as to reduce the result; then writes the layouts that follow on arguments, results and ops, and a
    `dist.reshard` wherever an op reads a value in another layout. State whose
    argument already has a `dist.layout` keeps it.

    Needs: level `step`, `dpc-describe-machine`. Gives: level `placed`.

    ```mlir
    %y = nn.dot %x, %w contract [1] [0] : ...
    // becomes, with the inner dimension of %w cut over "model"
    %y0 = nn.dot %x, %w contract [1] [0] {dist.results = [#dist.layout<"[8], [16] partial sum(model)">]} : ...
    %y = dist.reshard %y0 from #dist.layout<"[8], [16] partial sum(model)"> to #dist.layout<"[8], [16]"> : ...
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect", "::dpc::dist::DistDialect"];
  let options = [
    ListOption<"axes", "axes", "std::string", "Mesh axes as NAME=SIZE, in rank order, last fastest">,
    ListOption<"sequentialAxes", "sequential-axes", "std::string", "Axes that a loop walks on every device">,
    ListOption<"batchAxes", "batch-axes", "std::string", "Axes that cut the batch, outermost first">,
    ListOption<"autoAxes", "auto-axes", "std::string", "Axes for which a loop of each contraction is chosen">,
    Option<"explain", "explain", "bool", "false", "Say in a remark what each reshard costs and why it is there">,
  ];
}

def Partition : Pass<"dpc-partition", "mlir::ModuleOp"> {
  let summary = "Turns logical tensors into one device's shards";
  let description = [{
    Every op is replaced by what one device computes; reshards become
    collectives, local slices and reorderings; padding is masked where elements
    mix; ops on values cut over a sequential axis move into `dist.micro` loops.

    Needs: level `placed`. Gives: per-device types, explicit collectives.

    ```mlir
    %y = dist.reshard %x from #dist.layout<"[8] partial sum(data)"> to #dist.layout<"[8]"> : tensor<8xf32>
    // becomes
    %y = dist.all_reduce sum %x on @mesh ["data"] : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::dpc::nn::NNDialect", "::dpc::dist::DistDialect"];
}

#endif // DPC_PASSES_SHARDING_PASSES_TD
