#ifndef DPC_PASSES_EXPLAIN_PROGRAMREPORT_H
#define DPC_PASSES_EXPLAIN_PROGRAMREPORT_H

#include "passes/Explain/ReshardTable.h"

namespace dpc {

/// Returns one line about the loss of a program: kind, graph output, axis of the classes, labels.
/// nullopt for a program without a loss. Needs: level `step` or later.
std::optional<std::string> describeLoss(mlir::ModuleOp module);

/// Adds the decisions that passes recorded in `module`, a program at level `step` or later, in
/// these sections. Sections for which a later level is needed are left out.
///
///  * inputs and outputs;
///  * the loss and the optimizer;
///  * the layout of state on the mesh, by groups of tensors;
///  * `reshards`, if given, which the caller collects at level `placed`: later levels have none;
///  * the collectives of each entry, by cause;
///  * the memory of a rank, by kind;
///  * the launches of a device.
void addProgram(Report &report, mlir::ModuleOp module, const ReshardTable *reshards = nullptr);

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_PROGRAMREPORT_H
