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

/// Checks the rules of ONNX that loading a model does not check. It checks versions; that
/// each domain is imported once; that each value is defined once and before its uses; the
/// bodies of graphs, functions and subgraphs; and that attributes have their declared
/// types. A function must not be recursive. Limits are call chains of 100 functions,
/// 10,000 functions, and a million nodes after inlining. The error is the first
/// violation. It names the node, value or function that violates a rule, if there is one.
/// If two declarations disagree, it names both of them.
llvm::Error checkModel(const onnxpb::ModelProto &model);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_CHECK_H
