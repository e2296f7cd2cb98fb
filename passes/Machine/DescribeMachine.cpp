#include "passes/Machine/DescribeMachine.h"
#include "passes/Machine/Passes.h"

#include "dialects/Dist/IR/MachineAttr.h"
#include "planning/TopologyFile.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_DESCRIBEMACHINE
#include "passes/Machine/Passes.h.inc"
} // namespace dpc

using namespace dpc;

void dpc::describeMachine(ModuleOp module, const Target &target, StringRef processor,
                          Topology topology) {
  Machine machine;
  machine.target = target.getName();
  machine.processor = processor;
  machine.transport = target.getTransport();
  machine.topology = std::move(topology);
  dist::setMachine(module, machine);
}

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
    const StringRef chosen = processor.empty() ? known.front() : StringRef(processor);
    if (!llvm::is_contained(known, chosen)) {
      module.emitError("target '") << target << "' knows no processor '" << processor << "'";
      return signalPassFailure();
    }
    if (topology.empty())
      return describeMachine(module, *device, chosen, device->getTopology(chosen));
    llvm::Expected<Topology> file = readTopologyFile(topology);
    if (!file) {
      module.emitError(llvm::toString(file.takeError()));
      return signalPassFailure();
    }
    describeMachine(module, *device, chosen, std::move(*file));
  }
};
} // namespace
