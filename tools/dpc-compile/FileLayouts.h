#ifndef DPC_TOOLS_DPC_COMPILE_FILELAYOUTS_H
#define DPC_TOOLS_DPC_COMPILE_FILELAYOUTS_H

#include "frontends/onnx/Model/ShardingSpecs.h"
#include "planning/Plan.h"

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// Adds the sharding specs of `source` to `plan.fileLayouts`. If `plan` is for a pipeline and has
/// no `cutNodes`, sets them from the pipeline stages in `source`. Also changes requests of --shard
/// that name the first output of a node: they get the name of the node, because the IR knows a
/// value only by its node.
llvm::Error addFileLayouts(const onnx::OnnxModel &source, ProgramPlan &plan,
                           llvm::raw_ostream &notes);

/// Returns the layouts of state and inputs in a module at level `placed`. The compiled
/// program writes them into the ONNX model that it saves. Empty if the mesh has one
/// device.
onnx::SpecPlan collectPlan(mlir::ModuleOp module);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_FILELAYOUTS_H
