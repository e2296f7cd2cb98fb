// The softmax of attention, whose rows may be hidden as a whole.

#ifndef DPC_FRONTENDS_ONNX_OPS_SAFESOFTMAX_H
#define DPC_FRONTENDS_ONNX_OPS_SAFESOFTMAX_H

#include "frontends/onnx/Import/Conversion.h"

namespace dpc::onnx {

/// The softmax of `scores` along `axis`, and 0 in a row of -infinity alone
/// (erratum of ONNX 1.23). `dpc-form-attention` knows this form.
mlir::Value safeSoftmax(Conversion &c, mlir::Value scores, int64_t axis);

/// Whether the node, a Softmax, is that of PyTorch's scaled dot product
/// attention, which gives 0 there: by the call that the default exporter names,
/// or, as TorchScript names none, by its form, in which queries and keys each
/// take the root of the scale. False where the file has the zeros itself, and where
/// each row is known to see a key.
bool isSafeSoftmax(Conversion &c);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_SAFESOFTMAX_H
