// Finds the bindings of a function's arguments and results, and builds the
// symbols of the persistent buffers that hold these values.

#include "dialects/Exec/IR/Bindings.h"

#include "dialects/Dist/IR/FlatStorage.h"
#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/NN/IR/NNDialect.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace dpc;
using nn::ArgKind;
using nn::ResultKind;

Attribute exec::argBinding(FunctionOpInterface function, unsigned index) {
  if (dist::StorageAttr storage = dist::getArgStorage(function, index))
    return storage;
  return nn::getArg(function, index);
}

Attribute exec::resultBinding(FunctionOpInterface function, unsigned index) {
  if (dist::StorageAttr storage = dist::getResultStorage(function, index))
    return storage;
  return nn::getResult(function, index);
}

std::string exec::symbolOf(Attribute binding) {
  if (auto arg = dyn_cast<nn::ArgAttr>(binding)) {
    StringRef kind = arg.getKind() == ArgKind::control ? "control."
                     : arg.getKind() == ArgKind::input || arg.getKind() == ArgKind::label
                         ? "input."
                         : "state.";
    return (kind + arg.getName()).str();
  }
  if (auto coordinate = dyn_cast<CoordinateAttr>(binding))
    return ("coordinate." + coordinate.getAxis().getValue()).str();
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

SmallVector<BlockArgument> exec::findOldValues(FunctionOpInterface function) {
  llvm::StringMap<BlockArgument> arguments;
  for (BlockArgument argument : function.getArguments())
    if (Attribute binding = argBinding(function, argument.getArgNumber()))
      arguments[symbolOf(binding)] = argument;
  SmallVector<BlockArgument> oldValues;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    Attribute binding = resultBinding(function, i);
    oldValues.push_back(binding ? arguments.lookup(symbolOf(binding)) : BlockArgument());
  }
  return oldValues;
}
