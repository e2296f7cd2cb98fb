// Writes a restored model; shared by the files that apply a plan.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_REWRITER_H
#define DPC_FRONTENDS_ONNX_RESTORE_REWRITER_H

#include "frontends/onnx/Model/Load.h"
#include "frontends/onnx/Restore/RestorationPlan.h"

#include "OnnxSchema.pb.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

#include <map>

namespace dpc::onnx {

/// Applies one plan. RewriteModel.cpp rewrites nodes of the file; RewriteJoined.cpp
/// adds the nodes that join tensors for recurrent operators.
class Rewriter {
public:
  Rewriter(const OnnxModel &source, const Graph &graph, const RestorationPlan &plan)
      : source(*source.proto), graph(graph), plan(plan),
        model(std::make_shared<onnxpb::ModelProto>(*source.proto)), main(*model->mutable_graph()) {}

  std::shared_ptr<const onnxpb::ModelProto> run();

private:
  std::string unique(const std::string &name);
  void collectNames();
  onnxpb::NodeProto &nodeOf(int32_t node) {
    return *main.mutable_node(positions.lookup(graph.nodes[node].proto));
  }
  onnxpb::TensorProto &addInitializer(const std::string &name, ElementType type,
                                      llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<char> bytes);
  std::string addInts(const std::string &name, llvm::ArrayRef<int64_t> dims,
                      llvm::ArrayRef<int64_t> values);
  std::string emit(const std::string &from, ElementType type, const DerivationStep &step);
  std::string valueOf(const RestoredUse &use);
  onnxpb::NodeProto &addFirst(const std::string &type, const std::string &name,
                              llvm::ArrayRef<std::string> inputs);
  std::vector<std::string> blocksOf(size_t tensor, size_t count);
  std::string joinRows(const std::string &name, llvm::ArrayRef<std::string> parts,
                       llvm::ArrayRef<int64_t> shape);
  std::string valueOf(const JoinedUse &use);
  void setTraining(const TrainingNorm &norm);
  void copyNode(const RestoredNode &copy);
  onnxpb::NodeProto makeDetach(const std::string &from, const std::string &to,
                               const std::string &name);
  void detachUse(const DetachedUse &use);
  void detachOutput(const DetachedOutput &output);
  void dropUnused();

  const onnxpb::ModelProto &source;
  const Graph &graph;
  const RestorationPlan &plan;
  std::shared_ptr<onnxpb::ModelProto> model;
  onnxpb::GraphProto &main;
  llvm::StringSet<> names;
  llvm::DenseMap<const onnxpb::NodeProto *, int> positions;
  /// Values made so far, by tensor and steps.
  struct Made {
    size_t tensor;
    Derivation steps;
    std::string name;
  };
  std::vector<Made> made;
  /// The names of the row blocks that tensors were split into, by tensor and number
  /// of blocks.
  std::map<std::pair<size_t, size_t>, std::vector<std::string>> blocks;
  /// Nodes that compute the exporter's folded tensors; they come before all other
  /// nodes.
  std::vector<onnxpb::NodeProto> first;
  /// Nodes to add after or before a node of the file, by that node.
  std::vector<std::pair<const onnxpb::NodeProto *, onnxpb::NodeProto>> after, before;
};

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_REWRITER_H
