// The IR of a graph whose initializers are classified.

#ifndef DPC_FRONTENDS_ONNX_IMPORT_MODULEBUILDER_H
#define DPC_FRONTENDS_ONNX_IMPORT_MODULEBUILDER_H

#include "frontends/onnx/Import/Import.h"
#include "frontends/onnx/Model/Classify.h"
#include "frontends/onnx/Model/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dpc::onnx {

/// Builds the module described in Import.h from a graph whose inputs have
/// static shapes and whose operators the registry has; null after a diagnostic.
mlir::OwningOpRef<mlir::ModuleOp> buildModule(const Graph &graph, llvm::ArrayRef<Classified> roles,
                                              const ImportOptions &options,
                                              mlir::MLIRContext *context);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_IMPORT_MODULEBUILDER_H
