#ifndef DPC_DIALECTS_INTERFACES_NODENAMES_H
#define DPC_DIALECTS_INTERFACES_NODENAMES_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace dpc {

/// The names in a location, for messages and traces: the first few of each kind,
/// and the number of further ones.
struct NodeNames {
  std::string nodes;   ///< of the ONNX file; empty if the location names none
  std::string modules; ///< paths of the modules that were exported to these nodes
};
NodeNames namesOf(mlir::Location loc);
/// All nodes that the location names.
llvm::SmallVector<llvm::StringRef> nodesOf(mlir::Location loc);
/// The first of these nodes, or "".
llvm::StringRef firstNodeOf(mlir::Location loc);

/// The node that a location names if it names exactly one.
std::optional<llvm::StringRef> onlyNodeOf(mlir::Location loc);

/// `node` as the location of ops that compute the loss from the output of that
/// node. Messages name the node, but the ops compute no value of the node.
mlir::Location lossLocation(mlir::Location node);
bool isOfLoss(mlir::Location loc);

} // namespace dpc

#endif // DPC_DIALECTS_INTERFACES_NODENAMES_H
