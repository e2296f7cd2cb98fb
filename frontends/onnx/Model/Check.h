// Checks that a parsed ONNX model is well formed.

#ifndef DPC_FRONTENDS_ONNX_MODEL_CHECK_H
#define DPC_FRONTENDS_ONNX_MODEL_CHECK_H

#include "llvm/Support/Error.h"

namespace dpc::onnxpb {
class ModelProto;
}

namespace dpc::onnx {

/// The IR versions and opsets that dpc reads.
constexpr int64_t kMinIrVersion = 3, kMaxIrVersion = 13;
constexpr int64_t kMinOpset = 13, kMaxOpset = 27;

/// Checks the rules of ONNX that loading a model does not check: versions; one
/// import per domain; values defined once and before use; bodies of graphs,
/// functions and subgraphs; attributes of their declared type; no recursive
/// function, no call chain above 100, at most 10,000 functions, and at most a
/// million nodes after inlining. The error is the first violation. It names the
/// node or value and, if two declarations disagree, both.
llvm::Error checkModel(const onnxpb::ModelProto &model);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_CHECK_H
