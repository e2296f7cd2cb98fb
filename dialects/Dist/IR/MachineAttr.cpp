// Converts a dpc::Machine to a `#dist.machine` and back.

#include "dialects/Dist/IR/MachineAttr.h"

#include "dialects/Dist/IR/Collectives.h"
#include "planning/TopologyFile.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// The object of a topology file as a dictionary
//===----------------------------------------------------------------------===//

static Attribute attributeOf(Builder &builder, const json::Value &value) {
  if (std::optional<bool> truth = value.getAsBoolean())
    return builder.getBoolAttr(*truth);
  if (std::optional<int64_t> number = value.getAsInteger())
    return builder.getI64IntegerAttr(*number);
  if (std::optional<double> number = value.getAsNumber())
    return builder.getF64FloatAttr(*number);
  if (std::optional<StringRef> text = value.getAsString())
    return builder.getStringAttr(*text);
  if (const json::Array *array = value.getAsArray()) {
    SmallVector<Attribute> list;
    for (const json::Value &each : *array)
      list.push_back(attributeOf(builder, each));
    return builder.getArrayAttr(list);
  }
  SmallVector<NamedAttribute> entries;
  for (const auto &[key, each] : *value.getAsObject())
    entries.push_back(builder.getNamedAttr(key.str(), attributeOf(builder, each)));
  return builder.getDictionaryAttr(entries);
}

/// Attributes that no topology has become null, which the reader of topologies refuses.
static json::Value jsonOf(Attribute attribute) {
  if (auto truth = dyn_cast<BoolAttr>(attribute))
    return truth.getValue();
  if (auto number = dyn_cast<IntegerAttr>(attribute))
    return number.getValue().trySExtValue().value_or(0);
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  if (auto text = dyn_cast<StringAttr>(attribute))
    return text.getValue();
  if (auto list = dyn_cast<ArrayAttr>(attribute)) {
    json::Array array;
    for (Attribute each : list)
      array.push_back(jsonOf(each));
    return array;
  }
  if (auto entries = dyn_cast<DictionaryAttr>(attribute)) {
    json::Object object;
    for (NamedAttribute each : entries)
      object[each.getName().getValue()] = jsonOf(each.getValue());
    return object;
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// #dist.machine
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kNccl = "nccl", kWires = "wires";

/// The module that is `op` or contains `op`.
static ModuleOp moduleOf(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  return module ? module : op->getParentOfType<ModuleOp>();
}

void dist::setMachine(ModuleOp module, const Machine &machine) {
  Builder builder(module.getContext());
  auto topology = cast<DictionaryAttr>(attributeOf(builder, toJson(machine.topology)));
  module->setAttr(
      DistDialect::kMachineAttrName,
      MachineAttr::get(module.getContext(), builder.getStringAttr(machine.target),
                       builder.getStringAttr(machine.processor),
                       builder.getStringAttr(machine.transport == Transport::nccl ? kNccl : kWires),
                       topology));
}

FailureOr<Machine> dist::getMachine(Operation *op) {
  ModuleOp module = moduleOf(op);
  auto attr = module->getAttrOfType<MachineAttr>(DistDialect::kMachineAttrName);
  if (!attr)
    return module.emitError("has no machine that it is planned for "
                            "(dpc-describe-machine)");
  Machine machine;
  machine.target = attr.getTarget().str();
  machine.processor = attr.getProcessor().str();
  machine.transport = attr.getTransport() == kNccl ? Transport::nccl : Transport::wires;
  machine.topology = llvm::cantFail(topologyFrom(jsonOf(attr.getTopology())));
  return machine;
}

FailureOr<MeshPrices> dist::getMeshPrices(Operation *op) {
  FailureOr<Machine> machine = getMachine(op);
  if (failed(machine))
    return failure();
  ModuleOp module = moduleOf(op);
  const MeshShape mesh = getMeshShape(module);
  if (const int64_t devices = machine->topology.countDevices(); mesh.worldSize() > devices)
    return module.emitError("the mesh has ")
           << mesh.worldSize() << " ranks, and the machine '" << machine->topology.name << "' "
           << devices << " devices";
  return getMeshPrices(*machine, mesh);
}

LogicalResult MachineAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr,
                                  StringAttr, StringAttr transport, DictionaryAttr topology) {
  if (transport != kNccl && transport != kWires)
    return emitError() << "a machine: the transport '" << transport.getValue()
                       << "' is neither wires nor nccl";
  llvm::Expected<Topology> known = topologyFrom(jsonOf(topology));
  if (!known)
    return emitError() << "a machine: " << llvm::toString(known.takeError());
  return success();
}
