#include "passes/Lowering/Residents.h"
#include "passes/Lowering/CommunicationOrder.h"

#include "dialects/Dist/IR/FlatStorage.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;
using nn::ArgKind;
using nn::ResultKind;

Attribute dpc::argBinding(func::FuncOp function, unsigned index) {
  if (dist::StorageAttr storage = dist::getArgStorage(function, index))
    return storage;
  return nn::getArg(function, index);
}

Attribute dpc::resultBinding(func::FuncOp function, unsigned index) {
  if (dist::StorageAttr storage = dist::getResultStorage(function, index))
    return storage;
  return nn::getResult(function, index);
}

/// Whether peers read or write `argument`. Storage that all ranks have whole is
/// gathered from their shares.
static bool isExchanged(BlockArgument argument, Attribute binding) {
  auto storage = dyn_cast<dist::StorageAttr>(binding);
  return storage ? storage.getAxes().empty() : feedsCollective(argument);
}

Residents::Residents(ModuleOp module)
    : builder(OpBuilder::atBlockBegin(module.getBody())) {
  for (auto function : module.getOps<func::FuncOp>())
    for (BlockArgument argument : function.getArguments())
      if (Attribute binding = argBinding(function, argument.getArgNumber()))
        if (isExchanged(argument, binding))
          shared.insert(symbolOf(binding));
}

FailureOr<ResidentOp> Residents::getOrCreate(Location loc, Attribute binding,
                                             Type tensor, Attribute layout) {
  MemRefType type = bufferOf(tensor);
  std::string name = symbolOf(binding);
  auto [entry, isNew] = byName.try_emplace(name);
  if (isNew)
    entry->second = builder.create<ResidentOp>(
        loc, name, binding,
        shared.contains(name) ? Space::shared : Space::arena, IntegerAttr(),
        type, layout);
  ResidentOp resident = entry->second;
  if (resident.getType() != type) {
    emitError(loc) << name << " is " << type << " here and "
                   << resident.getType() << " elsewhere";
    return failure();
  }
  return resident;
}

std::string Residents::symbolOf(Attribute binding) {
  if (auto arg = dyn_cast<nn::ArgAttr>(binding)) {
    bool isInput =
        arg.getKind() == ArgKind::input || arg.getKind() == ArgKind::label;
    return ((isInput ? "input." : "state.") + arg.getName()).str();
  }
  if (auto storage = dyn_cast<dist::StorageAttr>(binding))
    return ("storage." + storage.getName().getValue()).str();
  auto result = cast<nn::ResultAttr>(binding);
  switch (result.getKind()) {
  case ResultKind::metric:
    return ("metric." + result.getName()).str();
  case ResultKind::output:
    return ("output." + result.getName()).str();
  default:
    return ("state." + result.getName()).str();
  }
}
