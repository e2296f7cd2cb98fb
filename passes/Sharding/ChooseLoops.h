#ifndef DPC_PASSES_SHARDING_CHOOSELOOPS_H
#define DPC_PASSES_SHARDING_CHOOSELOOPS_H

#include "passes/Sharding/Placement.h"

namespace dpc {

/// Adds to `plan` which atoms mesh axis `axis`, of `size` devices, cuts. Each
/// contraction or gather of `function` with a parameter of which the axis cuts
/// no atom yet gets one: the atom of the parameter with which `seconds`, the
/// modelled time of a step under a plan, is least. It gets one even if the step
/// was shorter without: whoever gives the mesh such an axis wants parameters to
/// be cut. A parameter none of whose atoms has an index for each device stays
/// replicated.
void chooseLoops(mlir::func::FuncOp function, const ProgramLoops &program, const std::string &axis,
                 int64_t size, llvm::function_ref<double(const AxisPlan &)> seconds,
                 AxisPlan &plan);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_CHOOSELOOPS_H
