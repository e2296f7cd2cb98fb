// Applies a restoration plan to a model.

#include "frontends/onnx/Restore/RewriteModel.h"

#include "frontends/onnx/Model/ExporterMetadata.h"
#include "frontends/onnx/Restore/Rewriter.h"

#include "llvm/ADT/STLExtras.h"

using llvm::StringRef;

namespace dpc::onnx {
namespace {

StringRef signatureKind(TensorKind kind) {
  switch (kind) {
  case TensorKind::Parameter:
    return "PARAMETER";
  case TensorKind::Buffer:
    return "BUFFER";
  case TensorKind::Constant:
    return "CONSTANT_TENSOR";
  }
  return "";
}

StringRef suffixOf(DerivationStep::Kind kind) {
  switch (kind) {
  case DerivationStep::Kind::Transpose:
    return "/transposed";
  case DerivationStep::Kind::Reshape:
    return "/reshaped";
  case DerivationStep::Kind::Expand:
    return "/repeated";
  case DerivationStep::Kind::Gather:
  case DerivationStep::Kind::Slice:
    return "/rows";
  case DerivationStep::Kind::Add:
    return "/shifted";
  }
  return "";
}

template <typename Nodes, typename Visit> void forEachNode(const Nodes &nodes, Visit visit) {
  for (const onnxpb::NodeProto &node : nodes) {
    visit(node);
    for (const onnxpb::AttributeProto &attribute : node.attribute())
      if (attribute.has_g())
        forEachNode(attribute.g().node(), visit);
  }
}

} // namespace

void Rewriter::collectNames() {
  for (const auto &input : main.input())
    names.insert(input.name());
  for (const auto &initializer : main.initializer())
    names.insert(initializer.name());
  forEachNode(main.node(), [&](const onnxpb::NodeProto &node) {
    names.insert(node.name());
    for (const std::string &output : node.output())
      names.insert(output);
  });
  for (const RestoredTensor &tensor : plan.tensors)
    names.insert(tensor.name);
}

std::string Rewriter::unique(const std::string &name) {
  std::string result = name;
  for (int i = 2; !names.insert(result).second; ++i)
    result = name + "_" + std::to_string(i);
  return result;
}

onnxpb::TensorProto &Rewriter::addInitializer(const std::string &name, ElementType type,
                                              llvm::ArrayRef<int64_t> dims,
                                              llvm::ArrayRef<char> bytes) {
  onnxpb::TensorProto &tensor = *main.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(static_cast<int32_t>(type));
  for (int64_t dim : dims)
    tensor.add_dims(dim);
  tensor.set_raw_data(bytes.data(), bytes.size());
  return tensor;
}

std::string Rewriter::addInts(const std::string &name, llvm::ArrayRef<int64_t> dims,
                              llvm::ArrayRef<int64_t> values) {
  std::string own = unique(name);
  addInitializer(own, ElementType::I64, dims,
                 {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(int64_t)});
  return own;
}

/// Adds the node for `step` applied to the value `from`; returns the name of its
/// result.
std::string Rewriter::emit(const std::string &from, ElementType type, const DerivationStep &step) {
  onnxpb::NodeProto node;
  std::string result = unique(from + suffixOf(step.kind).str());
  node.set_name(result);
  node.add_input(from);
  node.add_output(result);
  switch (step.kind) {
  case DerivationStep::Kind::Transpose: {
    node.set_op_type("Transpose");
    onnxpb::AttributeProto &perm = *node.add_attribute();
    perm.set_name("perm");
    perm.set_type(onnxpb::AttributeProto::INTS);
    for (int64_t dim : step.dims)
      perm.add_ints(dim);
    break;
  }
  case DerivationStep::Kind::Reshape:
  case DerivationStep::Kind::Expand:
    node.set_op_type(step.kind == DerivationStep::Kind::Reshape ? "Reshape" : "Expand");
    node.add_input(addInts(result + "/shape", {int64_t(step.dims.size())}, step.dims));
    break;
  case DerivationStep::Kind::Gather:
    node.set_op_type("Gather");
    node.add_input(addInts(result + "/indices", step.dims, step.indices));
    break;
  case DerivationStep::Kind::Slice:
    node.set_op_type("Slice");
    node.add_input(addInts(result + "/begin", {1}, step.dims[0]));
    node.add_input(addInts(result + "/end", {1}, step.dims[1]));
    node.add_input(addInts(result + "/axis", {1}, int64_t(0)));
    break;
  case DerivationStep::Kind::Add: {
    node.set_op_type("Add");
    std::string addend = unique(result + "/addend");
    float single = static_cast<float>(step.addend);
    bool isDouble = type == ElementType::F64;
    const char *bytes = isDouble ? reinterpret_cast<const char *>(&step.addend)
                                 : reinterpret_cast<const char *>(&single);
    addInitializer(addend, type, {}, {bytes, elementBytes(type)});
    node.add_input(addend);
    break;
  }
  }
  first.push_back(std::move(node));
  return result;
}

std::string Rewriter::valueOf(const RestoredUse &use) {
  for (const Made &each : made)
    if (each.tensor == use.tensor && each.steps == use.steps)
      return each.name;
  std::string name = plan.tensors[use.tensor].name;
  for (const DerivationStep &step : use.steps)
    name = emit(name, plan.tensors[use.tensor].value.type, step);
  made.push_back({use.tensor, use.steps, name});
  return name;
}

/// Gives a BatchNormalization node ONNX's training mode: the node uses the statistics of
/// the batch, and has outputs for the updated running statistics.
void Rewriter::setTraining(const TrainingNorm &norm) {
  onnxpb::NodeProto &node = nodeOf(norm.node);
  auto attribute = [&](const char *name) -> onnxpb::AttributeProto & {
    for (onnxpb::AttributeProto &each : *node.mutable_attribute())
      if (each.name() == name)
        return each;
    onnxpb::AttributeProto &added = *node.add_attribute();
    added.set_name(name);
    return added;
  };
  onnxpb::AttributeProto &mode = attribute("training_mode");
  mode.set_type(onnxpb::AttributeProto::INT);
  mode.set_i(1);
  onnxpb::AttributeProto &momentum = attribute("momentum");
  momentum.set_type(onnxpb::AttributeProto::FLOAT);
  momentum.set_f(static_cast<float>(norm.momentum));
  while (node.output_size() < 3)
    node.add_output(unique(node.output(0) + (node.output_size() == 1 ? "/mean" : "/variance")));
}

void Rewriter::copyNode(const RestoredNode &copy) {
  const onnxpb::NodeProto &original = nodeOf(copy.node);
  onnxpb::NodeProto node = original;
  std::string result = unique(original.output(0) + "/copy");
  node.set_name(result);
  node.clear_metadata_props(); // they would name the original's parameters
  *node.mutable_output(0) = result;
  while (node.output_size() > 1)
    node.mutable_output()->RemoveLast();
  for (auto [operand, tensor] : copy.operands)
    *node.mutable_input(operand) = plan.tensors[tensor].name;
  for (auto [taker, operand] : copy.takers)
    *nodeOf(taker).mutable_input(operand) = result;
  after.push_back({&original, std::move(node)});
}

/// An Identity with the metadata of a detach, as the exporter writes one with
/// optimize=False.
onnxpb::NodeProto Rewriter::makeDetach(const std::string &from, const std::string &to,
                                       const std::string &name) {
  onnxpb::NodeProto node;
  node.set_name(to);
  node.set_op_type("Identity");
  node.add_input(from);
  node.add_output(to);
  auto &call = *node.add_metadata_props();
  call.set_key(kFxNode.str());
  call.set_value("%" + name + " : [num_users=1] = call_function" + kDetachTarget.str() +
                 "(args = (%" + from + ",), kwargs = {})");
  return node;
}

void Rewriter::detachUse(const DetachedUse &use) {
  onnxpb::NodeProto &reader = nodeOf(use.node);
  std::string &input = *reader.mutable_input(use.operand);
  std::string result = unique(input + "/" + use.name);
  before.push_back({&reader, makeDetach(input, result, use.name)});
  input = result;
}

/// Detaches an output of the graph. The output keeps its name, and the value before the
/// detach gets a new name.
void Rewriter::detachOutput(const DetachedOutput &output) {
  const std::string name = graph.outputs[output.output].name;
  for (onnxpb::NodeProto &node : *main.mutable_node())
    for (std::string &result : *node.mutable_output())
      if (result == name) {
        result = unique(name + "/" + output.name);
        for (onnxpb::NodeProto &reader : *main.mutable_node())
          for (std::string &input : *reader.mutable_input())
            if (input == name)
              input = result;
        after.push_back({&node, makeDetach(result, name, output.name)});
        return;
      }
}

/// Removes an initializer if the plan has replaced all of its uses. Also removes
/// Identity nodes that only gave such an initializer another name.
void Rewriter::dropUnused() {
  llvm::StringSet<> replaced, reads;
  for (const RestoredUse &use : plan.uses)
    if (const Initializer *was = graph.initializerOf(use.was)) {
      replaced.insert(was->name);
      for (const std::string &alias : was->aliases)
        replaced.insert(alias);
    }
  for (const JoinedUse &use : plan.joinedUses)
    if (const Initializer *was = graph.initializerOf(use.was))
      replaced.insert(was->name);
  for (const RestoredTensor &tensor : plan.tensors)
    if (tensor.isInFile)
      replaced.erase(tensor.name);
  for (const auto &output : main.output())
    reads.insert(output.name());
  forEachNode(main.node(), [&](const onnxpb::NodeProto &node) {
    for (const auto &attribute : node.attribute())
      for (const auto &output : attribute.g().output())
        reads.insert(output.name());
    bool isName =
        node.op_type() == "Identity" && node.input_size() == 1 && replaced.contains(node.input(0));
    if (!isName)
      for (const std::string &input : node.input())
        reads.insert(input);
  });
  llvm::StringSet<> restored;
  for (const RestoredTensor &tensor : plan.tensors)
    if (!tensor.isInFile)
      restored.insert(tensor.name);
  // An Identity node stays if its result is still read.
  auto *nodes = main.mutable_node();
  for (int i = nodes->size(); i-- > 0;) {
    const onnxpb::NodeProto &node = nodes->Get(i);
    if (node.op_type() != "Identity" || node.input_size() != 1 || node.output_size() != 1 ||
        !replaced.contains(node.input(0)))
      continue;
    if (reads.contains(node.output(0)) && !restored.contains(node.output(0)))
      reads.insert(node.input(0));
    else
      nodes->DeleteSubrange(i, 1);
  }
  auto isGone = [&](const auto &named) {
    return replaced.contains(named.name()) && !reads.contains(named.name());
  };
  auto sweep = [&](auto *list) {
    for (int i = list->size(); i-- > 0;)
      if (isGone(list->Get(i)))
        list->DeleteSubrange(i, 1);
  };
  sweep(main.mutable_initializer());
  sweep(main.mutable_value_info());
  sweep(main.mutable_input());
}

std::shared_ptr<const onnxpb::ModelProto> Rewriter::run() {
  for (int i = 0; i < source.graph().node_size(); ++i)
    positions[&source.graph().node(i)] = i;
  collectNames();
  bool hasSignature = !graphSignature(graph).empty();
  for (const RestoredUse &use : plan.uses) {
    onnxpb::NodeProto &node = nodeOf(use.node);
    while (node.input_size() <= use.operand)
      node.add_input();
    *node.mutable_input(use.operand) = valueOf(use);
  }
  for (const JoinedUse &use : plan.joinedUses) {
    std::string value = valueOf(use);
    *nodeOf(use.node).mutable_input(use.operand) = value;
  }
  for (const TrainingNorm &norm : plan.trainingNorms)
    setTraining(norm);
  for (const FlaggedLookup &lookup : plan.flaggedLookups) {
    auto flag = [&](StringRef key, int64_t value) {
      auto &property = *nodeOf(lookup.node).add_metadata_props();
      property.set_key(key.str());
      property.set_value(std::to_string(value));
    };
    if (lookup.paddingRow >= 0)
      flag(kPaddingRow, lookup.paddingRow);
    if (lookup.isScaledByCounts)
      flag(kScaledByCounts, 1);
  }
  for (const RestoredNode &each : plan.nodes)
    copyNode(each);
  for (const DetachedUse &use : plan.detachedUses)
    detachUse(use);
  for (const DetachedOutput &output : plan.detachedOutputs)
    detachOutput(output);
  dropUnused();
  for (const RestoredTensor &tensor : plan.tensors) {
    if (tensor.isInFile)
      continue;
    onnxpb::TensorProto &added =
        addInitializer(tensor.name, tensor.value.type, tensor.value.shape, tensor.value.bytes);
    if (!hasSignature)
      continue;
    auto &kind = *added.add_metadata_props();
    kind.set_key(kInputKind.str());
    kind.set_value(signatureKind(tensor.kind).str());
  }
  if (!first.empty() || !after.empty() || !before.empty()) {
    google::protobuf::RepeatedPtrField<onnxpb::NodeProto> nodes;
    for (onnxpb::NodeProto &node : first)
      *nodes.Add() = std::move(node);
    auto addAt = [&](auto &added, const onnxpb::NodeProto &place) {
      for (auto &[at, node] : added)
        if (at == &place)
          *nodes.Add() = std::move(node);
    };
    for (onnxpb::NodeProto &node : *main.mutable_node()) {
      addAt(before, node);
      nodes.Add()->Swap(&node);
      addAt(after, node);
    }
    main.mutable_node()->Swap(&nodes);
  }
  return model;
}

void restoreModel(OnnxModel &model, const Graph &graph, const RestorationPlan &plan) {
  model.proto = Rewriter(model, graph, plan).run();
}

} // namespace dpc::onnx
