// Views and decodes the elements of an ONNX tensor.

#include "frontends/onnx/Model/Tensor.h"

#include "frontends/onnx/Model/ExternalData.h"
#include "frontends/onnx/Model/Failure.h"

#include "OnnxSchema.pb.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>
#include <vector>

using llvm::StringRef;

namespace dpc::onnx {
namespace {

constexpr unsigned kMaxRank = 64;

/// Gives `tensor` its own copy of `bytes`, aligned for any element type.
void ownCopy(Tensor &tensor, llvm::ArrayRef<char> bytes) {
  auto copy = std::make_shared<std::vector<uint64_t>>((bytes.size() + 7) / 8);
  if (!bytes.empty())
    std::memcpy(copy->data(), bytes.data(), bytes.size());
  tensor.bytes = {reinterpret_cast<const char *>(copy->data()), bytes.size()};
  tensor.owner = std::move(copy);
}

void viewOrCopy(Tensor &tensor, llvm::ArrayRef<char> bytes, std::shared_ptr<const void> owner) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % elementBytes(tensor.type)) {
    ownCopy(tensor, bytes);
    return;
  }
  tensor.bytes = bytes;
  tensor.owner = std::move(owner);
}

/// Narrows the elements of a typed field to `To`; returns false if an element does not
/// fit.
template <typename To, typename Field> bool narrow(Tensor &tensor, const Field &field) {
  std::vector<To> narrowed;
  narrowed.reserve(field.size());
  for (auto value : field) {
    To element = static_cast<To>(value);
    if (static_cast<decltype(value)>(element) != value)
      return false;
    narrowed.push_back(element);
  }
  ownCopy(tensor, {reinterpret_cast<const char *>(narrowed.data()), narrowed.size() * sizeof(To)});
  return true;
}

/// The number of the typed field (float_data, int32_data, ..) that holds elements
/// of `type`.
int typedField(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return onnxpb::TensorProto::kFloatDataFieldNumber;
  case ElementType::F64:
    return onnxpb::TensorProto::kDoubleDataFieldNumber;
  case ElementType::I64:
    return onnxpb::TensorProto::kInt64DataFieldNumber;
  case ElementType::U32:
  case ElementType::U64:
    return onnxpb::TensorProto::kUint64DataFieldNumber;
  default:
    return onnxpb::TensorProto::kInt32DataFieldNumber;
  }
}

llvm::Error readTyped(const onnxpb::TensorProto &proto, Tensor &tensor,
                      std::shared_ptr<const void> owner, StringRef what) {
  auto view = [&](const auto &field) {
    viewOrCopy(tensor,
               {reinterpret_cast<const char *>(field.data()), field.size() * sizeof(field[0])},
               owner);
    return true;
  };
  bool fits = true;
  switch (tensor.type) {
  case ElementType::F32:
    fits = view(proto.float_data());
    break;
  case ElementType::F64:
    fits = view(proto.double_data());
    break;
  case ElementType::I64:
    fits = view(proto.int64_data());
    break;
  case ElementType::U64:
    fits = view(proto.uint64_data());
    break;
  case ElementType::U32:
    fits = narrow<uint32_t>(tensor, proto.uint64_data());
    break;
  case ElementType::I32:
    fits = view(proto.int32_data());
    break;
  case ElementType::I8:
    fits = narrow<int8_t>(tensor, proto.int32_data());
    break;
  case ElementType::I16:
    fits = narrow<int16_t>(tensor, proto.int32_data());
    break;
  case ElementType::U8:
  case ElementType::Bool:
    fits = narrow<uint8_t>(tensor, proto.int32_data());
    break;
  case ElementType::U16:
  case ElementType::F16:
  case ElementType::BF16:
    fits = narrow<uint16_t>(tensor, proto.int32_data());
    break;
  }
  if (!fits)
    return fail(
        llvm::formatv("{0}: an element does not fit {1}", what, dataTypeName(proto.data_type())));
  return llvm::Error::success();
}

/// A typed field that is not empty, as (field number, count, name).
struct FieldUse {
  int number;
  int64_t count;
  const char *name;
};

llvm::SmallVector<FieldUse> usedFields(const onnxpb::TensorProto &proto) {
  using P = onnxpb::TensorProto;
  llvm::SmallVector<FieldUse> used;
  for (FieldUse use :
       {FieldUse{P::kFloatDataFieldNumber, proto.float_data_size(), "float_data"},
        FieldUse{P::kInt32DataFieldNumber, proto.int32_data_size(), "int32_data"},
        FieldUse{P::kStringDataFieldNumber, proto.string_data_size(), "string_data"},
        FieldUse{P::kInt64DataFieldNumber, proto.int64_data_size(), "int64_data"},
        FieldUse{P::kDoubleDataFieldNumber, proto.double_data_size(), "double_data"},
        FieldUse{P::kUint64DataFieldNumber, proto.uint64_data_size(), "uint64_data"}})
    if (use.count)
      used.push_back(use);
  return used;
}

// The conversions of 16-bit floats use bit arithmetic, because APFloat would be too slow
// for the millions of elements of a file.
float bf16ToFloat(uint16_t bits) { return llvm::bit_cast<float>(uint32_t(bits) << 16); }

float f16ToFloat(uint16_t bits) {
  constexpr uint32_t kMantissaBits = 10, kInfinity = 31, kBiasDifference = 127 - 15;
  const uint32_t sign = uint32_t(bits & 0x8000) << 16, exponent = bits >> kMantissaBits & 31,
                 mantissa = bits & 0x3ff;
  if (exponent == 0) { // a multiple of 2^-24
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  const uint32_t wide = exponent == kInfinity ? 255 : exponent + kBiasDifference;
  return llvm::bit_cast<float>(sign | wide << 23 | mantissa << 13);
}

} // namespace

std::string dataTypeName(int32_t type) {
  static const char *const names[] = {
      "UNDEFINED",      "FLOAT",    "UINT8",        "INT8",           "UINT16",
      "INT16",          "INT32",    "INT64",        "STRING",         "BOOL",
      "FLOAT16",        "DOUBLE",   "UINT32",       "UINT64",         "COMPLEX64",
      "COMPLEX128",     "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2",
      "FLOAT8E5M2FNUZ", "UINT4",    "INT4",         "FLOAT4E2M1",     "FLOAT8E8M0",
      "UINT2",          "INT2"};
  if (type >= 0 && type < int32_t(std::size(names)))
    return names[type];
  return llvm::formatv("unknown data type {0}", type);
}

llvm::Expected<ElementType> elementTypeOf(int32_t type, StringRef what) {
  switch (static_cast<ElementType>(type)) {
  case ElementType::F32:
  case ElementType::U8:
  case ElementType::I8:
  case ElementType::U16:
  case ElementType::I16:
  case ElementType::I32:
  case ElementType::I64:
  case ElementType::Bool:
  case ElementType::F16:
  case ElementType::F64:
  case ElementType::U32:
  case ElementType::U64:
  case ElementType::BF16:
    return static_cast<ElementType>(type);
  }
  return fail(llvm::formatv("{0}: element type {1} is not supported", what, dataTypeName(type)));
}

unsigned elementBytes(ElementType type) {
  switch (type) {
  case ElementType::U8:
  case ElementType::I8:
  case ElementType::Bool:
    return 1;
  case ElementType::U16:
  case ElementType::I16:
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::F32:
  case ElementType::I32:
  case ElementType::U32:
    return 4;
  case ElementType::I64:
  case ElementType::F64:
  case ElementType::U64:
    return 8;
  }
  return 8;
}

bool isFloat(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F64 || type == ElementType::F16 ||
         type == ElementType::BF16;
}

double Tensor::asDouble(int64_t i) const {
  switch (type) {
  case ElementType::F32:
    return as<float>()[i];
  case ElementType::F64:
    return as<double>()[i];
  case ElementType::F16:
    return f16ToFloat(as<uint16_t>()[i]);
  case ElementType::BF16:
    return bf16ToFloat(as<uint16_t>()[i]);
  case ElementType::U64:
    return static_cast<double>(as<uint64_t>()[i]);
  default:
    return static_cast<double>(asInt(i));
  }
}

int64_t Tensor::asInt(int64_t i) const {
  switch (type) {
  case ElementType::U8:
  case ElementType::Bool:
    return as<uint8_t>()[i];
  case ElementType::I8:
    return as<int8_t>()[i];
  case ElementType::U16:
    return as<uint16_t>()[i];
  case ElementType::I16:
    return as<int16_t>()[i];
  case ElementType::I32:
    return as<int32_t>()[i];
  case ElementType::U32:
    return as<uint32_t>()[i];
  case ElementType::I64:
  case ElementType::U64:
    return as<int64_t>()[i];
  default:
    return static_cast<int64_t>(asDouble(i));
  }
}

Tensor makeTensor(ElementType type, llvm::ArrayRef<int64_t> shape, std::vector<char> bytes) {
  auto owner = std::make_shared<const std::vector<char>>(std::move(bytes));
  Tensor tensor;
  tensor.type = type;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.bytes = *owner;
  tensor.owner = owner;
  return tensor;
}

llvm::Expected<int64_t> checkedNumElements(llvm::ArrayRef<int64_t> shape, unsigned bytesPerElement,
                                           StringRef what) {
  if (shape.size() > kMaxRank)
    return fail(llvm::formatv("{0}: rank {1} is above {2}", what, shape.size(), kMaxRank));
  int64_t elements = 1;
  bool empty = false;
  for (int64_t size : shape) {
    if (size < 0)
      return fail(llvm::formatv("{0}: dimension {1} is negative", what, size));
    empty |= size == 0;
    if (size && llvm::MulOverflow(elements, size, elements))
      return fail(llvm::formatv("{0}: the number of elements overflows", what));
  }
  int64_t bytes;
  if (llvm::MulOverflow(elements, int64_t(bytesPerElement), bytes))
    return fail(llvm::formatv("{0}: the number of bytes overflows", what));
  return empty ? 0 : elements;
}

llvm::Expected<Tensor> readTensor(const onnxpb::TensorProto &proto,
                                  std::shared_ptr<const void> owner, ExternalFiles &files,
                                  StringRef what) {
  Tensor tensor;
  auto type = elementTypeOf(proto.data_type(), what);
  if (!type)
    return type.takeError();
  tensor.type = *type;
  tensor.shape.assign(proto.dims().begin(), proto.dims().end());
  unsigned width = elementBytes(*type);
  auto elements = checkedNumElements(tensor.shape, width, what);
  if (!elements)
    return elements.takeError();
  if (proto.has_segment())
    return fail(llvm::formatv("{0}: segmented tensors are not supported", what));

  uint64_t bytes = uint64_t(*elements) * width;
  llvm::SmallVector<FieldUse> used = usedFields(proto);
  bool external = proto.data_location() == onnxpb::TensorProto::EXTERNAL;
  if (!external && proto.external_data_size())
    return fail(
        llvm::formatv("{0}: has external_data but its data_location is not EXTERNAL", what));
  if ((external || proto.has_raw_data()) && !used.empty())
    return fail(llvm::formatv("{0}: has both {1} and {2}", what,
                              external ? "external data" : "raw_data", used.front().name));
  if (external && proto.has_raw_data())
    return fail(llvm::formatv("{0}: has both external data and raw_data", what));
  if (used.size() > 1)
    return fail(llvm::formatv("{0}: has both {1} and {2}", what, used[0].name, used[1].name));

  if (external) {
    auto range = files.read(proto, bytes, what);
    if (!range)
      return range.takeError();
    viewOrCopy(tensor, range->bytes, range->file);
    tensor.isMissing = range->isMissing;
  } else if (proto.has_raw_data()) {
    if (proto.raw_data().size() != bytes)
      return fail(llvm::formatv("{0}: raw_data has {1} bytes but its shape and type need {2}", what,
                                proto.raw_data().size(), bytes));
    viewOrCopy(tensor, {proto.raw_data().data(), proto.raw_data().size()}, std::move(owner));
  } else {
    if (!used.empty() && used[0].number != typedField(*type))
      return fail(llvm::formatv("{0}: element type is {1} but the elements are in {2}", what,
                                dataTypeName(proto.data_type()), used[0].name));
    int64_t count = used.empty() ? 0 : used[0].count;
    if (count != *elements)
      return fail(
          llvm::formatv("{0}: has {1} elements but its shape needs {2}", what, count, *elements));
    if (llvm::Error e = readTyped(proto, tensor, std::move(owner), what))
      return e;
  }
  if (tensor.type == ElementType::Bool) {
    for (uint8_t value : tensor.as<uint8_t>())
      if (value > 1)
        return fail(
            llvm::formatv("{0}: a BOOL element is {1} but must be 0 or 1", what, unsigned(value)));
  }
  return tensor;
}

bool isSplat(const Tensor &tensor) {
  size_t bytes = elementBytes(tensor.type);
  return tensor.bytes.size() < bytes ||
         std::memcmp(tensor.bytes.data(), tensor.bytes.data() + bytes,
                     tensor.bytes.size() - bytes) == 0;
}

std::string typeText(const Tensor &tensor) {
  std::string text = dataTypeName(static_cast<int32_t>(tensor.type)) + "[";
  for (auto [i, size] : llvm::enumerate(tensor.shape))
    text += (i ? "x" : "") + std::to_string(size);
  return text + "]";
}

} // namespace dpc::onnx
