#ifndef DPC_PASSES_EXPLAIN_PROGRAMREPORT_H
#define DPC_PASSES_EXPLAIN_PROGRAMREPORT_H

#include "passes/Explain/ReshardTable.h"

namespace dpc {

/// Returns one line about the loss of a program: its kind, the graph output that it reads, the axis
/// of the classes, the labels, and the input dimension that counts samples. nullopt for a program
/// without a loss. Needs: level `step` or later.
std::optional<std::string> describeLoss(mlir::ModuleOp module);

/// Adds the decisions that passes recorded in `module`, a program at level `step` or later. The
/// report has these sections. A section is left out if the program has not reached the level that
/// has its facts.
///
///  * inputs and outputs;
///  * the loss and the optimizer;
///  * the layout of state on the mesh, by groups of tensors;
///  * the stages of a pipeline and its schedule;
///  * `reshards`, if given. The caller collects them at level `placed`, because later levels have
///    no reshards;
///  * the collectives of each entry, by cause;
///  * the memory of a rank, by kind;
///  * the launches of a device.
void addProgram(ExplainReport &report, mlir::ModuleOp module,
                const ReshardTable *reshards = nullptr);

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_PROGRAMREPORT_H
