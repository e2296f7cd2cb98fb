// Creates one private function for all kernels with equal printed text. Also creates the kernels
// that add the value of a microbatch to a sum.

#include "passes/Lowering/KernelTable.h"

#include "dialects/Dist/IR/Stages.h"
#include "dialects/NN/IR/Elementwise.h"
#include "dialects/NN/IR/Program.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dpc;

/// Returns the name of a kernel of `module`. Kernels of different stages have different names,
/// because one program record has all of them.
static std::string kernelName(ModuleOp module, const Twine &name) {
  const std::optional<int64_t> stage = dist::stageOf(module);
  return ((stage ? "stage." + Twine(*stage) + "." : Twine()) + name).str();
}

func::FuncOp KernelTable::getOrCreate(Operation *op) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto type = FunctionType::get(op->getContext(), op->getOperandTypes(), op->getResultTypes());
  // All functions have the same name at first, so that equal kernels have equal printed text.
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
  auto [entry, isNew] = byText.try_emplace(os.str(), Kernel{function, {op->getLoc()}});
  if (!isNew) {
    function.erase();
    entry->second.locations.push_back(op->getLoc());
    return entry->second.function;
  }
  function.setName(kernelName(module, "kernel." + Twine(byText.size() - 1)));
  return function;
}

void KernelTable::nameNodes() {
  for (auto &[text, kernel] : byText)
    kernel.function->setLoc(FusedLoc::get(module.getContext(), kernel.locations));
}

static std::string accumulateName(ModuleOp module, RankedTensorType type) {
  std::string name;
  llvm::raw_string_ostream os(name);
  os << "accumulate." << type.getElementType() << "." << type.getNumElements();
  return kernelName(module, name);
}

func::FuncOp dpc::getAccumulateKernel(ModuleOp module, Type tensor) {
  return module.lookupSymbol<func::FuncOp>(accumulateName(module, cast<RankedTensorType>(tensor)));
}

void dpc::createAccumulateKernel(ModuleOp module, Type tensor) {
  if (getAccumulateKernel(module, tensor))
    return;
  auto type = cast<RankedTensorType>(tensor);
  auto flat = RankedTensorType::get({type.getNumElements()}, type.getElementType());
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = builder.getUnknownLoc();
  auto function = builder.create<func::FuncOp>(loc, accumulateName(module, type),
                                               builder.getFunctionType({flat, flat}, {flat}));
  function.setPrivate();
  builder.setInsertionPointToEnd(function.addEntryBlock());
  auto kernel = builder.create<nn::KernelOp>(loc, TypeRange{flat}, function.getArguments());
  builder.create<func::ReturnOp>(loc, kernel.getResults());
  Block &body = kernel.getBody().emplaceBlock();
  Value sum = body.addArgument(flat, loc), value = body.addArgument(flat, loc);
  builder.setInsertionPointToEnd(&body);
  Value added = builder.create<nn::AddOp>(loc, flat, sum, value);
  builder.create<nn::YieldOp>(loc, added);
}
