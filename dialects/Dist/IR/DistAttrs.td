#ifndef DPC_DIALECTS_DIST_IR_DISTATTRS_TD
#define DPC_DIALECTS_DIST_IR_DISTATTRS_TD

include "dialects/Dist/IR/DistDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

// An enum that is usable without MLIR, because the layout algebra works without IR. An op stores a
// value of the enum as an integer attribute.
class Dist_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::dpc::dist";
  let genSpecializedAttr = 0;
  let returnType = "::dpc::dist::" # name;
  let convertFromStorage = "static_cast<::dpc::dist::" # name # ">($_self.getInt())";
  let constBuilderCall = "$_builder.getI32IntegerAttr(static_cast<int32_t>($0))";
}

// The values of Reduction and Collective are equal to the numbers of the runtime, e.g. DPC_SUM and
// DPC_OP_ALL_REDUCE. Assertions in record/AbiNumbers.h check this when the compiler is built.
def Dist_Reduction : Dist_Enum<"Reduction", "How a group of devices combines its values", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>, I32EnumAttrCase<"min", 2>,
]>;

def Dist_Collective : Dist_Enum<"Collective", "How a group of devices exchanges its values", [
  I32EnumAttrCase<"all_reduce", 1>, I32EnumAttrCase<"reduce_scatter", 2>,
  I32EnumAttrCase<"all_gather", 3>, I32EnumAttrCase<"broadcast", 4>,
  I32EnumAttrCase<"all_to_all", 8>,
]>;

def Dist_LayoutAttr : AttrDef<Dist_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "How a logical tensor lies on the mesh";
  let description = [{
    The text has one pair of brackets per dimension, with its factors and the mesh axes that cut
    them. `[16]` is a replicated dimension. `[(8: data)]` has 8 indices, which `data` cuts. `[(4:
    model)(8)]` has 4 heads of 8 elements, and `model` cuts the heads. `+` separates the segments
    that a concatenation joined. `partial sum(pipeline)` says that the values of the devices
    along the axis `pipeline` still have to be summed.

    The attribute holds a `dist::Layout` in normal form, and prints it as this text. Layout.h
    describes the algebra of layouts.

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
    One tensor in a `#dist.storage`. `binding` is an `#nn.arg`, which identifies the tensor.
    `layout` is the layout of the logical tensor on the mesh, and `type` is the type of one
    device's shard. The elements of the shard start `offset` elements after the start of the
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
    The attribute of a function argument that holds several states, and of the result that is its
    new value. It replaces the `#nn.arg` attributes of the members. If `over` names mesh axes,
    the devices of a group along these axes divide the storage into equal shards. The argument is
    then the shard of one device. Elements that belong to no member are padding.

    `dpc-divide-updates` sets the attribute. The host can still access each member by its name.

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

def Dist_MachineAttr : AttrDef<Dist_Dialect, "Machine"> {
  let mnemonic = "machine";
  let summary = "The machine that a program is planned for (dpc::Machine)";
  let description = [{
    An attribute of the module. `target` names the kind of device that runs the kernels, e.g.
    `cpu`, and `processor` names the type of its processor. `transport` says which algorithms
    collectives have: `wires`, or `nccl`. `topology` is the object of a topology file: the rates of
    a device, and the levels of connections between devices.

    `dpc-describe-machine` sets the attribute. All passes that estimate times read it.

    ```mlir
    #machine = #dist.machine<target = "cpu", processor = "native", transport = "wires", topology = {
      name = "two hosts", device = {TFLOP_per_s = {f32 = 0.05}, memory_GB_per_s = 10},
      levels = [{name = "host", size = 4, GB_per_s = 5, start_us = 5},
                {name = "network", size = 2, GB_per_s = 1, start_us = 20} ]}>
    ```

    Constraints:

    * (C1) `topology` passes Topology::check().
  }];
  let parameters = (ins "::mlir::StringAttr":$target, "::mlir::StringAttr":$processor,
                        "::mlir::StringAttr":$transport, "::mlir::DictionaryAttr":$topology);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Dist_PlanAttr : AttrDef<Dist_Dialect, "Plan"> {
  let mnemonic = "plan";
  let summary = "The choices that select one program among all that compute a step (dpc::ProgramPlan)";
  let description = [{
    An attribute of the module up to level `scheduled`. `dpc-compile` sets it from its options,
    and `dpc-follow-plan` uses it to make the levels `placed`, `ordered` and `scheduled`. `mesh` lists
    the axes with their numbers of devices; `batch` marks an axis that shards the samples.
    planning/Plan.h documents the other choices. A choice that is left out has the value that
    `dpc-compile` gives it without options.

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
  let summary = "The estimated cost of a function's layouts";
  let description = [{
    The attribute `dist.cost` of a function. It estimates one run of the function on one device:
    `computing` and `moving` are the nanoseconds that computation and reshards take, and `sent`
    counts the bytes that reshards send. The model assumes that communication and computation do
    not overlap, and that every device makes the complete update of the parameters. Therefore the
    numbers are only good for comparing layouts of one program.

    `dpc-assign-layouts` sets the attribute, from `#dist.machine`. `--explain` and the tests read
    it.

    ```mlir
    func.func @step() attributes {dist.cost = #dist.cost<computing = 1200000, moving = 35000, sent = 65536>} {
      return
    }
    ```
  }];
  let parameters = (ins "int64_t":$computing, "int64_t":$moving, "int64_t":$sent);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Dist_PipelineAttr : AttrDef<Dist_Dialect, "Pipeline"> {
  let mnemonic = "pipeline";
  let summary = "The schedule of a pipeline";
  let description = [{
    The attribute `dist.pipeline` of a module. `schedule` is the name of the schedule.
    `bubblePpm` is the share of a step, in millionths, in which the slowest stage does not
    compute. Each stage has an entry in all lists: the text form of its row
    (PipelineSchedule.h), and when its pieces start and end, in ns after the first piece of any
    stage; the bytes that its microbatches hold between pieces at most, and the smallest number of
    bytes for which there is a schedule. All times are modelled.

    `dpc-schedule-pipeline` sets the attribute. `--explain`, `--schedule-svg` and
    `dpc-fit-memory` read it.

    ```mlir
    module attributes {dist.pipeline = #dist.pipeline<schedule = "1f1b", bubblePpm = 333333,
        rows = ["0F0 0B0", "1F0 1B0"], starts = [array<i64: 0, 30>, array<i64: 10, 20>],
        ends = [array<i64: 10, 40>, array<i64: 20, 30>], held = [64, 64], least = [64, 64]>} {
    }
    ```
  }];
  let parameters = (ins StringRefParameter<>:$schedule, "int64_t":$bubblePpm,
      "::mlir::ArrayAttr":$rows, "::mlir::ArrayAttr":$starts, "::mlir::ArrayAttr":$ends,
      "::mlir::DenseI64ArrayAttr":$held, "::mlir::DenseI64ArrayAttr":$least);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Dist_MicroOperandKind : Dist_Enum<"MicroKind", "How a value crosses the edge of a microbatch loop", [
  I32EnumAttrCase<"whole", 0>,   // operand: every iteration gets the complete value
  I32EnumAttrCase<"sliced", 1>,  // operand: iteration m gets slice m of its first dimension
  I32EnumAttrCase<"stacked", 2>, // result: iteration m computes slice m of its first dimension
  I32EnumAttrCase<"summed", 3>,  // result: the sum of the values of all iterations
]>;

#endif // DPC_DIALECTS_DIST_IR_DISTATTRS_TD
