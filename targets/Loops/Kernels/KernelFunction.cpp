// Emits the function of a kernel, with the loops of its groups.

#include "targets/Loops/Kernels/KernelFunction.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;

FailureOr<KernelCode> KernelFunction::emit(ArrayRef<Attribute> attributes) {
  LLVM::LLVMFuncOp body = createFunction(attributes);
  if (failed(memory.addArguments()))
    return failure();
  memory.enter(body);
  if (failed(emitGroups()))
    return failure();
  e.make<LLVM::ReturnOp>(ValueRange());
  if (failed(memory.checkAliases(plan.needs)))
    return failure();
  memory.declareUnaliased(plan.needs, body);
  return KernelCode{plan.needs, {}};
}

// The C function loads the addresses of the buffers, and passes them as arguments
// to a second function with the loops. LLVM's attribute `noalias` can then declare
// which of these arguments do not overlap.
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

LogicalResult KernelFunction::emitGroups() {
  for (auto [ordinal, group] : llvm::enumerate(plan.groups)) {
    for (Value value : group.placed)
      memory.add(value);
    e.setPieces(group.pieces);
    if (!group.isEmpty && failed(e.emitGroup(plan.loops.groups[ordinal], ordinal)))
      return failure();
  }
  for (auto [result, value] : llvm::enumerate(graph.getYielded()))
    if (!plan.places.isStoredIn(value, result) && nn::typeOf(value).getNumElements() > 0)
      e.emitCopy(value, memory.resultBuffer(result), plan.groups.size());
  return success();
}
