#ifndef DPC_PASSES_EXPLAIN_PIPELINEREPORT_H
#define DPC_PASSES_EXPLAIN_PIPELINEREPORT_H

#include "passes/Explain/Report.h"

#include "dialects/Dist/IR/DistDialect.h"

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// Adds the section `pipeline`: for each stage the first ONNX node of its chunks, the time of one
/// microbatch, the bytes that a rank sends to other stages and those that it holds; the values that
/// cross more than one border; and the schedule. Adds nothing for a program without stages.
void addPipeline(ExplainReport &report, mlir::ModuleOp module);

/// Writes a drawing of the schedule, as SVG: a row for each stage, and a box for each piece.
void drawSchedule(dist::PipelineAttr pipeline, llvm::raw_ostream &os);

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_PIPELINEREPORT_H
