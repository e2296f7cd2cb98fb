#ifndef DPC_PASSES_EXPLAIN_RESHARDCAUSE_H
#define DPC_PASSES_EXPLAIN_RESHARDCAUSE_H

#include "passes/Explain/StepParts.h"

#include "dialects/Dist/IR/Collectives.h"

namespace dpc {

/// Why a value is resharded over the axes of its steps, and what would keep it
/// from being so. Dimension K of a value is `along K`.
struct ReshardCause {
  std::string text;
  /// Options of dpc-compile, spaces between, or "-".
  std::string request = "-";
};

/// Derives causes from layouts and sharding rules at level `placed`.
class ReshardCauses {
public:
  /// Both outlive the object.
  ReshardCauses(const StepParts &parts, const dist::MeshShape &mesh) : parts(parts), mesh(mesh) {}

  /// Of `reshard`, done from layout `start`: its own, or one that the value was
  /// brought to before.
  ReshardCause find(dist::ReshardOp reshard, const dist::Layout &start) const;

private:
  ReshardCause ofSum(mlir::Value value, const std::string &axis) const;
  /// Of what `origin` is the first to leave unsummed.
  ReshardCause ofTerm(mlir::Operation *origin, const std::string &axis) const;
  ReshardCause ofGather(dist::ReshardOp reshard, const dist::Layout &from,
                        const dist::Layout &to) const;
  ReshardCause ofResult(mlir::OpOperand &operand, const dist::Layout &from) const;

  /// The option that lays `value` out so, where there is one.
  std::string request(mlir::Value value, const dist::Layout &layout) const;
  /// The same, for the layout of `value` without the cut of `dim` over `axis`.
  std::string requestWithout(mlir::Value value, dist::Layout layout, unsigned dim,
                             llvm::StringRef axis) const;

  const StepParts &parts;
  const dist::MeshShape &mesh;
};

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_RESHARDCAUSE_H
