#ifndef DPC_PASSES_STAGES_PASSES_H
#define DPC_PASSES_STAGES_PASSES_H

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/NN/IR/NNDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dpc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Stages/Passes.h.inc"

} // namespace dpc

#endif // DPC_PASSES_STAGES_PASSES_H
