#ifndef DPC_PASSES_EXPLAIN_PROGRAMREPORT_H
#define DPC_PASSES_EXPLAIN_PROGRAMREPORT_H

#include "passes/Explain/ReshardTable.h"

namespace dpc {

/// One line about the loss of a program: kind, graph output, axis of the
/// classes, labels; nullopt for a program without a loss. From level `step` on.
std::optional<std::string> describeLoss(mlir::ModuleOp module);

/// Adds what passes left in `module`, a program at level `step` or later, one
/// section each; what a later level would know is left out.
///
///  * inputs and outputs;
///  * the loss and the optimizer;
///  * how state lies on the mesh, by groups of tensors;
///  * `reshards`, which are of level `placed` and gone behind it, if given;
///  * what ranks exchange in an entry, by cause;
///  * the memory of a rank, by kind.
void addProgram(Report &report, mlir::ModuleOp module, const ReshardTable *reshards = nullptr);

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_PROGRAMREPORT_H
