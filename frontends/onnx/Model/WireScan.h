// Checks the bytes of an ONNX file before protobuf parses them.

#ifndef DPC_FRONTENDS_ONNX_MODEL_WIRESCAN_H
#define DPC_FRONTENDS_ONNX_MODEL_WIRESCAN_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace dpc::onnx {

/// Checks that `bytes` are one serialized ONNX ModelProto, before protobuf sees
/// them.
///
/// Protobuf merges fields that are written twice, and keeps unknown fields. So it would
/// read two concatenated models, or a tensor with two `raw_data`, as one model that no
/// exporter wrote. The scan walks the wire format once (it skips tensor payloads) and
/// reports the first defect. These are defects: an empty file; text; more than 2^31-1
/// bytes; truncated, malformed or trailing bytes; an unknown field of the model; a
/// singular field given twice; a field of the wrong wire type; messages nested more than
/// 100 deep; names that are not UTF-8 or that contain a NUL.
llvm::Error scanModelBytes(llvm::StringRef bytes);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_WIRESCAN_H
