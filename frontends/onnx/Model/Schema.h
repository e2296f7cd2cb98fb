// ONNX's operator schemas.

#ifndef DPC_FRONTENDS_ONNX_MODEL_SCHEMA_H
#define DPC_FRONTENDS_ONNX_MODEL_SCHEMA_H

#include "frontends/onnx/Model/Tensor.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <variant>
#include <vector>

namespace dpc::onnxpb {
class AttributeProto;
}

namespace dpc::onnx {

/// A set of value types. Bit N stands for a tensor whose element type is ONNX's
/// TensorProto.DataType N, and bit 32 + N for a sequence of such tensors.
using TypeSet = uint64_t;
constexpr TypeSet kAnySequence = ~TypeSet(0) << 32;

/// The element types that dpc supports.
constexpr ElementType kElementTypes[] = {
    ElementType::F32, ElementType::U8,  ElementType::I8,   ElementType::U16, ElementType::I16,
    ElementType::I32, ElementType::I64, ElementType::Bool, ElementType::F16, ElementType::F64,
    ElementType::U32, ElementType::U64, ElementType::BF16,
};

/// One version of one operator of domain ai.onnx.
struct Schema {
  /// The numbers are ONNX's AttributeProto.AttributeType.
  enum class Type {
    FLOAT = 1,
    INT,
    STRING,
    TENSOR,
    GRAPH,
    FLOATS,
    INTS,
    STRINGS,
    TENSORS,
    GRAPHS,
    SPARSE_TENSOR,
    SPARSE_TENSORS,
    TYPE_PROTO,
    TYPE_PROTOS
  };
  /// A formal input or output.
  struct Parameter {
    enum class Kind { One, Optional, Many };
    llvm::StringRef name;
    /// Parameters with the same non-empty variable have the same type.
    llvm::StringRef variable;
    TypeSet types;
    Kind kind;
    /// For Many: the fewest values, and whether all have one type.
    unsigned minimum = 0;
    bool homogeneous = true;
  };
  using Default = std::variant<std::monostate, int64_t, double, llvm::StringRef,
                               llvm::ArrayRef<int64_t>, llvm::ArrayRef<llvm::StringRef>>;
  struct Attribute {
    llvm::StringRef name;
    Type type;
    bool required;
    /// std::monostate if the attribute has no default.
    Default fallback;
  };

  llvm::StringRef name;
  int64_t since;
  llvm::ArrayRef<Parameter> inputs, outputs;
  llvm::ArrayRef<Attribute> attributes;
  /// Nodes may have attributes that are not listed; they are ignored.
  bool takesAnyAttribute = false;

  /// The version of operator `name` in force at `opset`; nullptr if ONNX has no
  /// such operator at that opset. A version that withdraws the operator has no
  /// outputs.
  static const Schema *find(llvm::StringRef name, int64_t opset);

  bool isWithdrawn() const { return outputs.empty(); }
  const Attribute *attribute(llvm::StringRef name) const;
};

/// An attribute, with the name that the operator has for it. The AttributeProto itself
/// may have another name: if a node of a function refers to an attribute of the function,
/// the proto is the attribute of the call.
using NamedAttribute = std::pair<std::string, const onnxpb::AttributeProto *>;

/// ONNX's name of an attribute type ("INTS"), or "unknown".
const char *attributeTypeName(int type);

/// Checks a node against its schema. An attribute must be in the schema, unless the schema
/// takes any attribute or the name begins with "__", which ONNX reserves for tools.
/// Attributes must have the types of the schema, and required attributes must be present.
/// The numbers of inputs and outputs must be allowed, and no required input or output may
/// be omitted. `inputs` and `outputs` tell for each value whether it is given. The error
/// starts with `who`. The types of values are not checked here but by typeProblem.
llvm::Error checkNode(const Schema &schema, llvm::StringRef who, llvm::ArrayRef<bool> inputs,
                      llvm::ArrayRef<bool> outputs, llvm::ArrayRef<NamedAttribute> attributes);

/// A message about the first value whose type the schema does not allow; empty if all
/// types are allowed. Each set in `inputs` and `outputs` has one type, or no type if the
/// value is omitted, or is kAnySequence for a sequence without elements.
std::string typeProblem(const Schema &schema, llvm::ArrayRef<TypeSet> inputs,
                        llvm::ArrayRef<TypeSet> outputs);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_SCHEMA_H
