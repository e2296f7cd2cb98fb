// Indices that count from either end of a dimension.

#ifndef DPC_FRONTENDS_ONNX_OPS_INDEXING_H
#define DPC_FRONTENDS_ONNX_OPS_INDEXING_H

#include "frontends/onnx/Import/Conversion.h"

namespace dpc::onnx {

/// Operand `operand` as indices from 0 into `extent`: negative ones count from
/// the end. Known indices are checked and wrapped now, others by the program;
/// what a graph input may hold, [-extent, extent), follows from the wrapping
/// (dpc-record-bounds) and is checked as data is read. Null after an error.
mlir::Value wrapIndices(Conversion &c, unsigned operand, int64_t extent);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_INDEXING_H
