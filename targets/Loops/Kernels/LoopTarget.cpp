// Describes and emits kernels that are loops: the forms of ops that all loop targets share,
// and the plans and the code of kernels that the host calls.

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

SmallVector<Value> LoopTarget::decompose(Operation *op, OpBuilder &builder) const {
  return cast<DecomposableOpInterface>(op).decompose(builder);
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

FailureOr<KernelNeeds> LoopTarget::describeKernel(Operation *op, const CodeOptions &options) const {
  auto graph = KernelGraph::build(op, *this, options.recompute);
  if (failed(graph))
    return failure();
  return describeGraph(**graph, op->getLoc(), options);
}

FailureOr<KernelCode> LoopTarget::emitKernel(Operation *op, StringRef symbol, ModuleOp code,
                                             const CodeOptions &options) const {
  auto graph = KernelGraph::build(op, *this, options.recompute);
  if (failed(graph))
    return failure();
  return emitGraph(**graph, op->getLoc(), symbol, code, options);
}

SmallVector<int64_t> HostLoopTarget::getScratch(Operation *op, const KernelPlaces &,
                                                const CodeOptions &options) const {
  auto rule = cast<FillOpInterface>(op);
  return rule.getScratch(rule.getParts(1), options.orderedSums);
}

FailureOr<FunctionPlan> HostLoopTarget::plan(const KernelGraph &graph, Location loc,
                                             const CodeOptions &options) const {
  return planFunction(
      graph, loc,
      [&](Operation *op, const KernelPlaces &places) { return getScratch(op, places, options); },
      [&](const KernelPlaces &places) { return createWalk(graph, places, options); });
}

FailureOr<KernelNeeds> HostLoopTarget::describeGraph(const KernelGraph &graph, Location loc,
                                                     const CodeOptions &options) const {
  FailureOr<FunctionPlan> planned = plan(graph, loc, options);
  if (failed(planned))
    return failure();
  return planned->needs;
}

FailureOr<KernelCode> HostLoopTarget::emitGraph(const KernelGraph &graph, Location loc,
                                                StringRef symbol, ModuleOp code,
                                                const CodeOptions &options) const {
  FailureOr<FunctionPlan> planned = plan(graph, loc, options);
  if (failed(planned))
    return failure();
  OpBuilder builder(code.getContext());
  std::unique_ptr<KernelEmitter> emitter = createEmitter(builder, loc, graph, options);
  if (options.orderedSums)
    emitter->keepOrder();
  KernelFunction function(graph, *planned, *emitter, code, symbol);
  return function.emit(getAttributes(builder, options));
}
