// The plan that restores the parameters of the PyTorch module.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_RESTORATIONPLAN_H
#define DPC_FRONTENDS_ONNX_RESTORE_RESTORATIONPLAN_H

#include "frontends/onnx/Model/Graph.h"
#include "frontends/onnx/Restore/Derivation.h"
#include "frontends/onnx/Restore/UndoViews.h"

#include "llvm/Support/raw_ostream.h"

#include <array>

namespace dpc::onnx {

/// The kind of a restored tensor, in the terms of PyTorch's graph signature.
enum class TensorKind { Parameter, Buffer, Constant };

/// A tensor that the restored model has under the module's name.
struct RestoredTensor {
  std::string name;
  TensorKind kind = TensorKind::Parameter;
  Tensor value;
  /// Whether the file already has the tensor under this name and with this value.
  bool isInFile = false;
  /// The names in the file of tensors that become this tensor.
  std::vector<std::string> aliases;
};

/// An operand of the file's graph that a restored tensor replaces.
struct RestoredUse {
  /// Positions in Graph::nodes and in the node's inputs. The operand is one past
  /// the last input if the exporter dropped it because it was zero.
  int32_t node;
  int32_t operand;
  /// The value at this operand in the file; kNoValue for a dropped operand.
  ValueId was;
  /// Position in RestorationPlan::tensors.
  size_t tensor;
  /// The steps from the tensor to the operand.
  Derivation steps;
};

/// An operand of a recurrent operator. The operand consists of several tensors of the
/// module: it concatenates their rows, and has the gates of each tensor in another order
/// than the module.
struct JoinedUse {
  int32_t node;
  int32_t operand;
  ValueId was;
  /// Positions in RestorationPlan::tensors.
  llvm::SmallVector<size_t, 4> tensors;
  /// The rows of each tensor form blocks of one size, one per gate. The operand has
  /// the gates in this order.
  llvm::SmallVector<int64_t, 4> gates;
};

/// A node that the exporter merged with an equal one, because their parameters were
/// equal.
struct RestoredNode {
  /// The merged node of the file, which is copied.
  int32_t node;
  /// The operands that read other tensors in the copy: operand number, position in
  /// RestorationPlan::tensors.
  std::vector<std::pair<int32_t, size_t>> operands;
  /// The readers of the copy's first result: node and operand number.
  std::vector<std::pair<int32_t, int32_t>> takers;
};

/// A BatchNormalization that the module ran in training mode.
struct TrainingNorm {
  int32_t node;
  /// ONNX's momentum: the weight of the old statistics.
  double momentum;
};

/// A Gather that was exported from nn.Embedding or nn.EmbeddingBag with a flag that
/// changes the gradient of the table.
struct FlaggedLookup {
  int32_t node;
  /// The row that gets no gradient (padding_idx); -1: none.
  int64_t paddingRow = -1;
  /// Whether the gradient of each index is divided by the number of indices that
  /// read the same row (scale_grad_by_freq).
  bool isScaledByCounts = false;
};

/// An operand that the module detaches. The exporter dropped the call of detach, so
/// gradients would pass the operand in the file.
struct DetachedUse {
  int32_t node;
  int32_t operand;
  /// The name of the detach call in the module ("detach_1").
  std::string name;
};

/// An output of the graph that the module detaches.
struct DetachedOutput {
  /// Position in Graph::outputs.
  size_t output;
  std::string name;
};

/// The restoration as a plain object. The functions below derive it from metadata or
/// names, and from the values of tensors. check() and verify() run before the model is
/// rewritten.
struct RestorationPlan {
  std::vector<RestoredTensor> tensors;
  std::vector<RestoredUse> uses;
  std::vector<JoinedUse> joinedUses;
  std::vector<RestoredNode> nodes;
  std::vector<TrainingNorm> trainingNorms;
  std::vector<FlaggedLookup> flaggedLookups;
  std::vector<DetachedUse> detachedUses;
  std::vector<DetachedOutput> detachedOutputs;
  /// One message for each property of the module that the file has lost, and that only a
  /// new export can bring back.
  std::vector<std::string> lost;
  /// Calls of clone that the exporter dropped. If the module has a detach before such a
  /// clone, the exporter dropped the detach too.
  std::vector<std::string> droppedCopies;
  /// Restored tensors that the file does not determine completely, by name.
  std::vector<std::pair<std::string, Doubt>> doubts;

  bool empty() const {
    return uses.empty() && joinedUses.empty() && nodes.empty() && trainingNorms.empty() &&
           flaggedLookups.empty() && detachedUses.empty() && detachedOutputs.empty();
  }

  /// Checks that the plan fits `graph`: operands exist and are planned once, and
  /// each new name is given once and belongs to no other value.
  llvm::Error check(const Graph &graph) const;
  /// Checks that the restored model computes the same as the file: every operand
  /// has the same bits as before.
  llvm::Error verify(const Graph &graph) const;

  /// One row per restored tensor, and one row per flag of a lookup. A row has the name,
  /// the type, the number of uses, and the form in which the file has the tensor.
  std::vector<std::array<std::string, 4>> rows(const Graph &graph) const;
  /// The rows as a table.
  void print(const Graph &graph, llvm::raw_ostream &os) const;
  /// "1 tied again, 8 split from equal ones, .."; empty if nothing is restored.
  std::string summary(const Graph &graph) const;
  /// "2 values that the module does not differentiate (detach, detach_1)"; empty when there
  /// is none.
  std::string detachedSummary() const;
  /// Restored tables that the exporter looked up at constant indices. The file does not
  /// tell the order of their rows in the module.
  std::vector<std::string> reorderedTables() const;
  /// The doubts about restored tensors: one line for each kind.
  std::vector<std::string> doubtLines() const;
};

/// The tensors of `use`, joined; nullopt if their rows do not divide into gates or
/// do not give a tensor of this shape.
std::optional<Tensor> join(const RestorationPlan &plan, const JoinedUse &use,
                           llvm::ArrayRef<int64_t> shape);

/// Plans by the metadata of PyTorch's default exporter.
RestorationPlan planByMetadata(const Graph &graph);
/// Plans by the names and values that TorchScript's exporter leaves.
RestorationPlan planByNames(const Graph &graph);
/// Chooses the function for the exporter of `graph`; an empty plan for any other
/// exporter.
RestorationPlan planRestoration(const Graph &graph);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_RESTORATIONPLAN_H
