#include "passes/Machine/Passes.h"

#include "dialects/Dist/IR/MachineAttr.h"
#include "planning/TopologyFile.h"
#include "targets/Target.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_DESCRIBEMACHINE
#include "passes/Machine/Passes.h.inc"
} // namespace dpc

using namespace dpc;

namespace {
struct DescribeMachinePass : dpc::impl::DescribeMachineBase<DescribeMachinePass> {
  using DescribeMachineBase::DescribeMachineBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (module->hasAttr(dist::DistDialect::kMachineAttrName))
      return;
    const Target *device = findTarget(target);
    if (!device) {
      module.emitError("unknown target '") << target << "'";
      return signalPassFailure();
    }
    ArrayRef<StringRef> known = device->getProcessors();
    Machine machine;
    machine.target = target;
    machine.processor = processor.empty() ? known.front().str() : processor;
    if (!llvm::is_contained(known, machine.processor)) {
      module.emitError("target '") << target << "' knows no processor '" << processor << "'";
      return signalPassFailure();
    }
    machine.transport = device->getTransport();
    machine.topology = device->getTopology(machine.processor);
    if (!topology.empty()) {
      llvm::Expected<Topology> file = readTopologyFile(topology);
      if (!file) {
        module.emitError(llvm::toString(file.takeError()));
        return signalPassFailure();
      }
      machine.topology = std::move(*file);
    }
    dist::setMachine(module, machine);
  }
};
} // namespace
