#include "passes/Lowering/KernelTable.h"

#include "dialects/NN/IR/Program.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dpc;

func::FuncOp KernelTable::getOrCreate(Operation *op) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto type = FunctionType::get(op->getContext(), op->getOperandTypes(),
                                op->getResultTypes());
  // Built under one name, so that equal kernels have equal text.
  auto function = builder.create<func::FuncOp>(op->getLoc(), "kernel", type);
  function.setPrivate();
  Block *body = function.addEntryBlock();
  OpBuilder inner = OpBuilder::atBlockEnd(body);
  Operation *copy = inner.clone(*op);
  copy->setOperands(body->getArguments());
  inner.create<func::ReturnOp>(op->getLoc(), copy->getResults());

  std::string text;
  llvm::raw_string_ostream os(text);
  function->print(os, OpPrintingFlags().useLocalScope());
  auto [entry, isNew] = byText.try_emplace(os.str(), function);
  if (!isNew) {
    function.erase();
    return entry->second;
  }
  function.setName(("kernel." + Twine(byText.size() - 1)).str());
  return function;
}

bool dpc::isKernel(func::FuncOp function) {
  return function.isPrivate() && !function.isExternal() &&
         isa<nn::KernelOp, nn::UpdateOp>(function.front().front());
}

Operation *dpc::getKernelBody(func::FuncOp kernel) {
  return &kernel.front().front();
}
