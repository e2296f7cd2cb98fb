// Finds 16-bit floats in a file, and widens them for programs that compute in f32.

#ifndef DPC_FRONTENDS_ONNX_MODEL_HALVES_H
#define DPC_FRONTENDS_ONNX_MODEL_HALVES_H

#include "frontends/onnx/Model/Classify.h"
#include "frontends/onnx/Model/Graph.h"

#include <string>
#include <vector>

namespace dpc::onnx {

/// F32 for a float of 16 bits, else `type`.
ElementType widenHalf(ElementType type);

/// `tensor` with its elements converted to the type that `widenHalf` gives. If that is
/// another type, the result is a copy.
Tensor widenHalves(const Tensor &tensor);

/// The 16-bit floats of a file.
struct Halves {
  /// "BFLOAT16", "FLOAT16 and BFLOAT16"; empty if the file has none.
  std::string types;
  /// Number of parameters of these types, including frozen ones.
  int64_t parameters = 0;
};

/// Finds the 16-bit floats among the initializers, the inputs and the attributes of nodes
/// (types and tensors). `roles` has the role of each initializer.
Halves findHalves(const Graph &graph, llvm::ArrayRef<Classified> roles);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_HALVES_H
