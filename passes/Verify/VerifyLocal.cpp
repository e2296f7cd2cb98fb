// Checks the contract of level `local`.

#include "passes/Verify/Contract.h"
#include "passes/Verify/Passes.h"

#include "dialects/Dist/IR/Collectives.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_VERIFYLOCAL
#include "passes/Verify/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::dist;

namespace {

struct VerifyLocalPass : dpc::impl::VerifyLocalBase<VerifyLocalPass> {
  void runOnOperation() override {
    if (failed(verify()))
      signalPassFailure();
  }

private:
  InFlightDiagnostic violation(Operation *op) {
    return Contract(getOperation(), "local").violation(op);
  }

  LogicalResult verify() {
    ModuleOp module = getOperation();
    Contract contract(module, "local");
    FailureOr<MeshShape> found = contract.getMesh();
    if (failed(found))
      return failure();
    mesh = *found;
    const nn::Variables variables(module);
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(contract.checkSignature(function)) ||
          failed(contract.checkStateResults(function)) ||
          failed(verifyShapes(function, variables)) ||
          failed(verifyBlock(function.front(), /*loopAxis=*/"")))
        return failure();
    return success();
  }

  LogicalResult verifyShapes(func::FuncOp function, const nn::Variables &variables) {
    for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
      auto attr = function.getArgAttrOfType<LayoutAttr>(index, DistDialect::kLayoutAttrName);
      if (!attr)
        return violation(function) << "argument " << index << " has no layout";
      const Layout &layout = attr.getLayout();
      if (auto defect = dist::check(layout, layout.shape(), mesh))
        return violation(function) << "argument " << index << ": " << *defect;
      if (llvm::ArrayRef<int64_t>(localShape(layout, mesh)) != cast<ShapedType>(type).getShape())
        return violation(function)
               << "argument " << index << " is " << type << ", which is not what "
               << toString(layout) << " leaves one device";
      nn::ArgAttr arg = nn::getArg(function, index);
      if (!nn::isState(arg.getKind()))
        continue;
      nn::VariableOp variable = variables.find(arg.getName());
      if (variable && variable.getType().getShape() != llvm::ArrayRef<int64_t>(layout.shape()))
        return violation(variable) << "'" << arg.getName() << "' is " << variable.getType()
                                   << ", but its layout is " << toString(layout);
    }
    return success();
  }

  /// Checks the ops of `block`. `loopAxis` is the sequential axis of the loop around the block, or
  /// "" outside of loops.
  LogicalResult verifyBlock(Block &block, StringRef loopAxis) {
    for (Operation &op : block.without_terminator()) {
      if (isa<ReshardOp>(op))
        return violation(&op) << "holds a reshard";
      if (op.hasAttr(DistDialect::kOperandsAttrName) || op.hasAttr(DistDialect::kResultsAttrName))
        return violation(&op) << "still has layouts";
      if (!isa<nn::NNDialect, DistDialect>(op.getDialect()))
        return violation(&op) << "'" << op.getName() << "' belongs to no tensor level";
      if (auto index = dyn_cast<AxisIndexOp>(op)) {
        std::optional<unsigned> axis = mesh.axisIndex(index.getAxis());
        if (!axis)
          return violation(&op) << "the mesh has no axis " << index.getAxis();
        if (mesh.axes[*axis].sequential && index.getAxis() != loopAxis)
          return violation(&op) << "stands outside the loop over " << index.getAxis();
      }
      if (auto micro = dyn_cast<MicroOp>(op)) {
        std::optional<unsigned> axis = mesh.axisIndex(micro.getAxis());
        if (!axis || !mesh.axes[*axis].sequential)
          return violation(&op) << micro.getAxis() << " is no sequential axis of the mesh";
        if (micro.getCount() != uint64_t(mesh.axes[*axis].size))
          return violation(&op) << "takes " << micro.getCount() << " turns over an axis of "
                                << mesh.axes[*axis].size;
        if (failed(verifyBlock(micro.getBodyBlock(), micro.getAxis())))
          return failure();
      } else if (op.getNumRegions() > 0 && !isa<KernelOpInterface>(op)) {
        return violation(&op) << "'" << op.getName()
                              << "' is control flow that ranks might take "
                                 "differently";
      }
    }
    return success();
  }

  MeshShape mesh;
};

} // namespace
