#ifndef DPC_FRONTENDS_ONNX_MODEL_FAILURE_H
#define DPC_FRONTENDS_ONNX_MODEL_FAILURE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

namespace dpc::onnx {

/// An error with a message of one line for users. If the error is about a tensor, node,
/// file or option, the message names it.
inline llvm::Error fail(const llvm::formatv_object_base &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message.str());
}

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_FAILURE_H
