#ifndef DPC_PASSES_MACHINE_PASSES_H
#define DPC_PASSES_MACHINE_PASSES_H

#include "dialects/Dist/IR/DistDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dpc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Machine/Passes.h.inc"

} // namespace dpc

#endif // DPC_PASSES_MACHINE_PASSES_H
