#ifndef DPC_PASSES_FUSION_PASSES_H
#define DPC_PASSES_FUSION_PASSES_H

#include "dialects/NN/IR/NNDialect.h"
#include "planning/FactorForm.h"
#include "planning/ProductMaker.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace dpc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Fusion/Passes.h.inc"

} // namespace dpc

#endif // DPC_PASSES_FUSION_PASSES_H
