// What ONNX says of each operator.

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

/// Types of values: bit N is a tensor of ONNX's TensorProto.DataType N, bit 32
/// + N a sequence of such tensors.
using TypeSet = uint64_t;
constexpr TypeSet kAnySequence = ~TypeSet(0) << 32;

/// The element types that dpc has.
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
    /// Parameters of one (non-empty) variable have one type.
    llvm::StringRef variable;
    TypeSet types;
    Kind kind;
    /// Of Many: the fewest values, and whether all have one type.
    unsigned minimum = 0;
    bool homogeneous = true;
  };
  using Default = std::variant<std::monostate, int64_t, double, llvm::StringRef,
                               llvm::ArrayRef<int64_t>, llvm::ArrayRef<llvm::StringRef>>;
  struct Attribute {
    llvm::StringRef name;
    Type type;
    bool required;
    /// std::monostate where the schema has none.
    Default fallback;
  };

  llvm::StringRef name;
  int64_t since;
  llvm::ArrayRef<Parameter> inputs, outputs;
  llvm::ArrayRef<Attribute> attributes;
  /// Nodes may have attributes that are not listed, which mean nothing.
  bool takesAnyAttribute = false;

  /// The version of operator `name` in force at `opset`; nullptr when ONNX has
  /// no such operator then. An operator that this version withdraws has no
  /// outputs.
  static const Schema *find(llvm::StringRef name, int64_t opset);

  bool isWithdrawn() const { return outputs.empty(); }
  const Attribute *attribute(llvm::StringRef name) const;
};

/// An attribute under the name that the operator has for it: one that a
/// function's caller binds has another name itself.
using NamedAttribute = std::pair<std::string, const onnxpb::AttributeProto *>;

/// ONNX's name of an attribute type ("INTS"), or "unknown".
const char *attributeTypeName(int type);

/// Holds a node against its schema: attributes known, of the right type, and
/// the required ones there; as many inputs and outputs as it may have, and none
/// omitted that must be there. `inputs` and `outputs` say which are given. The
/// error starts with `who`. Types of values are checkTypes's.
llvm::Error checkNode(const Schema &schema, llvm::StringRef who, llvm::ArrayRef<bool> inputs,
                      llvm::ArrayRef<bool> outputs, llvm::ArrayRef<NamedAttribute> attributes);

/// What is wrong with a node whose inputs and outputs have these types: each is
/// one type, none where the value is omitted, or kAnySequence. Empty when
/// nothing is.
std::string typeProblem(const Schema &schema, llvm::ArrayRef<TypeSet> inputs,
                        llvm::ArrayRef<TypeSet> outputs);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_SCHEMA_H
