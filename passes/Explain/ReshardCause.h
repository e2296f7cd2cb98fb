#ifndef DPC_PASSES_EXPLAIN_RESHARDCAUSE_H
#define DPC_PASSES_EXPLAIN_RESHARDCAUSE_H

#include "passes/Explain/StepParts.h"

#include "dialects/Dist/IR/Collectives.h"

namespace dpc {

/// The reason why a value is resharded, and the options that would avoid the reshard. The text
/// calls dimension K of a value `along K`.
struct ReshardCause {
  std::string text;
  /// Options of dpc-compile that avoid the reshard, separated by spaces, or "-".
  std::string request = "-";
};

/// Derives causes from layouts and sharding rules at level `placed`.
class ReshardCauses {
public:
  /// Keeps references to `parts` and `mesh`, which must outlive this object.
  ReshardCauses(const StepParts &parts, const dist::MeshShape &mesh) : parts(parts), mesh(mesh) {}

  /// Returns the cause of `reshard` if it starts from layout `start`. This is the input layout of
  /// the reshard, or the layout that an earlier reshard gave to the same value.
  ReshardCause find(dist::ReshardOp reshard, const dist::Layout &start) const;

private:
  ReshardCause ofSum(mlir::Value value, const std::string &axis) const;
  /// The cause of a sum over `axis` whose partial terms `origin` computes.
  ReshardCause ofTerm(mlir::Operation *origin, const std::string &axis) const;
  ReshardCause ofGather(dist::ReshardOp reshard, const dist::Layout &from,
                        const dist::Layout &to) const;
  ReshardCause ofResult(mlir::OpOperand &operand, const dist::Layout &from) const;

  /// Returns the option that gives `value` the layout `layout`, or "-" if there is none.
  std::string request(mlir::Value value, const dist::Layout &layout) const;
  /// Returns the option that keeps state whole over `axis`, or "-" if `value` is no state. `value`
  /// may be a resharded copy of the state. A product with that state is then not sharded over
  /// `axis`.
  std::string requestWhole(mlir::Value value, llvm::StringRef axis) const;
  /// Returns requestWhole() for operand `operand` of `reader`, or "-" if `reader` does not sum over
  /// a dimension of this operand, as a product does.
  std::string requestFor(mlir::Operation *reader, unsigned operand, llvm::StringRef axis) const;
  /// Returns the options that keep all products that read the result of `reshard` from being
  /// sharded over `axis` because of their parameters.
  std::string requestForReaders(dist::ReshardOp reshard, llvm::StringRef axis) const;
  dist::Layout layoutOf(mlir::BlockArgument argument) const;

  const StepParts &parts;
  const dist::MeshShape &mesh;
};

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_RESHARDCAUSE_H
