// Looks up ONNX's operator schemas, and checks nodes against them.

#include "frontends/onnx/Model/Schema.h"

#include "OnnxSchema.pb.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace dpc::onnx {
namespace {

using Type = Schema::Type;
using Parameter = Schema::Parameter;
using Attribute = Schema::Attribute;

// Constructors for the entries of the table. They are constexpr, so that the table is
// constant data. ONNX has hundreds of schemas, and code that builds them at run time
// would take longer to compile than any other file.
constexpr Parameter one(StringRef name, StringRef variable, TypeSet types) {
  return {name, variable, types, Parameter::Kind::One};
}
constexpr Parameter optional(StringRef name, StringRef variable, TypeSet types) {
  return {name, variable, types, Parameter::Kind::Optional};
}
constexpr Parameter many(StringRef name, StringRef variable, TypeSet types, unsigned minimum,
                         bool homogeneous) {
  return {name, variable, types, Parameter::Kind::Many, minimum, homogeneous};
}
constexpr Attribute required(StringRef name, Type type) { return {name, type, true, {}}; }
constexpr Attribute given(StringRef name, Type type) { return {name, type, false, {}}; }
constexpr Attribute integer(StringRef name, int64_t value) {
  return {name, Type::INT, false, value};
}
constexpr Attribute number(StringRef name, float value) {
  return {name, Type::FLOAT, false, double(value)};
}
constexpr Attribute text(StringRef name, StringRef value) {
  return {name, Type::STRING, false, value};
}
constexpr Attribute integers(StringRef name, ArrayRef<int64_t> values) {
  return {name, Type::INTS, false, values};
}
constexpr Attribute texts(StringRef name, ArrayRef<StringRef> values) {
  return {name, Type::STRINGS, false, values};
}

#include "frontends/onnx/Model/SchemaTable.inc"

using Versions = llvm::StringMap<std::vector<const Schema *>>;

/// The versions of each operator, the oldest first.
const Versions &versions() {
  static const Versions byName = [] {
    Versions all;
    for (const Schema &schema : table)
      all[schema.name].push_back(&schema);
    return all;
  }();
  return byName;
}

/// The parameter that value `i` belongs to; nullptr if there is none.
const Parameter *formal(ArrayRef<Parameter> parameters, size_t i) {
  if (i < parameters.size())
    return &parameters[i];
  return !parameters.empty() && parameters.back().kind == Parameter::Kind::Many ? &parameters.back()
                                                                                : nullptr;
}

/// The fewest and the most values that `parameters` allow.
std::pair<size_t, size_t> countRange(ArrayRef<Parameter> parameters) {
  size_t least = 0, most = parameters.size();
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    if (parameter.kind == Parameter::Kind::One)
      least = i + 1;
    if (parameter.kind == Parameter::Kind::Many) {
      least = std::max(least, i + parameter.minimum);
      most = std::numeric_limits<size_t>::max();
    }
  }
  return {least, most};
}

/// A message if the number of values does not fit `parameters`, or if a required value is
/// omitted; empty if there is no problem.
std::string countProblem(ArrayRef<Parameter> parameters, ArrayRef<bool> given, bool isInput) {
  StringRef kind = isInput ? "input" : "output";
  auto [least, most] = countRange(parameters);
  if (given.size() < least || given.size() > most) {
    std::string allowed = most == std::numeric_limits<size_t>::max()
                              ? std::to_string(least) + " or more"
                          : least == most ? std::to_string(least)
                                          : llvm::formatv("{0} to {1}", least, most).str();
    return llvm::formatv("has {0} {1}s but must have {2}", given.size(), kind, allowed);
  }
  for (auto [i, isGiven] : llvm::enumerate(given)) {
    const Parameter &parameter = parameters[std::min(i, parameters.size() - 1)];
    if (!isGiven && (parameter.kind == Parameter::Kind::One ||
                     (parameter.kind == Parameter::Kind::Many && isInput)))
      return llvm::formatv("{0} {1} ('{2}') is omitted but required", kind, i, parameter.name);
  }
  return {};
}

std::string attributeProblem(const Schema &schema, ArrayRef<NamedAttribute> attributes) {
  llvm::StringSet<> names;
  for (const auto &[given, attribute] : attributes) {
    StringRef name = given;
    names.insert(name);
    const Attribute *formal = schema.attribute(name);
    // ONNX reserves names that start with two underscores for tools.
    if (!formal && !schema.takesAnyAttribute && !name.starts_with("__"))
      return llvm::formatv("has no attribute '{0}'", name);
    if (formal && int(formal->type) != int(attribute->type()))
      return llvm::formatv("attribute '{0}' has type {1} but must have {2}", name,
                           attributeTypeName(int(attribute->type())),
                           attributeTypeName(int(formal->type)));
  }
  for (const Attribute &formal : schema.attributes)
    if (formal.required && !names.count(formal.name))
      return llvm::formatv("attribute '{0}' is missing", formal.name);
  return {};
}

/// The types in `types` as text, e.g. "INT32, INT64 or a sequence of BOOL". Types that
/// dpc cannot read are left out, unless it can read none of them.
std::string describeTypes(TypeSet types) {
  if (types == kAnySequence)
    return "an empty sequence";
  TypeSet readable = 0;
  for (ElementType type : kElementTypes)
    readable |= (TypeSet(1) | TypeSet(1) << 32) << int32_t(type);
  if (types & readable)
    types &= readable;
  std::string text;
  while (types) {
    int bit = llvm::countr_zero(types);
    types &= types - 1;
    text += (text.empty() ? ""
             : types      ? ", "
                          : " or ") +
            std::string(bit < 32 ? "" : "a sequence of ") + dataTypeName(bit % 32);
  }
  return text;
}

} // namespace

const Schema *Schema::find(StringRef name, int64_t opset) {
  auto found = versions().find(name);
  if (found == versions().end())
    return nullptr;
  const Schema *inForce = nullptr;
  for (const Schema *version : found->second)
    if (version->since <= opset)
      inForce = version;
  return inForce;
}

const Attribute *Schema::attribute(StringRef name) const {
  auto found = llvm::find_if(attributes, [&](const Attribute &each) { return each.name == name; });
  return found == attributes.end() ? nullptr : &*found;
}

const char *attributeTypeName(int type) {
  static const char *const names[] = {"UNDEFINED",      "FLOAT",      "INT",        "STRING",
                                      "TENSOR",         "GRAPH",      "FLOATS",     "INTS",
                                      "STRINGS",        "TENSORS",    "GRAPHS",     "SPARSE_TENSOR",
                                      "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};
  return type >= 0 && type < int(std::size(names)) ? names[type] : "unknown";
}

llvm::Error checkNode(const Schema &schema, StringRef who, ArrayRef<bool> inputs,
                      ArrayRef<bool> outputs, ArrayRef<NamedAttribute> attributes) {
  std::string problem;
  if (schema.isWithdrawn())
    problem = "ONNX has withdrawn this operator";
  if (problem.empty())
    problem = attributeProblem(schema, attributes);
  if (problem.empty())
    problem = countProblem(schema.inputs, inputs, true);
  if (problem.empty())
    problem = countProblem(schema.outputs, outputs, false);
  if (problem.empty())
    return llvm::Error::success();
  return llvm::createStringError(llvm::inconvertibleErrorCode(), (who + ": " + problem).str());
}

std::string typeProblem(const Schema &schema, ArrayRef<TypeSet> inputs, ArrayRef<TypeSet> outputs) {
  struct Bound {
    std::string who;
    TypeSet type;
  };
  llvm::StringMap<Bound> variables;
  auto check = [&](ArrayRef<Parameter> parameters, ArrayRef<TypeSet> types,
                   StringRef kind) -> std::string {
    for (auto [i, type] : llvm::enumerate(types)) {
      const Parameter *parameter = formal(parameters, i);
      if (!type || !parameter)
        continue;
      std::string who = llvm::formatv("{0} {1} ('{2}')", kind, i, parameter->name);
      if (!(parameter->types & type))
        return llvm::formatv("{0} has type {1} but must have {2}", who, describeTypes(type),
                             describeTypes(parameter->types));
      if (parameter->variable.empty() || !parameter->homogeneous || type == kAnySequence)
        continue;
      auto [first, isNew] = variables.try_emplace(parameter->variable, Bound{who, type});
      if (!isNew && first->second.type != type)
        return llvm::formatv("{0} and {1} have types {2} and {3} but must have "
                             "one",
                             first->second.who, who, describeTypes(first->second.type),
                             describeTypes(type));
    }
    return {};
  };
  std::string problem = check(schema.inputs, inputs, "input");
  return problem.empty() ? check(schema.outputs, outputs, "output") : problem;
}

} // namespace dpc::onnx
