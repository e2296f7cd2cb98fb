// Converts a dpc::Machine to a `#dist.machine` and back.

#include "dialects/Dist/IR/MachineAttr.h"

#include <cmath>

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

// The attribute holds integers: work per microsecond, and times in nanoseconds.
// dpc::Machine counts in seconds.
constexpr double kPerSecond = 1e6, kNanoseconds = 1e9;

static Link linkOf(LinkAttr attr) {
  return {attr.getBytesPerUs() * kPerSecond, attr.getLatencyNs() / kNanoseconds};
}

static LinkAttr attrOf(MLIRContext *context, const Link &link) {
  return LinkAttr::get(context, std::llround(link.bytesPerSecond / kPerSecond),
                       std::llround(link.latencySeconds * kNanoseconds));
}

void dist::setMachine(ModuleOp module, const Machine &machine) {
  MLIRContext *context = module.getContext();
  const Device &device = machine.device;
  SmallVector<NamedAttribute> links;
  for (const auto &[axis, link] : machine.axisLinks)
    links.push_back({StringAttr::get(context, axis), attrOf(context, link)});
  module->setAttr(DistDialect::kMachineAttrName,
                  MachineAttr::get(context, StringAttr::get(context, machine.target),
                                   StringAttr::get(context, machine.processor),
                                   std::llround(device.flopsPerSecond / kPerSecond),
                                   std::llround(device.memoryBytesPerSecond / kPerSecond),
                                   attrOf(context, machine.link),
                                   links.empty() ? nullptr : DictionaryAttr::get(context, links)));
}

FailureOr<Machine> dist::getMachine(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  auto attr = module->getAttrOfType<MachineAttr>(DistDialect::kMachineAttrName);
  if (!attr)
    return module.emitError("has no machine that it is planned for "
                            "(dpc-describe-machine)");
  Machine machine;
  machine.target = attr.getTarget().str();
  machine.processor = attr.getProcessor().str();
  machine.device = {attr.getFlopsPerUs() * kPerSecond, attr.getMemoryBytesPerUs() * kPerSecond};
  machine.link = linkOf(attr.getLink());
  if (DictionaryAttr links = attr.getAxisLinks())
    for (NamedAttribute entry : links)
      machine.axisLinks.push_back(
          {entry.getName().str(), linkOf(cast<LinkAttr>(entry.getValue()))});
  return machine;
}

LogicalResult LinkAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t bytesPerUs,
                               int64_t latencyNs) {
  if (bytesPerUs < 1 || latencyNs < 0)
    return emitError() << "a link of " << bytesPerUs << " bytes a microsecond and " << latencyNs
                       << " ns of latency";
  return success();
}

LogicalResult MachineAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr,
                                  StringAttr, int64_t flopsPerUs, int64_t memoryBytesPerUs,
                                  LinkAttr, DictionaryAttr axisLinks) {
  if (flopsPerUs < 1 || memoryBytesPerUs < 1)
    return emitError() << "a device of " << flopsPerUs << " flops and " << memoryBytesPerUs
                       << " bytes a microsecond";
  if (axisLinks)
    for (NamedAttribute entry : axisLinks)
      if (!llvm::isa<LinkAttr>(entry.getValue()))
        return emitError() << "axis " << entry.getName() << " has " << entry.getValue()
                           << " in place of a link";
  return success();
}
