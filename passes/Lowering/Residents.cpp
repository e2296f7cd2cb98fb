#include "passes/Lowering/Residents.h"
#include "passes/Lowering/CommunicationOrder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;
using nn::ArgKind;
using nn::ResultKind;

Residents::Residents(ModuleOp module)
    : builder(OpBuilder::atBlockBegin(module.getBody())) {
  for (auto function : module.getOps<func::FuncOp>())
    for (BlockArgument argument : function.getArguments())
      if (nn::ArgAttr arg = nn::getArg(function, argument.getArgNumber()))
        if (feedsCollective(argument))
          shared.insert(symbolOf(arg));
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
