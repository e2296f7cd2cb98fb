// Is this ONNX model well formed?

#ifndef DPC_FRONTENDS_ONNX_MODEL_CHECK_H
#define DPC_FRONTENDS_ONNX_MODEL_CHECK_H

#include "llvm/Support/Error.h"

namespace dpc::onnxpb {
class ModelProto;
}

namespace dpc::onnx {

/// The versions dpc reads.
constexpr int64_t kMinIrVersion = 3, kMaxIrVersion = 13;
constexpr int64_t kMinOpset = 13, kMaxOpset = 27;

/// Checks the rules that ONNX states for a model and that loading it does not:
/// versions; one import a domain; values defined once and before use; graph,
/// function and subgraph bodies alike; attributes of their declared type; no
/// recursive function, no call chain above 100, at most 10,000 functions and a
/// million nodes once they are inlined. The first violation is the error; it
/// names the node or value and, where two things disagree, both.
llvm::Error checkModel(const onnxpb::ModelProto &model);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_CHECK_H
