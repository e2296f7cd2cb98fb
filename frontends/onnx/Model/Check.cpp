// Checks that a parsed ONNX model is well formed and that its operators are
// known.

#include "frontends/onnx/Model/Check.h"

#include "frontends/onnx/Model/Failure.h"
#include "frontends/onnx/Model/Schema.h"

#include "OnnxSchema.pb.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using llvm::StringRef;

namespace dpc::onnx {
namespace {

constexpr int kMaxFunctions = 10000;
constexpr int kMaxCallDepth = 100;
/// If each function calls the next one twice, inlining makes exponentially many
/// nodes, so their number is limited.
constexpr int64_t kMaxInlinedNodes = 1000000;

/// Suffix of the message about an undefined value if the file was saved without its
/// parameters.
constexpr llvm::StringLiteral kNoInitializers =
    "; the file has no initializer at all: export the model with its weights (--params=none then "
    "compiles it without the file of its external data)";

StringRef canonicalDomain(StringRef domain) { return domain == "ai.onnx" ? StringRef() : domain; }
StringRef printedDomain(StringRef domain) { return domain.empty() ? StringRef("ai.onnx") : domain; }

/// The words for a node in messages. If `opset` is 0, the opset is left out, because the
/// message is not about the operator.
std::string describe(const onnxpb::NodeProto &node, int position, int64_t opset = 0) {
  std::string op = " (" + node.op_type() + (opset ? ", opset " + std::to_string(opset) : "") + ")";
  if (!node.name().empty())
    return "node '" + node.name() + "'" + op;
  return "node number " + std::to_string(position) + op;
}

using Opsets = llvm::StringMap<int64_t>;
using FunctionKey = std::tuple<std::string, std::string, std::string>;

FunctionKey keyOf(StringRef domain, StringRef name, StringRef overload) {
  return {canonicalDomain(domain).str(), name.str(), overload.str()};
}

/// The values that the nodes of a body can read: the values that the body defines, and
/// those of the bodies around it.
struct Scope {
  const Scope *outer = nullptr;
  /// Maps a name to its definition, as words for a message.
  llvm::StringMap<std::string> defined;

  bool sees(StringRef name) const {
    for (const Scope *scope = this; scope; scope = scope->outer)
      if (scope->defined.count(name))
        return true;
    return false;
  }
  llvm::Error define(StringRef name, std::string by) {
    auto [known, isNew] = defined.try_emplace(name, by);
    if (isNew)
      return llvm::Error::success();
    return fail(
        llvm::formatv("value '{0}' is defined twice: by {1} and by {2}", name, known->second, by));
  }
};

class Checker {
public:
  explicit Checker(const onnxpb::ModelProto &model) : model(model) {}
  llvm::Error check();

private:
  using Nodes = google::protobuf::RepeatedPtrField<onnxpb::NodeProto>;

  llvm::Error
  checkImports(const google::protobuf::RepeatedPtrField<onnxpb::OperatorSetIdProto> &imports,
               StringRef where, Opsets &opsets);
  llvm::Error checkFunctions();
  llvm::Error checkCalls(const onnxpb::FunctionProto &function, int depth);
  llvm::Error visitCallsIn(const Nodes &nodes, int depth);
  int64_t inlinedNodes(const Nodes &nodes);
  llvm::Error checkGraph(const onnxpb::GraphProto &graph, const Scope *outer, const Opsets &opsets,
                         const llvm::StringSet<> *functionAttributes, StringRef where);
  llvm::Error checkNodes(const Nodes &nodes, Scope &scope, const Opsets &opsets,
                         const llvm::StringSet<> *functionAttributes);
  llvm::Error checkAttributes(const onnxpb::NodeProto &node, const std::string &who,
                              const Scope &scope, const Opsets &opsets,
                              const llvm::StringSet<> *functionAttributes);

  const onnxpb::ModelProto &model;
  std::map<FunctionKey, const onnxpb::FunctionProto *> functions;
  /// 0 while the calls of a function are being followed; otherwise the largest depth at
  /// which the function has been called so far.
  std::map<const onnxpb::FunctionProto *, int> callDepth;
  /// Number of nodes in a function's body after inlining; capped at one above the
  /// limit.
  std::map<const onnxpb::FunctionProto *, int64_t> inlinedSize;
};

llvm::Error
Checker::checkImports(const google::protobuf::RepeatedPtrField<onnxpb::OperatorSetIdProto> &imports,
                      StringRef where, Opsets &opsets) {
  for (const auto &import : imports) {
    StringRef domain = canonicalDomain(import.domain());
    auto [known, isNew] = opsets.try_emplace(domain, import.version());
    if (!isNew)
      return fail(llvm::formatv("{0} imports domain {1} twice, versions {2} and {3}", where,
                                printedDomain(domain), known->second, import.version()));
    if (domain.empty() && (import.version() < kMinOpset || import.version() > kMaxOpset))
      return fail(llvm::formatv("{0} is written for opset {1} of ai.onnx, "
                                "which is too {2}: dpc reads {3} to {4}",
                                where, import.version(),
                                import.version() < kMinOpset ? "old" : "new", kMinOpset,
                                kMaxOpset));
  }
  return llvm::Error::success();
}

/// Finds a value in a field that does not belong to the attribute's type. Returns
/// the name of that field, or nullptr if only the field of the type is set.
const char *heldBesideType(const onnxpb::AttributeProto &attribute) {
  using A = onnxpb::AttributeProto;
  struct Held {
    bool present;
    A::AttributeType type;
    const char *name;
  };
  for (const Held &held :
       {Held{attribute.has_f(), A::FLOAT, "f"}, Held{attribute.has_i(), A::INT, "i"},
        Held{attribute.has_s(), A::STRING, "s"}, Held{attribute.has_t(), A::TENSOR, "t"},
        Held{attribute.has_g(), A::GRAPH, "g"},
        Held{attribute.has_sparse_tensor(), A::SPARSE_TENSOR, "sparse_tensor"},
        Held{attribute.has_tp(), A::TYPE_PROTO, "tp"},
        Held{attribute.floats_size() > 0, A::FLOATS, "floats"},
        Held{attribute.ints_size() > 0, A::INTS, "ints"},
        Held{attribute.strings_size() > 0, A::STRINGS, "strings"},
        Held{attribute.tensors_size() > 0, A::TENSORS, "tensors"},
        Held{attribute.graphs_size() > 0, A::GRAPHS, "graphs"},
        Held{attribute.sparse_tensors_size() > 0, A::SPARSE_TENSORS, "sparse_tensors"},
        Held{attribute.type_protos_size() > 0, A::TYPE_PROTOS, "type_protos"}})
    if (held.present && held.type != attribute.type())
      return held.name;
  return nullptr;
}

llvm::Error Checker::checkAttributes(const onnxpb::NodeProto &node, const std::string &who,
                                     const Scope &scope, const Opsets &opsets,
                                     const llvm::StringSet<> *functionAttributes) {
  using A = onnxpb::AttributeProto;
  llvm::StringSet<> names;
  for (const A &attribute : node.attribute()) {
    if (attribute.name().empty())
      return fail(llvm::formatv("{0}: an attribute has no name", who));
    if (!names.insert(attribute.name()).second)
      return fail(llvm::formatv("{0}: attribute '{1}' is given twice", who, attribute.name()));
    if (!attribute.has_type() || attribute.type() == A::UNDEFINED)
      return fail(llvm::formatv("{0}: attribute '{1}' has no known type", who, attribute.name()));
    if (const char *held = heldBesideType(attribute))
      return fail(llvm::formatv("{0}: attribute '{1}' has type {2} but holds '{3}'", who,
                                attribute.name(), attributeTypeName(attribute.type()), held));
    if (attribute.has_ref_attr_name()) {
      if (!functionAttributes)
        return fail(llvm::formatv("{0}: attribute '{1}' refers to function "
                                  "attribute '{2}' outside a function",
                                  who, attribute.name(), attribute.ref_attr_name()));
      if (!functionAttributes->count(attribute.ref_attr_name()))
        return fail(llvm::formatv("{0}: attribute '{1}' refers to '{2}', which "
                                  "its function does not have",
                                  who, attribute.name(), attribute.ref_attr_name()));
      continue;
    }
    if ((attribute.type() == A::TENSOR && !attribute.has_t()) ||
        (attribute.type() == A::GRAPH && !attribute.has_g()))
      return fail(llvm::formatv("{0}: attribute '{1}' has type {2} but holds nothing", who,
                                attribute.name(), attributeTypeName(attribute.type())));
    if (attribute.type() == A::SPARSE_TENSOR || attribute.type() == A::SPARSE_TENSORS)
      return fail(llvm::formatv("{0}: attribute '{1}' is a sparse tensor, which is not supported",
                                who, attribute.name()));
    auto checkBody = [&](const onnxpb::GraphProto &body) {
      return checkGraph(body, &scope, opsets, functionAttributes,
                        "subgraph '" + attribute.name() + "' of " + who);
    };
    if (attribute.has_g())
      if (llvm::Error error = checkBody(attribute.g()))
        return error;
    for (const auto &body : attribute.graphs())
      if (llvm::Error error = checkBody(body))
        return error;
  }
  return llvm::Error::success();
}

/// Checks a node against its schema. A node whose operator ONNX does not have at `opset`
/// passes, because checkOperators later lists all of these operators in one error.
llvm::Error checkSchema(const onnxpb::NodeProto &node, int position, int64_t opset) {
  const Schema *schema = Schema::find(node.op_type(), opset);
  if (!schema)
    return llvm::Error::success();
  auto given = [](const google::protobuf::RepeatedPtrField<std::string> &names) {
    llvm::SmallVector<bool> flags;
    for (const std::string &name : names)
      flags.push_back(!name.empty());
    return flags;
  };
  std::vector<NamedAttribute> attributes;
  for (const auto &attribute : node.attribute())
    attributes.push_back({attribute.name(), &attribute});
  return checkNode(*schema, describe(node, position, opset), given(node.input()),
                   given(node.output()), attributes);
}

llvm::Error Checker::checkNodes(const Nodes &nodes, Scope &scope, const Opsets &opsets,
                                const llvm::StringSet<> *functionAttributes) {
  llvm::StringMap<int> definedLater;
  for (auto [i, node] : llvm::enumerate(nodes))
    for (const std::string &output : node.output())
      definedLater.try_emplace(output, int(i));
  for (auto [i, node] : llvm::enumerate(nodes)) {
    std::string who = describe(node, int(i));
    if (node.op_type().empty())
      return fail(llvm::formatv("{0}: has no operator", who));
    StringRef domain = canonicalDomain(node.domain());
    if (!opsets.count(domain) &&
        !functions.count(keyOf(node.domain(), node.op_type(), node.overload())))
      return fail(
          llvm::formatv("{0}: domain {1} is used but not imported", who, printedDomain(domain)));
    for (const std::string &input : node.input()) {
      if (input.empty() || scope.sees(input))
        continue;
      auto later = definedLater.find(input);
      if (later != definedLater.end())
        return fail(llvm::formatv("{0}: uses '{1}' before {2} defines it (a cycle, or nodes not "
                                  "sorted)",
                                  who, input, describe(nodes[later->second], later->second)));
      // A function has no initializers, so the hint is only for graphs.
      const bool lacksAll = !functionAttributes && model.graph().initializer().empty();
      return fail(llvm::formatv("{0}: input '{1}' is not defined anywhere{2}", who, input,
                                lacksAll ? StringRef(kNoInitializers) : ""));
    }
    if (llvm::Error error = checkAttributes(node, who, scope, opsets, functionAttributes))
      return error;
    if (node.output_size() == 0)
      return fail(llvm::formatv("{0}: has no outputs", who));
    if (domain.empty() && !functions.count(keyOf(node.domain(), node.op_type(), node.overload())))
      if (llvm::Error error = checkSchema(node, int(i), opsets.lookup("")))
        return error;
    for (const std::string &output : node.output())
      if (!output.empty())
        if (llvm::Error error = scope.define(output, who))
          return error;
  }
  return llvm::Error::success();
}

llvm::Error Checker::checkGraph(const onnxpb::GraphProto &graph, const Scope *outer,
                                const Opsets &opsets, const llvm::StringSet<> *functionAttributes,
                                StringRef where) {
  Scope scope;
  scope.outer = outer;
  for (const auto &input : graph.input()) {
    if (input.name().empty())
      return fail(llvm::formatv("{0}: an input has no name", where));
    if (llvm::Error error = scope.define(input.name(), "an input"))
      return error;
  }
  llvm::StringSet<> initializers;
  for (const auto &initializer : graph.initializer()) {
    if (initializer.name().empty())
      return fail(llvm::formatv("{0}: an initializer has no name", where));
    if (!initializers.insert(initializer.name()).second)
      return fail(
          llvm::formatv("{0}: initializer '{1}' is given twice", where, initializer.name()));
    scope.defined.try_emplace(initializer.name(),
                              "an initializer"); // may also be listed as an input
  }
  if (graph.sparse_initializer_size())
    return fail(llvm::formatv("{0}: initializer '{1}' is sparse, which is not supported", where,
                              graph.sparse_initializer(0).values().name()));
  if (llvm::Error error = checkNodes(graph.node(), scope, opsets, functionAttributes))
    return error;
  if (graph.output_size() == 0)
    return fail(llvm::formatv("{0}: has no outputs", where));
  llvm::StringSet<> outputs;
  for (const auto &output : graph.output()) {
    if (!scope.sees(output.name()))
      return fail(llvm::formatv("{0}: output '{1}' is not defined anywhere", where, output.name()));
    if (!outputs.insert(output.name()).second)
      return fail(llvm::formatv("{0}: output '{1}' is given twice", where, output.name()));
  }
  return llvm::Error::success();
}

llvm::Error Checker::visitCallsIn(const Nodes &nodes, int depth) {
  for (const auto &node : nodes) {
    auto callee = functions.find(keyOf(node.domain(), node.op_type(), node.overload()));
    if (callee != functions.end())
      if (llvm::Error error = checkCalls(*callee->second, depth))
        return error;
    for (const auto &attribute : node.attribute()) {
      if (attribute.has_g())
        if (llvm::Error error = visitCallsIn(attribute.g().node(), depth))
          return error;
      for (const auto &body : attribute.graphs())
        if (llvm::Error error = visitCallsIn(body.node(), depth))
          return error;
    }
  }
  return llvm::Error::success();
}

/// Follows the calls of `function` depth first. If a function is reached again while its
/// own calls are being followed, it is recursive.
llvm::Error Checker::checkCalls(const onnxpb::FunctionProto &function, int depth) {
  auto [known, isNew] = callDepth.try_emplace(&function, 0);
  if (!isNew && known->second == 0)
    return fail(llvm::formatv("function '{0}' of domain {1} calls itself", function.name(),
                              function.domain()));
  if (depth > kMaxCallDepth)
    return fail(llvm::formatv("function '{0}' is called more than {1} functions deep",
                              function.name(), kMaxCallDepth));
  if (!isNew && known->second >= depth)
    return llvm::Error::success();
  known->second = 0;
  if (llvm::Error error = visitCallsIn(function.node(), depth + 1))
    return error;
  callDepth[&function] = depth;
  return llvm::Error::success();
}

/// The number of nodes after inlining the calls among `nodes`. It is finite, because
/// recursive functions have been rejected before.
int64_t Checker::inlinedNodes(const Nodes &nodes) {
  int64_t total = 0;
  for (const auto &node : nodes) {
    auto callee = functions.find(keyOf(node.domain(), node.op_type(), node.overload()));
    if (callee == functions.end()) {
      ++total;
    } else {
      auto [size, isNew] = inlinedSize.try_emplace(callee->second, 0);
      if (isNew)
        size->second = inlinedNodes(callee->second->node());
      total += size->second;
    }
    total = std::min(total, kMaxInlinedNodes + 1);
  }
  return total;
}

llvm::Error Checker::checkFunctions() {
  if (model.functions_size() > kMaxFunctions)
    return fail(llvm::formatv("the model has {0} functions but may have {1}",
                              model.functions_size(), kMaxFunctions));
  for (const auto &function : model.functions())
    if (!functions
             .insert({keyOf(function.domain(), function.name(), function.overload()), &function})
             .second)
      return fail(llvm::formatv("function '{0}' of domain {1} is given twice", function.name(),
                                function.domain()));
  for (const auto &function : model.functions()) {
    std::string where = "function '" + function.name() + "'";
    Opsets opsets;
    if (llvm::Error error = checkImports(function.opset_import(), where, opsets))
      return error;
    Scope scope;
    for (const std::string &input : function.input())
      if (llvm::Error error = scope.define(input, "an input"))
        return error;
    llvm::StringSet<> attributes;
    for (const std::string &attribute : function.attribute())
      attributes.insert(attribute);
    for (const auto &attribute : function.attribute_proto())
      attributes.insert(attribute.name());
    if (llvm::Error error = checkNodes(function.node(), scope, opsets, &attributes))
      return fail(llvm::formatv("{0}: {1}", where, llvm::toString(std::move(error))));
    for (const std::string &output : function.output())
      if (!scope.sees(output))
        return fail(llvm::formatv("{0}: output '{1}' is not defined anywhere", where, output));
  }
  for (const auto &function : model.functions())
    if (llvm::Error error = checkCalls(function, 1))
      return error;
  if (inlinedNodes(model.graph().node()) > kMaxInlinedNodes)
    return fail(llvm::formatv("the graph has more than {0} nodes after inlining its functions",
                              kMaxInlinedNodes));
  return llvm::Error::success();
}

llvm::Error Checker::check() {
  if (!model.has_graph())
    return fail(llvm::formatv("the model has no graph"));
  if (!model.has_ir_version())
    return fail(llvm::formatv("the model has no IR version"));
  if (model.ir_version() < kMinIrVersion || model.ir_version() > kMaxIrVersion)
    return fail(llvm::formatv(
        "the model has IR version {0}, which is too {1}: dpc reads {2} to {3}", model.ir_version(),
        model.ir_version() < kMinIrVersion ? "old" : "new", kMinIrVersion, kMaxIrVersion));
  Opsets opsets;
  if (model.opset_import_size() == 0)
    return fail(llvm::formatv("the model imports no opset"));
  if (llvm::Error error = checkImports(model.opset_import(), "the model", opsets))
    return error;
  if (llvm::Error error = checkFunctions())
    return error;
  return checkGraph(model.graph(), nullptr, opsets, nullptr, "the graph");
}

} // namespace

llvm::Error checkModel(const onnxpb::ModelProto &model) { return Checker(model).check(); }

} // namespace dpc::onnx
