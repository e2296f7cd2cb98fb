#include "passes/Machine/MachineTarget.h"

using namespace mlir;
using namespace dpc;

const Target *dpc::getTarget(Operation *op) {
  FailureOr<Machine> machine = dist::getMachine(op);
  if (failed(machine))
    return nullptr;
  const Target *target = findTarget(machine->target);
  if (!target)
    op->emitError("unknown target '") << machine->target << "'";
  return target;
}

CodeOptions dpc::codeOptionsOf(ModuleOp module, bool recompute, bool orderedSums,
                               FactorForm factors, ProductMaker products) {
  CodeOptions options;
  options.processor = dist::getMachine(module)->processor;
  options.recompute = recompute;
  options.orderedSums = orderedSums;
  options.factors = factors;
  options.products = products;
  return options;
}
