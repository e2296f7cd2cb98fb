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
  /// Trained.
  Parameter,
  /// A parameter that is excluded from training. Its values are state, as those of
  /// a trained parameter: import does not fold them.
  Frozen,
  /// State that is not trained, such as running statistics.
  Buffer,
  /// Never changes.
  Constant,
};
llvm::StringRef roleName(Role role);

/// The role of one initializer, and the reason for it.
struct Classified {
  Role role = Role::Constant;
  /// Short enough for a table row: "marked PARAMETER".
  std::string reason;
  /// The parameters of the module that the initializer represents under another
  /// name, as far as metadata tells.
  std::vector<std::string> sources;
  /// The module's state_dict has the initializer, as far as the file tells. Files
  /// with the saved state of the module then have it too.
  bool isOfModule = true;

  Classified() = default;
  Classified(Role role, std::string reason, std::vector<std::string> sources = {})
      : role(role), reason(std::move(reason)), sources(std::move(sources)) {}
};

/// Decides the role of every initializer of `graph` (the result has their order).
/// The first rule that applies decides:
///
///  0. a tensor that forward() updates is a buffer;
///  1. integers and booleans are constants;
///  2. a tensor that only BatchNormalization reads, as its mean or variance, is a
///     buffer;
///  3. a recorded kind: PARAMETER is a parameter, BUFFER a buffer,
///     CONSTANT_TENSOR a constant (and a restored model's position encodings,
///     see Import.cpp);
///  4. `folded_from`: if the exporter computed it from a PARAMETER of the graph
///     signature, and it is more than a rank-0 scalar or a mask, a parameter; if from
///     no PARAMETER, a constant;
///  5. an initializer whose name is the target of a PARAMETER or BUFFER of the graph
///     signature has that role (the exporter lost the mark);
///  6. masks, position tables, scalars, input statistics and neutral
///     normalisation operands are constants;
///  7. with a graph signature: a node whose fx text names a PARAMETER that no
///  7. with a graph signature: if a node that reads it names in its fx text a PARAMETER that
///     no operand accounts for, or if the exporter folded a BatchNorm into that node,
///     it is a parameter. If every PARAMETER is accounted for, it is a constant;
///  8. a float with a differentiable path to an output is a parameter, any other
///     initializer a constant.
///
/// Then the requests of the command line apply (TrainingRequests). A parameter that
/// they exclude from training is frozen.
llvm::Expected<std::vector<Classified>> classify(const Graph &graph,
                                                 llvm::ArrayRef<TrainingRequest> requests);

/// One row per initializer: name, type, role, reason.
void printClassification(const Graph &graph, llvm::ArrayRef<Classified> roles,
                         llvm::raw_ostream &os);

/// One line for each property of the module that the export lost, with the export
/// call that keeps it: BatchNorm folded into a convolution, BatchNorm exported for
/// inference although the module trains, equal parameters merged, tied weights
/// split, parameters transposed or computed under another name, parameters missing.
std::vector<std::string> describeExportLosses(const Graph &graph, llvm::ArrayRef<Classified> roles);

/// For each value of `graph`: whether a path of operators that have a gradient
/// leads from it to an output.
std::vector<bool> differentiablyReachesOutput(const Graph &graph);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_MODEL_CLASSIFY_H
