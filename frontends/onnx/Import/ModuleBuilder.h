// Builds the IR of a graph, given the role of each initializer.

#ifndef DPC_FRONTENDS_ONNX_IMPORT_MODULEBUILDER_H
#define DPC_FRONTENDS_ONNX_IMPORT_MODULEBUILDER_H

#include "frontends/onnx/Import/Import.h"
#include "frontends/onnx/Model/Classify.h"
#include "frontends/onnx/Model/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dpc::onnx {

/// Builds the MLIR module that Import.h describes. The inputs of `graph` must have static
/// shapes, and the registry must have all operators of `graph`. `roles` has the role of
/// each initializer. Returns null after a diagnostic.
mlir::OwningOpRef<mlir::ModuleOp> buildModule(const Graph &graph, llvm::ArrayRef<Classified> roles,
                                              const ImportOptions &options,
                                              mlir::MLIRContext *context);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_IMPORT_MODULEBUILDER_H
