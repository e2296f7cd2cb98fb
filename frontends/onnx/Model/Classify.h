// Decides which initializers of a graph are trained.

#ifndef DPC_FRONTENDS_ONNX_MODEL_CLASSIFY_H
#define DPC_FRONTENDS_ONNX_MODEL_CLASSIFY_H

#include "frontends/onnx/Model/Graph.h"
#include "frontends/onnx/Model/TrainingRequests.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace dpc::onnx {

/// The role of an initializer in a training run.
enum class Role {
  /// A tensor that is trained.
  Parameter,
  /// A parameter that is excluded from training. It is state, like a trained parameter,
  /// so the importer does not fold its values.
  Frozen,
  /// State that is not trained, such as running statistics.
  Buffer,
  /// A tensor that never changes.
  Constant,
};
llvm::StringRef roleName(Role role);

/// The role of one initializer, and the reason for it.
struct Classified {
  Role role = Role::Constant;
  /// Short enough for a table row: "marked PARAMETER".
  std::string reason;
  /// The names, in the PyTorch module, of the parameters that the initializer represents
  /// under another name, as far as metadata tells.
  std::vector<std::string> sources;
  /// Whether the state_dict of the PyTorch module has the initializer, as far as the file
  /// tells. If so, files with the saved state of that module have the initializer too.
  bool isOfModule = true;

  Classified() = default;
  Classified(Role role, std::string reason, std::vector<std::string> sources = {})
      : role(role), reason(std::move(reason)), sources(std::move(sources)) {}
};

/// Decides the role of every initializer of `graph`. The result is in the order of the
/// initializers. The graph signature below is PyTorch's list of the parameters, buffers
/// and results of the exported module (GraphSignature). The first rule that applies
/// decides:
///
///  0. A tensor that the PyTorch module's forward() updates is a buffer.
///  1. A tensor of integers or booleans is a constant.
///  2. A tensor that only BatchNormalization reads, as its mean or variance, is a buffer.
///  3. If the exporter recorded a kind: a PARAMETER is a parameter, a BUFFER is a buffer,
///     and a CONSTANT_TENSOR is a constant. A PARAMETER that is a table of sinusoids is a
///     constant, unless the graph is imported as exported (see fixSinusoids in Import.cpp).
///  4. If the exporter recorded `folded_from` (the values it computed the tensor from) and
///     the graph has a signature: the tensor is a parameter if one of these values is a
///     PARAMETER of the signature, and the tensor has rank 1 or more, is no mask and has a
///     gradient path. In all other cases it is a constant.
///  5. If the graph signature has an entry with the name of the tensor: a PARAMETER is a
///     parameter, a BUFFER is a buffer, and any other entry is a constant. The exporter has
///     then lost the kind of rule 3.
///  6. The values, the uses or the name of the tensor may show that it is a constant: a
///     mask, a position table, a scalar, a statistic of an input, an initial state of
///     zeros, a name such as `inv_freq`, or a scale of 1 or bias of 0 of a normalisation.
///  7. A tensor without a differentiable path to an output is a constant. If the graph has
///     a signature: a node that reads the tensor may name in its fx text (kFxNode) a
///     PARAMETER that no initializer represents, or the exporter may have folded a BatchNorm
///     into that node. In both cases the tensor is a parameter. If initializers represent
///     every PARAMETER of the signature, the tensor is a constant.
///  8. Any other tensor is a parameter.
///
/// Then the requests of the command line apply (TrainingRequests). A parameter that
/// they exclude from training is frozen.
llvm::Expected<std::vector<Classified>> classify(const Graph &graph,
                                                 llvm::ArrayRef<TrainingRequest> requests);

/// One row per initializer: name, type, role, reason.
void printClassification(const Graph &graph, llvm::ArrayRef<Classified> roles,
                         llvm::raw_ostream &os);

/// One line for each property of the PyTorch module that the export lost, with the export
/// call that keeps it: BatchNorm folded into a convolution, BatchNorm exported for
/// inference although the module trains, equal parameters merged, tied weights
/// split, parameters transposed or computed under another name, parameters missing.
std::vector<std::string> describeExportLosses(const Graph &graph, llvm::ArrayRef<Classified> roles);

/// For each value of `graph`: whether a path of operators leads from the value to an
/// output, and each of these operators has a gradient.
std::vector<bool> differentiablyReachesOutput(const Graph &graph);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_CLASSIFY_H
