#ifndef DPC_DIALECTS_INTERFACES_NODENAMES_H
#define DPC_DIALECTS_INTERFACES_NODENAMES_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace dpc {

/// What a location names, for messages and traces: the first few of a kind, and
/// how many more there are.
struct NodeNames {
  std::string nodes;   ///< of the ONNX file; empty if it names none
  std::string modules; ///< paths of what exported them
};
NodeNames namesOf(mlir::Location loc);
/// All of the nodes.
llvm::SmallVector<llvm::StringRef> nodesOf(mlir::Location loc);
/// The first of the nodes, or "".
llvm::StringRef firstNodeOf(mlir::Location loc);

/// The node that a location names, if it names one and no other.
std::optional<llvm::StringRef> onlyNodeOf(mlir::Location loc);

/// `node` as the location of what computes the loss from the output of that node:
/// messages name the node, but nothing of it is the node's value.
mlir::Location lossLocation(mlir::Location node);
bool isOfLoss(mlir::Location loc);

} // namespace dpc

#endif // DPC_DIALECTS_INTERFACES_NODENAMES_H
