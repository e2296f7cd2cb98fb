// Changes every float type of a module to f64.

#include "passes/Normalize/Passes.h"

#include "dialects/NN/IR/Program.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_WIDENFLOATS
#include "passes/Normalize/Passes.h.inc"
} // namespace dpc

using namespace dpc;

static Type widened(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !isa<FloatType>(tensor.getElementType()))
    return type;
  return RankedTensorType::get(tensor.getShape(), Float64Type::get(type.getContext()));
}

/// Returns `value` in f64, or null if its elements cannot be read. Splats stay splats. Large values
/// stay resources, which the MLIR context does not unique.
static ElementsAttr widened(ElementsAttr value) {
  auto type = cast<RankedTensorType>(widened(value.getType()));
  if (type == value.getType())
    return value;
  std::optional<HostTensor> tensor = HostTensor::fromAttr(value);
  if (!tensor)
    return {};
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (dense && dense.isSplat())
    return DenseElementsAttr::get(type, tensor->floats[0]);
  if (dense)
    return DenseElementsAttr::get(type, ArrayRef<double>(tensor->floats));
  AsmResourceBlob blob =
      HeapAsmResourceBlob::allocateAndCopyInferAlign(ArrayRef<double>(tensor->floats));
  // Use the key of the old resource, because the parser might not accept the name of the variable
  // as a key.
  StringRef key = cast<DenseResourceElementsAttr>(value).getRawHandle().getKey();
  return DenseResourceElementsAttr::get(type, key, std::move(blob));
}

namespace {

struct WidenFloatsPass : dpc::impl::WidenFloatsBase<WidenFloatsPass> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([&](Operation *op) {
      for (Value value : op->getResults())
        value.setType(widened(value.getType()));
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            argument.setType(widened(argument.getType()));
      return succeeded(widenAttributes(op)) ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  /// Changes the values of constants and variables, and the types of functions, to f64.
  LogicalResult widenAttributes(Operation *op) {
    if (auto function = dyn_cast<FunctionOpInterface>(op)) {
      SmallVector<Type> inputs, results;
      for (Type type : function.getArgumentTypes())
        inputs.push_back(widened(type));
      for (Type type : function.getResultTypes())
        results.push_back(widened(type));
      function.setType(FunctionType::get(op->getContext(), inputs, results));
      return success();
    }
    if (!isa<nn::ConstantOp, nn::VariableOp>(op))
      return success();
    auto replace = [&](auto holder) -> LogicalResult {
      ElementsAttr value = widened(holder.getValue());
      if (!value)
        return op->emitOpError("has a value that cannot be read");
      holder.setValueAttr(value);
      return success();
    };
    if (auto constant = dyn_cast<nn::ConstantOp>(op))
      return replace(constant);
    return replace(cast<nn::VariableOp>(op));
  }
};

} // namespace
