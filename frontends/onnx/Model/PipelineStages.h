// The pipeline stages that an ONNX file assigns to its nodes
// (NodeDeviceConfigurationProto.pipeline_stage).

#ifndef DPC_FRONTENDS_ONNX_MODEL_PIPELINESTAGES_H
#define DPC_FRONTENDS_ONNX_MODEL_PIPELINESTAGES_H

#include "frontends/onnx/Model/ShardingSpecs.h"

namespace dpc::onnx {

/// Returns the name of the first node of each of `parts` parts but the first. A part has the nodes
/// with its number as their stage, and the nodes between them. Only configurations for the devices
/// of `mesh` count. Empty if no node has a stage. Fails, with the names of nodes, if a number is
/// out of range, if a part has no node, if a node reads what a node of a later stage makes, so that
/// the stages form a cycle, or if nodes of two stages alternate in the file.
llvm::Expected<std::vector<std::string>>
readPipelineStages(const OnnxModel &model, const std::vector<SpecAxis> &mesh, int64_t parts);

/// Writes a stage into each node of `graph`: that of the last node before it, or the node itself,
/// that starts a part. `starts` has the name of the first node of each part but the first. Writes
/// nothing if `graph` lacks one of these nodes. The device configuration named `configuration` must
/// be part of the model.
void writePipelineStages(onnxpb::GraphProto &graph, const std::vector<std::string> &starts,
                         const std::string &configuration);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_PIPELINESTAGES_H
