// Finds in the location of an op the ONNX nodes for which the op was made.

#include "dialects/Interfaces/NodeNames.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dpc;

/// Collects the ONNX nodes and module paths that a location names.
static void collectNames(Location loc, llvm::SetVector<StringRef> &nodes,
                         llvm::SetVector<StringRef> &modules) {
  if (auto name = dyn_cast<NameLoc>(loc)) {
    nodes.insert(name.getName());
    return;
  }
  auto fused = dyn_cast<FusedLoc>(loc);
  if (!fused)
    return;
  if (auto path = dyn_cast_or_null<StringAttr>(fused.getMetadata()))
    if (!path.empty())
      modules.insert(path);
  for (Location inner : fused.getLocations())
    collectNames(inner, nodes, modules);
}

/// The first three of `names` as text, and the number of the others: "a, b, c and
/// 2 more".
static std::string summary(const llvm::SetVector<StringRef> &names) {
  constexpr size_t most = 3;
  ArrayRef<StringRef> all = names.getArrayRef();
  std::string text = llvm::join(all.take_front(most), ", ");
  if (all.size() > most)
    text += " and " + std::to_string(all.size() - most) + " more";
  return text;
}

SmallVector<StringRef> dpc::nodesOf(Location loc) {
  llvm::SetVector<StringRef> nodes, modules;
  collectNames(loc, nodes, modules);
  return llvm::to_vector(nodes.getArrayRef());
}

StringRef dpc::firstNodeOf(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location inner : fused.getLocations())
      if (StringRef node = firstNodeOf(inner); !node.empty())
        return node;
  return {};
}

std::optional<StringRef> dpc::onlyNodeOf(Location loc) {
  llvm::SetVector<StringRef> nodes, modules;
  collectNames(loc, nodes, modules);
  return nodes.size() == 1 ? std::optional(nodes.front()) : std::nullopt;
}

NodeNames dpc::namesOf(Location loc) {
  llvm::SetVector<StringRef> nodes, modules;
  collectNames(loc, nodes, modules);
  return {summary(nodes), summary(modules)};
}

Location dpc::lossLocation(Location node) {
  return FusedLoc::get({node}, UnitAttr::get(node.getContext()), node.getContext());
}

bool dpc::isOfLoss(Location loc) {
  auto fused = dyn_cast<FusedLoc>(loc);
  return fused && isa_and_nonnull<UnitAttr>(fused.getMetadata());
}
