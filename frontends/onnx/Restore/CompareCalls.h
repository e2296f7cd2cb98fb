// Finds calls that the exporter dropped from the graph although the metadata of other
// nodes still name them.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_COMPARECALLS_H
#define DPC_FRONTENDS_ONNX_RESTORE_COMPARECALLS_H

#include "frontends/onnx/Restore/RestorationPlan.h"

namespace dpc::onnx {

/// Adds the values that the module detaches to `plan`. Adds a message to `plan.lost` for
/// each dropped call that changes training and cannot be restored from the file.
void compareCalls(const Graph &graph, RestorationPlan &plan);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_COMPARECALLS_H
