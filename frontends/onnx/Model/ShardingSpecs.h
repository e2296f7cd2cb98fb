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

/// An axis of the mesh: devices are numbered row-major, the last axis fastest.
struct SpecAxis {
  std::string name;
  int64_t size = 1;
};

/// A run of indices of a dimension, and the axes that cut it, outermost first.
struct SpecFactor {
  int64_t size = 1;
  llvm::SmallVector<std::string, 2> axes;
};

/// Each dimension as a product of factors, major to minor.
using SpecLayout = std::vector<std::vector<SpecFactor>>;

/// The plan of a program: layouts by the names of initializers and inputs.
struct SpecPlan {
  std::vector<SpecAxis> mesh;
  std::map<std::string, SpecLayout> tensors;

  int64_t countDevices() const;
};

/// What a file's specs ask for, by the name of an initializer or input, or of the
/// node that makes the tensor: which axes of `mesh` cut it. A file for another number
/// of devices asks for nothing, which `notes` says. Errors name the tensor, and both
/// what it asks for and what there is.
llvm::Expected<std::map<std::string, SpecLayout>>
readShardingSpecs(const OnnxModel &model, const std::vector<SpecAxis> &mesh,
                  llvm::raw_ostream &notes);

/// Names of the nodes that make values as their first output, by the values' names.
/// One that an initializer, an input or a node has too is not among them.
std::map<std::string, std::string> findMakers(const OnnxModel &model);

/// Writes `plan` into the nodes of `graph` that read its tensors, and a configuration
/// that is named after the mesh into `model`, in the place of any others.
void writeShardingSpecs(onnxpb::ModelProto &model, onnxpb::GraphProto &graph, const SpecPlan &plan);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_SHARDINGSPECS_H
