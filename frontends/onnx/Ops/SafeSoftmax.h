// The softmax of attention, which may mask all keys of a row.

#ifndef DPC_FRONTENDS_ONNX_OPS_SAFESOFTMAX_H
#define DPC_FRONTENDS_ONNX_OPS_SAFESOFTMAX_H

#include "frontends/onnx/Import/Conversion.h"

namespace dpc::onnx {

/// The softmax of `scores` along `axis`, with 0 in a row whose scores are all
/// -infinity (erratum of ONNX 1.23). `dpc-form-attention` recognises this form.
mlir::Value safeSoftmax(Conversion &c, mlir::Value scores, int64_t axis);

/// Whether the node, a Softmax, belongs to PyTorch's scaled dot product attention,
/// which gives 0 in such rows. The default exporter names the call. TorchScript
/// names none, so the form decides: queries and keys are each scaled by the root of
/// the scale. False if the file replaces such rows by zeros itself, or if every row
/// is known to see a key.
bool isSafeSoftmax(Conversion &c);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_SAFESOFTMAX_H
