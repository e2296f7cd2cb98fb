// Reports inputs whose extents --shape replaces although the file fixes them.

#ifndef DPC_FRONTENDS_ONNX_IMPORT_REPLACEDSHAPES_H
#define DPC_FRONTENDS_ONNX_IMPORT_REPLACEDSHAPES_H

#include "frontends/onnx/Model/Graph.h"

#include "mlir/IR/Diagnostics.h"

namespace dpc::onnx {

/// An input for which the file fixes one or more extents that --shape replaces.
struct ReplacedShape {
  std::string input;
  /// Each replaced dimension, with its extent in the file.
  llvm::SmallVector<std::pair<size_t, int64_t>> fixed;
  /// The complete shape that the option gives.
  llvm::SmallVector<int64_t, 4> asked;
};

/// Compares the shapes in the file, where an open dimension is -1, with the shapes that the
/// same inputs have after --shape.
std::vector<ReplacedShape> findReplacedShapes(llvm::ArrayRef<GraphInput> inFile,
                                              llvm::ArrayRef<GraphInput> inputs);

/// While an object of this class exists, the first error message also lists the replaced
/// extents of the first element of `replaced`, and the number of its further elements.
/// Replaced extents are a likely cause of the error: a node may contain an extent of the
/// file as a constant, and then does not fit the new extent. The message about the node
/// itself does not mention --shape.
class ReplacedShapeHandler : public mlir::ScopedDiagnosticHandler {
public:
  ReplacedShapeHandler(mlir::MLIRContext *context, llvm::ArrayRef<ReplacedShape> replaced);
};

/// Emits the same text as one remark; does nothing if no extent was replaced.
void remarkReplaced(llvm::ArrayRef<ReplacedShape> replaced, mlir::Location loc);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_IMPORT_REPLACEDSHAPES_H
