// Applies a restoration plan to a model.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_REWRITEMODEL_H
#define DPC_FRONTENDS_ONNX_RESTORE_REWRITEMODEL_H

#include "frontends/onnx/Model/Load.h"
#include "frontends/onnx/Restore/RestorationPlan.h"

namespace dpc::onnx {

/// Replaces `model`'s protobuf by a copy in which the tensors of `plan` are
/// initializers, nodes compute the exporter's folded tensors from them, and unused
/// initializers are removed. `plan` was made for `graph`, which is the graph of
/// `model`, and has passed check().
void restoreModel(OnnxModel &model, const Graph &graph, const RestorationPlan &plan);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_REWRITEMODEL_H
