#ifndef DPC_PASSES_SHARDING_RESHARDS_RESHARDPRICES_H
#define DPC_PASSES_SHARDING_RESHARDS_RESHARDPRICES_H

#include "passes/Sharding/Reshards/LayoutTable.h"
#include "passes/Sharding/Reshards/ReshardPlan.h"

#include <unordered_map>

namespace dpc {

/// The costs of reshards on one mesh. It and its prices must outlive the object. Each reshard is
/// planned once.
class ReshardPrices {
public:
  ReshardPrices(const dist::MeshShape &mesh, const MeshPrices &meshPrices)
      : layouts(mesh), mesh(mesh), meshPrices(meshPrices) {}

  /// The modelled time, and the bytes that a device sends, to reshard a tensor of `bytes` from one
  /// layout to another. Both are 0 if the layouts are the same, and infinite if there is no plan.
  const Price &getCost(const dist::Layout &from, const dist::Layout &to, int64_t bytes);
  /// The same for layouts that are given by their numbers in `layouts`.
  const Price &getCost(unsigned from, unsigned to, int64_t bytes);

  LayoutTable layouts;

private:
  using Question = std::tuple<unsigned, unsigned, int64_t>; // from, to, bytes
  struct Hash {
    size_t operator()(const Question &question) const { return llvm::hash_value(question); }
  };

  const dist::MeshShape &mesh;
  const MeshPrices &meshPrices;
  // This map is looked up by key only, so its order cannot affect the program. References to its
  // values stay valid.
  std::unordered_map<Question, Price, Hash> known;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_RESHARDS_RESHARDPRICES_H
