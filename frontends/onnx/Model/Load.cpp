// Loads an ONNX file: its bytes are checked first, then protobuf parses them.

#include "frontends/onnx/Model/Load.h"

#include "frontends/onnx/Model/WireScan.h"

#include "OnnxSchema.pb.h"

#include "llvm/Support/Path.h"

#include <google/protobuf/stubs/logging.h>

namespace dpc::onnx {

llvm::Expected<std::unique_ptr<OnnxModel>> loadModel(llvm::StringRef path) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  llvm::ArrayRef<char> bytes = (*file)->bytes();
  if (llvm::Error error = scanModelBytes({bytes.data(), bytes.size()}))
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   path + ": " + llvm::toString(std::move(error)));

  auto proto = std::make_shared<onnxpb::ModelProto>();
  google::protobuf::LogSilencer silence; // the error below replaces protobuf's own report
  if (!proto->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   path + ": not a valid ONNX model: protobuf cannot parse it");
  return std::unique_ptr<OnnxModel>(new OnnxModel{
      path.str(), std::move(proto), ExternalFiles(llvm::sys::path::parent_path(path).str())});
}

} // namespace dpc::onnx
