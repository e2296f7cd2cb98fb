// Floats of 16 bits in a file whose program computes in more.

#ifndef DPC_FRONTENDS_ONNX_MODEL_HALVES_H
#define DPC_FRONTENDS_ONNX_MODEL_HALVES_H

#include "frontends/onnx/Model/Classify.h"
#include "frontends/onnx/Model/Graph.h"

#include <string>
#include <vector>

namespace dpc::onnx {

/// F32 for a float of 16 bits, else `type`.
ElementType widenHalf(ElementType type);

/// `tensor` with elements of `widenHalf` of its type: a copy if that is another.
Tensor widenHalves(const Tensor &tensor);

/// What of a file has 16 bits.
struct Halves {
  /// "BFLOAT16", "FLOAT16 and BFLOAT16"; empty where nothing has.
  std::string types;
  /// Parameters of these types, frozen ones among them.
  int64_t parameters = 0;
};

/// Looks at initializers, inputs and what nodes say of types. `roles` are those of
/// the initializers.
Halves findHalves(const Graph &graph, llvm::ArrayRef<Classified> roles);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_HALVES_H
