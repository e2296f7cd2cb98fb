#ifndef DPC_PASSES_EXPLAIN_RESHARDCAUSE_H
#define DPC_PASSES_EXPLAIN_RESHARDCAUSE_H

#include "passes/Explain/StepParts.h"

#include "dialects/Dist/IR/Collectives.h"

namespace dpc {

/// The reason why a value is resharded, and the options that would avoid the reshard. In the text,
/// `along K` means: along dimension K of the value; after `the parameter` or `the other operand` it
/// means dimension K of that operand.
struct ReshardCause {
  std::string text;
  /// Options of dpc-compile that avoid the reshard, separated by spaces, or "-".
  std::string request = "-";
};

/// Derives the causes of reshards from layouts and sharding rules at level `placed`.
class ReshardCauses {
public:
  /// Keeps references to `parts` and `mesh`, which must outlive this object.
  ReshardCauses(const StepParts &parts, const dist::MeshShape &mesh) : parts(parts), mesh(mesh) {}

  /// Returns the cause of `reshard`, which starts from layout `start`. This is the input layout of
  /// the reshard, or the layout that an earlier reshard gave to the same value.
  ReshardCause find(dist::ReshardOp reshard, const dist::Layout &start) const;

private:
  ReshardCause ofSum(mlir::Value value, const std::string &axis) const;
  /// Returns the cause of a sum over `axis` whose terms `origin` computes, one term per rank.
  ReshardCause ofTerm(mlir::Operation *origin, const std::string &axis) const;
  ReshardCause ofGather(dist::ReshardOp reshard, const dist::Layout &from,
                        const dist::Layout &to) const;
  ReshardCause ofResult(mlir::OpOperand &operand, const dist::Layout &from) const;

  /// Returns the option that gives `value` the layout `layout`, or "-" if no option can do that.
  std::string request(mlir::Value value, const dist::Layout &layout) const;
  /// Returns the option that keeps state whole over `axis`: then the axis does not shard it, and a
  /// product that reads the state is not sharded over `axis` either. `value` is the state, or a
  /// resharded copy of it. For any other value returns "-".
  std::string requestWhole(mlir::Value value, llvm::StringRef axis) const;
  /// Returns requestWhole() for operand `operand` of `reader`. Returns "-" if `reader` does not sum
  /// over a dimension of this operand. (A product sums over one dimension of each operand.)
  std::string requestFor(mlir::Operation *reader, unsigned operand, llvm::StringRef axis) const;
  /// Some products that read the result of `reshard` are sharded over `axis` because their
  /// parameters are. Returns the options that keep these products unsharded over `axis`, or "-" if
  /// there are none. Skips a product that no option keeps unsharded.
  std::string requestForReaders(dist::ReshardOp reshard, llvm::StringRef axis) const;
  dist::Layout layoutOf(mlir::BlockArgument argument) const;

  const StepParts &parts;
  const dist::MeshShape &mesh;
};

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_RESHARDCAUSE_H
