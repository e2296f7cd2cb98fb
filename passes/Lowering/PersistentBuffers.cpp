#include "passes/Lowering/PersistentBuffers.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/FlatStorage.h"
#include "dialects/Exec/IR/Bindings.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;

/// Whether a collective works on the buffer of `argument`. Flat storage without axes is whole on
/// each rank: after the ranks have updated their shards, an all-gather writes the complete storage.
/// A shard of flat storage is copied or converted before a gather, so no collective works on its
/// buffer.
static bool isExchanged(BlockArgument argument, Attribute binding) {
  auto storage = dyn_cast<dist::StorageAttr>(binding);
  return storage ? storage.getAxes().empty() : dist::feedsCollective(argument);
}

PersistentBuffers::PersistentBuffers(ModuleOp module)
    : builder(OpBuilder::atBlockBegin(module.getBody())) {
  for (auto function : module.getOps<func::FuncOp>())
    for (BlockArgument argument : function.getArguments())
      if (Attribute binding = argBinding(function, argument.getArgNumber()))
        if (isExchanged(argument, binding))
          shared.insert(symbolOf(binding));
}

FailureOr<PersistentOp> PersistentBuffers::getOrCreate(Location loc, Attribute binding, Type tensor,
                                                       Attribute layout) {
  MemRefType type = bufferOf(tensor);
  std::string name = symbolOf(binding);
  auto [entry, isNew] = byName.try_emplace(name);
  if (isNew)
    entry->second = builder.create<PersistentOp>(
        loc, name, binding, shared.contains(name) ? Space::shared : Space::arena, IntegerAttr(),
        type, layout);
  PersistentOp persistent = entry->second;
  if (persistent.getType() != type) {
    emitError(loc) << name << " is " << type << " here and " << persistent.getType()
                   << " elsewhere";
    return failure();
  }
  return persistent;
}
