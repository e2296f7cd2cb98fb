// Recognizes kinds of constants by the values in a tensor.

#ifndef DPC_FRONTENDS_ONNX_MODEL_VALUEPATTERNS_H
#define DPC_FRONTENDS_ONNX_MODEL_VALUEPATTERNS_H

#include "frontends/onnx/Model/Tensor.h"

namespace dpc::onnx {

/// The tensor looks like an attention mask: its elements are 0 and one or more
/// values of at most -10, or, at rank 2 or more, both 0 and 1. All zeros or all
/// ones are a new bias or scale, not a mask.
bool looksLikeMask(const Tensor &tensor);

/// Along some axis every line is a sinusoid, a straight line or a geometric
/// progression, and the tensor is not constant: a position table (sine, cosine,
/// rotary, ALiBi, arange) or its frequencies. Random or trained numbers do not
/// pass: at least two equations must hold to 1e-3 (progressions: 1e-4) of the
/// largest element.
bool looksLikeTable(const Tensor &tensor);

/// A table of position encodings as modules compute them: along some axis other
/// than the last, every line is a sinusoid, and no magnitude exceeds 1.
bool looksLikeSinusoids(const Tensor &tensor);

/// Every element equals `value`.
bool isAll(const Tensor &tensor, double value);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_VALUEPATTERNS_H
