// Finds calls that the exporter dropped from the graph but that its metadata still
// name.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_COMPARECALLS_H
#define DPC_FRONTENDS_ONNX_RESTORE_COMPARECALLS_H

#include "frontends/onnx/Restore/RestorationPlan.h"

namespace dpc::onnx {

/// Adds the detached values of the module to `plan`. Adds to `plan.lost` each
/// dropped call that changes training and that the file cannot reproduce.
void compareCalls(const Graph &graph, RestorationPlan &plan);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_COMPARECALLS_H
