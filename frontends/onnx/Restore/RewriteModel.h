// The model with a restoration plan carried out.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_REWRITEMODEL_H
#define DPC_FRONTENDS_ONNX_RESTORE_REWRITEMODEL_H

#include "frontends/onnx/Model/Load.h"
#include "frontends/onnx/Restore/RestorationPlan.h"

namespace dpc::onnx {

/// Replaces `model`'s protobuf by a copy in which the tensors of `plan` are
/// initializers of their own, nodes compute from them what the exporter had
/// computed, and initializers that nothing uses any more are gone. `plan` was
/// made for `graph`, which is that of `model`, and passed check().
void restoreModel(OnnxModel &model, const Graph &graph, const RestorationPlan &plan);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_REWRITEMODEL_H
