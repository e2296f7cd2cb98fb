// Layouts of tensors over devices as an ONNX file states them (ShardingSpecProto).

#ifndef DPC_FRONTENDS_ONNX_MODEL_SHARDINGSPECS_H
#define DPC_FRONTENDS_ONNX_MODEL_SHARDINGSPECS_H

#include "frontends/onnx/Model/Load.h"

#include "llvm/ADT/SmallVector.h"

#include <map>
#include <vector>

namespace dpc::onnxpb {
class GraphProto;
class ModelProto;
} // namespace dpc::onnxpb

namespace dpc::onnx {

/// An axis of the mesh. Devices are numbered row-major, with the last axis fastest.
struct SpecAxis {
  std::string name;
  int64_t size = 1;
};

/// A factor of a dimension, and the mesh axes that cut it, outermost first.
struct SpecFactor {
  int64_t size = 1;
  llvm::SmallVector<std::string, 2> axes;
};

/// Each dimension as a product of factors, major to minor.
using SpecLayout = std::vector<std::vector<SpecFactor>>;

/// The layouts of a program's tensors, by the names of initializers and inputs.
struct SpecPlan {
  std::vector<SpecAxis> mesh;
  std::map<std::string, SpecLayout> tensors;
  /// The name of the first node of each part of a pipeline but the first.
  std::vector<std::string> starts;

  int64_t countDevices() const;
};

/// The layouts that the sharding specs of a file request, expressed with axes of `mesh`.
/// The key of a layout is the name of an initializer or input, or of the node whose first
/// output the tensor is. Specs for another number of devices are ignored, and `notes` says
/// so. An error about a spec names its tensor.
llvm::Expected<std::map<std::string, SpecLayout>>
readShardingSpecs(const OnnxModel &model, const std::vector<SpecAxis> &mesh,
                  llvm::raw_ostream &notes);

/// Maps the name of a value to the name of the node whose first output it is, if this node
/// has a name. A value is left out if an initializer, an input or any node has its name.
std::map<std::string, std::string> findMakers(const OnnxModel &model);

/// Writes the layout of each tensor of `plan` as a sharding spec into the first node of
/// `graph` that reads the tensor. Writes a device configuration, named after the mesh, into
/// `model`. Also writes the pipeline stages of nodes (writePipelineStages). Existing specs and
/// configurations are removed.
void writeShardingSpecs(onnxpb::ModelProto &model, onnxpb::GraphProto &graph, const SpecPlan &plan);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_SHARDINGSPECS_H
