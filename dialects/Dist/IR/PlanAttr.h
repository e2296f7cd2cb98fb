#ifndef DPC_DIALECTS_DIST_IR_PLANATTR_H
#define DPC_DIALECTS_DIST_IR_PLANATTR_H

#include "dialects/Dist/IR/DistDialect.h"
#include "planning/Plan.h"

#include "mlir/IR/BuiltinOps.h"

namespace dpc::dist {

/// Sets the attribute `dist.plan` of `module` to `plan`. The caller has verified
/// that `plan.check()` finds no defect.
void setPlan(mlir::ModuleOp module, const ProgramPlan &plan);

/// The plan of `module`. Fails with an error on the module if it has no attribute
/// `dist.plan`.
mlir::FailureOr<ProgramPlan> getPlan(mlir::ModuleOp module);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_PLANATTR_H
