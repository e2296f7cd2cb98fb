// Makes the template of the ONNX file, into which --save-onnx writes trained
// values.

#include "frontends/onnx/Model/SaveTemplate.h"

#include "OnnxSchema.pb.h"

#include "llvm/ADT/StringSet.h"

using google::protobuf::RepeatedPtrField;

namespace dpc::onnx {
namespace {

constexpr unsigned kLengthDelimited = 2; // protobuf's wire type

void appendVarint(std::string &to, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    to.push_back(static_cast<char>(value | 0x80));
  to.push_back(static_cast<char>(value));
}

/// The tag and length before a field of `bytes` bytes.
std::string fieldHeader(unsigned field, uint64_t bytes) {
  std::string header;
  appendVarint(header, field << 3 | kLengthDelimited);
  appendVarint(header, bytes);
  return header;
}

//===-- Inference forms ---------------------------------------------------===//

bool isOnnxOp(const onnxpb::NodeProto &node, const char *type) {
  return (node.domain().empty() || node.domain() == "ai.onnx") && node.op_type() == type;
}

/// The names that the nodes read, including those in subgraphs.
void collectReads(const RepeatedPtrField<onnxpb::NodeProto> &nodes, llvm::StringSet<> &reads) {
  for (const onnxpb::NodeProto &node : nodes) {
    for (const std::string &input : node.input())
      reads.insert(input);
    for (const onnxpb::AttributeProto &attribute : node.attribute())
      if (attribute.has_g()) {
        collectReads(attribute.g().node(), reads);
        for (const auto &output : attribute.g().output())
          reads.insert(output.name());
      }
  }
}

/// Removes the training mode of a BatchNormalization if nothing reads the
/// statistics that it updates.
void inferBatchNormalization(onnxpb::NodeProto &node, const llvm::StringSet<> &reads) {
  for (int i = 1; i < node.output_size(); ++i)
    if (reads.count(node.output(i)))
      return;
  while (node.output_size() > 1)
    node.mutable_output()->RemoveLast();
  auto *attributes = node.mutable_attribute();
  for (int i = attributes->size(); i-- > 0;)
    if (attributes->Get(i).name() == "training_mode")
      attributes->DeleteSubrange(i, 1);
}

/// Drops the third input of a Dropout, training_mode. Without it the node is the
/// identity.
void inferDropout(onnxpb::NodeProto &node) {
  if (node.input_size() > 2)
    node.mutable_input()->RemoveLast();
}

void toInference(RepeatedPtrField<onnxpb::NodeProto> &nodes, const llvm::StringSet<> &reads) {
  for (onnxpb::NodeProto &node : nodes) {
    if (isOnnxOp(node, "BatchNormalization"))
      inferBatchNormalization(node, reads);
    if (isOnnxOp(node, "Dropout"))
      inferDropout(node);
    for (onnxpb::AttributeProto &attribute : *node.mutable_attribute())
      if (attribute.has_g())
        toInference(*attribute.mutable_g()->mutable_node(), reads);
  }
}

/// Converts a list of nodes to their inference forms. `outputs` are the values of the
/// list that are read outside of it, and `name` gives the name of such a value.
template <typename Outputs, typename Name>
void toInference(RepeatedPtrField<onnxpb::NodeProto> &nodes, const Outputs &outputs, Name name) {
  llvm::StringSet<> reads;
  for (const auto &output : outputs)
    reads.insert(name(output));
  collectReads(nodes, reads);
  toInference(nodes, reads);
}

//===-- External data -----------------------------------------------------===//

class Writer {
public:
  explicit Writer(OnnxModel &model) : model(model) {}

  llvm::Expected<Tensor> read(const onnxpb::TensorProto &proto) {
    return readTensor(proto, model.proto, model.files, "tensor '" + proto.name() + "'");
  }

  /// Moves external data into the tensor.
  llvm::Error embed(onnxpb::TensorProto &proto) {
    if (proto.data_location() != onnxpb::TensorProto::EXTERNAL)
      return llvm::Error::success();
    llvm::Expected<Tensor> tensor = read(proto);
    if (!tensor)
      return tensor.takeError();
    proto.set_raw_data(tensor->bytes.data(), tensor->bytes.size());
    proto.clear_external_data();
    proto.clear_data_location();
    return llvm::Error::success();
  }

  llvm::Error embed(RepeatedPtrField<onnxpb::NodeProto> &nodes) {
    for (onnxpb::NodeProto &node : nodes)
      for (onnxpb::AttributeProto &attribute : *node.mutable_attribute()) {
        if (attribute.has_t())
          if (llvm::Error error = embed(*attribute.mutable_t()))
            return error;
        if (!attribute.has_g())
          continue;
        for (onnxpb::TensorProto &tensor : *attribute.mutable_g()->mutable_initializer())
          if (llvm::Error error = embed(tensor))
            return error;
        if (llvm::Error error = embed(*attribute.mutable_g()->mutable_node()))
          return error;
      }
    return llvm::Error::success();
  }

private:
  OnnxModel &model;
};

/// `from` without its initializers, which may be large.
onnxpb::GraphProto withoutInitializers(const onnxpb::GraphProto &from) {
  onnxpb::GraphProto graph;
  *graph.mutable_node() = from.node();
  if (from.has_name())
    graph.set_name(from.name());
  if (from.has_doc_string())
    graph.set_doc_string(from.doc_string());
  *graph.mutable_sparse_initializer() = from.sparse_initializer();
  *graph.mutable_input() = from.input();
  *graph.mutable_output() = from.output();
  *graph.mutable_value_info() = from.value_info();
  *graph.mutable_quantization_annotation() = from.quantization_annotation();
  *graph.mutable_metadata_props() = from.metadata_props();
  return graph;
}

/// `from` without its graph and without the parts that only training needs.
onnxpb::ModelProto withoutGraph(const onnxpb::ModelProto &from) {
  onnxpb::ModelProto model;
  model.set_ir_version(from.ir_version());
  *model.mutable_opset_import() = from.opset_import();
  if (from.has_producer_name())
    model.set_producer_name(from.producer_name());
  if (from.has_producer_version())
    model.set_producer_version(from.producer_version());
  if (from.has_domain())
    model.set_domain(from.domain());
  if (from.has_model_version())
    model.set_model_version(from.model_version());
  if (from.has_doc_string())
    model.set_doc_string(from.doc_string());
  *model.mutable_metadata_props() = from.metadata_props();
  *model.mutable_functions() = from.functions();
  *model.mutable_configuration() = from.configuration();
  return model;
}

} // namespace

llvm::Expected<SaveTemplate> buildSaveTemplate(OnnxModel &source,
                                               llvm::function_ref<bool(llvm::StringRef)> isState,
                                               const SpecPlan &plan) {
  Writer writer(source);
  const onnxpb::GraphProto &main = source.proto->graph();
  onnxpb::GraphProto graph = withoutInitializers(main);
  onnxpb::ModelProto model = withoutGraph(*source.proto);
  toInference(*graph.mutable_node(), graph.output(),
              [](const auto &output) { return output.name(); });
  if (llvm::Error error = writer.embed(*graph.mutable_node()))
    return std::move(error);
  if (plan.countDevices() > 1)
    writeShardingSpecs(model, graph, plan);
  for (onnxpb::FunctionProto &function : *model.mutable_functions()) {
    toInference(*function.mutable_node(), function.output(),
                [](const std::string &output) { return output; });
    if (llvm::Error error = writer.embed(*function.mutable_node()))
      return std::move(error);
  }

  // The serialized initializers, which come after the other fields of the graph. Each may
  // end in a hole.
  struct Piece {
    std::string bytes;
    std::optional<TemplateHole> hole;
  };
  std::vector<Piece> pieces;
  uint64_t graphBytes = graph.ByteSizeLong();
  for (const onnxpb::TensorProto &initializer : main.initializer()) {
    Piece piece;
    std::string body;
    uint64_t held = 0;
    if (isState(initializer.name())) {
      llvm::Expected<Tensor> tensor = writer.read(initializer);
      if (!tensor)
        return tensor.takeError();
      onnxpb::TensorProto shell;
      *shell.mutable_dims() = initializer.dims();
      shell.set_data_type(initializer.data_type());
      shell.set_name(initializer.name());
      shell.set_doc_string(initializer.doc_string());
      *shell.mutable_metadata_props() = initializer.metadata_props();
      held = tensor->bytes.size();
      body =
          shell.SerializeAsString() + fieldHeader(onnxpb::TensorProto::kRawDataFieldNumber, held);
      piece.hole = TemplateHole{initializer.name(), 0, tensor->type, held};
    } else {
      onnxpb::TensorProto copy = initializer;
      if (llvm::Error error = writer.embed(copy))
        return std::move(error);
      body = copy.SerializeAsString();
    }
    piece.bytes =
        fieldHeader(onnxpb::GraphProto::kInitializerFieldNumber, body.size() + held) + body;
    graphBytes += piece.bytes.size() + held;
    pieces.push_back(std::move(piece));
  }

  SaveTemplate result;
  result.bytes = model.SerializeAsString() +
                 fieldHeader(onnxpb::ModelProto::kGraphFieldNumber, graphBytes) +
                 graph.SerializeAsString();
  for (Piece &piece : pieces) {
    result.bytes += piece.bytes;
    if (!piece.hole)
      continue;
    piece.hole->offset = result.bytes.size();
    result.fileBytes += piece.hole->bytes;
    result.holes.push_back(std::move(*piece.hole));
  }
  result.fileBytes += result.bytes.size();
  return result;
}

} // namespace dpc::onnx
