// Walks the wire format of an ONNX file before protobuf parses it.

#include "frontends/onnx/Model/WireScan.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstdint>

using llvm::StringRef;

namespace dpc::onnx {
namespace {

constexpr uint64_t kMaxModelBytes = (uint64_t(1) << 31) - 1;
constexpr int kMaxNesting = 100;

enum class WireType : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

struct MessageSchema;

/// The scan's description of one field of a message.
struct FieldSchema {
  uint32_t number;
  const char *name;
  WireType type;
  bool singular;
  /// The field holds a name, which must be UTF-8 without NUL. Documentation and
  /// payloads are not checked.
  bool isName;
  /// Set if the field holds a message that the scan descends into.
  const MessageSchema *message;
};

struct MessageSchema {
  const char *name;
  llvm::ArrayRef<FieldSchema> fields;
  /// False for the model: a file with an unknown model field is not a model.
  /// Unknown fields of nested messages may come from a newer IR.
  bool unknownFieldsAllowed;

  const FieldSchema *find(uint64_t number) const {
    for (const FieldSchema &field : fields)
      if (field.number == number)
        return &field;
    return nullptr;
  }
};

extern const MessageSchema kGraph, kNode, kAttribute, kTensor, kValueInfo, kType, kFunction, kOpset,
    kPair, kSparse, kTraining, kModel, kTensorType, kWrappedType, kShape, kDimension;

constexpr bool kSingular = true, kRepeated = false;

constexpr FieldSchema text(uint32_t number, const char *name, bool singular) {
  return {number, name, WireType::Bytes, singular, true, nullptr};
}
constexpr FieldSchema bytes(uint32_t number, const char *name, bool singular) {
  return {number, name, WireType::Bytes, singular, false, nullptr};
}
constexpr FieldSchema integer(uint32_t number, const char *name) {
  return {number, name, WireType::Varint, true, false, nullptr};
}
constexpr FieldSchema message(uint32_t number, const char *name, bool singular,
                              const MessageSchema &of) {
  return {number, name, WireType::Bytes, singular, false, &of};
}

const FieldSchema kPairFields[] = {text(1, "key", kSingular), bytes(2, "value", kSingular)};
const MessageSchema kPair = {"StringStringEntryProto", kPairFields, true};

const FieldSchema kOpsetFields[] = {text(1, "domain", kSingular), integer(2, "version")};
const MessageSchema kOpset = {"OperatorSetIdProto", kOpsetFields, true};

const FieldSchema kTensorFields[] = {integer(2, "data_type"),
                                     bytes(3, "segment", kSingular),
                                     text(8, "name", kSingular),
                                     bytes(9, "raw_data", kSingular),
                                     bytes(12, "doc_string", kSingular),
                                     message(13, "external_data", kRepeated, kPair),
                                     integer(14, "data_location"),
                                     message(16, "metadata_props", kRepeated, kPair)};
const MessageSchema kTensor = {"TensorProto", kTensorFields, true};

const FieldSchema kSparseFields[] = {message(1, "values", kSingular, kTensor),
                                     message(2, "indices", kSingular, kTensor)};
const MessageSchema kSparse = {"SparseTensorProto", kSparseFields, true};

const FieldSchema kDimensionFields[] = {integer(1, "dim_value"), text(2, "dim_param", kSingular)};
const MessageSchema kDimension = {"Dimension", kDimensionFields, true};
const FieldSchema kShapeFields[] = {message(1, "dim", kRepeated, kDimension)};
const MessageSchema kShape = {"TensorShapeProto", kShapeFields, true};
const FieldSchema kTensorTypeFields[] = {integer(1, "elem_type"),
                                         message(2, "shape", kSingular, kShape)};
const MessageSchema kTensorType = {"TypeProto.Tensor", kTensorTypeFields, true};
const FieldSchema kWrappedTypeFields[] = {message(1, "elem_type", kSingular, kType)};
const MessageSchema kWrappedType = {"TypeProto.Sequence", kWrappedTypeFields, true};
const FieldSchema kTypeFields[] = {message(1, "tensor_type", kSingular, kTensorType),
                                   message(4, "sequence_type", kSingular, kWrappedType),
                                   message(9, "optional_type", kSingular, kWrappedType),
                                   text(6, "denotation", kSingular)};
const MessageSchema kType = {"TypeProto", kTypeFields, true};

const FieldSchema kValueInfoFields[] = {
    text(1, "name", kSingular), message(2, "type", kSingular, kType),
    bytes(3, "doc_string", kSingular), message(4, "metadata_props", kRepeated, kPair)};
const MessageSchema kValueInfo = {"ValueInfoProto", kValueInfoFields, true};

const FieldSchema kAttributeFields[] = {text(1, "name", kSingular),
                                        {2, "f", WireType::Fixed32, true, false, nullptr},
                                        integer(3, "i"),
                                        bytes(4, "s", kSingular),
                                        message(5, "t", kSingular, kTensor),
                                        message(6, "g", kSingular, kGraph),
                                        message(10, "tensors", kRepeated, kTensor),
                                        message(11, "graphs", kRepeated, kGraph),
                                        bytes(13, "doc_string", kSingular),
                                        message(14, "tp", kSingular, kType),
                                        message(15, "type_protos", kRepeated, kType),
                                        integer(20, "type"),
                                        text(21, "ref_attr_name", kSingular),
                                        message(22, "sparse_tensor", kSingular, kSparse),
                                        message(23, "sparse_tensors", kRepeated, kSparse)};
const MessageSchema kAttribute = {"AttributeProto", kAttributeFields, true};

const FieldSchema kNodeFields[] = {text(1, "input", kRepeated),
                                   text(2, "output", kRepeated),
                                   text(3, "name", kSingular),
                                   text(4, "op_type", kSingular),
                                   text(7, "domain", kSingular),
                                   message(5, "attribute", kRepeated, kAttribute),
                                   bytes(6, "doc_string", kSingular),
                                   text(8, "overload", kSingular),
                                   message(9, "metadata_props", kRepeated, kPair)};
const MessageSchema kNode = {"NodeProto", kNodeFields, true};

const FieldSchema kGraphFields[] = {message(1, "node", kRepeated, kNode),
                                    text(2, "name", kSingular),
                                    message(5, "initializer", kRepeated, kTensor),
                                    bytes(10, "doc_string", kSingular),
                                    message(11, "input", kRepeated, kValueInfo),
                                    message(12, "output", kRepeated, kValueInfo),
                                    message(13, "value_info", kRepeated, kValueInfo),
                                    message(15, "sparse_initializer", kRepeated, kSparse),
                                    message(16, "metadata_props", kRepeated, kPair)};
const MessageSchema kGraph = {"GraphProto", kGraphFields, true};

const FieldSchema kFunctionFields[] = {text(1, "name", kSingular),
                                       text(4, "input", kRepeated),
                                       text(5, "output", kRepeated),
                                       text(6, "attribute", kRepeated),
                                       message(7, "node", kRepeated, kNode),
                                       bytes(8, "doc_string", kSingular),
                                       message(9, "opset_import", kRepeated, kOpset),
                                       text(10, "domain", kSingular),
                                       message(11, "attribute_proto", kRepeated, kAttribute),
                                       message(12, "value_info", kRepeated, kValueInfo),
                                       text(13, "overload", kSingular),
                                       message(14, "metadata_props", kRepeated, kPair)};
const MessageSchema kFunction = {"FunctionProto", kFunctionFields, true};

const FieldSchema kTrainingFields[] = {message(1, "initialization", kSingular, kGraph),
                                       message(2, "algorithm", kSingular, kGraph),
                                       message(3, "initialization_binding", kRepeated, kPair),
                                       message(4, "update_binding", kRepeated, kPair)};
const MessageSchema kTraining = {"TrainingInfoProto", kTrainingFields, true};

const FieldSchema kModelFields[] = {integer(1, "ir_version"),
                                    text(2, "producer_name", kSingular),
                                    text(3, "producer_version", kSingular),
                                    text(4, "domain", kSingular),
                                    integer(5, "model_version"),
                                    bytes(6, "doc_string", kSingular),
                                    message(7, "graph", kSingular, kGraph),
                                    message(8, "opset_import", kRepeated, kOpset),
                                    message(14, "metadata_props", kRepeated, kPair),
                                    message(20, "training_info", kRepeated, kTraining),
                                    message(25, "functions", kRepeated, kFunction),
                                    bytes(26, "configuration", kRepeated)};
const MessageSchema kModel = {"ModelProto", kModelFields, false};

/// Walks the wire format; `position` is always inside [0, data.size()].
class Scanner {
public:
  explicit Scanner(StringRef data) : data(data) {}

  llvm::Error scan(const MessageSchema &schema, size_t end, int depth) {
    if (depth > kMaxNesting)
      return error(llvm::formatv("messages are nested more than {0} deep", kMaxNesting));
    uint32_t seen = 0; // one bit per entry of schema.fields
    while (position < end) {
      size_t start = position;
      uint64_t tag, length;
      if (llvm::Error e = readVarint(end, tag))
        return e;
      uint64_t number = tag >> 3;
      auto type = static_cast<WireType>(tag & 7);
      const FieldSchema *field = schema.find(number);
      if (number == 0 || tag > UINT32_MAX)
        return errorAt(
            start,
            llvm::formatv("{0} has a malformed field (trailing or corrupt bytes?)", schema.name));
      if (!field && !schema.unknownFieldsAllowed)
        return errorAt(
            start, llvm::formatv("field {0} does not belong to {1} (trailing or corrupt bytes?)",
                                 number, schema.name));
      if (field) {
        if (field->type != type)
          return errorAt(start,
                         llvm::formatv("field '{0}' of {1} has wire type {2} but must have {3}",
                                       field->name, schema.name, unsigned(type),
                                       unsigned(field->type)));
        uint32_t bit = uint32_t(1) << (field - schema.fields.begin());
        if (field->singular && (seen & bit))
          return errorAt(
              start, llvm::formatv("field '{0}' of {1} is given twice{2}", field->name, schema.name,
                                   &schema == &kModel ? " (two models in one file?)" : ""));
        seen |= bit;
      }
      switch (type) {
      case WireType::Varint:
        if (llvm::Error e = readVarint(end, length))
          return e;
        continue;
      case WireType::Fixed64:
      case WireType::Fixed32:
        length = type == WireType::Fixed64 ? 8 : 4;
        break;
      case WireType::Bytes:
        if (llvm::Error e = readVarint(end, length))
          return e;
        break;
      default:
        return errorAt(start, llvm::formatv("{0} has a field of unknown wire type {1}", schema.name,
                                            unsigned(type)));
      }
      if (length > end - position)
        return errorAt(start, llvm::formatv("{0} {1} of {2} needs {3} bytes but {4} remain "
                                            "(truncated file?)",
                                            "field", field ? field->name : std::to_string(number),
                                            schema.name, length, end - position));
      if (field && field->isName)
        if (llvm::Error e = checkName(*field, schema, data.substr(position, length)))
          return e;
      if (field && field->message) {
        if (llvm::Error e = scan(*field->message, position + length, depth + 1))
          return e;
      } else {
        position += length;
      }
    }
    return llvm::Error::success();
  }

private:
  llvm::Error errorAt(size_t at, const llvm::formatv_object_base &message) {
    return llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        llvm::formatv("not a valid ONNX model: byte {0}: {1}", at, message.str()).str());
  }
  llvm::Error error(const llvm::formatv_object_base &message) { return errorAt(position, message); }

  llvm::Error readVarint(size_t end, uint64_t &value) {
    value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (position >= end)
        return error(llvm::formatv("the message ends inside a number (truncated file?)"));
      uint8_t byte = data[position++];
      if (shift == 63 && byte > 1)
        break;
      value |= uint64_t(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return llvm::Error::success();
    }
    return error(llvm::formatv("a number is longer than 64 bits"));
  }

  llvm::Error checkName(const FieldSchema &field, const MessageSchema &schema, StringRef name) {
    if (name.contains('\0'))
      return error(llvm::formatv("field '{0}' of {1} holds a NUL", field.name, schema.name));
    const auto *begin = reinterpret_cast<const llvm::UTF8 *>(name.begin());
    if (!llvm::isLegalUTF8String(&begin, reinterpret_cast<const llvm::UTF8 *>(name.end())))
      return error(llvm::formatv("field '{0}' of {1} is not valid UTF-8", field.name, schema.name));
    return llvm::Error::success();
  }

  StringRef data;
  size_t position = 0;
};

/// Whether the first 32 bytes are all printable, as those of a text file are. A
/// serialized model starts with a field tag, which is not printable.
bool looksLikeText(StringRef bytes) {
  return llvm::all_of(bytes.take_front(32), [](char c) {
    return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t';
  });
}

} // namespace

llvm::Error scanModelBytes(StringRef bytes) {
  auto fail = [](const char *message) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
  };
  if (bytes.empty())
    return fail("not a valid ONNX model: the file is empty");
  if (bytes.size() > kMaxModelBytes)
    return llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        llvm::formatv("not a valid ONNX model: {0} bytes but protobuf allows "
                      "{1} (store the weights as external data)",
                      bytes.size(), kMaxModelBytes)
            .str());
  if (looksLikeText(bytes))
    return fail("not a valid ONNX model: the file is text, not a serialized model");
  return Scanner(bytes).scan(kModel, bytes.size(), 1);
}

} // namespace dpc::onnx
