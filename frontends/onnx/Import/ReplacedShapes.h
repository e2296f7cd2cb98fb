// Reports inputs whose extents --shape replaces although the file fixes them.

#ifndef DPC_FRONTENDS_ONNX_IMPORT_REPLACEDSHAPES_H
#define DPC_FRONTENDS_ONNX_IMPORT_REPLACEDSHAPES_H

#include "frontends/onnx/Model/Graph.h"

#include "mlir/IR/Diagnostics.h"

namespace dpc::onnx {

/// An input. --shape replaces some of its extents, which the file fixes.
struct ReplacedShape {
  std::string input;
  /// Each such dimension, and its extent in the file.
  llvm::SmallVector<std::pair<size_t, int64_t>> fixed;
  /// The whole shape that the option gives.
  llvm::SmallVector<int64_t, 4> asked;
};

/// Compares the shapes of the file, where an open dimension is -1, with those that the same
/// inputs have after --shape.
std::vector<ReplacedShape> findReplacedShapes(llvm::ArrayRef<GraphInput> inFile,
                                              llvm::ArrayRef<GraphInput> inputs);

/// While it lives, the first error also says which extents of the file were replaced:
/// nodes that hold these extents too do not fit the new ones, and their messages know
/// nothing of --shape.
class ReplacedShapeHandler : public mlir::ScopedDiagnosticHandler {
public:
  ReplacedShapeHandler(mlir::MLIRContext *context, llvm::ArrayRef<ReplacedShape> replaced);
};

/// Says the same in one remark; nothing where no extent was replaced.
void remarkReplaced(llvm::ArrayRef<ReplacedShape> replaced, mlir::Location loc);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_IMPORT_REPLACEDSHAPES_H
