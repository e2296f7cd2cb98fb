#ifndef DPC_DIALECTS_DIST_IR_DISTDIALECT_TD
#define DPC_DIALECTS_DIST_IR_DISTDIALECT_TD

include "mlir/IR/OpBase.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::dpc::dist";
  let summary = "Meshes, layouts of values on them, and the collectives between their devices";
  let description = [{
    At level `placed` values still have logical (global) types, and arguments,
    results and ops carry `#dist.layout`. From level `local` on, types are those of
    one device, and every device runs the same function. All devices of a group
    reach the same collectives in the same order, because control flow never depends
    on the coordinates of the device (`dist.axis_index`).

    At the levels before `placed`, a function argument or an op may have the
    attribute `dist.request`. It lists, for each dimension of the argument or of
    the op's first result, the axes that shall cut the dimension, outermost
    first.
    `dpc-assign-layouts` chooses layouts that fulfil the requests.

    ```mlir
    func.func @infer(%x: tensor<8x32xf32>, %w: tensor<32x16xf32> {dist.request = [[], ["model"]]})
        -> tensor<8x16xf32> {
      %y = nn.dot %x, %w contract [1] [0] {dist.request = [["data"], []]}
          : tensor<8x32xf32>, tensor<32x16xf32> -> tensor<8x16xf32>
      return %y : tensor<8x16xf32>
    }
    ```
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// The layout of a function argument or result: a LayoutAttr.
    static constexpr ::llvm::StringLiteral kLayoutAttrName = "dist.layout";
    /// The layout that the user requests for a function argument or for an op's
    /// first result: one array per dimension, with the names of the axes that cut
    /// it, outermost first. The request does not say which factor of the dimension
    /// an axis cuts.
    static constexpr ::llvm::StringLiteral kRequestAttrName = "dist.request";
    /// The flat storage of a function argument or result: a StorageAttr.
    static constexpr ::llvm::StringLiteral kStorageAttrName = "dist.storage";
    /// On the module, the machine that the program is planned for: a MachineAttr.
    static constexpr ::llvm::StringLiteral kMachineAttrName = "dist.machine";
    /// On the module, the choices that select the program among all programs of the
    /// model: a PlanAttr.
    static constexpr ::llvm::StringLiteral kPlanAttrName = "dist.plan";
    /// On an op or an argument of a function, the chunks of a pipeline that can run the op or that
    /// hold the argument: a DenseI64ArrayAttr.
    static constexpr ::llvm::StringLiteral kChunksAttrName = "dist.chunks";
    /// On the module of a program that is cut into stages, the name of the first ONNX node of each
    /// chunk of its pipeline: an ArrayAttr of StringAttr.
    static constexpr ::llvm::StringLiteral kBordersAttrName = "dist.borders";
    /// On the same module, a sentence for each value of the forward pass that crosses more than one
    /// border between chunks: an ArrayAttr of StringAttr.
    static constexpr ::llvm::StringLiteral kCrossingsAttrName = "dist.crossings";
    /// On the same module, the bytes that a rank of each stage holds, as far as the search for the
    /// cut can estimate them (StageCut.h): a DenseI64ArrayAttr.
    static constexpr ::llvm::StringLiteral kCutBytesAttrName = "dist.cut_bytes";
    /// On the same module, the schedule: a PipelineAttr.
    static constexpr ::llvm::StringLiteral kPipelineAttrName = "dist.pipeline";
    /// On the same module, the stage of each chunk: a DenseI64ArrayAttr.
    static constexpr ::llvm::StringLiteral kStagesAttrName = "dist.stages";
    /// On a nested module, the coordinate on the mesh axis `pipe` of the devices that run it: an
    /// IntegerAttr.
    static constexpr ::llvm::StringLiteral kStageAttrName = "dist.stage";
    /// On a pipelined loop of a stage, the order of its pieces and messages (StageOrder.h): a
    /// StringAttr.
    static constexpr ::llvm::StringLiteral kOrderAttrName = "dist.order";
    /// On a function, the modelled cost of its layouts: a CostAttr.
    static constexpr ::llvm::StringLiteral kCostAttrName = "dist.cost";
    /// On an op at level `placed`, the layouts of its operands and of its results:
    /// arrays of LayoutAttr.
    static constexpr ::llvm::StringLiteral kOperandsAttrName = "dist.operands";
    static constexpr ::llvm::StringLiteral kResultsAttrName = "dist.results";
  }];
}

#endif // DPC_DIALECTS_DIST_IR_DISTDIALECT_TD
