#ifndef DPC_DIALECTS_INTERFACES_NODENAMES_H
#define DPC_DIALECTS_INTERFACES_NODENAMES_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace dpc {

/// The names in a location as text for messages and traces. If there are more
/// than three names of a kind, the text has the first three and the number of the
/// others.
struct NodeNames {
  std::string nodes;   ///< nodes of the ONNX file; empty if the location names none
  std::string modules; ///< paths of the PyTorch modules that were exported as these nodes
};
NodeNames namesOf(mlir::Location loc);
/// All nodes that the location names.
llvm::SmallVector<llvm::StringRef> nodesOf(mlir::Location loc);
/// The first node that the location names; empty if there is none.
llvm::StringRef firstNodeOf(mlir::Location loc);

/// The node that a location names; null unless it names exactly one.
std::optional<llvm::StringRef> onlyNodeOf(mlir::Location loc);

/// The location of ops that compute the loss from the output of the node that
/// `node` names. Messages about these ops name the node. `isOfLoss` tells them
/// from the ops that compute the node itself.
mlir::Location lossLocation(mlir::Location node);
bool isOfLoss(mlir::Location loc);

} // namespace dpc

#endif // DPC_DIALECTS_INTERFACES_NODENAMES_H
