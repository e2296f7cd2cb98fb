#include "dialects/Exec/IR/InPlace.h"

#include "dialects/Exec/IR/ExecDialect.h"

using namespace mlir;
using namespace dpc;

bool dpc::mayComputeInPlace(func::FuncOp kernel, unsigned operand, unsigned result) {
  auto all = kernel->getAttrOfType<ArrayAttr>(exec::ExecDialect::kMayAliasAttrName);
  if (!all || result >= all.size())
    return false;
  auto operands = dyn_cast<DenseI64ArrayAttr>(all[result]);
  return operands && llvm::is_contained(operands.asArrayRef(), operand);
}

int64_t dpc::getScratchBytes(func::FuncOp kernel) {
  auto bytes = kernel->getAttrOfType<IntegerAttr>(exec::ExecDialect::kScratchBytesAttrName);
  return bytes ? bytes.getInt() : 0;
}
