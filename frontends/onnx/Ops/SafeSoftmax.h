// The softmax of attention, which may mask all keys of a row.

#ifndef DPC_FRONTENDS_ONNX_OPS_SAFESOFTMAX_H
#define DPC_FRONTENDS_ONNX_OPS_SAFESOFTMAX_H

#include "frontends/onnx/Import/Conversion.h"

namespace dpc::onnx {

/// The softmax of `scores` along `axis`. If all scores of a row are -infinity, the result
/// is 0 in that row (an erratum of ONNX 1.23). `dpc-form-attention` recognises the ops
/// that this function makes.
mlir::Value safeSoftmax(Conversion &c, mlir::Value scores, int64_t axis);

/// Whether the node, a Softmax, belongs to PyTorch's scaled dot product attention, which
/// gives 0 in a row whose keys are all masked. The default exporter names the call.
/// TorchScript names no call, so the form of the graph decides: queries and keys are each
/// scaled by the root of the scale. The result is false if no mask is added to the
/// scores, if the file itself replaces these rows by zeros, or if every row is known to
/// see a key.
bool isSafeSoftmax(Conversion &c);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_SAFESOFTMAX_H
