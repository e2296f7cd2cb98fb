#ifndef DPC_PASSES_PIPELINES_PASSES_H
#define DPC_PASSES_PIPELINES_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dpc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Pipelines/Passes.h.inc"

} // namespace dpc

#endif // DPC_PASSES_PIPELINES_PASSES_H
