// Inlines the functions of a parsed model into one flat graph.

#include "frontends/onnx/Model/ExporterMetadata.h"
#include "frontends/onnx/Model/Failure.h"
#include "frontends/onnx/Model/Graph.h"
#include "frontends/onnx/Model/Load.h"

#include "OnnxSchema.pb.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using llvm::StringRef;

namespace dpc::onnx {
namespace {

std::string domainOf(StringRef domain) {
  return domain == "ai.onnx" ? std::string() : domain.str();
}

using Opsets = std::map<std::string, int64_t>;
using Attributes = std::map<std::string, const onnxpb::AttributeProto *>;

Opsets readOpsets(const google::protobuf::RepeatedPtrField<onnxpb::OperatorSetIdProto> &imports) {
  Opsets opsets;
  for (const auto &import : imports)
    opsets[domainOf(import.domain())] = import.version();
  return opsets;
}

/// The context of the nodes of the main graph, of a function call or of a subgraph while
/// they are added to the flat graph.
struct Scope {
  const Opsets &opsets;
  llvm::StringMap<ValueId> values;
  /// Set inside a function: the attributes of the call, to which nodes of the function
  /// refer by name.
  const Attributes *bound = nullptr;
  std::string prefix;
  llvm::SmallVector<const onnxpb::NodeProto *, 1> callers;
  /// Set inside a subgraph: the scope around it.
  const Scope *outer = nullptr;
  /// The list to which nodes are appended: the nodes of the main graph, or those of the
  /// subgraph.
  std::vector<Node> *nodes = nullptr;

  ValueId lookup(StringRef name) const {
    for (const Scope *scope = this; scope; scope = scope->outer)
      if (auto found = scope->values.find(name); found != scope->values.end())
        return found->second;
    return kNoValue;
  }
};

class Builder {
public:
  explicit Builder(OnnxModel &model) : model(model) {}

  llvm::Expected<Graph> build();

private:
  using FunctionKey = std::tuple<std::string, std::string, std::string>;
  static FunctionKey keyOf(const onnxpb::NodeProto &node) {
    return {domainOf(node.domain()), node.op_type(), node.overload()};
  }

  llvm::Error addInput(const onnxpb::ValueInfoProto &info, Scope &scope);
  llvm::Error addInitializer(const onnxpb::TensorProto &proto, Scope &scope);
  llvm::Error addNodes(const google::protobuf::RepeatedPtrField<onnxpb::NodeProto> &nodes,
                       Scope &scope);
  llvm::Error inlineCall(const onnxpb::NodeProto &call, const std::string &name,
                         const onnxpb::FunctionProto &function, Attributes attributes,
                         Scope &scope);
  llvm::Expected<Subgraph> addSubgraph(const onnxpb::AttributeProto &attribute,
                                       const std::string &node, Scope &scope);
  Attributes resolveAttributes(const onnxpb::NodeProto &node, const Scope &scope) const;
  std::string uniqueName(std::string name);
  ValueId addValue(std::string name, GraphValue::Kind kind, int32_t index);
  void dropDeadNodes();
  void recordUses();

  OnnxModel &model;
  Graph graph;
  std::map<FunctionKey, const onnxpb::FunctionProto *> functions;
  std::map<std::pair<std::string, std::string>, Opsets> functionOpsets;
  llvm::StringSet<> nodeNames;
  llvm::StringMap<unsigned> ordinals;
};

ValueId Builder::addValue(std::string name, GraphValue::Kind kind, int32_t index) {
  GraphValue value;
  value.name = std::move(name);
  value.kind = kind;
  value.index = index;
  graph.values.push_back(std::move(value));
  return static_cast<ValueId>(graph.values.size() - 1);
}

std::string Builder::uniqueName(std::string name) {
  std::string unique = name;
  while (!nodeNames.insert(unique).second)
    unique = name + "_" + std::to_string(++ordinals[name]);
  return unique;
}

llvm::Error Builder::addInput(const onnxpb::ValueInfoProto &info, Scope &scope) {
  std::string what = "input '" + info.name() + "'";
  if (!info.type().has_tensor_type())
    return fail(llvm::formatv(
        "{0}: is not a tensor; sequences, maps and optionals are not supported", what));
  const auto &type = info.type().tensor_type();
  auto element = elementTypeOf(type.elem_type(), what);
  if (!element)
    return element.takeError();
  GraphInput input;
  input.name = info.name();
  input.type = *element;
  input.hasRank = type.has_shape();
  for (const auto &dim : type.shape().dim()) {
    if (dim.has_dim_value() && dim.dim_value() < 0)
      return fail(llvm::formatv("{0}: dimension {1} is negative", what, dim.dim_value()));
    input.shape.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
    input.dimNames.push_back(dim.dim_param());
  }
  input.value =
      addValue(info.name(), GraphValue::Kind::Input, static_cast<int32_t>(graph.inputs.size()));
  scope.values[info.name()] = input.value;
  graph.inputs.push_back(std::move(input));
  return llvm::Error::success();
}

llvm::Error Builder::addInitializer(const onnxpb::TensorProto &proto, Scope &scope) {
  std::string name = scope.prefix + proto.name();
  auto tensor = readTensor(proto, model.proto, model.files, "initializer '" + name + "'");
  if (!tensor)
    return tensor.takeError();
  Initializer initializer;
  initializer.name = name;
  initializer.tensor = std::move(*tensor);
  for (const auto &entry : proto.metadata_props())
    initializer.metadata[entry.key()] = entry.value();
  initializer.value = addValue(name, GraphValue::Kind::Initializer,
                               static_cast<int32_t>(graph.initializers.size()));
  scope.values[proto.name()] = initializer.value;
  graph.initializers.push_back(std::move(initializer));
  return llvm::Error::success();
}

Attributes Builder::resolveAttributes(const onnxpb::NodeProto &node, const Scope &scope) const {
  Attributes resolved;
  for (const auto &attribute : node.attribute()) {
    if (!attribute.has_ref_attr_name()) {
      resolved[attribute.name()] = &attribute;
    } else if (scope.bound) {
      auto bound = scope.bound->find(attribute.ref_attr_name());
      if (bound != scope.bound->end()) // else absent: not given, and no default
        resolved[attribute.name()] = bound->second;
    }
  }
  return resolved;
}

llvm::Error Builder::inlineCall(const onnxpb::NodeProto &call, const std::string &name,
                                const onnxpb::FunctionProto &function, Attributes attributes,
                                Scope &scope) {
  for (const auto &fallback : function.attribute_proto())
    attributes.try_emplace(fallback.name(), &fallback);
  if (call.input_size() > function.input_size() || call.output_size() > function.output_size())
    return fail(llvm::formatv("node '{0}': calls function '{1}' with {2} "
                              "inputs and {3} outputs but it has {4} and {5}",
                              name, function.name(), call.input_size(), call.output_size(),
                              function.input_size(), function.output_size()));
  auto [opsets, isNew] =
      functionOpsets.try_emplace({function.domain() + ":" + function.name(), function.overload()});
  if (isNew)
    opsets->second = readOpsets(function.opset_import());

  Scope inner{opsets->second, {}, &attributes, name + "/", {}, nullptr, scope.nodes};
  inner.callers.push_back(&call);
  inner.callers.append(scope.callers.begin(), scope.callers.end());
  for (auto [i, input] : llvm::enumerate(function.input()))
    inner.values[input] = int(i) < call.input_size() && !call.input(i).empty()
                              ? scope.lookup(call.input(i))
                              : kNoValue;
  if (llvm::Error error = addNodes(function.node(), inner))
    return error;
  for (auto [i, output] : llvm::enumerate(call.output())) {
    if (output.empty())
      continue;
    ValueId value = inner.lookup(function.output(i));
    scope.values[output] = value;
    // The result keeps the caller's name, which messages and outputs use.
    if (value != kNoValue && (graph.values[value].kind == GraphValue::Kind::Result ||
                              graph.values[value].kind == GraphValue::Kind::Inner))
      graph.values[value].name = scope.prefix + output;
  }
  return llvm::Error::success();
}

llvm::Expected<Subgraph> Builder::addSubgraph(const onnxpb::AttributeProto &attribute,
                                              const std::string &node, Scope &scope) {
  Subgraph subgraph;
  subgraph.attribute = attribute.name();
  Scope inner{scope.opsets, {}, scope.bound, node + "/", scope.callers, &scope, &subgraph.nodes};
  for (const auto &initializer : attribute.g().initializer())
    if (llvm::Error error = addInitializer(initializer, inner))
      return std::move(error);
  for (const auto &input : attribute.g().input()) {
    ValueId value = addValue(inner.prefix + input.name(), GraphValue::Kind::Inner, -1);
    inner.values[input.name()] = value;
    subgraph.inputs.push_back(value);
  }
  if (llvm::Error error = addNodes(attribute.g().node(), inner))
    return std::move(error);
  for (const auto &output : attribute.g().output()) {
    ValueId value = inner.lookup(output.name());
    if (value == kNoValue)
      return fail(llvm::formatv("output '{0}' of subgraph '{1}' of node '{2}': "
                                "its function does not produce it",
                                output.name(), attribute.name(), node));
    subgraph.outputs.push_back(value);
  }
  return std::move(subgraph);
}

llvm::Error Builder::addNodes(const google::protobuf::RepeatedPtrField<onnxpb::NodeProto> &nodes,
                              Scope &scope) {
  for (const auto &proto : nodes) {
    std::string own = proto.name();
    if (own.empty())
      own = proto.op_type() + "_" + std::to_string(ordinals["#" + proto.op_type()]++);
    std::string name = uniqueName(scope.prefix + own);
    Attributes attributes = resolveAttributes(proto, scope);

    auto function = functions.find(keyOf(proto));
    if (function != functions.end()) {
      if (llvm::Error error =
              inlineCall(proto, name, *function->second, std::move(attributes), scope))
        return error;
      continue;
    }
    std::string domain = domainOf(proto.domain());
    bool isIdentity = domain.empty() && proto.op_type() == "Identity" && proto.input_size() == 1 &&
                      proto.output_size() == 1;
    if (isIdentity && !isDetach(proto)) {
      ValueId source = scope.lookup(proto.input(0));
      scope.values[proto.output(0)] = source;
      if (source != kNoValue && graph.values[source].kind == GraphValue::Kind::Initializer)
        graph.initializers[graph.values[source].index].aliases.push_back(scope.prefix +
                                                                         proto.output(0));
      continue;
    }

    Node node;
    node.proto = &proto;
    node.name = std::move(name);
    node.opType = proto.op_type();
    auto opset = scope.opsets.find(domain);
    node.opset = opset == scope.opsets.end() ? 0 : opset->second;
    node.domain = std::move(domain);
    node.attributes = std::move(attributes);
    node.stopsGradient = isIdentity;
    node.callers = scope.callers;
    for (const auto &[attributeName, attribute] : node.attributes) {
      if (!attribute->has_g())
        continue;
      auto subgraph = addSubgraph(*attribute, node.name, scope);
      if (!subgraph)
        return subgraph.takeError();
      node.subgraphs.push_back(std::move(*subgraph));
    }
    for (const std::string &input : proto.input())
      node.inputs.push_back(input.empty() ? kNoValue : scope.lookup(input));
    while (!node.inputs.empty() && node.inputs.back() == kNoValue)
      node.inputs.pop_back();
    for (const std::string &output : proto.output()) {
      ValueId value = kNoValue;
      if (!output.empty()) {
        bool inner = scope.nodes != &graph.nodes;
        value = addValue(scope.prefix + output,
                         inner ? GraphValue::Kind::Inner : GraphValue::Kind::Result,
                         inner ? -1 : static_cast<int32_t>(graph.nodes.size()));
        scope.values[output] = value;
      }
      node.outputs.push_back(value);
    }
    scope.nodes->push_back(std::move(node));
  }
  return llvm::Error::success();
}

/// Drops the nodes that no output depends on.
void Builder::dropDeadNodes() {
  std::vector<bool> needed(graph.values.size());
  for (const GraphOutput &output : graph.outputs)
    needed[output.value] = true;
  std::vector<bool> live(graph.nodes.size());
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node &node = graph.nodes[i];
    live[i] = llvm::any_of(node.outputs, [&](ValueId v) { return v != kNoValue && needed[v]; });
    if (live[i])
      forEachUse(node, [&](ValueId value, int32_t) { needed[value] = true; });
  }
  std::vector<int32_t> position(graph.nodes.size(), -1);
  std::vector<Node> kept;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!live[i])
      continue;
    position[i] = static_cast<int32_t>(kept.size());
    kept.push_back(std::move(graph.nodes[i]));
  }
  graph.nodes = std::move(kept);
  for (GraphValue &value : graph.values)
    if (value.kind == GraphValue::Kind::Result)
      value.index = position[value.index];
}

void Builder::recordUses() {
  for (auto [n, node] : llvm::enumerate(graph.nodes))
    forEachUse(node, [&, n = n](ValueId value, int32_t operand) {
      graph.values[value].uses.push_back({static_cast<int32_t>(n), operand});
    });
}

llvm::Expected<Graph> Builder::build() {
  const onnxpb::ModelProto &proto = *model.proto;
  const onnxpb::GraphProto &main = proto.graph();
  graph.name = main.name();
  graph.producer = proto.producer_name();
  for (const auto &entry : main.metadata_props())
    graph.metadata[entry.key()] = entry.value();
  for (const auto &function : proto.functions())
    functions[{domainOf(function.domain()), function.name(), function.overload()}] = &function;

  Opsets opsets = readOpsets(proto.opset_import());
  Scope scope{opsets, {}, nullptr, "", {}, nullptr, &graph.nodes};
  for (const auto &initializer : main.initializer())
    if (llvm::Error error = addInitializer(initializer, scope))
      return error;
  for (const auto &input : main.input()) // before IR 4 every initializer is listed as an input too
    if (!scope.values.count(input.name()))
      if (llvm::Error error = addInput(input, scope))
        return error;
  for (const auto *infos : {&main.value_info(), &main.input()})
    for (const auto &info : *infos) {
      auto value = scope.values.find(info.name());
      if (value == scope.values.end() ||
          graph.values[value->second].kind != GraphValue::Kind::Initializer)
        continue;
      for (const auto &entry : info.metadata_props())
        graph.initializers[graph.values[value->second].index].metadata.try_emplace(entry.key(),
                                                                                   entry.value());
    }
  if (llvm::Error error = addNodes(main.node(), scope))
    return error;
  for (const auto &output : main.output()) {
    ValueId value = scope.lookup(output.name());
    if (value == kNoValue)
      return fail(llvm::formatv("output '{0}': its function does not produce it", output.name()));
    graph.outputs.push_back({output.name(), value, output.type().tensor_type().elem_type()});
  }
  dropDeadNodes();
  recordUses();
  return std::move(graph);
}

} // namespace

llvm::Expected<Graph> buildGraph(OnnxModel &model) { return Builder(model).build(); }

} // namespace dpc::onnx
