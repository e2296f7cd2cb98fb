#ifndef DPC_PASSES_EXPLAIN_BOUNDARY_H
#define DPC_PASSES_EXPLAIN_BOUNDARY_H

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/NN/IR/NNDialect.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace dpc {

/// A tensor of a program that the host reads or writes: state, input, label or output.
struct BoundaryTensor {
  std::string name;
  /// The kind of the argument. Meaningless for outputs.
  nn::ArgKind kind = nn::ArgKind::input;
  bool isOutput = false, isLabel = false;
  /// Logical type, over all devices.
  mlir::RankedTensorType type;
  /// The dimension that counts samples, or -1.
  int64_t batch = -1;
  /// Null before layouts are assigned.
  dist::LayoutAttr layout;
  /// The axes that shard the flat storage that holds the tensor; empty if it is in none.
  std::vector<std::string> storageAxes;
  /// The bytes of the tensor that each rank holds.
  int64_t bytesOfRank = 0;

  bool isInput() const {
    return !isOutput && (kind == nn::ArgKind::input || kind == nn::ArgKind::label);
  }
  bool isState() const { return !isOutput && nn::isState(kind); }
  /// Returns "whole on each rank" or the layout, and the axes of flat storage, if any.
  std::string layoutText() const;
};

/// Returns the tensors that a program at level `step` or later shares with the host, in the order
/// of the program. Takes them from the persistent buffers if there are any, otherwise from the
/// arguments and results of the functions.
std::vector<BoundaryTensor> boundaryOf(mlir::ModuleOp module);

/// Returns element type and shape, e.g. "f32[8, 16]".
std::string typeText(mlir::RankedTensorType type);
/// Returns the name of `kind` in reports: "parameter", "optimizer state", ..
llvm::StringRef kindText(nn::ArgKind kind);

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_BOUNDARY_H
