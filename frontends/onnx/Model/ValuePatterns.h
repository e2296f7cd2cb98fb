// Recognizes kinds of constants by the values in a tensor.

#ifndef DPC_FRONTENDS_ONNX_MODEL_VALUEPATTERNS_H
#define DPC_FRONTENDS_ONNX_MODEL_VALUEPATTERNS_H

#include "frontends/onnx/Model/Tensor.h"

namespace dpc::onnx {

/// Whether the tensor looks like an attention mask. The elements of a mask are either
/// values of at most -10 and possibly zeros, or, at rank 2 or more, zeros and ones. A
/// tensor with zeros only, or with ones only, is not a mask but a newly initialized
/// bias or scale.
bool looksLikeMask(const Tensor &tensor);

/// Whether the tensor looks like a position table (sine, cosine, rotary, ALiBi, arange)
/// or like the frequencies of one. The tensor must not be constant. Along some axis every
/// line (the elements that differ only in their index along the axis) must be a sinusoid,
/// a straight line or a geometric progression. Random or trained numbers do not pass,
/// because at least two equations between elements must hold to 1e-3 of the largest
/// element (progressions: to 1e-4).
bool looksLikeTable(const Tensor &tensor);

/// Whether the tensor is a table of position encodings as modules compute them: along
/// some axis other than the last, every line is a sinusoid, and the largest magnitude is
/// between 0.5 and 1.
bool looksLikeSinusoids(const Tensor &tensor);

/// Every element equals `value`.
bool isAll(const Tensor &tensor, double value);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_VALUEPATTERNS_H
