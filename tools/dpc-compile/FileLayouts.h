#ifndef DPC_TOOLS_DPC_COMPILE_FILELAYOUTS_H
#define DPC_TOOLS_DPC_COMPILE_FILELAYOUTS_H

#include "frontends/onnx/Model/ShardingSpecs.h"
#include "planning/Plan.h"

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// Makes requests of the sharding specs of `source`, and of the names of values that
/// --shard has the names of the nodes that make them.
llvm::Error addFileLayouts(const onnx::OnnxModel &source, ProgramPlan &plan,
                           llvm::raw_ostream &notes);

/// The layouts of state and inputs of a module at level `placed`, for the model that
/// the program saves; of no devices but one, nothing.
onnx::SpecPlan collectPlan(mlir::ModuleOp module);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_FILELAYOUTS_H
