// Reads and writes the pipeline stages of nodes.

#include "frontends/onnx/Model/PipelineStages.h"

#include "frontends/onnx/Model/Failure.h"

#include "OnnxSchema.pb.h"

#include "llvm/ADT/STLExtras.h"

#include <optional>
#include <set>

namespace dpc::onnx {

/// The stage of `node` in the configurations of `names`; nullopt if it has none.
static std::optional<int64_t> stageOf(const onnxpb::NodeProto &node,
                                      const std::set<std::string> &names) {
  for (const onnxpb::NodeDeviceConfigurationProto &own : node.device_configurations())
    if (own.has_pipeline_stage() && names.count(own.configuration_id()))
      return own.pipeline_stage();
  return std::nullopt;
}

llvm::Expected<std::vector<std::string>>
readPipelineStages(const OnnxModel &model, const std::vector<SpecAxis> &mesh, int64_t parts) {
  int64_t devices = 1;
  for (const SpecAxis &axis : mesh)
    devices *= axis.size;
  std::set<std::string> names;
  for (const onnxpb::DeviceConfigurationProto &configuration : model.proto->configuration())
    if (configuration.num_devices() == devices)
      names.insert(configuration.name());
  /// The last stage of the nodes on which a value depends, and the node of this stage.
  struct Source {
    int64_t stage = 0;
    std::string node;
  };
  std::map<std::string, Source> sources;
  std::vector<std::string> starts;
  std::string last; // the last node with a stage
  bool hasStages = false;
  for (const onnxpb::NodeProto &node : model.proto->graph().node()) {
    Source source;
    for (const std::string &input : node.input())
      if (auto found = sources.find(input);
          found != sources.end() && found->second.stage > source.stage)
        source = found->second;
    if (std::optional<int64_t> stage = stageOf(node, names)) {
      if (*stage < 0 || *stage >= parts)
        return fail(llvm::formatv("{0}: node '{1}' is in pipeline stage {2} of {3}", model.path,
                                  node.name(), *stage, parts));
      if (source.stage > *stage)
        return fail(llvm::formatv("{0}: pipeline stages form a cycle: node '{1}' of stage {2} "
                                  "reads what node '{3}' of stage {4} makes",
                                  model.path, node.name(), *stage, source.node, source.stage));
      if (*stage < int64_t(starts.size()))
        return fail(llvm::formatv("{0}: node '{1}' of pipeline stage {2} comes after node '{3}' of "
                                  "stage {4}; the nodes of a stage must follow each other",
                                  model.path, node.name(), *stage, last, starts.size()));
      if (*stage > int64_t(starts.size()) + 1)
        return fail(llvm::formatv("{0}: no node is in pipeline stage {1}, but node '{2}' is in "
                                  "stage {3}",
                                  model.path, starts.size() + 1, node.name(), *stage));
      if (*stage > int64_t(starts.size()))
        starts.push_back(node.name());
      last = node.name();
      source = {*stage, node.name()};
      hasStages = true;
    }
    for (const std::string &output : node.output())
      sources[output] = source;
  }
  if (hasStages && int64_t(starts.size()) + 1 < parts)
    return fail(llvm::formatv("{0}: its nodes are in {1} pipeline stages, not in {2}; --stages "
                              "comes before the stages in the file",
                              model.path, starts.size() + 1, parts));
  return starts;
}

void writePipelineStages(onnxpb::GraphProto &graph, const std::vector<std::string> &starts,
                         const std::string &configuration) {
  auto hasNode = [&](const std::string &name) {
    return llvm::any_of(graph.node(),
                        [&](const onnxpb::NodeProto &node) { return node.name() == name; });
  };
  if (starts.empty() || !llvm::all_of(starts, hasNode))
    return;
  size_t stage = 0;
  for (onnxpb::NodeProto &node : *graph.mutable_node()) {
    if (stage < starts.size() && node.name() == starts[stage])
      ++stage;
    onnxpb::NodeDeviceConfigurationProto *own = node.device_configurations_size()
                                                    ? node.mutable_device_configurations(0)
                                                    : node.add_device_configurations();
    own->set_configuration_id(configuration);
    own->set_pipeline_stage(int32_t(stage));
  }
}

} // namespace dpc::onnx
