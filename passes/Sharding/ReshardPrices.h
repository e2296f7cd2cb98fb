#ifndef DPC_PASSES_SHARDING_RESHARDPRICES_H
#define DPC_PASSES_SHARDING_RESHARDPRICES_H

#include "passes/Sharding/LayoutTable.h"
#include "passes/Sharding/ReshardPlan.h"

#include <unordered_map>

namespace dpc {

/// What reshards cost on one mesh and machine, which outlive the object. Plans
/// each once.
class ReshardPrices {
public:
  ReshardPrices(const dist::MeshShape &mesh, const Machine &machine)
      : layouts(mesh), mesh(mesh), machine(machine) {}

  /// Modelled time, and what a device sends, of turning a tensor of `bytes` from
  /// one layout into another; nothing when they are the same. Infinite where
  /// there is no way.
  const Price &getCost(const dist::Layout &from, const dist::Layout &to, int64_t bytes);
  /// The same for layouts by their numbers in the table.
  const Price &getCost(unsigned from, unsigned to, int64_t bytes);

  LayoutTable layouts;

private:
  using Question = std::tuple<unsigned, unsigned, int64_t>; // from, to, bytes
  struct Hash {
    size_t operator()(const Question &question) const { return llvm::hash_value(question); }
  };

  const dist::MeshShape &mesh;
  const Machine &machine;
  // Looked up by key only: its order never shows. References to what it holds stay.
  std::unordered_map<Question, Price, Hash> known;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_RESHARDPRICES_H
