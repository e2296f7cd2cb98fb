// What the numbers in a tensor look like.

#ifndef DPC_FRONTENDS_ONNX_MODEL_VALUEPATTERNS_H
#define DPC_FRONTENDS_ONNX_MODEL_VALUEPATTERNS_H

#include "frontends/onnx/Model/Tensor.h"

namespace dpc::onnx {

/// Elements are 0 and one or more values of at most -10, or both 0 and 1 in a
/// tensor of rank 2 or more: an attention mask. All zeros or all ones is a
/// fresh bias or scale, not a mask.
bool looksLikeMask(const Tensor &tensor);

/// Along some axis every line is a sinusoid, a line or a geometric progression,
/// and the tensor is not constant: a position table (sine, cosine, rotary,
/// ALiBi, arange) or its frequencies. Random or trained numbers are none of
/// them: at least two equations must hold to 1e-3 (progressions: 1e-4) of the
/// largest element.
bool looksLikeTable(const Tensor &tensor);

/// A table of position encodings as modules compute them: along some axis but
/// the last every line is a sinusoid, of numbers up to 1.
bool looksLikeSinusoids(const Tensor &tensor);

/// Every element equals `value`.
bool isAll(const Tensor &tensor, double value);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_VALUEPATTERNS_H
