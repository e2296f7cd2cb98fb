// What the exporter dropped from the graph and its metadata still names.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_COMPARECALLS_H
#define DPC_FRONTENDS_ONNX_RESTORE_COMPARECALLS_H

#include "frontends/onnx/Restore/RestorationPlan.h"

namespace dpc::onnx {

/// Adds to `plan` the detached values of the module, and to `plan.lost` what
/// changes training and the file no longer holds.
void compareCalls(const Graph &graph, RestorationPlan &plan);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_COMPARECALLS_H
