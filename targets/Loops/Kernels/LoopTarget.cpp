#include "targets/Loops/Kernels/LoopTarget.h"

#include "targets/Loops/Kernels/KernelFunction.h"
#include "targets/Loops/Ops/Ops.h"
#include "targets/Loops/Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace dpc;

void LoopTarget::registerDialects(DialectRegistry &registry) const {
  registry.insert<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect>();
  registerLoopRules(registry);
}

OpForm LoopTarget::getForm(Operation *op) const {
  if (isa<FillOpInterface>(op))
    return OpForm::whole;
  if (isa<ElementwiseOpInterface, ElementOpInterface, nn::ConstantOp>(op))
    return OpForm::elements;
  if (isa<DecomposableOpInterface>(op))
    return OpForm::composite;
  return OpForm::none;
}

FailureOr<KernelCode> LoopTarget::emitKernel(Operation *op, StringRef symbol, ModuleOp code,
                                             const CodeOptions &options) const {
  auto graph = KernelGraph::build(op, *this, options.recompute);
  if (failed(graph))
    return failure();
  return emitGraph(**graph, op->getLoc(), symbol, code, options);
}

FailureOr<KernelCode> HostLoopTarget::emitGraph(const KernelGraph &graph, Location loc,
                                                StringRef symbol, ModuleOp code,
                                                const CodeOptions &options) const {
  OpBuilder builder(code.getContext());
  std::unique_ptr<KernelEmitter> emitter = createEmitter(builder, loc, graph, options);
  if (options.orderedSums)
    emitter->keepOrder();
  KernelFunction function(graph, *emitter, code, symbol);
  return function.emit(getAttributes(builder, options));
}
