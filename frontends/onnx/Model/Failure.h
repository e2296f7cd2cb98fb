#ifndef DPC_FRONTENDS_ONNX_MODEL_FAILURE_H
#define DPC_FRONTENDS_ONNX_MODEL_FAILURE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

namespace dpc::onnx {

/// An error with a message for users: one line that names the tensor, node or file.
inline llvm::Error fail(const llvm::formatv_object_base &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message.str());
}

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_FAILURE_H
