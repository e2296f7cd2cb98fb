#ifndef DPC_RUNTIME_SRC_BASE_ONNXMODEL_H
#define DPC_RUNTIME_SRC_BASE_ONNXMODEL_H

#include <cstddef>

namespace dpc {

/// Whether a file that begins with these bytes is likely to be an ONNX model. An
/// ONNX model is a protobuf message. Its first field is the ir_version, a small
/// number, which every exporter writes first. In practice, the second field is
/// one of three: the producer's name, the graph or an opset import.
inline bool seemsOnnx(const char *bytes, size_t count) {
  constexpr int producerName = 0x12, graph = 0x3a, opsetImport = 0x42;
  return count >= 3 && bytes[0] == 0x08 && bytes[1] > 0 && bytes[1] < 64 &&
         (bytes[2] == producerName || bytes[2] == graph || bytes[2] == opsetImport);
}

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_ONNXMODEL_H
