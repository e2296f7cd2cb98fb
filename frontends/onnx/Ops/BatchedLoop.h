// Converts a loop with independent iterations as one batch.

#ifndef DPC_FRONTENDS_ONNX_OPS_BATCHEDLOOP_H
#define DPC_FRONTENDS_ONNX_OPS_BATCHEDLOOP_H

#include "frontends/onnx/Import/Conversion.h"

namespace dpc::onnx {

/// Sets the results of the Loop `c.node` by computing each node of its body once
/// for all iterations, if the iterations do not depend on each other. Exporters write
/// EmbeddingBag as a loop of this form. For any other loop the function returns false and
/// creates no op.
bool convertBatchedLoop(Conversion &c, const Subgraph &body);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_BATCHEDLOOP_H
