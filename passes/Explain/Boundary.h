#ifndef DPC_PASSES_EXPLAIN_BOUNDARY_H
#define DPC_PASSES_EXPLAIN_BOUNDARY_H

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/NN/IR/NNDialect.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace dpc {

/// A tensor that the host knows of a program: state, input, label or output.
struct BoundaryTensor {
  std::string name;
  /// Of what is no output.
  nn::ArgKind kind = nn::ArgKind::input;
  bool isOutput = false, isLabel = false;
  /// Logical type, over all devices.
  mlir::RankedTensorType type;
  /// The dimension that counts samples, or -1.
  int64_t batch = -1;
  /// Null before layouts are assigned.
  dist::LayoutAttr layout;
  /// Axes that divide the storage that it lies in.
  std::vector<std::string> storageAxes;
  /// What a rank holds of it.
  int64_t bytesOfRank = 0;

  bool isInput() const {
    return !isOutput && (kind == nn::ArgKind::input || kind == nn::ArgKind::label);
  }
  bool isState() const { return !isOutput && nn::isState(kind); }
  /// "whole on each rank", or how it is cut.
  std::string layoutText() const;
};

/// The tensors at the boundary of a program at level `step` or later, in its
/// order: from the persistent buffers where there are some, else from the
/// arguments and results of its functions.
std::vector<BoundaryTensor> boundaryOf(mlir::ModuleOp module);

/// "f32[8, 16]".
std::string typeText(mlir::RankedTensorType type);
/// "parameter", "optimizer state", ..
llvm::StringRef kindText(nn::ArgKind kind);

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_BOUNDARY_H
