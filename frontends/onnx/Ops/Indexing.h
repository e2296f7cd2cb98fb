// Converts indices that may count from either end of a dimension.

#ifndef DPC_FRONTENDS_ONNX_OPS_INDEXING_H
#define DPC_FRONTENDS_ONNX_OPS_INDEXING_H

#include "frontends/onnx/Import/Conversion.h"

namespace dpc::onnx {

/// Operand `operand` as indices into `extent`, counted from 0; negative ones count
/// from the end. Indices known at import are checked and wrapped now, others by the
/// program. From the wrapping dpc-record-bounds derives the valid range of a graph
/// input, [-extent, extent), and the runtime checks it when it reads data. Null
/// after an error.
mlir::Value wrapIndices(Conversion &c, unsigned operand, int64_t extent);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_INDEXING_H
