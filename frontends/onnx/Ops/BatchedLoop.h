// All iterations of a loop at once.

#ifndef DPC_FRONTENDS_ONNX_OPS_BATCHEDLOOP_H
#define DPC_FRONTENDS_ONNX_OPS_BATCHEDLOOP_H

#include "frontends/onnx/Import/Conversion.h"

namespace dpc::onnx {

/// Sets the results of the Loop `c.node` by computing each node of its body once,
/// for all iterations, where these do not depend on each other: as exporters write
/// EmbeddingBag. False, and nothing is made, for another loop.
bool convertBatchedLoop(Conversion &c, const Subgraph &body);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_BATCHEDLOOP_H
