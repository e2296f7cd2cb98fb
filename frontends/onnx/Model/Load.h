// Loads an ONNX file: checks its bytes, then parses it.

#ifndef DPC_FRONTENDS_ONNX_MODEL_LOAD_H
#define DPC_FRONTENDS_ONNX_MODEL_LOAD_H

#include "frontends/onnx/Model/ExternalData.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace dpc::onnxpb {
class ModelProto;
}

namespace dpc::onnx {

/// A parsed model. Tensors view the bytes of `proto` and of the files in
/// `files`.
struct OnnxModel {
  std::string path;
  std::shared_ptr<const onnxpb::ModelProto> proto;
  ExternalFiles files;
};

/// Reads the model at `path`: first the wire scan (WireScan.h), then protobuf with
/// its own log silenced. External data is opened when a tensor is read from it.
llvm::Expected<std::unique_ptr<OnnxModel>> loadModel(llvm::StringRef path);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_LOAD_H
