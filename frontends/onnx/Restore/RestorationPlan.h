// Which parameters of the module are put back.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_RESTORATIONPLAN_H
#define DPC_FRONTENDS_ONNX_RESTORE_RESTORATIONPLAN_H

#include "frontends/onnx/Model/Graph.h"
#include "frontends/onnx/Restore/Derivation.h"
#include "frontends/onnx/Restore/UndoViews.h"

#include "llvm/Support/raw_ostream.h"

#include <array>

namespace dpc::onnx {

/// What a restored tensor is to the module, in the words of PyTorch's graph
/// signature.
enum class TensorKind { Parameter, Buffer, Constant };

/// A tensor that the restored model has under the module's name.
struct RestoredTensor {
  std::string name;
  TensorKind kind = TensorKind::Parameter;
  Tensor value;
  /// The file has it already, under this name and with this value.
  bool isInFile = false;
  /// The file's names for what becomes this tensor.
  std::vector<std::string> aliases;
};

/// An operand of the file's graph that a restored tensor takes over.
struct RestoredUse {
  /// Positions in Graph::nodes and in its inputs; one past the last input when
  /// the exporter dropped the operand because it was zero.
  int32_t node;
  int32_t operand;
  /// What stands there; kNoValue for a dropped operand.
  ValueId was;
  /// Position in RestorationPlan::tensors.
  size_t tensor;
  /// From the tensor to the operand.
  Derivation steps;
};

/// An operand of a recurrent operator, which is joined from several tensors: the
/// rows of one after those of another, and in each the gates in another order.
struct JoinedUse {
  int32_t node;
  int32_t operand;
  ValueId was;
  /// Positions in RestorationPlan::tensors.
  llvm::SmallVector<size_t, 4> tensors;
  /// Each tensor's rows are as many blocks of one size, the gates; the operand
  /// has them in this order.
  llvm::SmallVector<int64_t, 4> gates;
};

/// A node that the exporter merged with an equal one, of equal parameters.
struct RestoredNode {
  /// The node that was kept, to be copied.
  int32_t node;
  /// Its operands that are other tensors in the copy: operand, position in
  /// RestorationPlan::tensors.
  std::vector<std::pair<int32_t, size_t>> operands;
  /// Who takes the copy's first result: node and operand.
  std::vector<std::pair<int32_t, int32_t>> takers;
};

/// A BatchNormalization that the module ran in training mode.
struct TrainingNorm {
  int32_t node;
  /// ONNX's: the weight of the old statistics.
  double momentum;
};

/// A lookup whose table the module trains in its own way.
struct FlaggedLookup {
  int32_t node;
  /// The row that gets no gradient (padding_idx); -1: none.
  int64_t paddingRow = -1;
  /// Whether the gradient of each place is divided by the number of places that
  /// read the same row (scale_grad_by_freq).
  bool isScaledByCounts = false;
};

/// A value that the module reads detached, at the operand that the exporter left
/// as it is.
struct DetachedUse {
  int32_t node;
  int32_t operand;
  /// The module's name of the call ("detach_1").
  std::string name;
};

/// An output of the graph that the module detaches.
struct DetachedOutput {
  /// Position in Graph::outputs.
  size_t output;
  std::string name;
};

/// What is put back, as a plain object: found from what the exporter wrote
/// (names) and what the tensors hold (values), checked without any rewriting.
struct RestorationPlan {
  std::vector<RestoredTensor> tensors;
  std::vector<RestoredUse> uses;
  std::vector<JoinedUse> joinedUses;
  std::vector<RestoredNode> nodes;
  std::vector<TrainingNorm> trainingNorms;
  std::vector<FlaggedLookup> flaggedLookups;
  std::vector<DetachedUse> detachedUses;
  std::vector<DetachedOutput> detachedOutputs;
  /// One message for each thing that only another export can give back.
  std::vector<std::string> lost;
  /// Calls of clone that the exporter dropped, with a detach before it if the
  /// module has one.
  std::vector<std::string> droppedCopies;
  /// Tensors of which the file does not tell all, by name.
  std::vector<std::pair<std::string, Doubt>> doubts;

  bool empty() const {
    return uses.empty() && joinedUses.empty() && nodes.empty() && trainingNorms.empty() &&
           flaggedLookups.empty() && detachedUses.empty() && detachedOutputs.empty();
  }

  /// Is the plan about `graph`: operands exist and are planned once, names are
  /// given once and are no other value's.
  llvm::Error check(const Graph &graph) const;
  /// Does the restored model compute what the file's does: every operand has
  /// the bits that were there.
  llvm::Error verify(const Graph &graph) const;

  /// One row a restored tensor, and one a flag of a lookup: name, type, number of
  /// uses, what the file has instead.
  std::vector<std::array<std::string, 4>> rows(const Graph &graph) const;
  /// The rows as a table.
  void print(const Graph &graph, llvm::raw_ostream &os) const;
  /// "12 parameters under their module's names: 8 split, 1 tied, .."; empty
  /// when nothing is restored.
  std::string summary(const Graph &graph) const;
  /// "2 values that the module does not differentiate (detach, detach_1)"; empty when there
  /// is none.
  std::string detachedSummary() const;
  /// Tables of rows that are looked up several times at constant places: in which
  /// order the module has them, the file does not say.
  std::vector<std::string> reorderedTables() const;
  /// What the file does not tell of restored tensors: a line for each kind.
  std::vector<std::string> doubtLines() const;
};

/// What the tensors of `use` are joined to; nullopt where their rows do not fall
/// into gates or make no tensor of this shape.
std::optional<Tensor> join(const RestorationPlan &plan, const JoinedUse &use,
                           llvm::ArrayRef<int64_t> shape);

/// Plans what the metadata of PyTorch's default exporter identifies.
RestorationPlan planByMetadata(const Graph &graph);
/// Plans what the names and values of TorchScript's exporter identify.
RestorationPlan planByNames(const Graph &graph);
/// The one of both that fits the exporter; empty for any other.
RestorationPlan planRestoration(const Graph &graph);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_RESTORATIONPLAN_H
