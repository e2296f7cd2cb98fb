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
  /// The option that leaves `value` whole over `axis`, where it is state, be it
  /// resharded. A product with it is then not divided over that axis.
  std::string requestWhole(mlir::Value value, llvm::StringRef axis) const;
  /// The same of operand `operand` of `reader`, where it is read by a product.
  std::string requestFor(mlir::Operation *reader, unsigned operand, llvm::StringRef axis) const;
  /// The options with which no product that reads the result would be divided over
  /// `axis` as its parameter is.
  std::string requestForReaders(dist::ReshardOp reshard, llvm::StringRef axis) const;
  dist::Layout layoutOf(mlir::BlockArgument argument) const;

  const StepParts &parts;
  const dist::MeshShape &mesh;
};

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_RESHARDCAUSE_H
