#ifndef DPC_PASSES_LOWERING_PASSES_H
#define DPC_PASSES_LOWERING_PASSES_H

#include "dialects/Exec/IR/ExecDialect.h"
#include "planning/FactorForm.h"
#include "planning/ProductMaker.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dpc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Lowering/Passes.h.inc"

} // namespace dpc

#endif // DPC_PASSES_LOWERING_PASSES_H
