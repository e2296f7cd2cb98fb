#include "passes/Lowering/Residents.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;
using nn::ArgKind;
using nn::ResultKind;

FailureOr<ResidentOp> Residents::getOrCreate(Location loc, Attribute binding,
                                             Type tensor, Attribute layout) {
  MemRefType type = bufferOf(tensor);
  std::string name = symbolOf(binding);
  auto [entry, isNew] = byName.try_emplace(name);
  if (isNew)
    entry->second = builder.create<ResidentOp>(loc, name, binding, Space::arena,
                                               IntegerAttr(), type, layout);
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
