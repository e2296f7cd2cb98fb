#include "passes/Lowering/KernelNeeds.h"

#include "dialects/Exec/IR/ExecDialect.h"

using namespace mlir;
using namespace dpc;
using exec::ExecDialect;

static ArrayAttr aliasesOf(MLIRContext *context, const KernelNeeds &needs) {
  Builder builder(context);
  SmallVector<Attribute> aliases;
  for (const auto &operands : needs.mayAlias)
    aliases.push_back(
        builder.getDenseI64ArrayAttr(SmallVector<int64_t>(operands.begin(), operands.end())));
  return builder.getArrayAttr(aliases);
}

static IntegerAttr scratchOf(MLIRContext *context, const KernelNeeds &needs) {
  return Builder(context).getI64IntegerAttr(needs.scratchBytes);
}

void dpc::setNeeds(func::FuncOp kernel, const KernelNeeds &needs) {
  MLIRContext *context = kernel.getContext();
  kernel->setAttr(ExecDialect::kMayAliasAttrName, aliasesOf(context, needs));
  kernel->setAttr(ExecDialect::kScratchBytesAttrName, scratchOf(context, needs));
}

bool dpc::hasNeeds(func::FuncOp kernel, const KernelNeeds &needs) {
  MLIRContext *context = kernel.getContext();
  return kernel->getAttr(ExecDialect::kMayAliasAttrName) == aliasesOf(context, needs) &&
         kernel->getAttr(ExecDialect::kScratchBytesAttrName) == scratchOf(context, needs);
}
