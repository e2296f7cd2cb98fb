#ifndef DPC_DIALECTS_DIST_IR_DISTATTRS_TD
#define DPC_DIALECTS_DIST_IR_DISTATTRS_TD

include "dialects/Dist/IR/DistDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Dist_ReductionKind : I32EnumAttr<"ReductionKind", "How a collective combines values", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>, I32EnumAttrCase<"min", 2>,
]> {
  let cppNamespace = "::dpc::dist";
}

def Dist_LayoutAttr : AttrDef<Dist_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "How a logical tensor lies on the mesh";
  let description = [{
    For each dimension, in brackets, its factors and the mesh axes that cut them:
    `[16]` is replicated, `[(8: data)]` are 8 indices cut over `data`, and `[(4:
    model)(8)]` 4 heads of 8 elements of which the heads are cut over `model`.
    Segments that a concatenation joined stand between `+`. Axes after `partial
    sum` are those over which the devices' values are still to be summed.

    The attribute holds a `dist::Layout` in its normal form, and its syntax is the
    layout's text; Layout.h has the whole algebra.

    ```mlir
    #layout = #dist.layout<"[(8: micro,data)], [(4: model)(8)] partial sum(pipeline)">
    ```
  }];
  let parameters = (ins AttrParameter<"::dpc::dist::Layout", "",
                                      "const ::dpc::dist::Layout &">:$layout);
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    AttrBuilder<(ins "const ::dpc::dist::Layout &":$layout), [{
      return $_get($_ctxt, normalize(layout));
    }]>,
  ];
}

def Dist_MemberAttr : AttrDef<Dist_Dialect, "Member"> {
  let mnemonic = "member";
  let summary = "A tensor in flat storage";
  let description = [{
    One entry of `#dist.storage`. `binding` says what the tensor is (an `#nn.arg`),
    `layout` how the logical tensor lies on the mesh and `type` what one device
    has of it. Its elements start `offset` elements after the start of the
    storage.
  }];
  let parameters = (ins "::mlir::Attribute":$binding, "::dpc::dist::LayoutAttr":$layout,
                        "::mlir::TypeAttr":$type, "int64_t":$offset);
  let assemblyFormat = "`<` $binding `,` $type `,` $layout `at` $offset `>`";
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() const {
      return ::llvm::cast<::mlir::RankedTensorType>(getType().getValue());
    }
  }];
}

def Dist_StorageAttr : AttrDef<Dist_Dialect, "Storage"> {
  let mnemonic = "storage";
  let summary = "Flat storage of state: tensors laid end to end";
  let description = [{
    Stands on an argument of a function that holds several pieces of state, and on
    the result that is its new value, in place of an `#nn.arg` for each member.
    With `over`, the storage is cut into equal shards over the devices of these
    mesh axes, numbered with the first axis slowest, and the argument is a
    device's shard. Elements in no member are padding.

    Made by `dpc-divide-updates`. The host still knows each member by its name.

    ```mlir
    #storage = #dist.storage<"momentum.0" [
        <#nn.arg<optimizer "momentum|w", of = "w">, tensor<4x3xf32>, <"[4], [3]"> at 0>] over ["data"]>
    func.func @step(%m: tensor<64xf32> {dist.storage = #storage}) {
      return
    }
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name,
                        ArrayRefParameter<"::dpc::dist::MemberAttr">:$members,
                        OptionalArrayRefParameter<"::mlir::StringAttr">:$axes);
  let assemblyFormat = "`<` $name ` ` `[` $members `]` (`over` ` ` `[` $axes^ `]`)? `>`";
}

def Dist_LinkAttr : AttrDef<Dist_Dialect, "Link"> {
  let mnemonic = "link";
  let summary = "One device's way to the others of its group (dpc::Link)";
  let description = [{
    Bytes that go through it in a microsecond, and the nanoseconds before the
    first one arrives. See `#dist.machine`.
  }];
  let parameters = (ins "int64_t":$bytesPerUs, "int64_t":$latencyNs);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Dist_MachineAttr : AttrDef<Dist_Dialect, "Machine"> {
  let mnemonic = "machine";
  let summary = "What a program is planned for (dpc::Machine)";
  let description = [{
    Stands on the module. `target` names the kind of device that runs the kernels,
    `processor` which of its processors. In a microsecond a device computes
    `flopsPerUs` floating-point operations and moves `memoryBytesPerUs` bytes to
    or from its memory. Devices are joined by `link`; those that differ along an
    axis that `axisLinks` names are joined by that axis' own link.

    Made by `dpc-describe-machine`; every pass that prices something reads it.

    ```mlir
    #machine = #dist.machine<target = "cpu", processor = "native", flopsPerUs = 50000, memoryBytesPerUs = 10000,
                             link = <bytesPerUs = 5000, latencyNs = 5000>,
                             axisLinks = {data = #dist.link<bytesPerUs = 1000, latencyNs = 20000>}>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$target, "::mlir::StringAttr":$processor,
                        "int64_t":$flopsPerUs, "int64_t":$memoryBytesPerUs,
                        "::dpc::dist::LinkAttr":$link,
                        OptionalParameter<"::mlir::DictionaryAttr">:$axisLinks);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Dist_PlanAttr : AttrDef<Dist_Dialect, "Plan"> {
  let mnemonic = "plan";
  let summary = "The choices that make one program of a step (dpc::ProgramPlan)";
  let description = [{
    Stands on the module up to level `scheduled`; `dpc-follow-plan` makes the levels `placed` and
    `scheduled` as it says. A mesh axis has its number of devices, and `batch` if it cuts the
    samples; planning/Plan.h documents the other choices. A choice that is left out has the value
    that `dpc-compile` gives it without options.

    Made by `dpc-compile`.

    ```mlir
    #plan = #dist.plan<mesh = ["data" = 2 batch, "model" = 4], microbatches = 4, zeroStage = 2,
                       zeroAxes = ["data"], rematBytes = -1, products = "library">
    ```

    Constraints:

    * (C1) ProgramPlan::check().
  }];
  let parameters = (ins AttrParameter<"::dpc::ProgramPlan", "",
                                      "const ::dpc::ProgramPlan &">:$plan);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Dist_CostAttr : AttrDef<Dist_Dialect, "Cost"> {
  let mnemonic = "cost";
  let summary = "What the model expects of a function's layouts";
  let description = [{
    Stands on a function, as `dist.cost`. Nanoseconds that one device computes
    (`computing`) and reshards (`moving`) when the function runs once, and the
    bytes that it sends for reshards (`sent`). Nothing is hidden behind anything
    else, and updates that are sharded later are counted whole: what it is good
    for is to compare layouts of one program.

    Made by `dpc-assign-layouts` from `#dist.machine`.

    ```mlir
    func.func @step() attributes {dist.cost = #dist.cost<computing = 1200000, moving = 35000, sent = 65536>} {
      return
    }
    ```
  }];
  let parameters = (ins "int64_t":$computing, "int64_t":$moving, "int64_t":$sent);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Dist_MicroOperandKind : I32EnumAttr<"MicroKind", "How a value crosses the edge of a microbatch loop", [
  I32EnumAttrCase<"whole", 0>,   // operand: the same in every iteration
  I32EnumAttrCase<"sliced", 1>,  // operand: iteration m reads slice m of its first dimension
  I32EnumAttrCase<"stacked", 2>, // result: iteration m gives slice m of its first dimension
  I32EnumAttrCase<"summed", 3>,  // result: the sum over the iterations
]> {
  let cppNamespace = "::dpc::dist";
  let genSpecializedAttr = 0;
}

#endif // DPC_DIALECTS_DIST_IR_DISTATTRS_TD
