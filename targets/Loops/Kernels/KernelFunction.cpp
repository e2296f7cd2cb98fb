// Writes the function of a kernel, with the loops of its groups.

#include "targets/Loops/Kernels/KernelFunction.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;

FailureOr<KernelCode> KernelFunction::emit(ArrayRef<Attribute> attributes) {
  LLVM::LLVMFuncOp body = createFunction(attributes);
  if (failed(memory.placeArguments()))
    return failure();
  memory.enter(body);
  if (failed(emitGroups()))
    return failure();
  e.make<LLVM::ReturnOp>(ValueRange());
  KernelCode code;
  memory.findAliases(code);
  memory.declareUnaliased(code, body);
  code.scratchBytes = memory.getScratchBytes();
  return code;
}

// The C function loads the pointers and calls a second function that takes them as
// arguments: only arguments can be declared not to overlap.
LLVM::LLVMFuncOp KernelFunction::createFunction(ArrayRef<Attribute> attributes) {
  OpBuilder &builder = e.builder;
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type nothing = LLVM::LLVMVoidType::get(builder.getContext());
  unsigned count = memory.getBufferCount();
  SmallVector<Type> pointers(count, pointer);
  builder.setInsertionPointToEnd(module.getBody());
  auto body = e.make<LLVM::LLVMFuncOp>((symbol + ".body").str(),
                                       LLVM::LLVMFunctionType::get(nothing, pointers),
                                       LLVM::Linkage::Internal);
  SmallVector<Attribute> all{builder.getStringAttr("noinline"), builder.getStringAttr("nounwind")};
  llvm::append_range(all, attributes);
  body.setPassthroughAttr(builder.getArrayAttr(all));
  auto outer = e.make<LLVM::LLVMFuncOp>(symbol, LLVM::LLVMFunctionType::get(nothing, {pointer}));
  outer.setPassthroughAttr(builder.getStrArrayAttr({"nounwind"}));
  Block *entry = outer.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  SmallVector<Value> arguments;
  for (unsigned i = 0; i < count; ++i) {
    Value place = e.make<LLVM::GEPOp>(pointer, pointer, entry->getArgument(0),
                                      ArrayRef<LLVM::GEPArg>{int32_t(i)},
                                      /*inbounds=*/true);
    arguments.push_back(e.make<LLVM::LoadOp>(pointer, place));
  }
  e.make<LLVM::CallOp>(body, arguments);
  e.make<LLVM::ReturnOp>(ValueRange());
  builder.setInsertionPointToStart(body.addEntryBlock(builder));
  return body;
}

/// Gives a value that group `ordinal` computes and group `lastGroup` reads last a
/// place in scratch memory, if it needs one.
void KernelFunction::placeValue(Value value, const LoopGroup &group, unsigned ordinal,
                                unsigned lastGroup) {
  if (memory.isResult(value))
    return;
  int64_t count = nn::typeOf(value).getNumElements(), rowElements = 0;
  bool isLocal = lastGroup <= ordinal;
  if (group.rows > 1 && isLocal)
    rowElements = count / group.rows;
  // A value that is used in the iteration that computes it stays in registers.
  if ((group.isFilled && group.stages.size() > 1 && isLocal) || rowElements == 1) {
    e.registerValues.insert(value);
    return;
  }
  memory.placeInScratch(value, rowElements, std::max(ordinal, lastGroup));
}

LogicalResult KernelFunction::emitGroups() {
  const LoopPlan plan = planLoops(graph);
  if (llvm::Error error = plan.verify(graph))
    return emitError(e.loc, "loops: ") << llvm::toString(std::move(error));
  const SmallVector<LoopGroup> &groups = plan.groups;
  const DenseMap<Value, unsigned> lastGroup = findLastReaders(graph, groups);
  for (auto [ordinal, group] : llvm::enumerate(groups)) {
    memory.startGroup(ordinal);
    bool isEmpty = true;
    for (Operation *root : group.getRoots())
      for (Value value : root->getResults())
        placeValue(value, group, ordinal, lastGroup.lookup(value));
    for (Value value : group.stages[0].roots[0]->getResults())
      isEmpty &= nn::typeOf(value).getNumElements() == 0;
    if (!isEmpty && failed(e.emitGroup(group, ordinal)))
      return failure();
  }
  for (auto [result, value] : llvm::enumerate(graph.getYielded()))
    if (!memory.isStoredIn(value, result) && nn::typeOf(value).getNumElements() > 0)
      e.emitCopy(value, memory.resultBuffer(result), groups.size());
  return success();
}
