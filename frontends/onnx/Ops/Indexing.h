// Converts indices that may count from either end of a dimension.

#ifndef DPC_FRONTENDS_ONNX_OPS_INDEXING_H
#define DPC_FRONTENDS_ONNX_OPS_INDEXING_H

#include "frontends/onnx/Import/Conversion.h"

namespace dpc::onnx {

/// Operand `operand` as indices into a dimension of extent `extent`, counted from 0. In
/// the file, negative indices count from the end of the dimension. The importer checks
/// and wraps indices that it knows; the program wraps other indices. If these are a graph
/// input, dpc-record-bounds derives their valid range [-extent, extent) from the
/// wrapping, and the runtime checks the range when it reads data. Null after an error.
mlir::Value wrapIndices(Conversion &c, unsigned operand, int64_t extent);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_INDEXING_H
