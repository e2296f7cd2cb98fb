// Views of the elements of an ONNX tensor, without copies.

#ifndef DPC_FRONTENDS_ONNX_MODEL_TENSOR_H
#define DPC_FRONTENDS_ONNX_MODEL_TENSOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace dpc::onnxpb {
class TensorProto;
}

namespace dpc::onnx {

class ExternalFiles;

/// The element types that dpc reads. The numbers are those of ONNX's
/// TensorProto.DataType.
enum class ElementType : int32_t {
  F32 = 1,
  U8 = 2,
  I8 = 3,
  U16 = 4,
  I16 = 5,
  I32 = 6,
  I64 = 7,
  Bool = 9,
  F16 = 10,
  F64 = 11,
  U32 = 12,
  U64 = 13,
  BF16 = 16,
};

/// ONNX's name of data type `type` ("FLOAT8E4M3FN"), or "unknown data type 77".
std::string dataTypeName(int32_t type);
/// The element type for ONNX data type `type`; an error for types that dpc does not
/// read.
llvm::Expected<ElementType> elementTypeOf(int32_t type, llvm::StringRef what);
/// Bytes of one element.
unsigned elementBytes(ElementType type);
bool isFloat(ElementType type);

/// The elements of one tensor: row-major, little-endian, one byte per bool (0 or
/// 1), aligned to the element. The bytes belong to `owner` (the parsed model, a
/// mapped file or a copy), which the view keeps alive.
struct Tensor {
  ElementType type = ElementType::F32;
  llvm::SmallVector<int64_t, 4> shape;
  llvm::ArrayRef<char> bytes;
  std::shared_ptr<const void> owner;
  /// True if the file with the elements does not exist; `bytes` are then zeros.
  bool isMissing = false;

  int64_t numElements() const { return bytes.size() / elementBytes(type); }
  template <typename T> llvm::ArrayRef<T> as() const {
    return {reinterpret_cast<const T *>(bytes.data()), bytes.size() / sizeof(T)};
  }
  /// Element `i` of a float or integer tensor, converted.
  double asDouble(int64_t i) const;
  int64_t asInt(int64_t i) const;
};

/// A tensor that owns a copy of its elements; `bytes` fits type and shape.
Tensor makeTensor(ElementType type, llvm::ArrayRef<int64_t> shape, std::vector<char> bytes);

/// The product of `shape`; an error if a dimension is negative, the rank is above
/// 64, or the elements or bytes overflow 63 bits. `what` names the tensor in the
/// message.
llvm::Expected<int64_t> checkedNumElements(llvm::ArrayRef<int64_t> shape, unsigned bytesPerElement,
                                           llvm::StringRef what);

/// Views the elements of `proto`, which lives as long as `owner`. Elements are copied
/// only if they are not aligned, or if the file stores them wider than their type (e.g.
/// int8 in int32_data). `what` names the tensor in errors; `files` resolves external
/// data.
llvm::Expected<Tensor> readTensor(const onnxpb::TensorProto &proto,
                                  std::shared_ptr<const void> owner, ExternalFiles &files,
                                  llvm::StringRef what);

/// Whether all elements have the same bits.
bool isSplat(const Tensor &tensor);

/// "FLOAT[3x4]", for tables.
std::string typeText(const Tensor &tensor);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_TENSOR_H
