#ifndef DPC_PASSES_EXPLAIN_BOUNDARY_H
#define DPC_PASSES_EXPLAIN_BOUNDARY_H

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/NN/IR/NNDialect.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace dpc {

/// A tensor of a program that the host reads or writes: state, an input, a label or an output.
struct BoundaryTensor {
  std::string name;
  /// The kind of the argument. Has no meaning for outputs.
  nn::ArgKind kind = nn::ArgKind::input;
  bool isOutput = false, isLabel = false;
  /// The logical type: the type of the complete tensor, over all devices.
  mlir::RankedTensorType type;
  /// The batch dimension, or -1 if the tensor has none.
  int64_t batch = -1;
  /// The layout of the tensor. Null before layouts are assigned.
  dist::LayoutAttr layout;
  /// The axes that shard the flat storage in which the tensor lies. Empty if the tensor lies in no
  /// flat storage, or if the storage is not sharded.
  std::vector<std::string> storageAxes;
  /// The number of bytes that each rank holds of the tensor.
  int64_t bytesOfRank = 0;

  bool isInput() const {
    return !isOutput && (kind == nn::ArgKind::input || kind == nn::ArgKind::label);
  }
  bool isState() const { return !isOutput && nn::isState(kind); }
  /// Returns "whole on each rank" or the layout. If the tensor lies in sharded flat storage, the
  /// axes that shard the storage follow.
  std::string layoutText() const;
};

/// Returns the tensors that a program at level `step` or later shares with the host, in the order
/// of the program. If the module has persistent buffers, the tensors are taken from them. Otherwise
/// they are taken from the arguments and results of the functions.
std::vector<BoundaryTensor> boundaryOf(mlir::ModuleOp module);

/// Returns the element type and the shape, e.g. "f32[8, 16]".
std::string typeText(mlir::RankedTensorType type);
/// Returns the name of `kind` in reports: "parameter", "optimizer state", ..
llvm::StringRef kindText(nn::ArgKind kind);

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_BOUNDARY_H
