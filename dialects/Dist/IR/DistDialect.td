#ifndef DPC_DIALECTS_DIST_IR_DISTDIALECT_TD
#define DPC_DIALECTS_DIST_IR_DISTDIALECT_TD

include "mlir/IR/OpBase.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::dpc::dist";
  let summary = "Meshes, layouts of values on them, and the collectives between their devices";
  let description = [{
    At level `placed` values still have logical (global) types; arguments, results
    and ops carry `#dist.layout`. From level `local` on, types are those of one
    device, and every device runs the same function. A collective that one device
    reaches is reached by all of its group, in the same order, because no control
    flow depends on `dist.axis_index`, the only value that differs between
    devices.

    Before, an argument or an op may have a `dist.request`: which axes shall cut
    each dimension of it (of the op's first result), outermost first.
    `dpc-assign-layouts` answers it.

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
    /// Layout of a function argument or result: a LayoutAttr.
    static constexpr ::llvm::StringLiteral kLayoutAttrName = "dist.layout";
    /// Layout that the user asked for, of a function argument or of an op's first
    /// result: an array that has the names of the axes that cut each dimension,
    /// outermost first, an array each. Which factor of the dimension an axis cuts is
    /// left open.
    static constexpr ::llvm::StringLiteral kRequestAttrName = "dist.request";
    /// Flat storage of state, of a function argument or result: a StorageAttr.
    static constexpr ::llvm::StringLiteral kStorageAttrName = "dist.storage";
    /// What the program is planned for, of the module: a MachineAttr.
    static constexpr ::llvm::StringLiteral kMachineAttrName = "dist.machine";
    /// The choices that make the program, of the module: a PlanAttr.
    static constexpr ::llvm::StringLiteral kPlanAttrName = "dist.plan";
    /// What the model expects of a function's layouts: a CostAttr.
    static constexpr ::llvm::StringLiteral kCostAttrName = "dist.cost";
    /// Layouts an op reads its operands in and gives its results in, at level
    /// `placed`: arrays of LayoutAttr.
    static constexpr ::llvm::StringLiteral kOperandsAttrName = "dist.operands";
    static constexpr ::llvm::StringLiteral kResultsAttrName = "dist.results";
  }];
}

#endif // DPC_DIALECTS_DIST_IR_DISTDIALECT_TD
